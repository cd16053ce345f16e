package main

import (
	"context"

	"coderag-ls/attach"
	"coderag-ls/engine"
	"coderag-ls/lsp"
)

// shared is an index that several processes use, as the language server sees it.
type shared struct{ *attach.Workspace }

// NewView implements lsp.Workspace.
func (s shared) NewView() lsp.View { return s.Workspace.NewView() }

// openShared attaches to the process that keeps the index, or becomes it.
func openShared(ctx context.Context, o engine.Options) (shared, error) {
	w, err := attach.Open(ctx, attach.Options{Options: o})
	if err != nil {
		return shared{}, err
	}
	return shared{w}, nil
}
