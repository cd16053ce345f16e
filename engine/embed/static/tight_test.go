package static_test

import (
	"slices"
	"testing"

	"coderag-ls/engine/chunk"
)

// FuzzTight: the model gives the same vector, bit for bit, for a text and its
// tight form, by which vectors are kept.
func FuzzTight(f *testing.F) {
	for _, s := range []string{
		"func  f( a int,\n\tb string ) {\n\n\t\treturn  a+ b\n}\r\n", "x[ CLS ] [CLS] \t[ MASK]", "ΑΣ Σ ΑΣ. 12 3４ 五 \u3000x \xe2 \x82\xac",
		"a\x00 b\f c\v, d", "\xef\xbb\xbf x", "e\u0301 \u0301 ,\u0301", "İ \u00a0 y_ z",
	} {
		f.Add(s)
	}
	m := model(f)
	f.Fuzz(func(t *testing.T, s string) {
		tight := chunk.Tight(s)
		if again := chunk.Tight(tight); again != tight {
			t.Errorf("%q is %q when tight, and then %q", s, tight, again)
		}
		if a, b := m.Append(nil, s), m.Append(nil, tight); !slices.Equal(a, b) {
			t.Errorf("%q and %q have different vectors: %v, %v", s, tight, m.Tokenize(nil, s), m.Tokenize(nil, tight))
		}
	})
}
