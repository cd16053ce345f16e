package sharedindextest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

// in is the scope of the test's repository.
func (s *suite) in() sharedindex.Scope {
	return sharedindex.Scope{Repositories: []string{s.repository}}
}

// wordDocument is a document of one chunk with these words in a field.
func wordDocument(path string, field lexical.Field, words ...string) sharedindex.Document {
	d := Document(path, 1, 1)
	d.Words[0] = sharedindex.Words{}
	d.Words[0][field] = words
	return d
}

// words: words are found as a whole, in every field, the rarer first.
func (s *suite) words() {
	var docs []sharedindex.Document
	for i := range 12 {
		docs = append(docs, wordDocument(fmt.Sprintf("common%02d.go", i), lexical.Body, "common", "filler", "filler"))
	}
	docs = append(docs,
		wordDocument("both.go", lexical.Body, "common", "rare", "filler"),
		wordDocument("exact.go", lexical.Body, "=sendstaticfile", "send", "static", "file", "filler", "="+"größe"),
		wordDocument("parts.go", lexical.Body, "send", "filler", "prefixed"),
		wordDocument("twice.go", lexical.Body, "twice", "twice", "twice", "the", "and"),
	)
	for f := range lexical.NumFields {
		docs = append(docs, wordDocument(fmt.Sprintf("field-%s.go", f), f, "everywhere", "in"+f.String()))
	}
	s.write(s.b, s.repository, "c1", docs)

	ask := func(k int, terms ...string) []sharedindex.Found {
		s.Helper()
		var list []lexical.Term
		for i, t := range terms {
			list = append(list, lexical.Term{Text: t, Weight: 1, Group: i})
		}
		found, err := s.b.Words(s.Context(), s.in(), list, k)
		s.must(err)
		if !slices.IsSortedFunc(found, func(a, b sharedindex.Found) int {
			switch {
			case a.Score > b.Score:
				return -1
			case a.Score < b.Score:
				return 1
			}
			return 0
		}) {
			s.Errorf("%q: not the best first: %v", terms, found)
		}
		return found
	}
	paths := func(found []sharedindex.Found) []string {
		var paths []string
		for _, f := range found {
			paths = append(paths, f.Path)
		}
		return paths
	}
	if got := paths(ask(5, "common", "rare")); len(got) != 5 || got[0] != "both.go" {
		s.Errorf("common and rare: %q", got)
	}
	if got := paths(ask(100, "common")); len(got) != 13 {
		s.Errorf("common: %q", got)
	}
	if got := paths(ask(10, "=sendstaticfile")); !slices.Equal(got, []string{"exact.go"}) {
		s.Errorf("an identifier: %q", got)
	}
	if got := paths(ask(10, "=größe")); !slices.Equal(got, []string{"exact.go"}) {
		s.Errorf("an identifier of other letters: %q", got)
	}
	for f := range lexical.NumFields {
		if got := paths(ask(10, "in"+f.String())); !slices.Equal(got, []string{fmt.Sprintf("field-%s.go", f)}) {
			s.Errorf("a word in the field %s: %q", f, got)
		}
	}
	for _, terms := range [][]string{nil, {"absent"}, {"prefix"}, {"COMMON"}, {`qu"ote`, "{}", "\\"}, {""}} {
		if got := ask(10, terms...); len(got) != 0 {
			s.Errorf("%q: found %q", terms, paths(got))
		}
	}
	// Stop words of an engine are none of ours.
	if got := paths(ask(10, "the")); !slices.Equal(got, []string{"twice.go"}) {
		s.Errorf("the: %q", got)
	}
	if got := ask(0, "common"); len(got) != 0 {
		s.Errorf("none were asked for, found %v", got)
	}
}

