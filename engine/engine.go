package engine

import (
	"context"
	"log/slog"

	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
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
	// Changed is called when coverage or a notice changed, at most a few times a second. May be nil.
	Changed func()
}

// Engine is one workspace's index and everything that answers from it. Its
// methods are safe for concurrent use.
type Engine struct{ _ int }

// Open opens the workspace's index and starts bringing it up to date in the background; it
// does not wait for that (View.Sync does). A root that cannot be indexed is an error that names
// it; a locked index is store.ErrLocked.
func Open(ctx context.Context, opts Options) (*Engine, error) { return nil, nil }

// Close stops all work, syncs and closes the store.
func (e *Engine) Close() error { return nil }

// NewView returns a view of the workspace: the index with one client's unsaved
// buffers in front of it.
func (e *Engine) NewView() *View { return nil }

// SetSettings applies changed settings; what they touch is indexed again.
func (e *Engine) SetSettings(ctx context.Context, s config.Settings) error { return nil }

// SetRoots changes the workspace folders.
func (e *Engine) SetRoots(ctx context.Context, roots []file.Root) error { return nil }

// Touch tells that paths (absolute) may have changed on disk; an empty list
// with rescan means that anything may have.
func (e *Engine) Touch(ctx context.Context, cause string, paths []string, rescan bool) error {
	return nil
}

// SetWatch tells the engine what the watcher reports, for Status: directories watched, the
// cap, and a notice such as "polling" (or "").
func (e *Engine) SetWatch(watches, watchCap int, notice string) {}

// Keep reports whether a path (absolute) is indexed or may hold indexed files;
// the watcher asks it which directories to watch.
func (e *Engine) Keep(path string, isDir bool) bool { return false }

// Directories returns the absolute directories that hold indexed files, once the first scan has ended.
func (e *Engine) Directories(ctx context.Context) ([]string, error) { return nil, nil }

// PlanIndex says what indexing would do, without doing it.
func PlanIndex(ctx context.Context, opts Options) (wire.DryRun, error) { return wire.DryRun{}, nil }

// View is the workspace as one client sees it.
type View struct{ _ int }

// Close forgets the view's buffers.
func (v *View) Close() {}

// Apply takes the client's buffer changes in the order they happened. It
// returns when they are recorded; Sync waits until they are searchable.
func (v *View) Apply(ctx context.Context, cause string, changes []file.Change) error { return nil }

// Sync waits until every change applied before it is searchable.
func (v *View) Sync(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error) {
	return wire.SyncResult{}, nil
}

// Event is a part of an answer as it is made: exactly one field is set.
type Event struct {
	Text     string
	Citation *wire.Citation
	Retract  string // a citation's ID that no longer holds
}

// Ask answers a question with citations that were checked when emitted. emit, which may be nil,
// receives the parts in order before Ask returns the whole.
// An empty or oversized question is a *QueryError.
func (v *View) Ask(ctx context.Context, p wire.AskParams, emit func(Event)) (wire.AskResult, error) {
	return wire.AskResult{}, nil
}

// Search ranks chunks.
func (v *View) Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error) {
	return wire.SearchResult{}, nil
}

// Context packs what a question needs into budgeted Markdown.
func (v *View) Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error) {
	return wire.ContextResult{}, nil
}

// Similar ranks chunks by likeness to a range of a document.
func (v *View) Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error) {
	return wire.SearchResult{}, nil
}

// Explain explains the symbol at a range's start (positions count UTF-16 units
// unless the range was converted: pass enc through text.Document).
func (v *View) Explain(ctx context.Context, p wire.RangeParams) (wire.ExplainResult, error) {
	return wire.ExplainResult{}, nil
}

// ExplainName explains the symbol of that name, preferring what is near the document.
func (v *View) ExplainName(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error) {
	return wire.ExplainResult{}, nil
}

// Text returns a file's text as the view has it: the buffer's, else the
// disk's. ok is false where there is no such file in the workspace.
func (v *View) Text(ctx context.Context, path string) (content string, ok bool) { return "", false }

// Symbols returns the symbols defined in the file at the absolute path as it stands in the view,
// in line order, with how many lines elsewhere name each.
func (v *View) Symbols(ctx context.Context, path string) ([]SymbolUse, error) { return nil, nil }

// SymbolUse is a defined symbol and how often it is used.
type SymbolUse struct {
	Name     string
	Kind     string
	NameLine int // 1-based
	Uses     int
}

// Resolve turns a citation path ("dir/file.go", as in wire.Citation.Path)
// into the absolute path of a file in the workspace.
func (v *View) Resolve(path string) (abs string, ok bool) { return "", false }

// Status tells the state of the index.
func (v *View) Status(ctx context.Context) (wire.Status, error) { return wire.Status{}, nil }

// Reindex chunks and embeds the paths again, all files where there are none.
func (v *View) Reindex(ctx context.Context, p wire.ReindexParams) error { return nil }

// QueryError is a question that cannot be asked; Error says why and what to do.
type QueryError struct{ Reason string }

func (e *QueryError) Error() string { return e.Reason }
