package sharedindextest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
)

// wholeDocuments: what was put is read as it was put, by whoever opens the index.
func (s *suite) wholeDocuments() {
	docs := []sharedindex.Document{Document("a.go", 1, 1), Document("dir/b_test.go", 1, 4), Document("README.md", 1, 2)}
	s.holds(s.b, s.repository)
	s.write(s.b, s.repository, "c1", docs)
	s.holds(s.b, s.repository, docs...)
	s.holds(s.open("alpha", 0), s.repository, docs...)
	for i := range docs {
		s.marked(s.b, s.repository, docs[i].Record.Path, 1, len(docs[i].Record.File.Chunks), true)
	}
	s.nearestIs(s.b, s.repository, "dir/b_test.go", 1, 2)
	got, err := s.b.Documents(s.Context(), nil)
	if err != nil || len(got) != 0 {
		s.Errorf("reading nothing gives %d documents, %v", len(got), err)
	}
	stop := errors.New("stop")
	n := 0
	if err := s.b.Manifest(s.Context(), s.repository, func(sharedindex.Entry) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		s.Errorf("a manifest that is stopped goes on for %d, %v", n, err)
	}
}

// replaced: a document that shrinks or grows leaves nothing of the former one behind.
func (s *suite) replaced() {
	other := Document("other.go", 1, 3)
	last := 0
	for version, chunks := range []int{5, 2, 8, 8, 0, 1} {
		d := Document("a.go", version, chunks)
		put := []sharedindex.Document{d}
		if version == 0 {
			put = append(put, other)
		}
		s.write(s.b, s.repository, fmt.Sprint(version), put)
		s.holds(s.b, s.repository, d, other)
		s.marked(s.b, s.repository, "a.go", version, chunks, true)
		if version > 0 {
			s.marked(s.b, s.repository, "a.go", version-1, last, false)
		}
		last = chunks
	}
	s.marked(s.b, s.repository, "other.go", 1, 3, true)
}

// writtenAgain: the same may be written again, in one publication and in another.
func (s *suite) writtenAgain() {
	docs := []sharedindex.Document{Document("a.go", 1, 3), Document("b.go", 1, 2)}
	s.write(s.b, s.repository, "c1", docs)
	s.write(s.b, s.repository, "c1", append(docs, docs...))
	s.holds(s.b, s.repository, docs...)
	s.marked(s.b, s.repository, "a.go", 1, 3, true)
}

// deleted: what is deleted is gone, with its postings; deleting it again does no harm, and it can come back.
func (s *suite) deleted() {
	a, b := Document("a.go", 1, 6), Document("b.go", 1, 2)
	s.write(s.b, s.repository, "c1", []sharedindex.Document{a, b})
	s.write(s.b, s.repository, "c2", nil, "a.go", "never was.go")
	s.holds(s.b, s.repository, b)
	s.marked(s.b, s.repository, "a.go", 1, 6, false)
	s.write(s.b, s.repository, "c3", nil, "a.go")
	s.holds(s.b, s.repository, b)
	small := Document("a.go", 2, 2)
	s.write(s.b, s.repository, "c4", []sharedindex.Document{small}, "b.go")
	s.holds(s.b, s.repository, small)
	s.marked(s.b, s.repository, "a.go", 2, 2, true)
	s.marked(s.b, s.repository, "a.go", 1, 6, false)
}

// heads: a head tells what is there and what is being written; its generation
// grows.
func (s *suite) heads() {
	if h, ok := s.head(s.b, s.repository, 0); ok {
		s.Fatalf("a head of what was never published: %+v", h)
	}
	var last uint64
	check := func(commit, publishing string, files int) {
		s.Helper()
		h, ok := s.head(s.b, s.repository, 0)
		switch {
		case !ok:
			s.Fatal("no head")
		case h.Commit != commit || h.Publishing != publishing || h.Complete() != (commit != "") || h.Files != files:
			s.Errorf("head %+v, want commit %q, publishing %q, %d files", h, commit, publishing, files)
		case h.Generation <= last:
			s.Errorf("generation %d after %d", h.Generation, last)
		case h.Complete() == h.Published.IsZero():
			s.Errorf("published %v at commit %q", h.Published, h.Commit)
		}
		if h.Files != h.Chunks || h.Files > 0 && h.Terms != [lexical.NumFields]uint64{1, 2, 1 << 40} {
			s.Errorf("counted %d files, %d chunks, %v terms", h.Files, h.Chunks, h.Terms)
		}
		last = h.Generation
	}
	for n := 1; n <= 2; n++ {
		before, commit, files := "", fmt.Sprintf("c%d", n), n-1
		if n > 1 {
			before = fmt.Sprintf("c%d", n-1)
		}
		w, err := s.b.Write(s.Context(), s.repository)
		s.must(err)
		s.must(w.Begin(s.Context(), commit))
		check(before, commit, files)
		s.must(w.Put(s.Context(), []sharedindex.Document{Document("a.go", n, 1)}))
		s.must(w.Finish(s.Context(), sharedindex.Head{Repository: s.repository, Commit: commit, Files: n, Chunks: n, Terms: [lexical.NumFields]uint64{1, 2, 1 << 40}, Edition: Edition(0)}))
		check(commit, "", n)
		s.must(w.Close())
	}
}

