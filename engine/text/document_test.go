package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"coderag-ls/engine/text"
)

// naive is the plainest reading of the rules, to compare with.
type naive struct {
	lines []string // with their terminators; the last has none and may be ""
}

func newNaive(s string) naive {
	var n naive
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			n.lines = append(n.lines, s[start:i+1])
			start = i + 1
		}
	}
	n.lines = append(n.lines, s[start:])
	return n
}

func body(line string) string { return strings.TrimRight(line, "\r\n") }

func (n naive) count() int {
	if n.lines[len(n.lines)-1] == "" {
		return len(n.lines) - 1
	}
	return len(n.lines)
}

func (n naive) start(line int) int {
	return len(strings.Join(n.lines[:line], ""))
}

func units(r rune, size int, enc text.Encoding) int {
	switch enc {
	case text.UTF8:
		return size
	case text.UTF32:
		return 1
	}
	return utf16.RuneLen(r)
}

// position counts from the text's start, character by character.
func (n naive) position(offset int, enc text.Encoding) text.Position {
	at := 0
	for i, line := range n.lines {
		if offset >= at+len(line) && i < len(n.lines)-1 {
			at += len(line)
			continue
		}
		character := 0
		for rest := body(line); rest != ""; {
			r, size := utf8.DecodeRuneInString(rest)
			if at+size > offset {
				break
			}
			at, character, rest = at+size, character+units(r, size, enc), rest[size:]
		}
		return text.Position{Line: i, Character: character}
	}
	panic("unreachable")
}

func (n naive) offset(p text.Position, enc text.Encoding) int {
	if p.Line == len(n.lines) {
		return n.start(p.Line)
	}
	at, left := n.start(p.Line), p.Character
	for rest := body(n.lines[p.Line]); rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		u := units(r, size, enc)
		if u > left {
			break
		}
		at, left, rest = at+size, left-u, rest[size:]
	}
	return at
}

var encodings = []text.Encoding{text.UTF8, text.UTF16, text.UTF32, ""}

// pieces make texts with everything that is special.
var pieces = []string{"a", "b c", "\n", "\r\n", "\r", "\n\n", "\t", "é", "日本", "🎉", "e\u0301", "\ufeff", "\u2028", "\xff", "\xe6\x97", "\xf0\x9f", "\x00", "word"}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		compare(t, randomText(r))
		if t.Failed() {
			return
		}
	}
}

func compare(t *testing.T, s string) {
	t.Helper()
	d, n := text.New(s), newNaive(s)
	if d.LineCount() != n.count() {
		t.Errorf("%q: LineCount = %d, want %d", s, d.LineCount(), n.count())
		return
	}
	for i := 1; i <= n.count(); i++ {
		line := body(n.lines[i-1])
		if got := d.Line(i); got != line {
			t.Errorf("%q: Line(%d) = %q, want %q", s, i, got, line)
		}
		if got, want := d.LineStart(i), n.start(i-1); got != want {
			t.Errorf("%q: LineStart(%d) = %d, want %d", s, i, got, want)
		}
		if got, want := d.LineEnd(i), n.start(i-1)+len(line); got != want {
			t.Errorf("%q: LineEnd(%d) = %d, want %d", s, i, got, want)
		}
		var want []string
		for k := i; k <= n.count(); k++ {
			want = append(want, body(n.lines[k-1]))
			if got, ok := d.Lines(i, k); !ok || got != strings.Join(want, "\n") {
				t.Errorf("%q: Lines(%d, %d) = %q, %v, want %q", s, i, k, got, ok, strings.Join(want, "\n"))
			}
		}
	}
	for _, enc := range encodings {
		for offset := -1; offset <= len(s)+1; offset++ {
			inside := max(0, min(offset, len(s)))
			got, want := d.PositionAt(offset, enc), n.position(inside, enc)
			if got != want {
				t.Errorf("%q: PositionAt(%d, %q) = %v, want %v", s, offset, enc, got, want)
			}
			if line := d.LineAt(offset); line != max(1, min(want.Line+1, n.count())) {
				t.Errorf("%q: LineAt(%d) = %d, want %d", s, offset, line, want.Line+1)
			}
		}
		for line := range len(n.lines) + 1 {
			for character := range 8 {
				p := text.Position{Line: line, Character: character}
				got, err := d.Offset(p, enc)
				if want := n.offset(p, enc); err != nil || got != want {
					t.Errorf("%q: Offset(%v, %q) = %d, %v, want %d", s, p, enc, got, err, want)
				}
			}
		}
	}
}

