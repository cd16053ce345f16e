package sharedindex_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coderag-ls/engine/file"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/mem"
	"coderag-ls/engine/sharedindex/sharedindextest"
)

const repository = "github.com/acme/shop"

// state is what a commit has: versions and chunks by path.
type state map[string][2]int

// options publish a state.
func (s state) options(commit string) sharedindex.PublishOptions {
	o := sharedindex.PublishOptions{
		Repository: repository, Commit: commit, Edition: sharedindextest.Edition(0), Patience: time.Minute,
		Documents: func(_ context.Context, paths []string) ([]sharedindex.Document, error) {
			var all []sharedindex.Document
			for _, p := range paths {
				all = append(all, sharedindextest.Document(p, s[p][0], s[p][1]))
			}
			return all, nil
		},
	}
	var all []sharedindex.Document
	for path, v := range s {
		d := sharedindextest.Document(path, v[0], v[1])
		o.Files = append(o.Files, sharedindex.Entry{Path: path, Hash: d.Record.Hash, Chunks: v[1]})
		all = append(all, d)
	}
	o.Statistics = sharedindextest.Count(all...)
	return o
}

// exactly fails unless the index holds a state and nothing else, id by id.
func (s state) exactly(t *testing.T, b *mem.Backend) {
	t.Helper()
	got := map[string]int{}
	err := b.Manifest(t.Context(), repository, func(e sharedindex.Entry) error {
		d := sharedindextest.Document(e.Path, s[e.Path][0], s[e.Path][1])
		if _, ok := s[e.Path]; !ok || e.Hash != d.Record.Hash || e.Chunks != s[e.Path][1] {
			t.Errorf("%+v is there", e)
		}
		got[e.Path] = e.Chunks
		return nil
	})
	if err != nil || len(got) != len(s) {
		t.Errorf("%d documents, want %d: %v", len(got), len(s), err)
	}
	postings := map[string]int{}
	err = b.Postings(t.Context(), repository, func(path string, ordinal int) error {
		if ordinal >= s[path][1] {
			t.Errorf("posting %d of %s is left over", ordinal, path)
		}
		postings[path]++
		return nil
	})
	df := s.options("").Statistics.DF
	if stored, err := b.Frequencies(t.Context(), repository, slices.Collect(maps.Keys(df))); err != nil || !maps.Equal(stored, df) {
		t.Errorf("%d terms are counted, want %d: %v", len(stored), len(df), err)
	}
	for path, n := range got {
		if postings[path] != n {
			t.Errorf("%s has %d postings, want %d: %v", path, postings[path], n, err)
		}
	}
}

func (s state) with(changes state) state {
	next := maps.Clone(s)
	for path, v := range changes {
		if v == [2]int{} {
			delete(next, path)
		} else {
			next[path] = v
		}
	}
	return next
}

func states() (before, after state) {
	before = state{}
	for i := range 80 {
		before[fmt.Sprintf("dir%d/f%d.go", i%7, i)] = [2]int{1, 1 + i%5}
	}
	after = before.with(state{
		"dir0/f0.go": {2, 9}, "dir1/f1.go": {2, 1}, "dir4/f4.go": {2, 0}, // grown, shrunk, emptied
		"dir2/f2.go": {}, "dir2/renamed.go": {1, 3}, "dir3/f3.go": {}, // renamed, deleted
	})
	return before, after
}

