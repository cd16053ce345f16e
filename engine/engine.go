package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/host"
	"coderag-ls/engine/index"
	"coderag-ls/engine/pack"
	"coderag-ls/engine/requests"
	"coderag-ls/engine/search/cached"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/mem"
	"coderag-ls/engine/store/vectorcache"
	"coderag-ls/engine/wire"
)

// Options are what an engine is opened with.
type Options struct {
	// Roots are the workspace folders; their names must be unique.
	Roots []file.Root
	// Version is the program's version, shown by Status.
	Version  string
	Settings config.Settings
	Logger   *slog.Logger
	// Progress is called with steps of background work, never concurrently.
	// It must not block. May be nil.
	Progress func(wire.Progress)
	// Changed is called when coverage or a notice changed. It must not block.
	// May be nil.
	Changed func()
	// Foreground is set where someone waits for the index: work is not done at
	// low priority, and the battery does not matter.
	Foreground bool
	// Power asks what the machine runs on; nil for the machine itself.
	Power func(context.Context) host.Power
	// Notice is called with what the user should be told at once, beside
	// finding it in Status: each kind of trouble once. It must not block. May be nil.
	Notice func(text string)
	// Key returns a key that the environment holds, by the variable's name
	// (config.Layers.Key); nil where there is none.
	Key func(variable string) string
	// OpenShared opens the shared index of the settings shared.*; nil where the program
	// has no way to.
	OpenShared func(ctx context.Context, a SharedAccess) (sharedindex.Backend, error)
}

// Engine is one workspace's index and everything that answers from it. Its
// methods are safe for concurrent use.
type Engine struct {
	opts   Options
	inline *static.Model // nil where switched off
	gate   *index.Gate   // of every index that is opened
	res    *resources    // memory and battery
	space  mem.Space     // of indexes that cannot be kept on disk

	again     chan struct{} // asks for the index to be opened again
	stopAgain context.CancelFunc
	reopening sync.WaitGroup

	changing sync.Mutex // held while the index is replaced; taken before mu

	mu       sync.Mutex // guards the fields below, never held for long
	settings config.Settings
	roots    []file.Root
	now      *opened       // nil while the index is replaced, and where that failed
	ready    chan struct{} // closed unless the index is being replaced
	why      error         // why now is nil
	views    map[*View]bool
	closed   bool

	graphs   graphCache
	searches *cached.Cache
	requests requests.Recorder
}

// graphCache keeps the graph of the newest snapshot that was asked about: how
// files hang together changes with what is saved, not with every answer.
type graphCache struct {
	mu   sync.Mutex // held while a graph is made, so that it is made once
	snap *index.Snapshot
	made *pack.Graph
}

// graph returns the graph of the files as they are stored: unsaved imports of
// open buffers are not in it.
func (e *Engine) graph(ix *index.Index) *pack.Graph {
	e.graphs.mu.Lock()
	defer e.graphs.mu.Unlock()
	if snap := ix.Snapshot(); snap != e.graphs.snap {
		e.graphs.snap, e.graphs.made = snap, e.graphs.made.Update(snap, nil)
	}
	return e.graphs.made
}

// forget lets go of the snapshot.
func (g *graphCache) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.snap, g.made = nil, nil
}

// Open opens the workspace's index and starts bringing it up to date in the
// background; it does not wait for that (View.Sync does). A root that cannot be
// indexed is an error that names it; an index that another process owns is
// store.ErrLocked.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	ready := make(chan struct{})
	close(ready)
	e := &Engine{opts: opts, settings: opts.Settings, roots: opts.Roots, ready: ready, views: map[*View]bool{}, gate: index.NewGate(0),
		searches: cached.New(opts.Settings.Search.CacheSize, nil), again: make(chan struct{}, 1)}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.res = e.newResources(run, stop)
	e.res.apply(opts.Settings)
	now, err := e.open(ctx, opts.Settings, opts.Roots)
	if err != nil {
		stop()
		return nil, err
	}
	e.mu.Lock() // the index's workers look at it already
	e.now = now
	e.mu.Unlock()
	go e.res.run(run)
	again, stopAgain := context.WithCancel(context.WithoutCancel(ctx))
	e.stopAgain = stopAgain
	e.reopening.Go(func() { e.reopens(again) })
	return e, nil
}

