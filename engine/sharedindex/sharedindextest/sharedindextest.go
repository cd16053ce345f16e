// Package sharedindextest is what every backend of a shared index has to do:
// Run asks it of what is stored, RunSearch of what is found.
//
// # How much is enough
//
// A search through a backend finds what a local index finds as long as the files that the
// local ranking would look at are among those that are read: its lists are of words and
// of vectors, and it ranks the first 60 files of each. So a [sharedindex.Reader] asks for
// postings by words and by vector, and reads the files that come first when the two lists are fused
// by reciprocal rank. Measured with 101 questions (first sentences of documentation without the
// name) about 4,715 files of Go's standard library in 60,606 chunks, whose NDCG@10 is
// .8382 locally, with the backend in memory:
//
//	words  vectors  files  read   NDCG@10  first ten  same first
//	  100       50     96  42.4   .8341    .873       .97
//	  200      100     96  75.2   .8316    .921       .98
//	  300      150     48  47.8   .8391    .901       .96
//	  300      150     96  88.5   .8318    .932       .97
//	 1000      500    300  286.2  .8320    .980       .99
//
// where the background had the frequencies of those terms only that are searched for, and with
// those of all terms that the ranking weighs (Query.Counted):
//
//	words  vectors  files  read   NDCG@10  first ten  same first
//	  300      150     96  88.5   .8362    .945       1.00
//	  300      150    128  105.7  .8375    .953       1.00
//	  400      200    128  118.3  .8375    .960       1.00
//	  300      300    128  117.1  .8375    .963       1.00
//	  600      200    128  125.8  .8375    .963       1.00
//
// "First ten" is how many of the local search's first ten files are among the first ten.
// Frequencies of all terms matter more than longer lists. Whether files are
// fused by the ranks of their postings or by their own makes no difference. The fields' weights are
// such that one occurrence in a field counts against one in the body as in the ranking's BM25F,
// w/(w+k1), in an engine that scores fields one by one; mem does, so that RunSearch shows what that
// costs.
package sharedindextest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

// Opener opens a tenant's and an edition's part of one engine, the same one at
// every call; it fails the test where it cannot.
type Opener func(t *testing.T, tenant string, e sharedindex.Edition) sharedindex.Backend

// Run checks a backend. It writes repositories below the name "test.example" for the tenants
// alpha and beta in two editions, and removes them.
func Run(t *testing.T, open Opener) {
	for _, one := range []struct {
		name string
		test func(s *suite)
	}{
		{"whole documents", (*suite).wholeDocuments},
		{"replaced", (*suite).replaced},
		{"written again", (*suite).writtenAgain},
		{"deleted", (*suite).deleted},
		{"heads", (*suite).heads},
		{"half finished", (*suite).halfFinished},
		{"two writers", (*suite).twoWriters},
		{"tenants", (*suite).tenants},
		{"editions", (*suite).editions},
		{"removed", (*suite).removed},
		{"readers while writing", (*suite).readersWhileWriting},
		{"writers at once", (*suite).writersAtOnce},
		{"odd names", (*suite).oddNames},
		{"odd contents", (*suite).oddContents},
		{"many chunks", (*suite).manyChunks},
		{"words", (*suite).words},
		{"frequencies", (*suite).frequencies},
		{"nearest", (*suite).nearest},
		{"scope", (*suite).scope},
		{"given up", (*suite).givenUp},
	} {
		t.Run(one.name, func(t *testing.T) {
			s := &suite{T: t, opener: open, repository: "test.example/" + strings.ReplaceAll(one.name, " ", "-")}
			s.b = s.open("alpha", 0)
			s.clear(s.b, s.repository)
			one.test(s)
		})
	}
}

// suite is one test's state.
type suite struct {
	*testing.T
	opener     Opener
	repository string
	b          sharedindex.Backend // of the tenant alpha and the first edition
}

// patience is how long an engine may take to find what was written. What it holds must be
// there at once.
const patience = 20 * time.Second