// frequencies: what a publisher counted is told, of each repository, tenant and edition by itself.
func (s *suite) frequencies() {
	other, beta, next := s.repository+"-other", s.open("beta", 0), s.open("alpha", 1)
	s.clear(s.b, other)
	s.clear(beta, s.repository)
	s.clear(next, s.repository)
	count := func(b sharedindex.Backend, repository string, df map[string]int) {
		s.Helper()
		w, err := b.Write(s.Context(), repository)
		s.must(err)
		s.must(w.Begin(s.Context(), "c"))
		s.must(w.Count(s.Context(), df))
		s.must(w.Finish(s.Context(), sharedindex.Head{Repository: repository, Commit: "c"}))
		s.must(w.Close())
	}
	is := func(b sharedindex.Backend, repository string, want map[string]int, terms ...string) {
		s.Helper()
		got, err := b.Frequencies(s.Context(), repository, terms)
		s.must(err)
		if !maps.Equal(got, want) {
			s.Errorf("%s: of %d terms these are told: %d of them, want %d", repository, len(terms), len(got), len(want))
			for _, t := range terms {
				if got[t] != want[t] {
					s.Fatalf("%q: %d, want %d", t, got[t], want[t])
				}
			}
		}
	}
	is(s.b, s.repository, map[string]int{}, "common")
	few := map[string]int{"common": 13, "rare": 1, "=sendstaticfile": 1, "=größe": 1 << 30, `qu"ote`: 2, "a b": 3, "never": 0}
	count(s.b, s.repository, few)
	want := maps.Clone(few)
	delete(want, "never")
	asked := slices.Concat(slices.Collect(maps.Keys(few)), []string{"absent", "", "COMMON", "sendstaticfile", "{", "common"})
	is(s.b, s.repository, want, asked...)
	is(s.b, s.repository, map[string]int{"rare": 1}, "rare")
	is(s.b, s.repository, map[string]int{})
	for _, none := range []sharedindex.Backend{beta, next} {
		is(none, s.repository, map[string]int{}, asked...)
	}
	is(s.b, other, map[string]int{}, asked...)
	count(beta, s.repository, map[string]int{"common": 1})
	count(next, s.repository, map[string]int{"common": 2})
	count(s.b, other, map[string]int{"common": 3})
	is(s.b, s.repository, want, asked...)
	// Many, then other ones, and few again: each time nothing is left of what was before.
	for round, n := range []int{9000, 2500, 40000, 3} {
		df := map[string]int{}
		var terms []string
		for i := range n {
			t := fmt.Sprintf("term%d", i*(round+1))
			df[t] = i + round + 1
			terms = append(terms, t, fmt.Sprintf("none%d", i))
		}
		count(s.b, s.repository, df)
		is(s.b, s.repository, df, append(terms, asked...)...)
		again := s.open("alpha", 0) // one that remembers nothing
		is(again, s.repository, map[string]int{"term0": round + 1}, "term0", "common")
		is(again, s.repository, df, terms...)
	}
	is(beta, s.repository, map[string]int{"common": 1}, asked...)
	is(next, s.repository, map[string]int{"common": 2}, asked...)
	is(s.b, other, map[string]int{"common": 3}, asked...)
	s.must(s.b.Remove(s.Context(), s.repository))
	is(s.b, s.repository, map[string]int{}, "term0", "common")
	count(s.b, s.repository, map[string]int{"fresh": 1})
	is(s.b, s.repository, map[string]int{"fresh": 1}, "fresh", "term0")
}

// nearest: vectors are found by cosine, the nearest first, with a score that falls.
func (s *suite) nearest() {
	var docs []sharedindex.Document
	for i := range 20 {
		docs = append(docs, Document(fmt.Sprintf("f%d.go", i), 1, 5))
	}
	s.write(s.b, s.repository, "c1", docs)
	for _, i := range []int{0, 7, 19} {
		s.nearestIs(s.b, s.repository, docs[i].Record.Path, 1, i%5)
	}
	query := Row("f3.go", 1, 2)
	found, err := s.b.Nearest(s.Context(), s.in(), query, 10)
	s.must(err)
	if len(found) != 10 {
		s.Fatalf("found %d of 10", len(found))
	}
	// What is told is what is nearest, as far as an approximate index goes.
	type scored struct {
		id    sharedindex.ID
		n     int
		score float64
	}
	var all []scored
	for i := range docs {
		for n, row := range docs[i].Rows {
			var dot float64
			for j, x := range row {
				dot += float64(x) * float64(query[j])
			}
			all = append(all, scored{sharedindex.ID{Repository: s.repository, Path: docs[i].Record.Path}, n, dot})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		if a.score > b.score {
			return -1
		}
		return 1
	})
	right, last := 0, 2.0
	for _, f := range found {
		if slices.ContainsFunc(all[:10], func(a scored) bool { return a.id == f.ID && a.n == f.Ordinal }) {
			right++
		}
		if f.Score > last {
			s.Errorf("not the nearest first: %v", found)
		}
		last = f.Score
	}
	if right < 9 {
		s.Errorf("%d of the ten nearest were found", right)
	}
	if found, err := s.b.Nearest(s.Context(), s.in(), query, 0); err != nil || len(found) != 0 {
		s.Errorf("none were asked for: %v, %v", found, err)
	}
}

