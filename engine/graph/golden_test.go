package graph_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// fixture reads a workspace of testdata; its file "want" is apart.
func fixture(t testing.TB, name string) (texts map[string]string, want string) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	for _, f := range a.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		texts[f.Name] = string(f.Data)
	}
	return texts, want
}

// TestGolden resolves small workspaces, with at least one of each language.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			texts, want := fixture(t, name)
			w := newChunked(t, texts)
			if got := edgesOf(w); got != want {
				t.Errorf("edges:\n%s", diff(want, got))
			}
		})
	}
}

// edgesOf lists all kept edges in order.
func edgesOf(w *chunked) string {
	g := w.graph()
	var all []string
	for _, f := range w.files() {
		for _, e := range g.Edges(f.Path) {
			all = append(all, fmt.Sprintf("%s %s %s\n", e.From, e.Kind, e.To))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// diff shows the lines that only one of two texts has.
func diff(want, got string) string {
	w, g := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	var b strings.Builder
	for _, l := range w {
		if !slices.Contains(g, l) {
			b.WriteString("lacks " + l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			b.WriteString("has   " + l)
		}
	}
	return b.String()
}
