package index_test

import (
	"path/filepath"
	"testing"

	"coderag-ls/engine/index"
)

// An index that is kept inside the folder that it is of is not a part of it,
// whatever its directory is called; directories of the same name are.
func TestIndexInsideItsFolder(t *testing.T) {
	for _, name := range []string{".", "made/here", "odd [a-z]{x,y}*?"} {
		w := newWorkspace(t, map[string]string{"a.go": "package a\n", "sub/v1/b.go": "package v1\n"})
		w.cache = filepath.Join(w.dir, name)
		ix := w.open()
		sync(t, ix, true)
		if s := ix.Snapshot(); s.FileCount() != 2 || s.File("sub/v1/b.go") == nil {
			t.Errorf("%s: indexed %q", name, content(s))
		}
		for _, f := range ix.Status(ix.Snapshot()).SkippedFiles {
			if f.Reason != "excluded" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		closeIndex(t, ix)
		plan, err := index.Plan(t.Context(), w.options(w.cache))
		if err != nil || plan.Files != 2 {
			t.Errorf("%s: plan %+v, %v", name, plan, err)
		}
	}
}
