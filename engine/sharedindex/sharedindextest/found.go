package sharedindextest

import (
	"context"
	"errors"
	"fmt"
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

// words: words are found as a whole, in every field, the rarer first; frequencies count postings.
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

	df := func(want map[string]int) {
		s.Helper()
		var terms []string
		for t := range want {
			terms = append(terms, t)
		}
		s.finds(fmt.Sprint(want), nil, func() ([]sharedindex.Found, error) { // until all are counted
			got, err := s.b.Frequencies(s.Context(), []string{s.repository}, terms)
			if err != nil {
				return nil, err
			}
			var wrong []sharedindex.Found
			for t, n := range want {
				if got[t] != n {
					wrong = append(wrong, sharedindex.Found{ID: sharedindex.ID{Path: t}, Ordinal: got[t]})
				}
			}
			return wrong, nil
		})
	}
	df(map[string]int{
		"common": 13, "rare": 1, "everywhere": int(lexical.NumFields), "=sendstaticfile": 1, "sendstaticfile": 0, "send": 2, "twice": 1, "the": 1,
		"prefix": 0, "=größe": 1, "absent": 0, `qu"ote`: 0, "": 0, "{": 0, "*": 0, "COMMON": 0,
	})
	many := map[string]int{}
	for i := range 150 {
		many[fmt.Sprintf("absent%d", i)] = 0
	}
	many["rare"] = 1
	df(many)

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
		if len(c.in.Languages) > 0 {
			continue
		}
		df, err := s.b.Frequencies(s.Context(), c.in.Repositories, []string{term[0].Text})
		s.must(err)
		if df[term[0].Text] != len(c.want) {
			s.Errorf("%q occurs in %d postings of %q, want %d", term[0].Text, df[term[0].Text], c.in.Repositories, len(c.want))
		}
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
		"Frequencies": func() error { _, err := s.b.Frequencies(ctx, []string{s.repository}, []string{"x"}); return err },
		"Write":       func() error { _, err := s.b.Write(ctx, s.repository+"-other"); return err },
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
