package terminal

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// streamed shows a text that comes in pieces whose lengths next tells.
func streamed(o *Output, text string, cites Citations, next func() int) string {
	s := o.Stream(cites)
	var b strings.Builder
	for text != "" {
		n := min(len(text), max(1, next()))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		b.WriteString(s.Add(text[:n]))
		text = text[n:]
	}
	return b.String() + s.End()
}

const streamText = "# A title\n\nProse with `code that has blanks`, **bold words** and `open\n\n\n- a point that is longer than a line of the terminal, with [a.go:7-8].\n" +
	"1) one\n12. twelve ** and * and\n> quoted words follow\n\n```go\nfunc a() {\n\n\tb()\n}\n```\n\n~~~\nx\n~~~\n#hash `a``b` **c** d\n`code` first\nend\n\n\n"

// TestStreamIsTheWhole: however a text is cut, what is shown of its pieces is
// what is shown of all of it.
func TestStreamIsTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	piped := &Output{Width: 80}
	for _, o := range []*Output{seen(80), seen(20), piped, {Terminal: true, Width: 80}} {
		whole := o.Markdown(streamText, known{})
		for range 300 {
			most := 1 + r.IntN(30)
			if got := streamed(o, streamText, known{}, func() int { return r.IntN(most) }); got != whole {
				t.Fatalf("in pieces:\n%q\nwhole:\n%q", got, whole)
			}
		}
	}
	if got, want := piped.Markdown(streamText, known{}), strings.TrimRight(streamText, "\n")+"\n"; got != want {
		t.Errorf("without colours:\n%q, want\n%q", got, want)
	}
}

// TestStreamDoesNotWait: words are shown when they are complete, not when their
// line is.
func TestStreamDoesNotWait(t *testing.T) {
	s := seen(80).Stream(known{})
	for _, step := range []struct{ add, shows string }{
		{"The ", ""}, // it may be the beginning of anything
		{"delay dou", "The delay"},
		{"bles `in ", " doubles"},
		{"time` al", " in time"},
		{"ways.\n", " always.\n"},
		{"\n", ""},
		{"- poi", ""},
		{"nt two", "\n• point"},
	} {
		if got := plain(s.Add(step.add)); got != step.shows {
			t.Errorf("%q shows %q, want %q", step.add, got, step.shows)
		}
	}
	if got := plain(s.End()); got != " two\n" {
		t.Errorf("the end shows %q", got)
	}
}

// FuzzStream holds pieces of any text against all of it.
func FuzzStream(f *testing.F) {
	f.Add(streamText, uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, o := range []*Output{seen(30), {Width: 30}} {
			if got, want := streamed(o, text, known{}, func() int { return r.IntN(9) }), o.Markdown(text, known{}); utf8.ValidString(text) && got != want {
				t.Fatalf("in pieces %q, whole %q", got, want)
			}
		}
	})
}
