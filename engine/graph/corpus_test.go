package graph_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"coderag-ls/engine/graph"
)

// TestCorpus resolves the imports of the folders that CODERAG_GRAPH_CORPUS
// names, separated as in PATH, and reports how many lead to files of the same
// folder. With CODERAG_GRAPH_SAMPLE it shows some of both kinds.
func TestCorpus(t *testing.T) {
	for _, dir := range filepath.SplitList(os.Getenv("CODERAG_GRAPH_CORPUS")) {
		w := newChunked(t, readTree(t, dir))
		files := w.files()
		at := time.Now()
		g := graph.New(files, w.read)
		made := time.Since(at)
		total, resolved, tests, tested := map[string]int{}, map[string]int{}, 0, 0
		for _, f := range files {
			n := len(f.Imports)
			total[f.Language] += n
			for k := range f.Imports {
				if len(g.Targets(f.Path, k)) > 0 {
					resolved[f.Language]++
				}
			}
			edges := g.Edges(f.Path)
			for _, e := range edges {
				if e.From != f.Path || e.To == f.Path {
					t.Errorf("%+v", e)
				}
			}
			if f.Test && n > 0 {
				tests++
				if slices.ContainsFunc(edges, func(e graph.Edge) bool { return e.Kind == graph.TestFor }) {
					tested++
				}
			}
		}
		t.Logf("%s: %d files in %v; %d of %d tests have a subject", filepath.Base(dir), len(files), made, tested, tests)
		for l, n := range total {
			if n > 0 {
				t.Logf("    %-12s %5d imports, %5d resolved", l, n, resolved[l])
			}
		}
		if os.Getenv("CODERAG_GRAPH_SAMPLE") == "" {
			continue
		}
		for i := 0; i < len(files); i += max(1, len(files)/60) {
			f := &files[i]
			for k := range f.Imports {
				if k%3 == 0 {
					t.Logf("  %s:%d %q %q -> %v", f.Path, f.Imports[k].Line, f.Imports[k].Target, f.Imports[k].Names, g.Targets(f.Path, k))
				}
			}
		}
	}
}
