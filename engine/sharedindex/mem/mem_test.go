package mem_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/mem"
	"coderag-ls/engine/sharedindex/sharedindextest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(s *mem.Space) sharedindextest.Opener {
	return func(_ *testing.T, tenant string, e sharedindex.Edition) sharedindex.Backend { return s.Open(tenant, e) }
}

func TestSearch(t *testing.T) { sharedindextest.RunSearch(t, open(new(mem.Space))) }

func TestBackend(t *testing.T) { sharedindextest.Run(t, open(new(mem.Space))) }

// TestTrouble: what is asked while there is trouble fails with it, and goes on when it
// is over; a connection that was closed stays closed.
func TestTrouble(t *testing.T) {
	space := new(mem.Space)
	b := space.Open("t", sharedindextest.Edition(0))
	w, err := b.Write(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	space.Trouble(func(_ context.Context, operation string) error {
		asked = append(asked, operation)
		return sharedindex.ErrUnreachable
	})
	_, first := b.Heads(t.Context())
	second := w.Put(t.Context(), []sharedindex.Document{sharedindextest.Document("a.go", 1, 1)})
	if !errors.Is(first, sharedindex.ErrUnreachable) || !errors.Is(second, sharedindex.ErrUnreachable) || !slices.Equal(asked, []string{"Heads", "Put"}) {
		t.Errorf("%v, %v after %q", first, second, asked)
	}
	space.Trouble(nil)
	if err := w.Put(t.Context(), []sharedindex.Document{sharedindextest.Document("a.go", 1, 1)}); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Heads(t.Context()); err == nil {
		t.Error("a closed connection answers")
	}
}
