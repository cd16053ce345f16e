package record_test

import (
	"errors"
	"reflect"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/record"
)

// TestSmallest: a record of nothing but the smallest chunks, symbols and imports is
// read as it was written, and not taken for one that promises more than it has.
func TestSmallest(t *testing.T) {
	want := store.FileRecord{Path: "a.go", File: chunk.File{
		Chunks: make([]chunk.Chunk, 100), Symbols: make([]chunk.Symbol, 100), Imports: make([]chunk.Import, 100),
	}}
	var e record.Encoder
	b := e.Append([]byte("before"), &want)
	if string(b[:6]) != "before" {
		t.Fatalf("what was there before is %q", b[:6])
	}
	got, err := record.Decode("a.go", string(b[6:]))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("read %+v, %v", got, err)
	}
	for n := range len(b) - 6 {
		if _, err := record.Decode("a.go", string(b[6:6+n])); !errors.Is(err, record.ErrDamaged) {
			t.Fatalf("%d bytes of %d: %v", n, len(b)-6, err)
		}
	}
}
