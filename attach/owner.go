package attach

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"coderag-ls/attach/socket"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// owner is the index in this process, served to others.
type owner struct {
	engine *engine.Engine
	opts   Options
	roots  []file.Root
	log    *slog.Logger
	ctx    context.Context // ends when it is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	once   sync.Once
	ended  chan struct{}
	err    error // of close

	listener net.Listener // nil where nobody can attach
	address  string
	alone    string   // why nobody can attach, "" where they can
	recorded []string // index directories with our record

	mu       sync.Mutex // guards all below
	settings config.Settings
	sessions map[*session]bool
}

var _ backend = (*owner)(nil)

// own opens the index and serves it. The error is store.ErrLocked where another
// process has it.
func own(ctx context.Context, opts Options, roots []file.Root, s config.Settings) (*owner, error) {
	o := &owner{opts: opts, roots: roots, log: opts.Logger, settings: s, sessions: map[*session]bool{}, ended: make(chan struct{})}
	eopts := opts.Options
	eopts.Roots, eopts.Settings = roots, s
	eopts.Progress, eopts.Changed, eopts.Notice = o.progress, o.changed, o.notice
	var err error
	if o.engine, err = engine.Open(ctx, eopts); err != nil {
		return nil, err
	}
	o.ctx, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if opts.takesOver {
		o.settle(ctx)
	}
	if err := o.listen(); err != nil {
		o.log.Warn("other processes cannot attach to this index", "error", err)
		o.alone = fmt.Sprintf("other processes cannot share this index and will keep their own: %v", err)
		o.notice(o.alone)
	}
	return o, nil
}

// settleTime is how long a new owner looks at the disk before it answers.
const settleTime = time.Second

// settle waits a moment until the index is what the former owner's was: whoever
// asked that one waits for the answer, and would rather have a whole one.
func (o *owner) settle(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, settleTime)
	defer stop()
	v := o.engine.NewView()
	defer v.Close()
	_, _ = v.Sync(ctx, wire.SyncParams{}) // the answers say what is missing
}

// listen lets others attach.
func (o *owner) listen() error {
	v := o.engine.NewView()
	defer v.Close()
	st, err := v.Status(o.ctx)
	if err != nil {
		return err
	}
	var dirs []string
	for _, r := range st.Roots {
		if r.Memory {
			return nil // no lock is held: every process has its own, and the user has been told
		}
		dirs = append(dirs, r.Index)
	}
	for _, dir := range dirs {
		if former, ok := Who(dir); ok {
			socket.Remove(former.Address) // we hold its lock: it is dead
		}
	}
	l, address, err := socket.Listen(dirs[0])
	if err != nil {
		return err
	}
	o.listener, o.address = l, address
	o.tasks.Go(o.accept)
	r := Record{version: o.opts.version(), Address: address, Roots: foldersOf(o.roots), Since: time.Now().UTC().Truncate(time.Second)}
	for _, dir := range dirs {
		if err := r.write(dir); err != nil {
			return err
		}
		o.recorded = append(o.recorded, dir)
	}
	return nil
}

// accept serves who connects until the listener is closed.
func (o *owner) accept() {
	for {
		c, err := o.listener.Accept()
		if o.ctx.Err() != nil {
			if err == nil {
				_ = c.Close() // it comes too late
			}
			return
		}
		if err != nil {
			o.log.Warn("accepting a process that attaches", "error", err)
			select {
			case <-o.ctx.Done():
				return
			case <-time.After(100 * time.Millisecond): // out of descriptors, say
			}
			continue
		}
		if err := socket.CheckPeer(c); err != nil {
			o.log.Warn("a process that attaches is refused", "error", err)
			_ = c.Close() // it was refused
			continue
		}
		o.tasks.Go(func() { o.serve(c) })
	}
}

// close gives the index up: who is attached can take it then.
func (o *owner) close() error {
	o.once.Do(func() {
		for _, dir := range o.recorded {
			if r, ok := Who(dir); ok && r.Address == o.address {
				_ = os.Remove(recordPath(dir)) // a record without a lock says nothing
			}
		}
		o.cancel()
		if o.listener != nil {
			_ = o.listener.Close() // nobody is told
			socket.Remove(o.address)
		}
		// What is under way is answered with codeClosing; then the lock is free,
		// and the connections' end says so.
		o.err = o.engine.Close()
		o.mu.Lock()
		for s := range o.sessions {
			s.cancel()
		}
		o.mu.Unlock()
		o.tasks.Wait()
		close(o.ended)
	})
	return o.err
}

func (o *owner) gone() <-chan struct{} { return o.ended }

func (o *owner) who() version { return o.opts.version() }

func (o *owner) owns() bool { return true }

// clients counts the attached processes.
func (o *owner) clients() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for s := range o.sessions {
		if s.greeted() {
			n++
		}
	}
	return n
}

// each calls f for every session.
func (o *owner) each(f func(*session)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for s := range o.sessions {
		f(s)
	}
}

func (o *owner) progress(p wire.Progress) {
	if o.opts.Progress != nil {
		o.opts.Progress(p)
	}
	o.each(func(s *session) { s.news.progress(p) })
}

func (o *owner) changed() {
	if o.opts.Changed != nil {
		o.opts.Changed()
	}
	o.each(func(s *session) { s.news.changed() })
}

func (o *owner) notice(text string) {
	if o.opts.Notice != nil {
		o.opts.Notice(text)
	}
	o.each(func(s *session) { s.news.notice(text) })
}

// differences says which settings of the index are not a client's.
func (o *owner) differences(client map[string]string) settingsResult {
	o.mu.Lock()
	defer o.mu.Unlock()
	return settingsResult{differences(o.settings, client)}
}

// newView implements backend.
func (o *owner) newView() backendView { return ownView{o.engine.NewView(), o} }

// ownView is a view of this process: its settings are the engine's.
type ownView struct {
	*engine.View
	o *owner
}

// Status implements backendView.
func (v ownView) Status(ctx context.Context) (wire.Status, error) {
	st, err := v.View.Status(ctx)
	st.OwnedBy.Clients = v.o.clients()
	if v.o.alone != "" && err == nil {
		st.Notices = append(st.Notices, v.o.alone)
	}
	return st, err
}

func (v ownView) text(ctx context.Context, path string) (textResult, error) {
	content, ok := v.Text(ctx, path)
	return textResult{content, ok}, nil
}

func (v ownView) resolve(_ context.Context, path string) (textResult, error) {
	abs, ok := v.Resolve(path)
	return textResult{abs, ok}, nil
}

// setSettings implements backend.
func (o *owner) setSettings(ctx context.Context, s config.Settings) error {
	err := o.engine.SetSettings(ctx, s)
	if err == nil {
		o.mu.Lock()
		o.settings = s
		o.mu.Unlock()
	}
	return err
}

func (o *owner) touch(ctx context.Context, cause string, paths []string, rescan bool) error {
	return o.engine.Touch(ctx, cause, paths, rescan)
}

func (o *owner) setWatch(watches, watchCap int, notice string) {
	o.engine.SetWatch(watches, watchCap, notice)
}

func (o *owner) keep(_ context.Context, path string, isDir bool) (bool, error) {
	return o.engine.Keep(path, isDir), nil
}

func (o *owner) directories(ctx context.Context) ([]string, error) { return o.engine.Directories(ctx) }
