package sharedindex_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/mem"
	"coderag-ls/engine/sharedindex/sharedindextest"
)

// ready is a file as it is.
type ready struct{ sharedindex.File }

func (r ready) Size() int { return len(r.Text) }

// world is a shared index with a reader of it.
type world struct {
	t     *testing.T
	space mem.Space
	r     *sharedindex.Reader
	news  atomic.Int64
	reads atomic.Int64 // calls of Documents
}

func (w *world) trouble(fn func(ctx context.Context, operation string) error) {
	w.space.Trouble(func(ctx context.Context, operation string) error {
		if operation == "Documents" {
			w.reads.Add(1)
		}
		if fn == nil {
			return nil
		}
		return fn(ctx, operation)
	})
}

func (w *world) publish(edition int, s state, commit string) {
	w.t.Helper()
	o := s.options(commit)
	o.Edition = sharedindextest.Edition(edition)
	o.Statistics.Terms = [lexical.NumFields]uint64{}
	for _, v := range s {
		o.Statistics.Terms[lexical.Body] += uint64(v[1])
	}
	if _, err := sharedindex.Publish(w.t.Context(), w.space.Open("a", o.Edition), o); err != nil {
		w.t.Fatal(err)
	}
}

// read opens the reader of edition 0.
func (w *world) read(own bool, change func(*sharedindex.ReaderOptions)) {
	w.trouble(nil)
	o := sharedindex.ReaderOptions{
		Open: func(_ context.Context, e sharedindex.Edition) (sharedindex.Backend, error) {
			return w.space.Open("a", e), nil
		},
		Edition: sharedindextest.Edition(0), Others: func(string) bool { return !own }, Timeout: time.Minute, CacheBytes: 64 << 20,
		Fresh: time.Nanosecond, Changed: func() { w.news.Add(1) },
		Prepare: func(_ context.Context, files []sharedindex.File) ([]sharedindex.Prepared, error) {
			out := make([]sharedindex.Prepared, len(files))
			for i, f := range files {
				out[i] = ready{f}
			}
			return out, nil
		},
	}
	if own {
		o.Own = []string{repository}
	}
	if change != nil {
		change(&o)
	}
	w.r = sharedindex.NewReader(w.t.Context(), o)
	w.t.Cleanup(func() {
		if err := w.r.Close(); err != nil {
			w.t.Error(err)
		}
	})
	w.r.Loaded(w.t.Context())
}

// find asks for a chunk by the word that only it has.
func (w *world) find(path string, version, i int) sharedindex.Candidates {
	return w.r.Candidates(w.t.Context(), sharedindex.Query{Terms: []lexical.Term{sharedindextest.Mark(path, version, i)}})
}

// covered asks whether a file is, once something is known.
func (w *world) covered(repository, path string, hash file.Hash) bool {
	w.t.Helper()
	covered, known := w.r.Covered(repository, path, hash)
	if !known {
		w.t.Error("nothing is known of what is covered")
	}
	return covered
}

func paths(c sharedindex.Candidates) []string {
	var all []string
	for _, f := range c.Files {
		all = append(all, f.Path)
	}
	return all
}

func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			w.t.Fatalf("a minute later it does not hold that %s", what)
		}
	}
}

