package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/pack"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
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
}

// Engine is one workspace's index and everything that answers from it. Its
// methods are safe for concurrent use.
type Engine struct {
	opts   Options
	inline *static.Model // nil where switched off

	mu       sync.RWMutex // guards the fields below; held for writing while the index is replaced
	settings config.Settings
	roots    []file.Root
	ix       *index.Index
	behind   embed.Embedder // MiniLM, nil where it is not installed
	notices  []string       // what the user should know of the models
	views    map[*View]bool
	closed   bool

	graphs graphCache
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
		e.graphs.snap, e.graphs.made = snap, pack.NewGraph(snap)
	}
	return e.graphs.made
}

// Open opens the workspace's index and starts bringing it up to date in the
// background; it does not wait for that (View.Sync does). A root that cannot be
// indexed is an error that names it; an index that another process owns is
// store.ErrLocked.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Engine{opts: opts, settings: opts.Settings, roots: opts.Roots, views: map[*View]bool{}}
	if err := e.openIndex(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// openIndex opens models and index by the settings and roots of e.
func (e *Engine) openIndex(ctx context.Context) error {
	s := e.settings
	e.notices = nil
	iopts, err := indexOptions(e.opts, s, e.roots)
	if err != nil {
		return err
	}
	if s.Embed.Provider == "auto" || s.Embed.Provider == "static" {
		if e.inline == nil {
			if e.inline, err = static.New(); err != nil {
				return fmt.Errorf("loading the embedded code model: %w", err)
			}
		}
		iopts.Inline = e.inline
	}
	if s.Embed.Provider == "auto" || s.Embed.Provider == "onnx" {
		iopts.Behind = e.openMiniLM(ctx, s)
	}
	e.behind = iopts.Behind
	ix, err := index.Open(ctx, iopts)
	if err != nil {
		if e.behind != nil {
			err = errors.Join(err, e.behind.Close())
		}
		return err
	}
	e.ix = ix
	for _, r := range e.roots {
		if err := recordRoot(s, r); err != nil {
			e.opts.Logger.Warn("only `coderag-ls clean` needs it", "error", err)
		}
	}
	return nil
}

// openMiniLM returns nil where the model is not installed; where it is but does
// not load, the user is told.
func (e *Engine) openMiniLM(ctx context.Context, s config.Settings) embed.Embedder {
	m, err := onnx.Open(ctx, onnx.Options{ModelDir: s.Embed.ModelDir, LibraryPath: s.Embed.LibraryPath, Threads: s.Embed.Threads})
	switch {
	case err == nil:
		return m
	case errors.Is(err, onnx.ErrNotInstalled) && s.Embed.Provider == "auto" && s.Embed.ModelDir == "" && s.Embed.LibraryPath == "":
		e.opts.Logger.Debug("MiniLM is not used", "reason", err)
	default:
		e.notices = append(e.notices, fmt.Sprintf("MiniLM is not used: %v", err))
		e.opts.Logger.Warn("MiniLM is not used", "error", err)
	}
	return nil
}

// indexOptions translates the settings.
func indexOptions(opts Options, s config.Settings, roots []file.Root) (index.Options, error) {
	dir, err := CacheDir(s)
	if err != nil {
		return index.Options{}, err
	}
	return index.Options{
		Roots:    roots,
		CacheDir: dir,
		Files:    file.Options{MaxBytes: int64(s.Index.MaxFileBytes), Exclude: s.Index.Exclude, Include: s.Index.Include},
		Chunks: chunk.Options{
			MaxChars: s.Chunk.MaxChars, ParseDeadline: time.Duration(s.Chunk.ParseDeadline) * time.Millisecond,
			MarkdownMaxTokens: s.Chunk.MarkdownMaxTokens, MarkdownPartTokens: s.Chunk.MarkdownPartTokens,
			MarkdownOverlap: s.Chunk.MarkdownOverlap, TextWords: s.Chunk.TextWords, TextOverlap: s.Chunk.TextOverlap,
		},
		Workers:       s.Index.Workers,
		BehindThreads: s.Embed.Threads,
		BehindBatch:   s.Embed.BatchSize,
		PathWeight:    float32(s.Embed.PathWeight),
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) {
			return bunt.Open(ctx, dir, bunt.Options{})
		},
		Logger:   opts.Logger,
		Progress: opts.Progress,
		Changed:  opts.Changed,
	}, nil
}