func TestLineCount(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "\n": 1, "a\nb": 2, "a\r\nb\r\n": 2, "a\rb": 2, "\r\n\r\n": 2, "\n\r": 2, "a\n\n": 2} {
		if got := text.New(s).LineCount(); got != want {
			t.Errorf("LineCount(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestLinesOutside(t *testing.T) {
	d := text.New("a\nb\n")
	for _, r := range [][2]int{{0, 1}, {1, 3}, {2, 1}, {3, 3}, {-1, 1}} {
		if got, ok := d.Lines(r[0], r[1]); ok {
			t.Errorf("Lines(%d, %d) = %q, want none", r[0], r[1], got)
		}
	}
	if d.Line(0) != "" || d.Line(3) != "" || d.Line(99) != "" {
		t.Error("a line that is not there is not empty")
	}
}

func TestOffsetOutside(t *testing.T) {
	d := text.New("a\nb")
	for _, p := range []text.Position{{Line: 3}, {Line: -1}, {Character: -1}} {
		if got, err := d.Offset(p, text.UTF16); err == nil {
			t.Errorf("Offset(%v) = %d, want an error", p, got)
		}
	}
}

func TestLSPRangeCoversTheLines(t *testing.T) {
	for _, s := range []string{"a\nb\nc", "a\r\nb\r\nc\r\n", "é🎉\rb\rc"} {
		d := text.New(s)
		for start := 1; start <= 3; start++ {
			for end := start; end <= 3; end++ {
				r := text.LSPRange(start, end)
				for _, enc := range encodings {
					from, err1 := d.Offset(r.Start, enc)
					to, err2 := d.Offset(r.End, enc)
					if err1 != nil || err2 != nil {
						t.Fatal(err1, err2)
					}
					want, _ := d.Lines(start, end)
					got := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s[from:to])
					if strings.TrimSuffix(got, "\n") != want {
						t.Errorf("%q: range of %d-%d covers %q, want %q", s, start, end, got, want)
					}
				}
			}
		}
	}
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		before  string
		r       text.Range
		insert  string
		enc     text.Encoding
		after   string
		problem string
	}{
		{"", text.Range{}, "x", text.UTF16, "x", ""},
		{"a\nb", text.Range{Start: text.Position{Line: 0, Character: 1}, End: text.Position{Line: 1, Character: 0}}, "", text.UTF16, "ab", ""},
		{"🎉x", text.Range{Start: text.Position{Character: 2}, End: text.Position{Character: 3}}, "y", text.UTF16, "🎉y", ""},
		{"🎉x", text.Range{Start: text.Position{Character: 4}, End: text.Position{Character: 5}}, "y", text.UTF8, "🎉y", ""},
		{"🎉x", text.Range{Start: text.Position{Character: 1}, End: text.Position{Character: 2}}, "y", text.UTF32, "🎉y", ""},
		{"a\r\nb", text.Range{Start: text.Position{Character: 1}, End: text.Position{Character: 99}}, "!", text.UTF16, "a!\r\nb", ""},
		{"a", text.Range{Start: text.Position{}, End: text.Position{Line: 1}}, "b", text.UTF16, "b", ""},
		{"ab", text.Range{Start: text.Position{Character: 2}, End: text.Position{Character: 1}}, "", text.UTF16, "", "ends before"},
		{"ab", text.Range{Start: text.Position{Line: 7}, End: text.Position{Line: 7}}, "", text.UTF16, "", "outside"},
	} {
		d := text.New(c.before)
		got, err := d.Apply(c.r, c.insert, c.enc)
		switch {
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("Apply(%q, %v): error %v, want one that says %q", c.before, c.r, err, c.problem)
		case c.problem == "" && (err != nil || got.Content() != c.after):
			t.Errorf("Apply(%q, %v) = %v, %v, want %q", c.before, c.r, got, err, c.after)
		}
		if d.Content() != c.before {
			t.Errorf("Apply changed the document it was called on")
		}
	}
}

func TestHash(t *testing.T) {
	// FIPS 180-4's examples.
	for s, want := range map[string]string{
		"":    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	} {
		if got := text.HexHash(s); got != want {
			t.Errorf("HexHash(%q) = %s, want %s", s, got, want)
		}
	}
}

// FuzzApply compares an edit with the same edit of the bytes.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\r\n🎉", 0, 1, 2, 2, "x\n", uint8(1))
	f.Add("\xff\r", 0, 0, 1, 0, "", uint8(0))
	f.Fuzz(func(t *testing.T, s string, l1, c1, l2, c2 int, insert string, e uint8) {
		enc := encodings[int(e)%len(encodings)]
		d := text.New(s)
		start, end := text.Position{Line: l1, Character: c1}, text.Position{Line: l2, Character: c2}
		next, err := d.Apply(text.Range{Start: start, End: end}, insert, enc)
		from, err1 := d.Offset(start, enc)
		to, err2 := d.Offset(end, enc)
		if (err != nil) != (err1 != nil || err2 != nil || to < from) {
			t.Fatalf("Apply = %v, Offset = %d, %v and %d, %v", err, from, err1, to, err2)
		}
		if err != nil {
			return
		}
		if want := s[:from] + insert + s[to:]; next.Content() != want {
			t.Errorf("Apply = %q, want %q", next.Content(), want)
		}
		if p := d.PositionAt(from, enc); p.Line > l1 || p.Line == l1 && p.Character > c1 {
			t.Errorf("%v is at %d, which is %v", start, from, p)
		}
		if len(s) < 64 {
			compare(t, s)
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	line := strings.Repeat("x", 30) + "\n"
	content := strings.Repeat(line, 94<<20/len(line))
	for _, c := range []struct{ name, content string }{{"lf", content}, {"crlf", strings.ReplaceAll(content, "x\n", "\r\n")}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.content)))
			for b.Loop() {
				text.New(c.content).LineCount()
			}
		})
	}
}