// TestF1Candidates: words and vectors find files, whole; the statistics are those of all that was
// searched; what was read is read once.
func TestF1Candidates(t *testing.T) {
	w := &world{t: t}
	before, _ := states()
	w.publish(0, before, "one")
	w.read(false, nil)
	got := w.find("dir3/f3.go", 1, 2)
	if p := paths(got); len(p) != 1 || p[0] != "dir3/f3.go" || got.Degraded != "" || got.Partial {
		t.Fatalf("%q, %+v", p, got)
	}
	f := got.Files[0]
	if f.Commit != "one" || f.Own || f.Text != sharedindextest.Document("dir3/f3.go", 1, 4).Text || f.Vectors != nil {
		t.Errorf("%+v", f.File)
	}
	chunks := 0
	for _, v := range before {
		chunks += v[1]
	}
	if b := got.Background; b.Docs != chunks || b.DF[sharedindextest.Mark("dir3/f3.go", 1, 2).Text] != 1 || b.Terms[lexical.Body] != uint64(chunks) {
		t.Errorf("%+v, want %d documents", b, chunks)
	}
	n := w.reads.Load()
	w.find("dir3/f3.go", 1, 2)
	if w.reads.Load() != n {
		t.Error("what was read is read again")
	}
	got = w.r.Candidates(t.Context(), sharedindex.Query{Vectors: [][]float32{sharedindextest.Row("dir5/f5.go", 1, 0)}})
	if !slices.Contains(paths(got), "dir5/f5.go") {
		t.Errorf("the nearest is not found: %q", paths(got))
	}
	got = w.r.Candidates(t.Context(), sharedindex.Query{Terms: []lexical.Term{sharedindextest.Mark("dir3/f3.go", 1, 2)}, Repositories: func(string, bool) bool { return false }})
	if len(got.Files) != 0 || got.Background != nil {
		t.Errorf("a filter that nothing passes finds %q", paths(got))
	}
}

// TestF1Counted: of more repositories than are counted the words are those of some of them, as often
// as there are others.
func TestF1Counted(t *testing.T) {
	w := &world{t: t}
	const n = 40
	for i := range n {
		s := state{"a.go": {1, 2}, fmt.Sprintf("dir/f%d.go", i): {1, 3}}
		o := s.options("one")
		o.Repository = fmt.Sprintf("github.com/acme/shop%02d", i)
		if _, err := sharedindex.Publish(t.Context(), w.space.Open("a", o.Edition), o); err != nil {
			t.Fatal(err)
		}
	}
	w.read(false, nil)
	settle := lexical.Exact("settleAccounts")
	got := w.r.Candidates(t.Context(), sharedindex.Query{Terms: []lexical.Term{{Text: settle, Weight: 1}}, Counted: []string{sharedindextest.Mark("a.go", 1, 1).Text, "nowhere"}})
	if b := got.Background; len(got.Files) == 0 || b.Docs != 5*n || b.DF[settle] != 5*n || b.DF[sharedindextest.Mark("a.go", 1, 1).Text] != n || b.DF["nowhere"] != 0 {
		t.Errorf("%d files, %q, %+v", len(got.Files), got.Degraded, b)
	}
}

// TestF1AskedAgain: what was asked a moment ago is not asked of the index again, as long as nothing else
// is published; another question is.
func TestF1AskedAgain(t *testing.T) {
	w := &world{t: t}
	before, after := states()
	w.publish(0, before, "one")
	w.read(true, func(o *sharedindex.ReaderOptions) { o.Fresh = time.Hour })
	var asked atomic.Int64
	w.trouble(func(_ context.Context, operation string) error {
		if operation == "Words" || operation == "Nearest" {
			asked.Add(1)
		}
		return nil
	})
	ask := func(want int64, q sharedindex.Query) sharedindex.Candidates {
		t.Helper()
		n := asked.Load()
		got := w.r.Candidates(t.Context(), q)
		if asked.Load()-n != want || got.Degraded != "" {
			t.Errorf("%d lists were asked for, want %d: %q", asked.Load()-n, want, got.Degraded)
		}
		return got
	}
	q := sharedindex.Query{Terms: []lexical.Term{sharedindextest.Mark("dir3/f3.go", 1, 2)}, Vectors: [][]float32{sharedindextest.Row("dir5/f5.go", 1, 0)}}
	first := ask(2, q)
	again := ask(0, q)
	if !slices.Equal(paths(first), paths(again)) || len(again.Files) == 0 || again.Background.DF[q.Terms[0].Text] != 1 {
		t.Errorf("%q, again %q", paths(first), paths(again))
	}
	for name, other := range map[string]sharedindex.Query{
		"other words": {Terms: []lexical.Term{sharedindextest.Mark("dir3/f3.go", 1, 1)}, Vectors: q.Vectors},
		"weights":     {Terms: []lexical.Term{{Text: q.Terms[0].Text, Weight: 0.5}}, Vectors: q.Vectors},
		"a vector":    {Terms: q.Terms, Vectors: [][]float32{sharedindextest.Row("dir5/f5.go", 1, 1)}},
		"a language":  {Terms: q.Terms, Vectors: q.Vectors, Languages: []string{"go"}},
	} {
		if ask(2, other); t.Failed() {
			t.Fatal(name)
		}
	}
	ask(0, q)
	w.r.Forget()
	ask(2, q)
	w.publish(0, after, "two")
	w.read(true, func(o *sharedindex.ReaderOptions) { o.Fresh = 20 * time.Millisecond })
	w.eventually("what is published is asked for", func() bool {
		return len(w.find("dir0/f0.go", 2, 8).Files) == 1
	})
}

