package main

import (
	"context"
	"log/slog"

	"coderag-ls/attach"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/lsp"
)

// unattended is a workspace whose files are watched though no editor is there.
type unattended struct {
	*attach.Workspace
	notice func(string)
}

// SetWatch implements lsp.Watched.
func (k unattended) SetWatch(s lsp.WatchState) {
	k.Workspace.SetWatch(s.Watches, s.Cap, s.Notice)
	if s.Notice != "" {
		k.notice(s.Notice)
	}
}

// keepUp tells the workspace of changes on disk until ctx ends, once this
// process is the one that keeps the index.
func keepUp(ctx context.Context, w *attach.Workspace, roots []file.Root, s config.Settings, log *slog.Logger, notice func(string)) {
	switch s.Index.Watch {
	case "off":
		return
	case "client":
		s.Index.Watch = "server" // there is no other
	}
	if w.AwaitOwner(ctx) != nil {
		return
	}
	if err := watch(ctx, unattended{w, notice}, roots, s, log); err != nil && ctx.Err() == nil {
		notice("files are not watched: " + err.Error())
	}
}
