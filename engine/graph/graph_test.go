package graph_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"coderag-ls/engine/graph"
)

// all is a workspace of all fixtures, each in a folder of its own.
func all(t testing.TB) map[string]string {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	texts := map[string]string{}
	for _, name := range names {
		one, _ := fixture(t, name)
		for p, s := range one {
			texts[filepath.Base(name)+"/"+p] = s
		}
	}
	return texts
}

// TestUpdate: after edits, removals, renames and edits of build files the graph is
// that of the files as they are, made from nothing, and leads to no file that is not
// there.
func TestUpdate(t *testing.T) {
	texts := all(t)
	w := newChunked(t, maps.Clone(texts))
	paths := slices.Sorted(maps.Keys(texts))
	rng := rand.New(rand.NewPCG(1, 2))
	g := w.graph()
	for n := range 150 {
		p := paths[rng.IntN(len(paths))]
		was := fmt.Sprintf("%d: %s", n, p)
		switch s, there := w.texts[p]; rng.IntN(5) {
		case 0:
			delete(w.texts, p)
			was += " removed"
		case 1:
			w.texts[p] = texts[paths[rng.IntN(len(paths))]]
			was += " replaced"
		case 2:
			w.texts[filepath.Dir(p)+"/moved"+filepath.Ext(p)] = s
			delete(w.texts, p)
			was += " moved"
		case 3:
			if there {
				w.texts[p] = s + "\n\n"
				was += " touched"
			}
		default:
			w.texts[p] = texts[p]
			was += " restored"
		}
		files := w.files()
		next := g.Update(files, w.read)
		fresh := graph.New(files, w.read)
		for _, f := range files {
			got, want := next.Edges(f.Path), fresh.Edges(f.Path)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: edges of %s\n%v, from nothing\n%v", was, f.Path, got, want)
			}
			for _, e := range got {
				if _, there := w.texts[e.To]; !there && e.To[len(e.To)-1] != '/' {
					t.Fatalf("%s: %v leads to no file", was, e)
				}
			}
			if a, b := next.Importers(f.Path), fresh.Importers(f.Path); !slices.Equal(a, b) {
				t.Fatalf("%s: importers of %s: %v, from nothing %v", was, f.Path, a, b)
			}
			if a, b := next.Centrality(f.Path), fresh.Centrality(f.Path); a != b {
				t.Fatalf("%s: centrality of %s: %v, from nothing %v", was, f.Path, a, b)
			}
		}
		if next.Update(files, w.read) != next {
			t.Fatalf("%s: nothing changed, and yet there is another graph", was)
		}
		g = next
	}
}

// TestCentrality: what much rests on is central; the mean is 1.
func TestCentrality(t *testing.T) {
	texts, _ := fixture(t, "testdata/python.txtar")
	w := newChunked(t, texts)
	g := w.graph()
	sum := 0.0
	for _, f := range w.files() {
		sum += g.Centrality(f.Path)
	}
	if mean := sum / float64(g.Len()); mean < 0.999 || mean > 1.001 {
		t.Errorf("the mean is %v", mean)
	}
	if a, b := g.Centrality("src/shop/cart.py"), g.Centrality("tests/test_cart.py"); a <= b || b <= 0 {
		t.Errorf("cart %v, its test %v", a, b)
	}
	if g.Centrality("absent.py") != 0 || g.InDegree("absent.py") != 0 {
		t.Error("an unknown file counts")
	}
	if n := g.InDegree("src/shop/cart.py"); n != 4 {
		t.Errorf("cart.py is imported by %d files", n)
	}
}

// TestEmpty: a workspace without files has a graph.
func TestEmpty(t *testing.T) {
	g := graph.New(nil, nil)
	if g.Len() != 0 || g.Edges("x") != nil || g.Importers("x") != nil || g.Targets("x", 0) != nil {
		t.Error("there is something")
	}
	if r := g.Around(t.Context(), &lookup{}, []graph.Place{{Path: "x", StartLine: 1, EndLine: 2}}); len(r) != 0 {
		t.Errorf("related: %v", r)
	}
	w := newChunked(t, all(t))
	if g.Update(w.files(), w.read).Len() == 0 {
		t.Error("files that came are not there")
	}
}
