package graph_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/graph"
)

// lookup answers the graph from files without an index: each symbol's lines are
// a chunk.
type lookup struct {
	files []graph.File
	texts map[string]string
}

func (l *lookup) Definitions(name string) []graph.Definition {
	var out []graph.Definition
	for i := range l.files {
		for k := range l.files[i].Symbols {
			if s := &l.files[i].Symbols[k]; s.Name == name {
				out = append(out, graph.Definition{Path: l.files[i].Path, Symbol: s})
			}
		}
	}
	return out
}

func (l *lookup) Mentions(name string, n int) []graph.Mention {
	var out []graph.Mention
	for i := range l.files {
		lines := strings.Split(l.texts[l.files[i].Path], "\n")
		for _, s := range l.files[i].Symbols {
			words := strings.FieldsFunc(strings.Join(lines[s.StartLine-1:min(s.EndLine, len(lines))], "\n"), func(r rune) bool {
				return r != '_' && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z') && !(r >= '0' && r <= '9')
			})
			if len(out) < n && slices.Contains(words, name) {
				out = append(out, graph.Mention{Path: l.files[i].Path, StartLine: s.StartLine, EndLine: s.EndLine})
			}
		}
	}
	return out
}

func (l *lookup) Symbols(path string) []chunk.Symbol {
	for i := range l.files {
		if l.files[i].Path == path {
			return l.files[i].Symbols
		}
	}
	return nil
}

func (l *lookup) Text(_ context.Context, path string) (string, bool) {
	s, ok := l.texts[path]
	return s, ok
}

// around walks from the lines of a file.
func around(t *testing.T, texts map[string]string, path string, start, end int) []graph.Related {
	t.Helper()
	w := newChunked(t, texts)
	files := w.files()
	return w.graph().Around(t.Context(), &lookup{files, texts}, []graph.Place{{Path: path, StartLine: start, EndLine: end}})
}

// check compares relations with "kind path" or "kind path:line", without order.
func check(t *testing.T, got []graph.Related, want ...string) {
	t.Helper()
	for _, w := range want {
		kind, path, _ := strings.Cut(w, " ")
		i := slices.IndexFunc(got, func(r graph.Related) bool { return r.Path == path })
		if i < 0 {
			t.Errorf("%s is not related", path)
		} else if string(got[i].Kind) != kind && string(got[i].Also) != kind {
			t.Errorf("%s is %s (%s), want %s", path, got[i].Kind, got[i].Also, kind)
		}
	}
	for _, r := range got {
		if !slices.ContainsFunc(want, func(w string) bool { return strings.HasSuffix(w, " "+r.Path) }) {
			t.Errorf("%s %s is too much", r.Kind, r.Path)
		}
	}
}

func TestC8Calls(t *testing.T) {
	texts := map[string]string{
		"shop/cart.py":    "from shop.prices import lookup\n\n\ndef total(items):\n    # send_mail(items) is not called\n    return sum(lookup(i) for i in items) + unrelated_name\n",
		"shop/prices.py":  "def lookup(i):\n    return 1\n",
		"shop/mail.py":    "def send_mail(x):\n    pass\n",
		"shop/order.py":   "from shop.cart import total\n\n\ndef order(items):\n    return total(items)\n",
		"shop/report.py":  "from shop.cart import total\n\n__all__ = ['total']\n",
		"other/prices.py": "def lookup(i):\n    return 2\n\n\ndef total(x):\n    return x\n",
		"other/sum.py":    "def run(total):\n    return total(1)\n",
	}
	check(t, around(t, texts, "shop/cart.py", 4, 6), "calls shop/prices.py", "called_by shop/order.py", "imported_by shop/report.py", "sibling_file shop/mail.py")
	// In a package nothing is imported.
	texts = map[string]string{
		"go.mod":    "module m\n",
		"a/a.go":    "package a\n\nfunc Run() int { return helper() }\n",
		"a/b.go":    "package a\n\nfunc helper() int { return 1 }\n",
		"b/b.go":    "package b\n\nfunc helper() int { return 2 }\n",
		"c/main.go": "package main\n\nimport \"m/a\"\n\nfunc main() { a.Run() }\n",
	}
	got := around(t, texts, "a/a.go", 3, 3)
	check(t, got, "calls a/b.go", "called_by c/main.go")
	for _, r := range got {
		if r.Path == "a/b.go" && (r.StartLine != 3 || r.EndLine != 3) {
			t.Errorf("the called lines are %d-%d", r.StartLine, r.EndLine)
		}
	}
}

