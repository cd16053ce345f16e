package sharedindex

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"coderag-ls/engine/file"
)

const (
	// headsFresh is ReaderOptions.Fresh; nothing is read while nothing asks.
	headsFresh = 10 * time.Second
	// loadTimeout is how long reading heads and manifests in the background may take.
	loadTimeout = 2 * time.Minute
	// leastLook is the least that an index that is away gets to answer.
	leastLook = time.Second
	// firstProbe and lastProbe bound the pauses between looks at an index that is away.
	firstProbe, lastProbe = 250 * time.Millisecond, 30 * time.Second
)

// ReaderOptions say what is read.
type ReaderOptions struct {
	// Open opens the backend of an edition. Backends are opened when they are first
	// needed, again where that failed, and closed with the reader.
	Open    func(ctx context.Context, e Edition) (Backend, error)
	Edition Edition
	// Own are the names of the workspace's own repositories.
	Own []string
	// Others reports whether another repository is searched, too.
	Others func(repository string) bool
	// Fresh is how old what is known of the published repositories may be when something is
	// asked; 0 for ten seconds.
	Fresh time.Duration
	// Timeout bounds one question.
	Timeout time.Duration
	// CacheBytes bounds the memory for what was read last.
	CacheBytes int64
	// Prepare makes files ready to be searched, one result for each, nil where it cannot be. The
	// results are kept.
	Prepare func(ctx context.Context, files []File) ([]Prepared, error)
	// Changed is called when what is known of the workspace's own repositories, or whether
	// the index answers, is another. It must not block. May be nil.
	Changed func()
	Logger  *slog.Logger
}

// File is a document with what is known of where it comes from.
type File struct {
	ID
	Document
	// Commit of the repository that the file is shown as.
	Commit string
	// Own: the repository is one of the workspace's.
	Own bool
	// WordsOnly: the document is of another edition, whose vectors mean nothing here.
	WordsOnly bool
}

// Prepared is a file that is ready to be searched.
type Prepared interface {
	// Size is about how many bytes of memory it takes.
	Size() int
}

// Reader reads a shared index for one workspace. It is safe for concurrent use.
type Reader struct {
	o   ReaderOptions
	log *slog.Logger

	run   context.Context // until Close
	stop  context.CancelFunc
	tasks sync.WaitGroup

	opening  chan struct{} // holds a token while a backend is opened, which guards backends
	backends map[Edition]Backend

	cache *cache
	asked *lru.Cache[question, listed]
	terms *frequencies

	answered  chan struct{} // closed once heads were read, or could not be
	answering sync.Once

	mu        sync.Mutex // guards the fields below
	heads     []Head     // that are read: one for each repository, by name
	all       []Head     // of all repositories and editions
	known     bool       // that heads were read
	loaded    time.Time  // when heads and manifests were read, zero where they never were
	loading   chan struct{}
	manifests map[string]*manifest // of own repositories
	why       error                // why the index is away, nil where it is not
	since     time.Time            // since when
	closed    bool
}

// manifest is what was published of an own repository. It is immutable.
type manifest struct {
	generation uint64
	files      map[string]file.Hash
}

// NewReader returns a reader, which begins to read what is published in the
// background. Loaded waits for that.
func NewReader(ctx context.Context, o ReaderOptions) *Reader {
	r := &Reader{o: o, log: o.Logger, opening: make(chan struct{}, 1), answered: make(chan struct{}), backends: map[Edition]Backend{}, asked: newAsked(), terms: newFrequencies(), manifests: map[string]*manifest{}}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.o.Fresh <= 0 {
		r.o.Fresh = headsFresh
	}
	r.cache = newCache(r.o.CacheBytes, r.o.Fresh)
	r.run, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.refresh()
	return r
}

// Close ends what runs in the background and gives the connections up.
func (r *Reader) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
	r.tasks.Wait()
	var errs []error
	r.opening <- struct{}{}
	defer func() { <-r.opening }()
	for _, b := range r.backends {
		errs = append(errs, b.Close())
	}
	clear(r.backends)
	return errors.Join(errs...)
}

// Loaded waits until what is published was read once, or could not be. Where ctx ends before
// anything was heard of the index, it is away.
func (r *Reader) Loaded(ctx context.Context) {
	r.mu.Lock()
	loading := r.loading
	r.mu.Unlock()
	if loading == nil {
		return
	}
	select {
	case <-loading:
	case <-ctx.Done():
		r.mu.Lock()
		silent := !r.known
		r.mu.Unlock()
		if silent {
			r.failed(fmt.Errorf("%w: it did not answer within %d ms", ErrUnreachable, r.o.Timeout.Milliseconds()))
		}
	}
}

// Covered reports whether an own repository has a file with this text, so that it is found
// through the shared index. known is false until what is published was read once.
func (r *Reader) Covered(repository, path string, hash file.Hash) (covered, known bool) {
	r.mu.Lock()
	m, known := r.manifests[repository], !r.loaded.IsZero()
	r.mu.Unlock()
	if m == nil {
		return false, known
	}
	have, ok := m.files[path]
	return ok && have == hash, known
}

// Forget lets go of the files that were read, and of what was found.
func (r *Reader) Forget() {
	r.cache.clear()
	r.asked.Purge()
}

