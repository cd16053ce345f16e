package lsp

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/internal/jsonrpc"
)

// retryAfter is the least time between two attempts to open the index.
const retryAfter = 2 * time.Second

// lookAgainAfter is how often folders that were left out are looked at: they may
// have come, or become readable.
const lookAgainAfter = 3 * time.Second

// errNoFolder answers requests where no folder is open.
var errNoFolder = errors.New("no folder is open, so nothing is indexed: open a folder in the editor")

// manager holds the session's workspace: it brings the open index to the
// folders and settings that the client wants, one step after another in a
// goroutine of its own, so that neither opening an index nor asking the client
// for its settings holds up the dispatcher.
type manager struct {
	s      *server
	ctx    context.Context // ends when the session does
	cancel context.CancelFunc
	once   sync.Once
	loop   sync.WaitGroup
	wake   chan struct{} // 1 slot: something is wanted

	settings atomic.Pointer[config.Settings]
	news     chan struct{} // 1 slot: coverage changed
	progress *indexProgress

	// The loop's own.
	roots    []file.Root // of ws
	usable   []file.Root // that could be indexed when they were looked at last
	watching watching

	mu       sync.Mutex // guards all below; the buffers reach the view in order because Apply is called under it
	docs     documents
	folders  []workspaceFolder
	config   configuration
	pull     bool          // the client's settings are to be asked for
	wanted   uint64        // numbers the wishes
	settled  uint64        // the last wish that was fulfilled, or failed
	leftOut  bool          // a folder is not indexed for what it was when it was looked at
	change   chan struct{} // closed when settled changes
	ws       Workspace     // nil where none is open
	view     View          // nil where ws is
	err      error         // why ws is nil
	tried    time.Time     // when opening was tried last
	reported map[string]bool
}

func newManager(s *server) *manager {
	m := &manager{
		s: s, wake: make(chan struct{}, 1), change: make(chan struct{}), news: make(chan struct{}, 1),
		err: errNoFolder, reported: map[string]bool{}, progress: newIndexProgress(),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	settings, _ := s.configure(configuration{})
	m.settings.Store(&settings)
	return m
}

// done is closed when the session ends.
func (m *manager) done() <-chan struct{} { return m.ctx.Done() }

// start tells the folders and settings that the session starts with. Nothing
// is opened before begin.
func (m *manager) start(folders []workspaceFolder, options any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folders = folders
	m.config.initialization = options
	m.pull = m.s.caps.configuration()
	m.wanted++
}

// begin starts the work; only the first call does anything.
func (m *manager) begin() {
	m.once.Do(func() {
		signal(m.wake)
		m.loop.Go(m.run)
		m.loop.Go(func() { m.s.showIndexProgress(m.ctx, m.progress) })
		m.loop.Go(m.tellStatus)
		m.loop.Go(func() { m.s.drift.run(m.ctx) })
		m.s.background.Go(m.s.register)
	})
}

// stop ends all work and closes the index. It may be called again.
func (m *manager) stop() {
	m.cancel()
	m.once.Do(func() {}) // begin comes too late now
	m.loop.Wait()
	m.closeWorkspace(errors.New("the server was shut down"))
}

// signal fills a channel of one slot.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// want changes what is wanted.
func (m *manager) want(change func()) {
	m.mu.Lock()
	change()
	m.wanted++
	m.mu.Unlock()
	signal(m.wake)
}

// request is a request as of now.
func (m *manager) request() *request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &request{docs: m.docs, wanted: m.wanted}
}

// run fulfils wishes until the session ends.
func (m *manager) run() {
	tick := time.NewTicker(lookAgainAfter)
	defer tick.Stop()
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-m.wake:
			m.fulfil()
		case <-tick.C:
			m.lookForFolders()
		}
	}
}

// lookForFolders asks for another look at the folders where one of them was left
// out and can be indexed now.
func (m *manager) lookForFolders() {
	m.mu.Lock()
	leftOut, folders := m.leftOut, m.folders
	m.mu.Unlock()
	if !leftOut {
		return
	}
	if roots, _ := rootsOf(folders); !slices.Equal(roots, m.usable) {
		m.want(func() {})
	}
}

// fulfil brings the workspace to what is wanted.
func (m *manager) fulfil() {
	m.mu.Lock()
	pull, want := m.pull, m.wanted // what is wished while the client is asked may be newer than its answer
	m.pull = false
	m.mu.Unlock()
	if pull {
		m.pullConfiguration()
	}

	m.mu.Lock()
	folders, configuration := m.folders, m.config
	ws := m.ws
	m.mu.Unlock()

	settings, problems := m.s.configure(configuration)
	before := m.settings.Swap(&settings)
	roots, notes := rootsOf(folders)
	m.usable = roots
	for _, problem := range slices.Concat(problems, notes) {
		m.report(problem)
	}
	err := m.adjust(ws, roots, notes, *before, settings)

	m.mu.Lock()
	m.settled, m.leftOut = want, len(notes) > 0 || !slices.Equal(m.roots, roots)
	if m.ws == nil {
		m.err = err
	}
	close(m.change)
	m.change = make(chan struct{})
	m.mu.Unlock()
	m.s.drift.filesChanged() // settings, folders
	signal(m.news)           // what is told while an index opens is not heard
}

