package index_test

import (
	"context"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/index"
)

// second is the embedded model under another name, standing for a slow one; it
// counts what it embeds.
type second struct {
	inner    *static.Model
	embedded atomic.Int64
}

func (s *second) Model() embed.Model {
	m := s.inner.Model()
	m.Name, m.Fingerprint = "second", "5ec05ec05ec05ec0"
	return m
}

func (s *second) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.embedded.Add(int64(len(texts)))
	return s.inner.Embed(ctx, texts)
}

func (s *second) Close() error { return nil }

// TestSlowModelFillsInAndIsKept: its list is complete after Sync, a restart
// embeds nothing and has the list at once, and an edit embeds what changed.
func TestSlowModelFillsInAndIsKept(t *testing.T) {
	w := newWorkspace(t, small)
	slow := &second{inner: w.model}
	open := func() *index.Index {
		t.Helper()
		opts := w.options(w.cache)
		opts.Behind = slow
		ix, err := index.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		return ix
	}
	find := func(ix *index.Index) []string {
		t.Helper()
		vs, err := slow.inner.Embed(t.Context(), []string{"verify signature of tokens"})
		if err != nil {
			t.Fatal(err)
		}
		embed.Normalize(vs[0])
		s := ix.Snapshot()
		hits, err := s.Vectors(t.Context(), slow.Model().Fingerprint, vs[0], 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, h := range hits {
			paths = append(paths, s.Doc(h.Ref).File.Path)
		}
		return paths
	}
	ix := open()
	if err := ix.Sync(t.Context(), true, true); err != nil {
		t.Fatal(err)
	}
	if c := ix.Coverage(ix.Snapshot()); c.VectorsReady != 1 {
		t.Errorf("after waiting for vectors: %+v", c)
	}
	want := find(ix)
	if len(want) == 0 || want[0] != "auth/token.py" {
		t.Fatalf("the slow model finds %v", want)
	}
	closeIndex(t, ix)

	before := slow.embedded.Load()
	ix = open()
	defer func() { closeIndex(t, ix) }()
	if got := find(ix); !slices.Equal(got, want) {
		t.Errorf("right after opening: %v, before closing %v", got, want)
	}
	if err := ix.Sync(t.Context(), true, true); err != nil {
		t.Fatal(err)
	}
	if n := slow.embedded.Load() - before; n != 0 {
		t.Errorf("a restart embedded %d texts", n)
	}
	if err := os.Rename(w.abs("auth/token.py"), w.abs("server/token.py")); err != nil {
		t.Fatal(err)
	}
	if err := ix.Sync(t.Context(), true, true); err != nil {
		t.Fatal(err)
	}
	if n := slow.embedded.Load() - before; n != 1 { // the new path's words
		t.Errorf("a move embedded %d texts, want its path's words only", n)
	}
}