// halfFinished: what a publisher wrote that did not come to its end is there, and the next
// one goes on with it.
func (s *suite) halfFinished() {
	a, b, c := Document("a.go", 1, 3), Document("b.go", 1, 2), Document("c.go", 1, 1)
	w, err := s.b.Write(s.Context(), s.repository)
	s.must(err)
	s.must(w.Begin(s.Context(), "c1"))
	s.must(w.Put(s.Context(), []sharedindex.Document{a, b}))
	s.must(w.Close())
	if h, ok := s.head(s.b, s.repository, 0); !ok || h.Complete() || h.Publishing != "c1" {
		s.Errorf("head %+v, %v", h, ok)
	}
	s.holds(s.b, s.repository, a, b)

	next := s.open("alpha", 0)
	a2 := Document("a.go", 2, 1)
	s.write(next, s.repository, "c2", []sharedindex.Document{a2, c}, "b.go")
	s.holds(s.b, s.repository, a2, c)
	s.marked(s.b, s.repository, "b.go", 1, 2, false)
	s.marked(s.b, s.repository, "a.go", 1, 3, false)
	if h, _ := s.head(s.b, s.repository, 0); h.Commit != "c2" || h.Publishing != "" {
		s.Errorf("head %+v", h)
	}

	// The commit before stays the complete one.
	w, err = s.b.Write(s.Context(), s.repository)
	s.must(err)
	s.must(w.Begin(s.Context(), "c3"))
	s.must(w.Delete(s.Context(), []string{"c.go"}))
	s.must(w.Close())
	if h, _ := s.head(next, s.repository, 0); h.Commit != "c2" || h.Publishing != "c3" {
		s.Errorf("head %+v", h)
	}
	s.holds(next, s.repository, a2)
}

// twoWriters: a repository has one writer, others are free.
func (s *suite) twoWriters() {
	other := s.repository + "-other"
	s.clear(s.b, other)
	w, err := s.b.Write(s.Context(), s.repository)
	s.must(err)
	s.must(w.Begin(s.Context(), "c1"))
	for name, b := range map[string]sharedindex.Backend{"the same program": s.b, "another one": s.open("alpha", 0)} {
		if second, err := b.Write(s.Context(), s.repository); !errors.Is(err, sharedindex.ErrPublishing) {
			s.Errorf("a second writer of %s: %v", name, err)
			if err == nil {
				s.must(second.Close())
			}
		}
		if err := b.Remove(s.Context(), s.repository); !errors.Is(err, sharedindex.ErrPublishing) {
			s.Errorf("%s removes what is being published: %v", name, err)
		}
	}
	s.write(s.b, other, "c1", []sharedindex.Document{Document("o.go", 1, 1)})
	a := Document("a.go", 1, 2)
	s.must(w.Put(s.Context(), []sharedindex.Document{a}))
	s.must(w.Close())
	if err := w.Put(s.Context(), []sharedindex.Document{Document("a.go", 9, 1)}); err == nil {
		s.Error("who gave the lease up still writes")
	}
	s.holds(s.b, s.repository, a)
	b := Document("b.go", 1, 1)
	s.write(s.open("alpha", 0), s.repository, "c2", []sharedindex.Document{b})
	s.holds(s.b, s.repository, a, b)

	// Of many that begin at the same time, one does.
	var got atomic.Int32
	var fns []func()
	var mu sync.Mutex
	var open []sharedindex.Writer
	for range 4 {
		b := s.open("alpha", 0)
		fns = append(fns, func() {
			w, err := b.Write(s.Context(), s.repository)
			switch {
			case err == nil:
				got.Add(1)
				mu.Lock()
				open = append(open, w)
				mu.Unlock()
			case !errors.Is(err, sharedindex.ErrPublishing):
				s.Error(err)
			}
		})
	}
	atOnce(fns...)
	if got.Load() > 1 {
		s.Errorf("%d writers of one repository", got.Load())
	}
	for _, w := range open {
		s.must(w.Close())
	}
}

