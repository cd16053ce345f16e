package snippet_test

import (
	"strings"
	"testing"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
)

func TestFind(t *testing.T) {
	content := "a\nb\nc\nb\nc\nd\n"
	sha := text.HexHash("b\nc")
	matches := func(got string) bool { return strings.HasPrefix(got, sha[:8]) }
	tests := []struct {
		start, end, want int
		ok               bool
	}{
		{2, 3, 2, true},        // in place
		{4, 5, 4, true},        // in place, though an equal one comes before
		{1, 2, 2, true},        // moved down by one
		{5, 6, 4, true},        // moved up by one
		{90, 91, 4, true},      // far outside
		{2, 4, 0, false},       // another number of lines
		{0, 1, 0, false},       // no line
		{3, 2, 0, false},       // no range
		{1, 1 << 40, 0, false}, // more lines than the file has
	}
	for _, test := range tests {
		got, ok := snippet.Find(text.New(content), test.start, test.end, matches)
		if got != test.want || ok != test.ok {
			t.Errorf("%d-%d: %d, %v; want %d, %v", test.start, test.end, got, ok, test.want, test.ok)
		}
	}
	if _, ok := snippet.Find(text.New("x\ny\n"), 1, 2, matches); ok {
		t.Error("lines that are gone were found")
	}
	if _, ok := snippet.Find(text.New(""), 1, 1, matches); ok {
		t.Error("lines were found in an empty file")
	}
}