func TestC8Implements(t *testing.T) {
	for name, c := range map[string]struct {
		texts map[string]string
		path  string
		want  []string
	}{
		"go interface": {map[string]string{
			"go.mod":      "module m\n",
			"s/store.go":  "package s\n\ntype Store interface {\n\tGetter\n\tPut(k string)\n}\n\ntype Getter interface {\n\tGet(k string) string\n}\n",
			"mem/mem.go":  "package mem\n\ntype Mem struct{}\n\nfunc (m *Mem) Get(k string) string { return k }\n\nfunc (m *Mem) Put(k string) {}\n",
			"half/h.go":   "package half\n\ntype Half struct{}\n\nfunc (h Half) Get(k string) string { return k }\n",
			"mem/more.go": "package mem\n",
		}, "s/store.go", []string{"implemented_by mem/mem.go", "implemented_by half/h.go"}}, // half has all of Getter
		"go type": {map[string]string{
			"go.mod":     "module m\n",
			"s/store.go": "package s\n\ntype Store interface {\n\tGet(k string) string\n}\n",
			"s/big.go":   "package s\n\ntype Big interface {\n\tGet(k string) string\n\tNever()\n}\n",
			"mem/mem.go": "package mem\n\ntype Mem struct{}\n\nfunc (m *Mem) Get(k string) string { return k }\n",
		}, "mem/mem.go", []string{"interface_of s/store.go"}},
		"java": {map[string]string{
			"src/a/Shape.java":  "package a;\npublic interface Shape {\n  double area();\n}\n",
			"src/a/Circle.java": "package a;\npublic class Circle extends Round<Integer> implements Shape, Comparable<Circle> {\n}\n",
			"src/a/Round.java":  "package a;\nabstract class Round<T> {\n}\n",
			"src/b/Square.java": "package b;\nimport a.Shape;\nclass Square implements Shape {\n}\n",
		}, "src/a/Shape.java", []string{"implemented_by src/a/Circle.java", "implemented_by src/b/Square.java", "sibling_file src/a/Round.java"}},
		"python": {map[string]string{
			"a/base.py":  "class Base:\n    pass\n",
			"a/child.py": "from a.base import Base\n\n\nclass Child(Base, metaclass=Meta):\n    pass\n",
		}, "a/child.py", []string{"interface_of a/base.py"}},
		"typescript": {map[string]string{
			"a/store.ts": "export interface Store<T> {\n  get(): T\n}\n",
			"a/mem.ts":   "import { Store } from './store'\nexport class Mem<T extends object> implements Store<T> {\n  get() { return 1 }\n}\n",
		}, "a/store.ts", []string{"implemented_by a/mem.ts"}},
		"rust": {map[string]string{
			"Cargo.toml":   "[package]\nname = \"m\"\n",
			"src/lib.rs":   "pub mod store;\npub mod mem;\n",
			"src/store.rs": "pub trait Store {\n    fn get(&self);\n}\n",
			"src/mem.rs":   "use crate::store::Store;\npub struct Mem;\nimpl<T> Store for Mem<T> {\n    fn get(&self) {}\n}\n",
		}, "src/mem.rs", []string{"interface_of src/store.rs", "imported_by src/lib.rs"}},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, around(t, c.texts, c.path, 1, strings.Count(c.texts[c.path], "\n")), c.want...)
		})
	}
}