// opened is an index with its models.
type opened struct {
	ix      *index.Index
	behind  *unloadable        // MiniLM, nil where it is not installed
	server  *embedServer       // nil where none is set
	vectors *vectorcache.Cache // nil where no vectors are shared
	shared  *sharedIndex       // nil where none is set
	notices []string           // what the user should know of the models
}

// open opens models and index. The caller holds changing, or has e for itself.
func (e *Engine) open(ctx context.Context, s config.Settings, roots []file.Root) (*opened, error) {
	iopts, err := indexOptions(e.opts, s, roots)
	iopts.OpenStore = e.openStore
	if err != nil { // there is nowhere to keep an index
		iopts.CacheDir = noCacheDir
		nowhere := err
		iopts.OpenStore = func(ctx context.Context, dir string) (store.Store, error) { return e.openInMemory(ctx, dir, nowhere) }
	}
	if s.Embed.Provider == "auto" || s.Embed.Provider == "static" {
		if e.inline == nil {
			if e.inline, err = static.New(); err != nil {
				return nil, fmt.Errorf("loading the embedded code model: %w", err)
			}
		}
		iopts.Inline = e.inline
	}
	iopts.Gate, iopts.Relieve = e.gate, e.res.look
	iopts.LowPriority = s.Index.LowPriority && !e.opts.Foreground
	iopts.NoGit = !s.Index.GitRecency || e.opts.Foreground
	o := &opened{}
	if _, err := chunk.ParseLayers(s.Chunk.Layers); err != nil {
		o.notices = append(o.notices, fmt.Sprintf("The setting chunk.layers does not count: %v.", err))
	}
	switch {
	case hasServer(s):
		e.openServer(ctx, s, o, &iopts)
	case s.Embed.Provider == "auto" || s.Embed.Provider == "onnx":
		o.openMiniLM(ctx, s, e.opts.Logger)
	}
	if o.behind != nil { // else it would be an Embedder that is not nil
		iopts.Behind = o.behind
	}
	if iopts.CacheDir != noCacheDir {
		o.openVectorCache(s, e.opts, &iopts)
	}
	if err := e.openShared(ctx, s, roots, o, &iopts); err != nil {
		return nil, errors.Join(err, o.close())
	}
	if o.ix, err = index.Open(ctx, iopts); err != nil {
		return nil, errors.Join(err, o.close())
	}
	if o.shared != nil {
		o.shared.opened(o.ix)
	}
	if o.behind != nil && e.gate.Memory() >= index.HoldEmbedding {
		if err := o.behind.unload(); err != nil {
			e.opts.Logger.Warn("unloading MiniLM", "error", err)
		}
	}
	for _, r := range o.ix.Kept() {
		if err := recordRoot(s, r); err != nil {
			e.opts.Logger.Warn("only `coderag-ls clean` needs it", "error", err)
		}
	}
	return o, nil
}

// close closes what is open of index and models.
func (o *opened) close() error {
	var errs []error
	if o.shared != nil { // before the index, which it uses
		errs = append(errs, o.shared.close())
	}
	if o.ix != nil {
		errs = append(errs, o.ix.Close())
	}
	if o.behind != nil {
		errs = append(errs, o.behind.Close())
	}
	if o.server != nil {
		errs = append(errs, o.server.close())
	}
	if o.vectors != nil {
		errs = append(errs, o.vectors.Close())
	}
	return errors.Join(errs...)
}

// openMiniLM opens the model where it is installed; where it is but does not
// load, the user is told.
func (o *opened) openMiniLM(ctx context.Context, s config.Settings, log *slog.Logger) {
	open := func(ctx context.Context) (embed.Embedder, error) {
		return onnx.Open(ctx, onnx.Options{ModelDir: s.Embed.ModelDir, LibraryPath: s.Embed.LibraryPath, Threads: s.Embed.Threads})
	}
	m, err := open(ctx)
	switch {
	case err == nil:
		o.behind = newUnloadable(m, open)
	case errors.Is(err, onnx.ErrNotInstalled) && s.Embed.Provider == "auto" && s.Embed.ModelDir == "" && s.Embed.LibraryPath == "":
		log.Debug("MiniLM is not used", "reason", err)
	default:
		o.notices = append(o.notices, fmt.Sprintf("MiniLM is not used: %v", err))
		log.Warn("MiniLM is not used", "error", err)
	}
}