// tenants: what one tenant publishes no other one sees, finds, counts or
// removes.
func (s *suite) tenants() {
	beta := s.open("beta", 0)
	s.clear(beta, s.repository)
	mine, theirs := Document("a.go", 1, 3), Document("a.go", 2, 2)
	only := Document("only.go", 1, 2)
	s.write(s.b, s.repository, "c1", []sharedindex.Document{mine, only})
	s.holds(beta, s.repository)
	s.marked(beta, s.repository, "a.go", 1, 3, false)
	if h, ok := s.head(beta, s.repository, 0); ok {
		s.Errorf("another tenant's head %+v", h)
	}
	if found, err := beta.Nearest(s.Context(), sharedindex.Scope{Repositories: []string{s.repository}}, Row("a.go", 1, 0), 10); err != nil || len(found) > 0 {
		s.Errorf("another tenant finds %v, %v", found, err)
	}
	s.write(beta, s.repository, "c2", []sharedindex.Document{theirs})
	s.holds(beta, s.repository, theirs)
	s.holds(s.b, s.repository, mine, only)
	s.marked(s.b, s.repository, "a.go", 1, 3, true)
	s.marked(s.b, s.repository, "a.go", 2, 2, false)
	s.must(beta.Remove(s.Context(), s.repository))
	s.holds(beta, s.repository)
	s.holds(s.b, s.repository, mine, only)
}

// editions: documents of two editions stand side by side; every head is told to
// readers of either.
func (s *suite) editions() {
	next := s.open("alpha", 1)
	s.clear(next, s.repository)
	old, fresh := Document("a.go", 1, 3), Document("a.go", 2, 2)
	s.write(s.b, s.repository, "c1", []sharedindex.Document{old})
	s.holds(next, s.repository)
	s.marked(next, s.repository, "a.go", 1, 3, false)
	s.write(next, s.repository, "c2", []sharedindex.Document{fresh})
	for _, b := range []sharedindex.Backend{s.b, next} {
		for edition, commit := range []string{"c1", "c2"} {
			if h, ok := s.head(b, s.repository, edition); !ok || h.Commit != commit {
				s.Errorf("head of edition %d: %+v, %v", edition, h, ok)
			}
		}
	}
	s.holds(s.b, s.repository, old)
	s.holds(next, s.repository, fresh)
	s.marked(s.b, s.repository, "a.go", 2, 2, false)
	s.must(s.b.Remove(s.Context(), s.repository))
	s.holds(s.b, s.repository)
	s.holds(next, s.repository, fresh)
	if _, ok := s.head(next, s.repository, 0); ok {
		s.Error("the head of a removed edition is there")
	}
}

// removed: of a removed repository nothing is left; it can be published again, under generations
// that it did not have before.
func (s *suite) removed() {
	other := s.repository + "-other"
	s.clear(s.b, other)
	if err := s.b.Remove(s.Context(), s.repository); !errors.Is(err, sharedindex.ErrNoRepository) {
		s.Errorf("removing what is not there: %v", err)
	}
	a, o := Document("a.go", 1, 7), Document("a.go", 3, 2)
	s.write(s.b, s.repository, "c1", []sharedindex.Document{a, Document("b.go", 1, 1)})
	s.write(s.b, other, "c1", []sharedindex.Document{o})
	before, _ := s.head(s.b, s.repository, 0)
	s.must(s.b.Remove(s.Context(), s.repository))
	s.holds(s.b, s.repository)
	s.marked(s.b, s.repository, "a.go", 1, 7, false)
	if h, ok := s.head(s.b, s.repository, 0); ok {
		s.Errorf("the head is there: %+v", h)
	}
	s.holds(s.b, other, o)
	s.marked(s.b, other, "a.go", 3, 2, true)
	again := Document("a.go", 2, 2)
	s.write(s.b, s.repository, "c1", []sharedindex.Document{again})
	s.holds(s.b, s.repository, again)
	if h, _ := s.head(s.b, s.repository, 0); h.Generation == before.Generation {
		s.Errorf("two publications have the generation %d: readers keep what is gone", h.Generation)
	}
	// Of half a publication, too.
	s.must(s.b.Remove(s.Context(), s.repository))
	w, err := s.b.Write(s.Context(), s.repository)
	s.must(err)
	s.must(w.Begin(s.Context(), "c9"))
	s.must(w.Put(s.Context(), []sharedindex.Document{a}))
	s.must(w.Close())
	s.must(s.b.Remove(s.Context(), s.repository))
	s.holds(s.b, s.repository)
	s.marked(s.b, s.repository, "a.go", 1, 7, false)
}