// backend returns the backend of an edition.
func (r *Reader) backend(ctx context.Context, e Edition) (Backend, error) {
	select {
	case r.opening <- struct{}{}:
		defer func() { <-r.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b := r.backends[e]; b != nil {
		return b, nil
	}
	if err := r.run.Err(); err != nil {
		return nil, err
	}
	b, err := r.o.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	r.backends[e] = b
	return b, nil
}

// refresh reads in the background what is published, unless that is being done.
func (r *Reader) refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loading != nil || r.closed {
		return
	}
	done := make(chan struct{})
	r.loading = done
	r.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(r.run, loadTimeout)
		defer cancel()
		err := r.load(ctx)
		if err != nil && r.run.Err() == nil {
			r.failed(err)
		}
		r.answering.Do(func() { close(r.answered) })
		r.mu.Lock()
		r.loading = nil
		r.mu.Unlock()
		close(done)
	})
}

// load reads heads, and the manifests of own repositories that are others than
// before.
func (r *Reader) load(ctx context.Context) error {
	b, err := r.backend(ctx, r.o.Edition)
	if err != nil {
		return err
	}
	all, err := b.Heads(ctx)
	if err != nil {
		return fmt.Errorf("reading what is published: %w", err)
	}
	heads := r.choose(all)
	r.mu.Lock()
	before := r.manifests
	if !r.known { // other repositories need not wait for the own ones' manifests
		r.known, r.all, r.heads = true, all, heads
	}
	r.mu.Unlock()
	r.answering.Do(func() { close(r.answered) })
	next := map[string]*manifest{}
	for _, h := range heads {
		if h.Edition != r.o.Edition || !slices.Contains(r.o.Own, h.Repository) {
			continue
		}
		if m := before[h.Repository]; m != nil && m.generation == h.Generation && h.Publishing == "" {
			next[h.Repository] = m
			continue
		}
		m := &manifest{generation: h.Generation, files: map[string]file.Hash{}}
		err := b.Manifest(ctx, h.Repository, func(e Entry) error {
			m.files[e.Path] = e.Hash
			return nil
		})
		if err != nil {
			return fmt.Errorf("reading what is published of %s: %w", h.Repository, err)
		}
		next[h.Repository] = m
	}
	news := !maps.EqualFunc(before, next, func(a, b *manifest) bool { return a == b || maps.Equal(a.files, b.files) })
	r.mu.Lock()
	r.all, r.heads, r.manifests, r.loaded = all, heads, next, time.Now()
	r.mu.Unlock()
	if news {
		r.changed()
	}
	return nil
}

// choose takes of each repository that is to be read the edition to read: the
// program's own where it is complete, else the one that was published last.
func (r *Reader) choose(all []Head) []Head {
	best := map[string]Head{}
	for _, h := range all {
		if !h.Complete() || !slices.Contains(r.o.Own, h.Repository) && (r.o.Others == nil || !r.o.Others(h.Repository)) {
			continue
		}
		b, have := best[h.Repository]
		switch {
		case !have, h.Edition == r.o.Edition, b.Edition != r.o.Edition && h.Published.After(b.Published):
			best[h.Repository] = h
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b Head) int { return strings.Compare(a.Repository, b.Repository) })
}

// fresh has heads read again where they are old, and waits for them as long as ctx
// lasts. What is known before is good enough where they are late.
func (r *Reader) fresh(ctx context.Context) {
	r.mu.Lock()
	old := time.Since(r.loaded) > r.o.Fresh
	r.mu.Unlock()
	if !old {
		return
	}
	r.refresh()
	select {
	case <-r.answered: // long since, but for the first time
	case <-ctx.Done():
	}
}

func (r *Reader) changed() {
	if r.o.Changed != nil {
		r.o.Changed()
	}
}

// failed notes that the index is away, and has it looked for in the background.
func (r *Reader) failed(err error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	first := r.why == nil
	if r.why = err; first {
		r.since = time.Now()
		r.tasks.Go(r.probe)
	}
	r.mu.Unlock()
	if first {
		r.log.Warn("the shared index does not take part", "error", err)
		r.changed()
	}
}

// probe looks for the index until it is there again, then reads what is published.
func (r *Reader) probe() {
	for pause := firstProbe; ; pause = min(2*pause, lastProbe) {
		timer := time.NewTimer(pause)
		select {
		case <-r.run.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		err := r.look()
		if r.run.Err() != nil {
			return
		}
		r.mu.Lock()
		if r.why = err; err == nil {
			r.since = time.Time{}
		}
		r.mu.Unlock()
		if err == nil {
			r.log.Info("the shared index takes part again")
			r.changed()
			return
		}
	}
}

// look reads what is published, where the index answers about as fast as questions need it to.
func (r *Reader) look() error {
	ctx, cancel := context.WithTimeout(r.run, max(2*r.o.Timeout, leastLook))
	b, err := r.backend(ctx, r.o.Edition)
	if err == nil {
		_, err = b.Heads(ctx)
	}
	cancel()
	if err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(r.run, loadTimeout)
	defer cancel()
	return r.load(ctx)
}

// away is why the index does not take part, nil where it does.
func (r *Reader) away() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// State is what is known of the shared index.
type State struct {
	// Heads are those that are read, All those of every repository and edition.
	Heads, All []Head
	// Covered counts the files of the workspace's own repositories that are published.
	Covered int
	// Err is why the index does not take part, Since when; nil where it does.
	Err   error
	Since time.Time
	// Loaded is when what is published was read last.
	Loaded time.Time
}

// State returns what is known, without asking.
func (r *Reader) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := State{Heads: slices.Clone(r.heads), All: slices.Clone(r.all), Err: r.why, Since: r.since, Loaded: r.loaded}
	for _, m := range r.manifests {
		s.Covered += len(m.files)
	}
	return s
}