// scope: a search keeps to repositories and languages.
func (s *suite) scope() {
	other := s.repository + "-other"
	s.clear(s.b, other)
	code, prose := Document("a.go", 1, 2), Document("a.md", 1, 2)
	s.write(s.b, s.repository, "c1", []sharedindex.Document{code, prose})
	s.write(s.b, other, "c1", []sharedindex.Document{Document("a.go", 1, 2)})
	chunks := func(repository, path string) []sharedindex.Found {
		return []sharedindex.Found{{ID: sharedindex.ID{Repository: repository, Path: path}}, {ID: sharedindex.ID{Repository: repository, Path: path}, Ordinal: 1}}
	}
	mine, text, theirs := chunks(s.repository, "a.go"), chunks(s.repository, "a.md"), chunks(other, "a.go")
	term := []lexical.Term{{Text: lexical.Exact("settleAccounts"), Weight: 1}}
	for _, c := range []struct {
		in   sharedindex.Scope
		want []sharedindex.Found
	}{
		{s.in(), slices.Concat(mine, text)},
		{sharedindex.Scope{Repositories: []string{other}}, theirs},
		{sharedindex.Scope{Repositories: []string{other, s.repository}}, slices.Concat(mine, text, theirs)},
		{sharedindex.Scope{Repositories: []string{other, s.repository}, Languages: []string{"go"}}, slices.Concat(mine, theirs)},
		{sharedindex.Scope{Repositories: []string{s.repository}, Languages: []string{"markdown", "python"}}, text},
		{sharedindex.Scope{Repositories: []string{s.repository}, Languages: []string{"python"}}, nil},
		{sharedindex.Scope{Repositories: []string{"test.example/never-published"}}, nil},
		{sharedindex.Scope{}, nil},
	} {
		s.finds(fmt.Sprintf("words in %q", c.in), c.want, func() ([]sharedindex.Found, error) { return s.b.Words(s.Context(), c.in, term, 100) })
		s.finds(fmt.Sprintf("vectors in %q", c.in), c.want, func() ([]sharedindex.Found, error) {
			return s.b.Nearest(s.Context(), c.in, Row("a.go", 1, 0), 100)
		})
	}
}

// givenUp: whoever gives a request up gets an answer.
func (s *suite) givenUp() {
	s.write(s.b, s.repository, "c1", []sharedindex.Document{Document("a.go", 1, 1)})
	w, err := s.b.Write(s.Context(), s.repository)
	s.must(err)
	defer func() { s.must(w.Close()) }()
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Heads":    func() error { _, err := s.b.Heads(ctx); return err },
		"Manifest": func() error { return s.b.Manifest(ctx, s.repository, func(sharedindex.Entry) error { return nil }) },
		"Documents": func() error {
			_, err := s.b.Documents(ctx, []sharedindex.ID{{Repository: s.repository, Path: "a.go"}})
			return err
		},
		"Words":       func() error { _, err := s.b.Words(ctx, s.in(), []lexical.Term{Mark("a.go", 1, 0)}, 1); return err },
		"Nearest":     func() error { _, err := s.b.Nearest(ctx, s.in(), Row("a.go", 1, 0), 1); return err },
		"Frequencies": func() error { _, err := s.b.Frequencies(ctx, s.repository, []string{"x"}); return err },
		"Write":       func() error { _, err := s.b.Write(ctx, s.repository+"-other"); return err },
		"Count":       func() error { return w.Count(ctx, map[string]int{"x": 1}) },
		"Begin":       func() error { return w.Begin(ctx, "c2") },
		"Put":         func() error { return w.Put(ctx, []sharedindex.Document{Document("b.go", 1, 1)}) },
		"Delete":      func() error { return w.Delete(ctx, []string{"a.go"}) },
		"Remove":      func() error { return s.b.Remove(ctx, "test.example/none") },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			s.Errorf("%s: %v", name, err)
		}
	}
	s.holds(s.b, s.repository, Document("a.go", 1, 1))
}