// TestC8Walk: of everything around everything at most ten files are told, of each
// kind a few, nearest first, the same ones each time, none twice, no primary one.
func TestC8Walk(t *testing.T) {
	texts := all(t)
	for i := range 30 { // one that much else imports
		texts["hub/use"+string(rune('a'+i%26))+strings.Repeat("x", i/26)+".py"] = "from hub.core import run\n\n\ndef use():\n    return run()\n"
	}
	texts["hub/core.py"] = "def run():\n    return 1\n"
	w := newChunked(t, texts)
	files := w.files()
	g, src := w.graph(), &lookup{files, texts}
	seconds := 0
	for i := range files {
		primary := []graph.Place{{Path: files[i].Path, StartLine: 1, EndLine: 30}, {Path: files[(i*7+3)%len(files)].Path, StartLine: 1, EndLine: 9}}
		got := g.Around(t.Context(), src, primary)
		if again := g.Around(t.Context(), src, primary); !slices.EqualFunc(got, again, func(a, b graph.Related) bool {
			return a.Path == b.Path && a.Kind == b.Kind && a.From == b.From && a.StartLine == b.StartLine
		}) {
			t.Fatalf("%v: %v, then %v", primary, got, again)
		}
		if len(got) > graph.MaxRelated {
			t.Fatalf("%v: %d files", primary, len(got))
		}
		seen, kinds, last := map[string]bool{primary[0].Path: true, primary[1].Path: true}, map[graph.Kind]int{}, 0
		for _, r := range got {
			if seen[r.Path] || texts[r.Path] == "" {
				t.Fatalf("%v: %s twice, primary or not there", primary, r.Path)
			}
			if kinds[r.Kind]++; kinds[r.Kind] > 4 {
				t.Fatalf("%v: %d times %s", primary, kinds[r.Kind], r.Kind)
			}
			if r.Distance < max(1, last) || r.Distance > 2 {
				t.Fatalf("%v: distance %d after %d", primary, r.Distance, last)
			}
			if last = r.Distance; last == 2 && r.Kind != graph.Sibling {
				seconds++
			}
			for _, e := range r.Edges() {
				if e.From != r.Path && e.To != r.Path || e.From != r.From && e.To != r.From || e.From == e.To {
					t.Fatalf("%v: edge %v of %+v", primary, e, r)
				}
			}
			seen[r.Path] = true
		}
	}
	if seconds == 0 {
		t.Error("no second step was taken")
	}
	hub := []graph.Place{{Path: "hub/core.py", StartLine: 1, EndLine: 2}}
	if got := g.AroundWithin(t.Context(), src, hub, graph.Limits{Related: 2, Depth: 2}); len(got) != 2 {
		t.Errorf("%d related files, want 2", len(got))
	}
	if got := g.AroundWithin(t.Context(), src, hub, graph.Limits{Depth: 2}); len(got) != 0 {
		t.Errorf("%d related files, want none", len(got))
	}
	for i := range files {
		for _, r := range g.AroundWithin(t.Context(), src, []graph.Place{{Path: files[i].Path, StartLine: 1, EndLine: 30}}, graph.Limits{Related: 10, Depth: 1}) {
			if r.Distance != 1 {
				t.Errorf("%+v is beyond one step", r)
			}
		}
	}
	// A cancelled walk ends.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Around(ctx, src, []graph.Place{{Path: "hub/core.py", StartLine: 1, EndLine: 2}})
}

// TestTestsOfAHub: what tests a file stands before what merely imports it.
func TestTestsOfAHub(t *testing.T) {
	texts := map[string]string{
		"src/text.ts":            "export function trim(s: string) { return s }\n",
		"src/text.spec.ts":       "import { trim } from './text'\ntest('trim', () => { trim('') })\n",
		"src/a.ts":               "import { trim } from './text'\nexport function a() { return trim('') }\n",
		"test/integration.ts":    "import { trim } from '../src/text'\nexport function all() { return trim('') }\n",
		"src/__tests__/other.ts": "export const x = 1\n",
	}
	check(t, around(t, texts, "src/text.ts", 1, 1), "test_for src/text.spec.ts", "test_for test/integration.ts", "called_by src/a.ts")
}
