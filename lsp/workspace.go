package lsp

import (
	"context"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// Workspace is an open index. *engine.Engine is one (FromEngine), a connection
// to another process's could be.
type Workspace interface {
	// NewView returns this client's view: the index with its unsaved buffers
	// in front.
	NewView() View
	SetSettings(ctx context.Context, s config.Settings) error
	SetRoots(ctx context.Context, roots []file.Root) error
	// Touch tells that absolute paths may have changed on disk; with rescan,
	// that anything may have.
	Touch(ctx context.Context, cause string, paths []string, rescan bool) error
	// SetWatch tells what the watcher reports.
	SetWatch(watches, watchCap int, notice string)
	// Keep reports whether an absolute path is indexed or may hold indexed
	// files.
	Keep(path string, isDir bool) bool
	// Holds reports whether a directory itself holds indexed files, as far as
	// that is known.
	Holds(dir string) (holds, known bool)
	// Known returns the files (absolute) below directories that are indexed, left
	// out or being looked at.
	Known(dirs []string) []string
	// AwaitOwner returns when this process keeps the index, and so is the one to
	// watch the files, or with an error when ctx or the workspace ends.
	AwaitOwner(ctx context.Context) error
	// Directories returns the absolute directories that hold indexed files,
	// once the first scan has ended.
	Directories(ctx context.Context) ([]string, error)
	Close() error
}

// View is a workspace as one client sees it. Its methods are *engine.View's.
type View interface {
	Close()
	Apply(ctx context.Context, cause string, changes []file.Change) error
	Sync(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error)
	Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error)
	Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error)
	Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error)
	Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error)
	Explain(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error)
	// Tree draws the indexed files for a language model that routes questions.
	Tree(ctx context.Context, p wire.TreeParams) (wire.TreeResult, error)
	Text(ctx context.Context, path string) (content string, ok bool)
	Symbols(ctx context.Context, path string) ([]engine.SymbolUse, error)
	// Citations tells what became of a document's citations.
	Citations(ctx context.Context, p wire.CitationsParams) (wire.CitationsResult, error)
	Resolve(path string) (abs string, ok bool)
	Status(ctx context.Context) (wire.Status, error)
	Reindex(ctx context.Context, p wire.ReindexParams) error
	// SetPaused stops background work, or lets it go on.
	SetPaused(ctx context.Context, paused bool) error
}

// FromEngine makes a Workspace of an engine.
func FromEngine(e *engine.Engine) Workspace { return engineWorkspace{e} }

type engineWorkspace struct{ *engine.Engine }

func (w engineWorkspace) NewView() View { return w.Engine.NewView() }

// AwaitOwner implements Workspace: an engine is in its own process.
func (w engineWorkspace) AwaitOwner(context.Context) error { return nil }