// indexOptions translates the settings. An error says that the user has no
// cache directory; the options lack nothing else then.
func indexOptions(opts Options, s config.Settings, roots []file.Root) (index.Options, error) {
	dir, err := CacheDir(s)
	return index.Options{
		Roots:    roots,
		CacheDir: dir,
		Files:    file.Options{MaxBytes: int64(s.Index.MaxFileBytes), Exclude: s.Index.Exclude, Include: s.Index.Include},
		Chunks: chunk.Options{
			MaxChars: s.Chunk.MaxChars, ParseDeadline: time.Duration(s.Chunk.ParseDeadline) * time.Millisecond,
			MarkdownMaxTokens: s.Chunk.MarkdownMaxTokens, MarkdownPartTokens: s.Chunk.MarkdownPartTokens,
			MarkdownOverlap: s.Chunk.MarkdownOverlap, CodeBlockTokens: s.Chunk.CodeBlockTokens, Layers: layers(s), TextWords: s.Chunk.TextWords, TextOverlap: s.Chunk.TextOverlap,
		},
		Workers:       s.Index.Workers,
		BehindThreads: s.Embed.Threads,
		BehindBatch:   s.Embed.BatchSize,
		PathWeight:    float32(s.Embed.PathWeight),
		Logger:        opts.Logger,
		Progress:      opts.Progress,
		Changed:       opts.Changed,
		Notice:        opts.Notice,
	}, err
}

// layers are the rules of the setting before the built-in ones, nil for these
// alone. Where a rule is none, the setting does not count.
func layers(s config.Settings) []chunk.LayerRule {
	rules, err := chunk.ParseLayers(s.Chunk.Layers)
	if err != nil || len(rules) == 0 {
		return nil
	}
	return append(rules, chunk.DefaultLayers()...)
}

// Touch tells that paths (absolute) may have changed on disk; rescan tells that
// anything may have.
func (e *Engine) Touch(ctx context.Context, cause string, paths []string, rescan bool) error {
	ix, _, err := e.index(ctx)
	if err != nil {
		return err
	}
	ix.Touch(cause, paths, rescan)
	return nil
}

// SetWatch tells the engine what the watcher reports, for Status: directories
// watched, the cap, and a notice such as that some are polled ("" for none).
func (e *Engine) SetWatch(watches, watchCap int, notice string) {
	if ix, _, err := e.index(context.Background()); err == nil {
		ix.SetWatch(watches, watchCap, notice)
	}
}

// Keep reports whether a path (absolute) is indexed or, for a directory, may
// hold indexed files; the watcher asks it.
func (e *Engine) Keep(path string, isDir bool) bool {
	ix, _, err := e.index(context.Background())
	return err == nil && ix.Keep(path, isDir)
}

// Holds reports whether a directory (absolute) itself holds indexed files, as
// far as that is known; the watcher asks it, too.
func (e *Engine) Holds(dir string) (holds, known bool) {
	ix, _, err := e.index(context.Background())
	if err != nil {
		return false, false
	}
	return ix.Holds(dir)
}

// Known returns the files (absolute) below directories that are indexed, left
// out or being looked at; the watcher asks it, too.
func (e *Engine) Known(dirs []string) []string {
	ix, _, err := e.index(context.Background())
	if err != nil {
		return nil
	}
	return ix.Known(dirs)
}

// Directories returns the absolute directories that hold indexed files, once
// the first scan has ended.
func (e *Engine) Directories(ctx context.Context) ([]string, error) {
	for {
		ix, _, err := e.index(ctx)
		if err != nil {
			return nil, err
		}
		switch err := ix.Scanned(ctx); {
		case err == nil:
			return ix.Directories(), nil
		case !errors.Is(err, index.ErrClosed): // else another one takes its place
			return nil, err
		}
	}
}

// PlanIndex says what indexing would do, without doing it.
func PlanIndex(ctx context.Context, opts Options) (wire.DryRun, error) {
	iopts, err := indexOptions(opts, opts.Settings, opts.Roots)
	if err != nil {
		iopts.CacheDir = noCacheDir // nothing of it lies in the workspace
	}
	return index.Plan(ctx, iopts)
}

// changed tells that the state is another.
func (e *Engine) changed() {
	if e.opts.Changed != nil {
		e.opts.Changed()
	}
}
