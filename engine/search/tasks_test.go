package search_test

import (
	"context"
	"strings"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/search/searchtest"
)

// broken is a model that breaks.
type broken struct{ embed.Embedder }

func (broken) Embed(context.Context, []string) ([][]float32, error) { panic("out of its range") }

// TestBrokenSearchEndsItself: what breaks in a search's goroutines reaches whoever
// asked, who can go on.
func TestBrokenSearchEndsItself(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("how is the total of the cart computed")
	good := in.Embedders
	in.Embedders = []embed.Embedder{broken{good[0]}}
	told := func() (told any) {
		defer func() { told = recover() }()
		w.Search(in)
		return nil
	}()
	if s, _ := told.(string); !strings.Contains(s, "out of its range") || !strings.Contains(s, "tasks_test.go") {
		t.Errorf("the search said %v", told)
	}
	in.Embedders = good
	if len(w.Search(in).Hits) == 0 {
		t.Error("nothing is found afterwards")
	}
}