// readersWhileWriting: who reads while a document is replaced sees one version of
// it, wholly.
func (s *suite) readersWhileWriting() {
	const versions = 12
	make := func(v int) sharedindex.Document { return Document("a.go", v, 1+v*3%7) }
	s.write(s.b, s.repository, "c0", []sharedindex.Document{make(0)})
	want := map[string]sharedindex.Document{}
	for v := range versions {
		d := make(v)
		want[d.Commit] = d
	}
	id := sharedindex.ID{Repository: s.repository, Path: "a.go"}
	done := s.background(3, func(ctx context.Context, b sharedindex.Backend) error {
		got, err := b.Documents(ctx, []sharedindex.ID{id})
		if err != nil {
			return err
		}
		d, ok := got[id]
		if !ok {
			return errors.New("a document is not there while it is replaced")
		}
		one, ok := want[d.Commit]
		if !ok {
			return fmt.Errorf("commit %q", d.Commit)
		}
		s.same(d, one)
		return b.Manifest(ctx, s.repository, func(e sharedindex.Entry) error {
			for _, w := range want {
				if e == (sharedindex.Entry{Path: "a.go", Hash: w.Record.Hash, Chunks: len(w.Record.File.Chunks)}) {
					return nil
				}
			}
			return fmt.Errorf("entry %+v is of no version", e)
		})
	})
	w, err := s.b.Write(s.Context(), s.repository)
	s.must(err)
	s.must(w.Begin(s.Context(), "c"))
	for v := 1; v < versions; v++ {
		s.must(w.Put(s.Context(), []sharedindex.Document{make(v)}))
	}
	s.must(w.Close())
	done()
	s.holds(s.b, s.repository, make(versions-1))
}

// background runs fn again and again in n goroutines, each with a backend of its own; what is
// returned waits until each ran once after the call, and ends them.
func (s *suite) background(n int, fn func(ctx context.Context, b sharedindex.Backend) error) (done func()) {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range n {
		b := s.open("alpha", 0)
		wg.Go(func() {
			for ended := false; !ended; {
				select {
				case <-stop:
					ended = true
				default:
				}
				if err := fn(s.Context(), b); err != nil {
					s.Error(err)
					return
				}
			}
		})
	}
	return func() {
		close(stop)
		wg.Wait()
	}
}

// writersAtOnce: one writer is used by several goroutines.
func (s *suite) writersAtOnce() {
	w, err := s.b.Write(s.Context(), s.repository)
	s.must(err)
	s.must(w.Begin(s.Context(), "c1"))
	var want []sharedindex.Document
	var fns []func()
	for g := range 4 {
		var batches [2][]sharedindex.Document
		for i := range 10 {
			d := Document(fmt.Sprintf("dir%d/f%d.go", g, i), 1, i%4)
			batches[i%2] = append(batches[i%2], d)
			want = append(want, d)
		}
		fns = append(fns, func() {
			for _, batch := range batches {
				if err := w.Put(s.Context(), batch); err != nil {
					s.Error(err)
				}
			}
		})
	}
	atOnce(fns...)
	s.must(w.Finish(s.Context(), sharedindex.Head{Repository: s.repository, Commit: "c1", Files: len(want)}))
	s.must(w.Close())
	s.holds(s.b, s.repository, want...)
}