// adjust opens, changes or closes the index. notes say which folders were left
// out and why.
func (m *manager) adjust(ws Workspace, roots []file.Root, notes []string, before, settings config.Settings) error {
	switch {
	case len(roots) == 0:
		why := errNoFolder
		if len(notes) > 0 {
			why = errors.New("nothing is indexed: " + strings.Join(notes, "; "))
		}
		m.closeWorkspace(why)
		if m.first(why.Error()) {
			m.s.logMessage(messageInfo, "coderag: "+why.Error())
		}
		return why
	case ws == nil:
		return m.open(roots, settings)
	}
	if reflect.DeepEqual(before, settings) && slices.Equal(m.roots, roots) {
		return nil
	}
	if !reflect.DeepEqual(before, settings) {
		if err := ws.SetSettings(m.ctx, settings); err != nil {
			m.report("changing the settings: " + err.Error())
		}
		if m.s.caps.codeLensRefresh() && before.LSP.CodeLens != settings.LSP.CodeLens {
			m.s.background.Go(func() { m.s.conn.Call(m.ctx, "workspace/codeLens/refresh", nil, nil) })
		}
	}
	if !slices.Equal(m.roots, roots) {
		if err := ws.SetRoots(m.ctx, roots); err != nil {
			m.report("changing the folders: " + err.Error())
		} else {
			m.roots = roots
		}
		m.mu.Lock()
		m.applyOpen("folders changed") // some may be in the new ones
		m.mu.Unlock()
	}
	m.watch(ws, m.roots, settings)
	return nil
}

// open opens the index and puts the open documents in front of it.
func (m *manager) open(roots []file.Root, settings config.Settings) error {
	if m.s.opts.Open == nil {
		return errors.New("this server was started without an index")
	}
	ws, err := m.s.opts.Open(m.ctx, engine.Options{
		Roots: roots, Version: m.s.opts.Version, Settings: settings, Logger: m.s.log,
		Progress: m.progress.step,
		Changed:  func() { signal(m.news); m.s.drift.filesChanged() },
		Notice:   m.show,
		Key:      m.s.opts.Settings.Key,
	})
	if err != nil {
		m.mu.Lock()
		m.tried = time.Now()
		m.mu.Unlock()
		m.report("opening the index: " + err.Error())
		return err
	}
	m.roots = roots
	m.mu.Lock()
	m.ws, m.view, m.err, m.tried = ws, ws.NewView(), nil, time.Time{}
	m.applyOpen("opened")
	m.mu.Unlock()
	m.watch(ws, roots, settings)
	return nil
}

// applyOpen gives the view all open documents. mu is held.
func (m *manager) applyOpen(cause string) {
	var changes []file.Change
	for _, doc := range m.docs {
		if doc.synced && doc.path != "" {
			changes = append(changes, doc.opened())
		}
	}
	m.apply(cause, changes...)
}

// apply gives the view changes of buffers. mu is held.
func (m *manager) apply(cause string, changes ...file.Change) {
	if m.view == nil || len(changes) == 0 {
		return
	}
	if err := m.view.Apply(m.ctx, cause, changes); err != nil && m.ctx.Err() == nil {
		m.s.log.Error("applying changes", "cause", cause, "error", err)
	}
}

// closeWorkspace closes the index; why is what requests are answered then.
func (m *manager) closeWorkspace(why error) {
	m.endWatch()
	m.mu.Lock()
	ws, view := m.ws, m.view
	m.ws, m.view, m.err, m.tried = nil, nil, why, time.Time{}
	m.mu.Unlock()
	if ws == nil {
		return
	}
	view.Close()
	if err := ws.Close(); err != nil {
		m.s.log.Error("closing the index", "error", err)
	}
}

// report shows a message to the user, each text once a session. What fails
// because the session ends is nobody's business.
func (m *manager) report(text string) {
	if m.ctx.Err() != nil {
		return
	}
	m.s.log.Warn(text)
	m.show(text)
}

// show is report for what is logged already.
func (m *manager) show(text string) {
	if m.ctx.Err() == nil && m.first(text) {
		m.s.showMessage(messageWarning, "coderag: "+text)
	}
}

// first reports whether a text was not told before, and notes that it was.
func (m *manager) first(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	told := m.reported[text]
	m.reported[text] = true
	return !told
}

// lookAgain has folders that were left out looked at again, since they may have
// come or become readable; req then waits for that.
func (m *manager) lookAgain(req *request) {
	m.mu.Lock()
	leftOut := m.leftOut
	m.mu.Unlock()
	if leftOut {
		m.want(func() { req.wanted = m.wanted + 1 })
	}
}

// viewFor returns the view of the open index once it is as the request wants
// it. Where opening failed some time ago, it is tried again.
func (m *manager) viewFor(ctx context.Context, req *request) (View, error) {
	view, tried, err := m.await(ctx, req.wanted)
	if err != nil && ctx.Err() == nil && !tried.IsZero() && time.Since(tried) > retryAfter {
		var again uint64
		m.want(func() { again = m.wanted + 1 })
		view, _, err = m.await(ctx, again)
	}
	if err != nil && ctx.Err() == nil {
		return nil, jsonrpc.NewError(jsonrpc.RequestFailed, err.Error())
	}
	return view, err
}

// await waits until a wish is fulfilled. tried is when opening failed last, zero
// where it did not.
func (m *manager) await(ctx context.Context, wanted uint64) (View, time.Time, error) {
	for {
		m.mu.Lock()
		settled, change := m.settled, m.change
		view, err, tried := m.view, m.err, m.tried
		m.mu.Unlock()
		if settled >= wanted {
			return view, tried, err
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, tried, ctx.Err()
		case <-m.ctx.Done():
			return nil, time.Time{}, errors.New("the server was shut down")
		}
	}
}
