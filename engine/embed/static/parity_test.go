package static_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"coderag-ls/engine/embed/static"
)

// parity is a file that testdata/parity.py wrote.
type parity struct {
	Pieces []string
	Rows   []parityRow
}

type parityRow struct {
	text string
	ids  []int32
}

func (r *parityRow) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&r.text, &r.ids})
}

func readParity(t *testing.T, path string) parity {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var p parity
	if err := json.NewDecoder(z).Decode(&p); err != nil {
		t.Fatal(fmt.Errorf("reading %s: %w", path, err))
	}
	if len(p.Rows) < 600 {
		t.Fatalf("%s: %d texts, want 600 or more", path, len(p.Rows))
	}
	return p
}

func compare(t *testing.T, m *static.Model, p parity) {
	t.Helper()
	wrong := 0
	for _, r := range p.Rows {
		if got := m.Tokenize(nil, r.text); !slices.Equal(got, r.ids) {
			if wrong++; wrong <= 5 {
				t.Errorf("%q: ids %v, want %v", r.text, got, r.ids)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts differ", wrong, len(p.Rows))
	}
}

// TestParity compares piece numbers with those of Python's regular
// expressions: code, identifiers, numbers and noise.
func TestParity(t *testing.T) {
	compare(t, model(t), readParity(t, "testdata/parity.json.gz"))
}

// TestParityBeyondASCII does so with a vocabulary of single code points, which
// shows every word's end and what lower() makes of it.
func TestParityBeyondASCII(t *testing.T) {
	p := readParity(t, "testdata/unicode.json.gz")
	m, err := static.Load("unicode", file(t, p.Pieces, 4))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, m, p)
}