// oddNames: paths are any text that a file system has.
func (s *suite) oddNames() {
	var docs []sharedindex.Document
	for _, path := range []string{
		`qu"ote's.go`, `back\slash.go`, "sp ace/ .go", "ünïcode/名前/🙂.go", "new\nline\ttab.go", "%2e%2e?a=b&c#d.go", "{where:{path:[\"x\"]}}.go", "$(rm -rf).go", "-dash", "CASE.go", "case.go",
		"e\u0301.go", "\u00e9.go", strings.Repeat("long/", 600) + "x.go", "null", "a@b:c.go", "trailing ", "*.go",
	} {
		docs = append(docs, Document(path, 1, 2))
	}
	s.write(s.b, s.repository, "commit with spaces and \"quotes\" ü", docs)
	s.holds(s.b, s.repository, docs...)
	if h, _ := s.head(s.b, s.repository, 0); h.Commit != "commit with spaces and \"quotes\" ü" {
		s.Errorf("commit %q", h.Commit)
	}
	for i := range docs {
		s.marked(s.b, s.repository, docs[i].Record.Path, 1, 2, true)
	}
	s.nearestIs(s.b, s.repository, docs[3].Record.Path, 1, 1)
	var gone []string
	for i := range docs[1:] {
		gone = append(gone, docs[1+i].Record.Path)
	}
	s.write(s.b, s.repository, "c2", nil, gone...)
	s.holds(s.b, s.repository, docs[0])
	// Repositories that look alike are others.
	for _, name := range []string{"test.example/Ünicode/名前", "test.example/a-b", "test.example/a_b", "test.example/a", "test.example/A"} {
		s.clear(s.b, name)
		d := Document("only/"+name, 1, 1)
		s.write(s.b, name, "c1", []sharedindex.Document{d})
		defer func() {
			s.holds(s.b, name, d)
			s.marked(s.b, name, d.Record.Path, 1, 1, true)
		}()
	}
	for _, name := range []string{"", "a b", "a@b", "../x"} {
		if w, err := s.b.Write(s.Context(), name); err == nil {
			s.Errorf("%q is taken as a repository", name)
			s.must(w.Close())
		}
	}
}

// oddContents: empty files, texts of any characters, chunks without words or
// vectors.
func (s *suite) oddContents() {
	empty := Document("empty.go", 1, 0)
	odd := Document("odd.go", 1, 2)
	odd.Text += "\r\n\x00\x01 \u2028 \"\\\" 🙂 </script> {{x}} \u00a0"
	odd.Record.Hash, odd.Record.Size = text.Hash(odd.Text), int64(len(odd.Text))
	bare := Document("bare.go", 1, 3)
	bare.Vectors[1], bare.Rows[1] = store.Vector{}, nil
	bare.Words[2] = sharedindex.Words{}
	none := Document("none.go", 1, 2)
	none.Vectors, none.Rows = []store.Vector{{}, {}}, [][]float32{nil, nil}
	all := Document("all.go", 1, 1)
	all.Record.Class.Generated, all.Record.Class.Vendored, all.Record.Class.Example = true, true, true
	c := &all.Record.File.Chunks[0]
	c.Layer, c.EntryPoints, c.Header, c.Part, c.Parts, c.Truncated = "api", []string{"GET /users"}, "[Document: x]", 1, 2, [][2]int{{1, 2}}
	c.Imports, c.Parent = []string{"fmt"}, "T"
	all.Record.File.Symbols[0].DocStart, all.Record.File.Symbols[0].DocEnd = 1, 1
	all.Record.File.Imports = []chunk.Import{{Target: "a\"b", Names: []string{"x"}, Line: 3}}
	all.Record.File.Fallback = "parse errors"
	docs := []sharedindex.Document{empty, odd, bare, none, all}
	s.write(s.b, s.repository, "c1", docs)
	s.holds(s.b, s.repository, docs...)
	s.marked(s.b, s.repository, "bare.go", 1, 1, true)
	s.marked(s.b, s.repository, "none.go", 1, 2, true)
	s.nearestIs(s.b, s.repository, "bare.go", 1, 2) // a chunk without words is found by its vector
}

// manyChunks: a document of more chunks than an engine takes or gives at once.
func (s *suite) manyChunks() {
	const many = 1500
	big, other := Document("big.go", 1, many), Document("other.go", 1, 2)
	s.write(s.b, s.repository, "c1", []sharedindex.Document{big, other})
	s.holds(s.b, s.repository, big, other)
	s.marked(s.b, s.repository, "big.go", 1, many, true)
	small := Document("big.go", 2, 3)
	s.write(s.b, s.repository, "c2", []sharedindex.Document{small})
	s.holds(s.b, s.repository, small, other)
	s.marked(s.b, s.repository, "big.go", 1, many, false)
	s.marked(s.b, s.repository, "big.go", 2, 3, true)
}