// Close stops all work, syncs and closes the store.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	return e.closeIndex()
}

func (e *Engine) closeIndex() error {
	if e.ix == nil {
		return nil
	}
	err := e.ix.Close()
	if e.behind != nil {
		err = errors.Join(err, e.behind.Close())
	}
	e.ix, e.behind = nil, nil
	return err
}

// errClosed is what everything returns after Close, or after an index could
// not be opened again.
var errClosed = errors.New("the index is closed")

// SetSettings applies changed settings. Those of discovery, chunking and
// embedding open the index anew; what they touch is indexed again.
func (e *Engine) SetSettings(ctx context.Context, s config.Settings) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.settings
	e.settings = s
	if reflect.DeepEqual(before.Index, s.Index) && reflect.DeepEqual(before.Chunk, s.Chunk) && before.Embed == s.Embed {
		return nil
	}
	return e.reopen(ctx, func() { e.settings = before })
}

// SetRoots changes the workspace folders.
func (e *Engine) SetRoots(ctx context.Context, roots []file.Root) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if reflect.DeepEqual(e.roots, roots) {
		return nil
	}
	before := e.roots
	e.roots = roots
	return e.reopen(ctx, func() { e.roots = before })
}

// reopen opens the index anew. Where that cannot be done, back restores what
// was in force: that goes on, and the error is returned.
func (e *Engine) reopen(ctx context.Context, back func()) error {
	if e.closed {
		return errClosed
	}
	err := e.closeIndex()
	if openErr := e.openIndex(ctx); openErr != nil {
		back()
		err = errors.Join(err, openErr)
		if again := e.openIndex(ctx); again != nil {
			return errors.Join(err, again)
		}
	}
	for v := range e.views {
		v.attach(e.ix)
	}
	return err
}

// index returns the index and the settings in force.
func (e *Engine) index() (*index.Index, config.Settings, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed || e.ix == nil {
		return nil, e.settings, errClosed
	}
	return e.ix, e.settings, nil
}

// Touch tells that paths (absolute) may have changed on disk; rescan tells that
// anything may have.
func (e *Engine) Touch(ctx context.Context, cause string, paths []string, rescan bool) error {
	ix, _, err := e.index()
	if err != nil {
		return err
	}
	ix.Touch(cause, paths, rescan)
	return nil
}

// SetWatch tells the engine what the watcher reports, for Status: directories
// watched, the cap, and a notice such as that some are polled ("" for none).
func (e *Engine) SetWatch(watches, watchCap int, notice string) {
	if ix, _, err := e.index(); err == nil {
		ix.SetWatch(watches, watchCap, notice)
	}
}

// Keep reports whether a path (absolute) is indexed or, for a directory, may
// hold indexed files; the watcher asks it.
func (e *Engine) Keep(path string, isDir bool) bool {
	ix, _, err := e.index()
	return err == nil && ix.Keep(path, isDir)
}

// Directories returns the absolute directories that hold indexed files, once
// the first scan has ended.
func (e *Engine) Directories(ctx context.Context) ([]string, error) {
	ix, _, err := e.index()
	if err != nil {
		return nil, err
	}
	if err := ix.Scanned(ctx); err != nil {
		return nil, err
	}
	return ix.Directories(), nil
}

// PlanIndex says what indexing would do, without doing it.
func PlanIndex(ctx context.Context, opts Options) (wire.DryRun, error) {
	iopts, err := indexOptions(opts, opts.Settings, opts.Roots)
	if err != nil {
		return wire.DryRun{}, err
	}
	return index.Plan(ctx, iopts)
}
