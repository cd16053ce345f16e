package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// asked searches and fails the test where that fails.
func asked(t testing.TB, v *engine.View, p wire.SearchParams) wire.SearchResult {
	t.Helper()
	res, err := v.Search(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// again searches for what was searched for before until that comes from the
// cache: an index that is tidied up meanwhile is another one, once or twice.
func again(t testing.TB, v *engine.View, p wire.SearchParams) wire.SearchResult {
	t.Helper()
	for range 20 {
		if res := asked(t, v, p); res.Metrics.CacheHit {
			return res
		}
	}
	t.Fatal("the same question is searched again each time")
	return wire.SearchResult{}
}

func counted(t testing.TB, v *engine.View) wire.Status {
	t.Helper()
	st, err := v.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestC13RepeatedQuestions: what is asked again is answered from the cache, with
// the same hits, by whichever client and however it is asked; unsaved buffers
// that nobody types in do not keep it from that.
func TestC13RepeatedQuestions(t *testing.T) {
	dir := fill(t)
	e := open(t, settings(t), dir)
	defer e.Close()
	first, second := e.NewView(), e.NewView()
	defer first.Close()
	defer second.Close()
	upToDate(t, first)
	var buffers []file.Change
	for i := range 3 {
		buffers = append(buffers, file.Change{
			Path: filepath.Join(dir, "pkg1", fmt.Sprintf("f%d.go", i*5+1)), Kind: file.Opened,
			Text: fmt.Sprintf("package pkg\n\n// Buffered%d handles what is not saved.\nfunc Buffered%d() {}\n", i, i),
		})
	}
	if err := second.Apply(t.Context(), "open", buffers); err != nil {
		t.Fatal(err)
	}
	before := map[string]wire.SearchResult{}
	hits, all := 0, 0
	for round := range 12 {
		for client, v := range []*engine.View{first, second} {
			for i := range 8 {
				q := fmt.Sprintf("which function handles item %d of the list", i)
				res := asked(t, v, wire.SearchParams{Query: q})
				key := fmt.Sprint(client, q)
				if was, before := before[key]; before && !reflect.DeepEqual(was.Hits, res.Hits) {
					t.Fatalf("round %d, %q: the hits are others", round, q)
				}
				before[key] = res
				if all++; res.Metrics.CacheHit {
					hits++
				}
			}
		}
		runtime.GC() // views make their snapshots again
		runtime.GC()
	}
	if rate := float64(hits) / float64(all); rate <= 0.7 {
		t.Errorf("%d of %d questions were answered from the cache", hits, all)
	}
	if n := counted(t, first).Counters; n.SearchCacheHits != int64(hits) || n.SearchCacheMisses != int64(all-hits) {
		t.Errorf("of %d, %d hits, the status counts %+v", all, hits, n)
	}
	again(t, first, wire.SearchParams{Query: "which function handles item 3 of the list"})
	a, err := first.Ask(t.Context(), wire.AskParams{SearchParams: wire.SearchParams{Query: "which function handles item 3 of the list"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Metrics.CacheHit || len(a.Citations) == 0 {
		t.Errorf("an answer to what was searched for before: cache hit %v, citations %d", a.Metrics.CacheHit, len(a.Citations))
	}
}

// TestC13NothingStale: whatever changes a result is another question, and lines
// are read anew even where the index has not heard of an edit yet.
func TestC13NothingStale(t *testing.T) {
	dir := fill(t)
	path := filepath.Join(dir, "pkg3", "f3.go")
	s := settings(t)
	e := open(t, s, dir)
	defer e.Close()
	v, other := e.NewView(), e.NewView()
	defer v.Close()
	defer other.Close()
	upToDate(t, v)
	p := wire.SearchParams{Query: "Work3"}
	warm := func() {
		t.Helper()
		asked(t, v, p)
		again(t, v, p)
	}
	missed := func(name string, res wire.SearchResult) {
		t.Helper()
		if res.Metrics.CacheHit {
			t.Errorf("%s: the result is an earlier one's", name)
		}
	}
	warm()
	for name, q := range map[string]wire.SearchParams{
		"topK":     {Query: "Work3", TopK: 11},
		"filters":  {Query: "Work3", Filters: wire.Filters{Languages: []string{"Go"}}},
		"document": {Query: "Work3", Document: &wire.Document{URI: "file://" + filepath.ToSlash(path)}},
		"question": {Query: "work3"},
	} {
		missed(name, asked(t, v, q))
	}
	if _, err := v.Ask(t.Context(), wire.AskParams{SearchParams: p, History: []wire.Turn{{Query: "Work4"}}}, nil); err != nil {
		t.Fatal(err)
	}
	mine := s
	mine.Search.BM25Weight = 2
	v.SetSettings(mine)
	missed("settings", asked(t, v, p))
	v.SetSettings(s)
	warm()

	edit := file.Change{Path: path, Kind: file.Opened, Text: "package pkg\n\n// Work3 was rewritten.\nfunc Work3() int { return 33 }\n"}
	if err := v.Apply(t.Context(), "typing", []file.Change{edit}); err != nil {
		t.Fatal(err)
	}
	res := asked(t, v, p)
	missed("typing", res)
	if !has(res, "return 33") || has(res, "return 3 ") {
		t.Errorf("typing: %+v", res.Hits)
	}
	if res := again(t, other, p); has(res, "return 33") {
		t.Errorf("what one client types is another's: %+v", res.Hits)
	}
	edit.Kind = file.Closed
	if err := v.Apply(t.Context(), "close", []file.Change{edit}); err != nil {
		t.Fatal(err)
	}
	upToDate(t, v)
	if res := asked(t, v, p); !has(res, "return 3 ") || has(res, "return 33") {
		t.Errorf("closed: %+v", res.Hits)
	}
	warm()

	write(t, path, "package pkg\n\n\n// Work3 handles item 3 of the list.\nfunc Work3() int { return 3 }\n\nfunc More() {}\n")
	for _, h := range asked(t, v, p).Hits { // perhaps from the cache: the engine was not told
		lines, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(h.Path)))
		if err != nil {
			t.Fatal(err)
		}
		if got := linesOf(string(lines), h.StartLine, h.EndLine); got != h.Text {
			t.Errorf("%s:%d-%d is %q, not %q", h.Path, h.StartLine, h.EndLine, got, h.Text)
		}
	}
	write(t, path, "package pkg\n\n// Work3 was replaced.\nfunc Work3() int { return 333 }\n")
	if err := e.Touch(t.Context(), "test", []string{path}, false); err != nil {
		t.Fatal(err)
	}
	upToDate(t, v)
	res = asked(t, v, p)
	missed("disk", res)
	if !has(res, "return 333") {
		t.Errorf("disk: %+v", res.Hits)
	}
}

func linesOf(text string, start, end int) string {
	lines := strings.Split(text, "\n")
	if start < 1 || end > len(lines) {
		return "(no such lines)"
	}
	return strings.Join(lines[start-1:end], "\n")
}

// TestC13SemanticCache: off unless set; then the same question in other words
// is answered from the cache, and one that names something else is not.
func TestC13SemanticCache(t *testing.T) {
	dir := fill(t)
	for _, on := range []bool{false, true} {
		s := settings(t)
		s.Search.SemanticCache = on
		e := open(t, s, dir)
		v := e.NewView()
		upToDate(t, v)
		again(t, v, wire.SearchParams{Query: "which function handles an item of the list"})
		res := asked(t, v, wire.SearchParams{Query: "Which function handles an item of the list?"})
		if res.Metrics.CacheHit != on {
			t.Errorf("set to %v: cache hit %v", on, res.Metrics.CacheHit)
		}
		if asked(t, v, wire.SearchParams{Query: "which function handles an error of the list"}).Metrics.CacheHit {
			t.Errorf("set to %v: something else is taken for the same", on)
		}
		asked(t, v, wire.SearchParams{Query: "what does Work11 do in the list"})
		if res := asked(t, v, wire.SearchParams{Query: "what does Work12 do in the list"}); res.Metrics.CacheHit || !has(res, "Work12") {
			t.Errorf("set to %v: another function's result: %+v", on, res.Hits)
		}
		if n := counted(t, v).Counters.SearchCacheSemanticHits; (n == 1) != on {
			t.Errorf("set to %v: %d semantic hits are counted", on, n)
		}
		v.Close()
		e.Close()
	}
}

// TestC13Off: no result is kept where the setting says so, and where memory is
// at its limit what was kept goes.
func TestC13Off(t *testing.T) {
	dir := fill(t)
	s := settings(t)
	e := open(t, s, dir)
	defer e.Close()
	v := e.NewView()
	defer v.Close()
	upToDate(t, v)
	p := wire.SearchParams{Query: "Work5"}
	asked(t, v, p)
	limit := func(change func(s *config.Settings)) {
		t.Helper()
		s := s
		change(&s)
		if err := e.SetSettings(context.WithoutCancel(t.Context()), s); err != nil {
			t.Fatal(err)
		}
	}
	limit(func(s *config.Settings) { s.Index.MemoryLimit = 1 })
	if asked(t, v, p).Metrics.CacheHit {
		t.Error("what was kept is there although memory is at its limit")
	}
	limit(func(*config.Settings) {})
	again(t, v, p)
	limit(func(s *config.Settings) { s.Search.CacheSize = 0 })
	asked(t, v, p)
	if asked(t, v, p).Metrics.CacheHit {
		t.Error("results are kept although that is off")
	}
}

// TestC15Status: the status tells how many requests there were, how long their
// stages took, how many candidates they had and what they scored.
func TestC15Status(t *testing.T) {
	e := open(t, settings(t), fill(t))
	defer e.Close()
	v := e.NewView()
	defer v.Close()
	upToDate(t, v)
	ctx := t.Context()
	for i := range 300 {
		asked(t, v, wire.SearchParams{Query: fmt.Sprintf("Work%d", i%40)})
	}
	q := wire.AskParams{SearchParams: wire.SearchParams{Query: "what does Work7 do"}}
	if _, err := v.Ask(ctx, q, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Context(ctx, q); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Explain(ctx, "Work7", wire.Document{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Search(ctx, wire.SearchParams{}); err == nil {
		t.Fatal("an empty question is answered")
	}
	r := counted(t, v).Requests
	if want := map[string]int64{"search": 300, "ask": 1, "context": 1, "explain": 1}; !reflect.DeepEqual(r.Methods, want) || r.Failed != 0 {
		t.Errorf("counts %v, failed %d", r.Methods, r.Failed)
	}
	for _, stage := range []string{"total", "analysis", "search", "search.lists", "search.rank", "read", "cache", "answer", "pack"} {
		if d := r.Stages[stage]; d.Count < 1 || d.P50 < 0 || d.P95 < d.P50 {
			t.Errorf("stage %s: %+v", stage, d)
		}
	}
	if d := r.Stages["total"]; d.Count != 256 || d.P50 <= 0 {
		t.Errorf("the last requests took %+v", d)
	}
	if c := r.Candidates; c["lexical"].P50 < 1 || c["fused"].P95 < c["lexical"].P50 {
		t.Errorf("candidates %+v", c)
	}
	if top := r.Scores["top"]; top.P50 <= 0 || top.P95 > 1 {
		t.Errorf("scores %+v", r.Scores)
	}
}

// TestC13Rules: whether a buffer counts is for the ignore rules to say, as they
// are now; nothing found under other rules is given.
func TestC13Rules(t *testing.T) {
	dir := fill(t)
	ignore := filepath.Join(dir, ".git", "info", "exclude") // no file of the workspace: the index stays as it is
	write(t, ignore, "*.plan\n")
	e := open(t, settings(t), dir)
	defer e.Close()
	v := e.NewView()
	defer v.Close()
	upToDate(t, v)
	var open []file.Change
	for _, name := range []string{"a.plan", "b.txt"} {
		open = append(open, file.Change{Path: filepath.Join(dir, name), Kind: file.Opened, Text: "The wombats move north in " + name + ".\n"})
	}
	if err := v.Apply(t.Context(), "open", open); err != nil {
		t.Fatal(err)
	}
	p := wire.SearchParams{Query: "wombats move north"}
	for _, hidden := range []bool{true, false, true} {
		rules := ""
		if hidden {
			rules = "*.plan\n"
		}
		write(t, ignore, rules)
		if err := e.Touch(t.Context(), "test", nil, true); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Sync(t.Context(), wire.SyncParams{Scan: true}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if res := asked(t, v, p); has(res, "a.plan") == hidden || !has(res, "b.txt") {
				t.Errorf("ignored: %v, cache hit: %v, hits %+v", hidden, res.Metrics.CacheHit, res.Hits)
			}
		}
	}
}
