package bert_test

import (
	"slices"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed/onnx/bert"
)

// FuzzTight: a text and its tight form, by which vectors are kept, have the
// same tokens however many are taken.
func FuzzTight(f *testing.F) {
	for _, s := range []string{
		"func  f( a int,\n\tb string ) {\n\n\t\treturn  a+ b\n}\r\n", "x[ CLS ] [CLS] \t[ MASK] [PAD ][UNK] ]", "ΑΣ Σ ΑΣ. 12 3４ 五 \u3000x \xe2 \x82\xac",
		"a\x00 b\f c\v, d", "\xef\xbb\xbf x", "e\u0301 \u0301 ,\u0301 \u1dce\u0345 x", "İ \u00a0 y_ z",
	} {
		f.Add(s, 8)
	}
	tokenizer := bert.New(vocabulary(f))
	f.Fuzz(func(t *testing.T, s string, limit int) {
		tight := chunk.Tight(s)
		for _, n := range []int{limit % 64, 1 << 20} {
			a, knownA := tokenizer.Encode(s, n)
			b, knownB := tokenizer.Encode(tight, n)
			if !slices.Equal(a, b) || knownA != knownB {
				t.Errorf("%q and %q have different tokens: %v, %v", s, tight, a, b)
			}
		}
	})
}

// TestTightReference: the same for the texts that the reference tokenized.
func TestTightReference(t *testing.T) {
	tokenizer := bert.New(vocabulary(t))
	n := 0
	for _, s := range parity(t) {
		a, _ := tokenizer.Encode(s.text, 1<<20)
		b, _ := tokenizer.Encode(chunk.Tight(s.text), 1<<20)
		if !slices.Equal(a, b) {
			t.Fatalf("%q has other tokens when it is tight", s.text)
		}
		n++
	}
	if n == 0 {
		t.Error("no texts")
	}
}