// TestF1ReaderFollows: what is published anew is found, what was there before is not, and covered is
// what is there now.
func TestF1ReaderFollows(t *testing.T) {
	for _, own := range []bool{true, false} {
		w := &world{t: t}
		before, after := states()
		w.publish(0, before, "one")
		w.read(own, nil)
		if p := paths(w.find("dir0/f0.go", 1, 0)); len(p) != 1 {
			t.Fatalf("%q", p)
		}
		old, now := sharedindextest.Document("dir0/f0.go", 1, 1).Record.Hash, sharedindextest.Document("dir0/f0.go", 2, 9).Record.Hash
		if w.covered(repository, "dir0/f0.go", old) != own || w.covered(repository, "dir0/f0.go", now) || w.covered("another", "dir0/f0.go", old) {
			t.Error("it is covered what is not there")
		}
		news := w.news.Load()
		w.publish(0, after, "two")
		w.eventually("the new text is found", func() bool {
			c := w.find("dir0/f0.go", 2, 8)
			return len(c.Files) == 1 && c.Files[0].Record.Hash == now && c.Files[0].Commit == "two"
		})
		if p := paths(w.find("dir2/f2.go", 1, 0)); len(p) != 0 {
			t.Errorf("a file that is gone is found: %q", p)
		}
		if own && (!w.covered(repository, "dir0/f0.go", now) || w.covered(repository, "dir0/f0.go", old) || w.news.Load() == news) {
			t.Error("what is covered did not follow, or nobody was told")
		}
	}
}

// TestF1Editions: a repository that only another model published is searched by words, and that is
// told; once it is published with the reader's own, that is read.
func TestF1Editions(t *testing.T) {
	w := &world{t: t}
	before, _ := states()
	w.publish(1, before, "one")
	w.read(false, nil)
	got := w.find("dir3/f3.go", 1, 2)
	if len(got.Files) != 1 || !got.Files[0].WordsOnly || !strings.Contains(got.Degraded, "another model") {
		t.Fatalf("%q, %q", paths(got), got.Degraded)
	}
	got = w.r.Candidates(t.Context(), sharedindex.Query{Vectors: [][]float32{sharedindextest.Row("dir5/f5.go", 1, 0)}})
	if len(got.Files) != 0 {
		t.Errorf("vectors of two models were compared: %q", paths(got))
	}
	w.publish(0, before, "one")
	w.eventually("its own edition is read", func() bool {
		got := w.find("dir3/f3.go", 1, 2)
		return len(got.Files) == 1 && !got.Files[0].WordsOnly && got.Degraded == ""
	})
}

// TestF1AnotherEditionCoversNothing: the workspace's own files are not left to an edition that the
// program's vectors cannot be compared with.
func TestF1AnotherEditionCoversNothing(t *testing.T) {
	w := &world{t: t}
	before, _ := states()
	w.publish(1, before, "one")
	w.read(true, nil)
	if w.covered(repository, "dir0/f0.go", sharedindextest.Document("dir0/f0.go", 1, 1).Record.Hash) {
		t.Error("another edition covers a file")
	}
	if got := w.find("dir0/f0.go", 1, 0); len(got.Files) != 0 || got.Degraded != "" {
		t.Errorf("%q, %q", paths(got), got.Degraded)
	}
}

