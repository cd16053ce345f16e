package static_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
)

// TestTrainedFile reads back what the recipe under model/ writes: a small file
// of its export, with the pieces and vectors that it expects.
func TestTrainedFile(t *testing.T) {
	f, err := os.Open("testdata/trained.cesm")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := static.Load("trained", f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/trained.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Text   string
		IDs    []int32
		Vector []float32
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 5 {
		t.Fatalf("%d texts, want 5 or more", len(rows))
	}
	for _, r := range rows {
		if got := m.Tokenize(nil, r.Text); !slices.Equal(got, r.IDs) {
			t.Errorf("%q: ids %v, want %v", r.Text, got, r.IDs)
		}
		got := m.Append(nil, r.Text)
		embed.Normalize(got)
		if far := distance(got, r.Vector); far > 1e-5 {
			t.Errorf("%q: vector is off by %g", r.Text, far)
		}
	}
}