func (s *suite) open(tenant string, edition int) sharedindex.Backend {
	s.Helper()
	b := s.opener(s.T, tenant, Edition(edition))
	s.Cleanup(func() { closeBackend(s.T, b) })
	return b
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// clear removes a repository, now and when the test ends.
func (s *suite) clear(b sharedindex.Backend, repository string) {
	s.Helper()
	remove := func(ctx context.Context) {
		if err := b.Remove(ctx, repository); err != nil && !errors.Is(err, sharedindex.ErrNoRepository) {
			s.Errorf("removing %s: %v", repository, err)
		}
	}
	remove(s.Context())
	s.Cleanup(func() { remove(context.WithoutCancel(s.Context())) })
}

// write publishes documents and removes paths.
func (s *suite) write(b sharedindex.Backend, repository, commit string, put []sharedindex.Document, gone ...string) {
	s.Helper()
	w, err := b.Write(s.Context(), repository)
	s.must(err)
	s.must(w.Begin(s.Context(), commit))
	s.must(w.Put(s.Context(), put))
	if len(gone) > 0 {
		s.must(w.Delete(s.Context(), gone))
	}
	files, chunks := 0, 0
	s.must(b.Manifest(s.Context(), repository, func(e sharedindex.Entry) error {
		files, chunks = files+1, chunks+e.Chunks
		return nil
	}))
	s.must(w.Finish(s.Context(), sharedindex.Head{Repository: repository, Commit: commit, Files: files, Chunks: chunks, Terms: [lexical.NumFields]uint64{uint64(chunks), 2, 3}}))
	s.must(w.Close())
}

// holds checks that a repository holds these documents, wholly, and no others: by manifest, by
// reading, and by its postings where the backend can tell them.
func (s *suite) holds(b sharedindex.Backend, repository string, want ...sharedindex.Document) {
	s.Helper()
	entries := map[string]sharedindex.Entry{}
	s.must(b.Manifest(s.Context(), repository, func(e sharedindex.Entry) error {
		if _, twice := entries[e.Path]; twice {
			s.Errorf("%q is twice in the manifest", e.Path)
		}
		entries[e.Path] = e
		return nil
	}))
	var ids []sharedindex.ID
	for i := range want {
		d := &want[i]
		path := d.Record.Path
		ids = append(ids, sharedindex.ID{Repository: repository, Path: path})
		if e, ok := entries[path]; !ok || e != (sharedindex.Entry{Path: path, Hash: d.Record.Hash, Chunks: len(d.Record.File.Chunks)}) {
			s.Errorf("manifest of %q: %+v, %v", path, e, ok)
		}
	}
	if len(entries) != len(want) {
		s.Errorf("the manifest has %d documents, want %d: %q", len(entries), len(want), slices.Sorted(maps.Keys(entries)))
	}
	ids = append(ids, sharedindex.ID{Repository: repository, Path: "never written"})
	got, err := b.Documents(s.Context(), ids)
	s.must(err)
	if len(got) != len(want) {
		s.Errorf("%d documents were read, want %d", len(got), len(want))
	}
	for i := range want {
		s.same(got[ids[i]], want[i])
	}
	a, ok := b.(sharedindex.Auditor)
	if !ok {
		return
	}
	postings := map[string]map[int]int{}
	s.must(a.Postings(s.Context(), repository, func(path string, ordinal int) error {
		if postings[path] == nil {
			postings[path] = map[int]int{}
		}
		postings[path][ordinal]++
		return nil
	}))
	for i := range want {
		path, n := want[i].Record.Path, len(want[i].Record.File.Chunks)
		for ordinal := range n {
			if postings[path][ordinal] != 1 {
				s.Errorf("chunk %d of %q has %d postings", ordinal, path, postings[path][ordinal])
			}
		}
		if len(postings[path]) != n {
			s.Errorf("%q of %d chunks has postings of %v", path, n, slices.Sorted(maps.Keys(postings[path])))
		}
		delete(postings, path)
	}
	if len(postings) > 0 {
		s.Errorf("postings of what is not there: %v", postings)
	}
}

// same checks a document that was read.
func (s *suite) same(got, want sharedindex.Document) {
	s.Helper()
	if got.Text != want.Text {
		s.Errorf("the text of %q has %d bytes, want %d", want.Record.Path, len(got.Text), len(want.Text))
	}
	if got.Commit != want.Commit {
		s.Errorf("%q is of commit %q, want %q", want.Record.Path, got.Commit, want.Commit)
	}
	if !reflect.DeepEqual(got.Record, want.Record) {
		s.Errorf("the record of %q is\n%+v, want\n%+v", want.Record.Path, got.Record, want.Record)
	}
	if len(got.Vectors) != len(want.Vectors) {
		s.Errorf("%q has %d vectors, want %d", want.Record.Path, len(got.Vectors), len(want.Vectors))
		return
	}
	for i := range got.Vectors {
		if got.Vectors[i].Scale != want.Vectors[i].Scale && want.Vectors[i].Values != nil || !slices.Equal(got.Vectors[i].Values, want.Vectors[i].Values) {
			s.Errorf("vector %d of %q is %v, want %v", i, want.Record.Path, got.Vectors[i], want.Vectors[i])
		}
	}
}

// head returns the head of a repository in an edition; ok is false where there is none.
func (s *suite) head(b sharedindex.Backend, repository string, edition int) (found sharedindex.Head, ok bool) {
	s.Helper()
	heads, err := b.Heads(s.Context())
	s.must(err)
	for _, h := range heads {
		if h.Repository == repository && h.Edition == Edition(edition) {
			if ok {
				s.Errorf("%s has two heads", repository)
			}
			found, ok = h, true
		}
	}
	return found, ok
}

// finds waits until a search finds exactly these chunks, in any order. Left-over postings of
// what was replaced may be there as long as a document that was read says that they
// are none.
func (s *suite) finds(what string, want []sharedindex.Found, search func() ([]sharedindex.Found, error)) {
	s.Helper()
	key := func(list []sharedindex.Found) []string {
		var keys []string
		for _, f := range list {
			keys = append(keys, fmt.Sprintf("%s %q %d", f.Repository, f.Path, f.Ordinal))
		}
		slices.Sort(keys)
		return keys
	}
	for until := time.Now().Add(patience); ; {
		got, err := search()
		s.must(err)
		if slices.Equal(key(got), key(want)) {
			return
		}
		if time.Now().After(until) {
			s.Errorf("%s: found %q, want %q", what, key(got), key(want))
			return
		}
		pause(s.Context())
	}
}

// pause waits a moment before something is looked at again.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// marked checks that exactly these versions of a document's chunks are found by their own words.
func (s *suite) marked(b sharedindex.Backend, repository, path string, version, chunks int, there bool) {
	s.Helper()
	for _, i := range slices.Compact([]int{0, chunks / 2, chunks - 1}) {
		if chunks == 0 {
			return
		}
		var want []sharedindex.Found
		if there {
			want = []sharedindex.Found{{ID: sharedindex.ID{Repository: repository, Path: path}, Ordinal: i}}
		}
		term := Mark(path, version, i)
		s.finds(fmt.Sprintf("chunk %d of %q, version %d", i, path, version), want, func() ([]sharedindex.Found, error) {
			return b.Words(s.Context(), sharedindex.Scope{Repositories: []string{repository}}, []lexical.Term{term}, 10)
		})
	}
}

// nearestIs checks that a chunk is the nearest to its own vector.
func (s *suite) nearestIs(b sharedindex.Backend, repository, path string, version, ordinal int) {
	s.Helper()
	want := []sharedindex.Found{{ID: sharedindex.ID{Repository: repository, Path: path}, Ordinal: ordinal}}
	s.finds(fmt.Sprintf("the nearest to chunk %d of %q", ordinal, path), want, func() ([]sharedindex.Found, error) {
		return b.Nearest(s.Context(), sharedindex.Scope{Repositories: []string{repository}}, Row(path, version, ordinal), 1)
	})
}

// atOnce runs functions at the same time.
func atOnce(fns ...func()) {
	var wg sync.WaitGroup
	for _, fn := range fns {
		wg.Go(fn)
	}
	wg.Wait()
}