// TestF1PublishResumes: a publication that dies at any step is gone on with, and what is there
// then is what is to be there; readers see whole files of one of the two commits meanwhile.
func TestF1PublishResumes(t *testing.T) {
	before, after := states()
	for step := 0; ; step++ {
		var space mem.Space
		b := space.Open("a", sharedindextest.Edition(0))
		if _, err := sharedindex.Publish(t.Context(), b, before.options("one")); err != nil {
			t.Fatal(err)
		}
		dies := errors.New("the publisher dies")
		var n atomic.Int64
		space.Trouble(func(context.Context, string) error {
			if n.Add(1) > int64(step) {
				return dies
			}
			return nil
		})
		_, err := sharedindex.Publish(t.Context(), b, after.options("two"))
		space.Trouble(nil)
		if err == nil {
			after.exactly(t, b)
			if step < 8 {
				t.Errorf("it took %d steps only", step)
			}
			return
		}
		if !errors.Is(err, dies) {
			t.Fatalf("step %d: %v", step, err)
		}
		err = b.Manifest(t.Context(), repository, func(e sharedindex.Entry) error {
			was, is := before[e.Path], after[e.Path]
			if e.Hash != sharedindextest.Document(e.Path, was[0], was[1]).Record.Hash && e.Hash != sharedindextest.Document(e.Path, is[0], is[1]).Record.Hash {
				t.Errorf("step %d: %s is of neither commit", step, e.Path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		done, err := sharedindex.Publish(t.Context(), b, after.options("two"))
		if err != nil || done.Head.Commit != "two" || done.Head.Publishing != "" {
			t.Fatalf("step %d: %+v, %v", step, done.Head, err)
		}
		after.exactly(t, b)
	}
}

// TestF1PublishWaits: an index that is not reachable for a while is asked again; one that stays so
// is an error in the end.
func TestF1PublishWaits(t *testing.T) {
	before, after := states()
	var space mem.Space
	b := space.Open("a", sharedindextest.Edition(0))
	var n, waited atomic.Int64
	space.Trouble(func(context.Context, string) error {
		if n.Add(1)%2 == 1 {
			return fmt.Errorf("%w: no quorum", sharedindex.ErrUnreachable)
		}
		return nil
	})
	for _, s := range []state{before, after} {
		o := s.options(fmt.Sprint(len(s)))
		o.Waiting = func(error) { waited.Add(1) }
		var mu sync.Mutex
		last := 0
		o.Progress = func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			if done > total {
				t.Errorf("%d of %d are done", done, total)
			}
			last = max(last, done)
		}
		p, err := sharedindex.Publish(t.Context(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		if last != p.Put+p.Deleted {
			t.Errorf("%d steps were told, %+v", last, p)
		}
	}
	space.Trouble(nil)
	after.exactly(t, b)
	if waited.Load() == 0 {
		t.Error("nobody was told that it waits")
	}
	space.Trouble(func(context.Context, string) error { return sharedindex.ErrUnreachable })
	o := before.options("three")
	o.Patience = time.Millisecond
	if _, err := sharedindex.Publish(t.Context(), b, o); !errors.Is(err, sharedindex.ErrUnreachable) {
		t.Errorf("it ended with %v", err)
	}
}

// sloppy is an index with postings that no document accounts for.
type sloppy struct {
	*mem.Backend
	mu   sync.Mutex
	left map[string][]int
}

func (s *sloppy) Postings(ctx context.Context, repository string, fn func(string, int) error) error {
	s.mu.Lock()
	for path, ordinals := range s.left {
		for _, i := range ordinals {
			if err := fn(path, i); err != nil {
				return err
			}
		}
	}
	s.mu.Unlock()
	return s.Backend.Postings(ctx, repository, fn)
}

func (s *sloppy) Write(ctx context.Context, repository string) (sharedindex.Writer, error) {
	w, err := s.Backend.Write(ctx, repository)
	return sloppyWriter{w, s}, err
}

type sloppyWriter struct {
	sharedindex.Writer
	s *sloppy
}

func (w sloppyWriter) Sweep(_ context.Context, path string, ordinals []int) error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, i := range ordinals {
		for at, have := range w.s.left[path] {
			if have == i {
				w.s.left[path] = append(w.s.left[path][:at:at], w.s.left[path][at+1:]...)
				break
			}
		}
	}
	return nil
}

// TestF1VerifyRepairs: what is stored and is not what was published is found, document by document
// and posting by posting, and repaired.
func TestF1VerifyRepairs(t *testing.T) {
	before, _ := states()
	var space mem.Space
	b := &sloppy{Backend: space.Open("a", sharedindextest.Edition(0)), left: map[string][]int{"dir0/f0.go": {7, 8}, "gone.go": {0}}}
	if _, err := sharedindex.Publish(t.Context(), b, before.options("one")); err != nil {
		t.Fatal(err)
	}
	// Somebody writes another text under the hash that is published.
	w, err := b.Backend.Write(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	d := sharedindextest.Document("dir1/f1.go", 1, before["dir1/f1.go"][1])
	d.Text = strings.Replace(d.Text, "settle", "unsettle", 1)
	if err := errors.Join(w.Put(t.Context(), []sharedindex.Document{d, sharedindextest.Document("odd.go", 1, 2)}), w.Close()); err != nil {
		t.Fatal(err)
	}
	o := before.options("one")
	o.Verify = true
	p, err := sharedindex.Publish(t.Context(), b, o)
	if err != nil || !p.Verified || p.Put != 1 || p.Deleted != 1 || p.Swept != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	before.exactly(t, b.Backend)
	if p, err = sharedindex.Publish(t.Context(), b, o); err != nil || p.Put+p.Deleted+p.Swept != 0 {
		t.Errorf("again: %+v, %v", p, err)
	}
	// And counts that are others.
	if w, err = b.Backend.Write(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Count(t.Context(), map[string]int{"nonsense": 7}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err = sharedindex.Publish(t.Context(), b, o); err != nil {
		t.Error(err)
	}
	before.exactly(t, b.Backend)
	got, err := b.Documents(t.Context(), []sharedindex.ID{{Repository: repository, Path: "dir1/f1.go"}})
	if err != nil || file.Hash(got[sharedindex.ID{Repository: repository, Path: "dir1/f1.go"}].Record.Hash) != sharedindextest.Document("dir1/f1.go", 1, before["dir1/f1.go"][1]).Record.Hash {
		t.Error(err)
	}
}

// TestF1PublishRefuses: what cannot be published is an error before anything is written.
func TestF1PublishRefuses(t *testing.T) {
	before, _ := states()
	var space mem.Space
	b := space.Open("a", sharedindextest.Edition(0))
	for name, change := range map[string]func(*sharedindex.PublishOptions){
		"cannot name a repository": func(o *sharedindex.PublishOptions) { o.Repository = "a b" },
		"a commit or a label":      func(o *sharedindex.PublishOptions) { o.Commit = "" },
		"two files":                func(o *sharedindex.PublishOptions) { o.Files = append(o.Files, o.Files[0]) },
	} {
		o := before.options("one")
		change(&o)
		if _, err := sharedindex.Publish(t.Context(), b, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := before.options("one")
	o.Documents = func(_ context.Context, paths []string) ([]sharedindex.Document, error) {
		return []sharedindex.Document{sharedindextest.Document(paths[0], 99, 1)}, nil
	}
	if _, err := sharedindex.Publish(t.Context(), b, o); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("a file that changed is published: %v", err)
	}
}
