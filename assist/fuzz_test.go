package assist

import (
	"strings"
	"testing"
)

// FuzzThoughts: what a model thinks aloud at the beginning is dropped however its
// text is cut in parts, and nothing else.
func FuzzThoughts(f *testing.F) {
	for _, s := range []string{"<think>\nhm</think>\n\nText", " <think>never ends", "<thin", "Text <think>x</think>", "", "<think></think>", "\n\t Text", "<think></think></think>a"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		var whole, parts thoughts
		want := whole.skip(s)
		var got strings.Builder
		n = max(1, n%16)
		for rest := s; rest != ""; {
			k := min(n, len(rest))
			got.WriteString(parts.skip(rest[:k]))
			rest = rest[k:]
		}
		if got.String() != want || !strings.HasSuffix(s, want) {
			t.Errorf("%q gives %q in parts of %d, %q as a whole", s, got.String(), n, want)
		}
		if body := strings.TrimLeft(s, " \n\t"); body != "" && !strings.HasPrefix(body, "<") && want != s {
			t.Errorf("%q gives %q", s, want)
		}
	})
}
