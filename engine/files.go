package engine

import (
	"context"
	"slices"
	"strings"

	"coderag-ls/engine/file"
	"coderag-ls/engine/tree"
	"coderag-ls/engine/wire"
)

// Tree draws the indexed files as a tree that is short enough for a language
// model.
func (v *View) Tree(ctx context.Context, p wire.TreeParams) (wire.TreeResult, error) {
	omit, err := file.NewGlobs(p.Omit)
	if err != nil {
		return wire.TreeResult{}, &QueryError{Reason: err.Error()}
	}
	st, err := v.begin(ctx)
	if err != nil {
		return wire.TreeResult{}, err
	}
	var paths []string
	for _, f := range st.snap.Files() {
		if !f.Named(omit) {
			paths = append(paths, f.Path)
		}
	}
	for path := range st.ix.Covered() { // found through the shared index
		_, rest, _ := strings.Cut(path, "/")
		if st.snap.File(path) == nil && !omit.Match(path) && (rest == "" || !omit.Match(rest)) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return wire.TreeResult{Tree: tree.Build(paths, p.Tokens)}, nil
}