// TestF1CacheIsBounded: what is kept stays under its bound, and a file that went is read again.
func TestF1CacheIsBounded(t *testing.T) {
	w := &world{t: t}
	before, _ := states()
	w.publish(0, before, "one")
	w.read(false, func(o *sharedindex.ReaderOptions) { o.CacheBytes = 8 << 10 })
	for path, v := range before {
		if got := w.find(path, 1, v[1]-1); len(got.Files) != 1 || got.Files[0].Path != path {
			t.Fatalf("%s: %q", path, paths(got))
		}
	}
	n := w.reads.Load()
	for path, v := range before {
		w.find(path, 1, v[1]-1)
	}
	if again := w.reads.Load() - n; again < int64(len(before)/2) {
		t.Errorf("%d of %d files were read again: more is kept than may be", again, len(before))
	}
	w.r.Forget()
}

// TestF1Breaker: an index that does not answer is left alone by questions, looked for in the background,
// and taken part with again.
func TestF1Breaker(t *testing.T) {
	for name, trouble := range map[string]func(ctx context.Context, operation string) error{
		"fails": func(context.Context, string) error { return fmt.Errorf("%w: refused", sharedindex.ErrUnreachable) },
		"hangs": func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
		"words": func(_ context.Context, operation string) error {
			if operation == "Words" {
				return sharedindex.ErrUnreachable
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{t: t}
			before, _ := states()
			w.publish(0, before, "one")
			w.read(true, func(o *sharedindex.ReaderOptions) { o.Timeout, o.Fresh = 50*time.Millisecond, time.Hour })
			if got := w.find("dir3/f3.go", 1, 2); len(got.Files) != 1 {
				t.Fatalf("%+v", got)
			}
			var asked atomic.Int64
			w.trouble(func(ctx context.Context, operation string) error {
				if operation == "Words" {
					asked.Add(1)
				}
				return trouble(ctx, operation)
			})
			got := w.find("dir3/f3.go", 1, 1) // what was not asked before
			if len(got.Files) != 0 || !got.Partial || !strings.Contains(got.Degraded, "shared index") {
				t.Fatalf("%+v", got)
			}
			if name != "words" { // else it is back at once
				n := asked.Load()
				for range 10 {
					got = w.find("dir3/f3.go", 1, 2)
				}
				if asked.Load() != n || !got.Partial {
					t.Errorf("an index that is away was asked %d times", asked.Load()-n)
				}
				if s := w.r.State(); s.Err == nil || s.Since.IsZero() || s.Covered != len(before) {
					t.Errorf("%+v", s)
				}
			}
			w.trouble(nil)
			w.eventually("it takes part again", func() bool { return len(w.find("dir3/f3.go", 1, 2).Files) == 1 })
			if s := w.r.State(); s.Err != nil {
				t.Error(s.Err)
			}
		})
	}
}

// TestF1CancelIsNoFailure: a question that its client gives up tells nothing of the index.
func TestF1CancelIsNoFailure(t *testing.T) {
	w := &world{t: t}
	before, _ := states()
	w.publish(0, before, "one")
	w.read(true, nil)
	ctx, cancel := context.WithCancel(t.Context())
	w.trouble(func(ctx context.Context, operation string) error {
		if operation == "Words" {
			cancel()
			<-ctx.Done()
		}
		return ctx.Err()
	})
	w.r.Candidates(ctx, sharedindex.Query{Terms: []lexical.Term{sharedindextest.Mark("dir3/f3.go", 1, 2)}})
	w.trouble(nil)
	if s := w.r.State(); s.Err != nil {
		t.Errorf("the index is taken for away: %v", s.Err)
	}
	if got := w.find("dir3/f3.go", 1, 2); len(got.Files) != 1 {
		t.Errorf("%+v", got)
	}
}
