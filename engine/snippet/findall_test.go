package snippet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
)

// bruteForce is FindAll for one block, as it is defined.
func bruteForce(d *text.Document, b snippet.Block) int {
	best := 0
	for start := 1; ; start++ {
		lines, ok := d.Lines(start, start+b.EndLine-b.StartLine)
		if !ok {
			return best
		}
		far := func(n int) int { return max(n-b.StartLine, b.StartLine-n) }
		if text.HexHash(lines)[:8] == b.SHA8 && (best == 0 || far(start) <= far(best)) {
			best = start
		}
	}
}

// Random texts of few different lines, edited at random, with every line
// ending: what FindAll finds is what looking at every line finds.
func TestFindAllAgainstBruteForce(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		eol := []string{"\n", "\r\n", "\r"}[rng.IntN(3)]
		line := func() string { return strings.Repeat("é\tx", rng.IntN(3)) + fmt.Sprint(rng.IntN(6)) }
		var lines []string
		for range 1 + rng.IntN(40) {
			lines = append(lines, line())
		}
		before := text.New(strings.Join(lines, eol))
		var blocks []snippet.Block
		for range 1 + rng.IntN(40) {
			start := 1 + rng.IntN(len(lines))
			end := start + rng.IntN(min(5, len(lines)-start+1))
			cited, ok := before.Lines(start, end)
			if !ok {
				continue // a last line that is empty is none
			}
			b := snippet.Block{StartLine: start, EndLine: end, SHA8: text.HexHash(cited)[:8]}
			if rng.IntN(2) == 0 {
				b.Text = cited
			}
			blocks = append(blocks, b)
		}
		for range rng.IntN(6) {
			at := rng.IntN(len(lines))
			switch rng.IntN(3) {
			case 0:
				lines = append(lines[:at:at], append([]string{line()}, lines[at:]...)...)
			case 1:
				lines[at] = line()
			default:
				if len(lines) > 1 {
					lines = append(lines[:at:at], lines[at+1:]...)
				}
			}
		}
		after := text.New(strings.Join(lines, eol) + eol)
		got, err := snippet.FindAll(context.Background(), after, blocks)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range blocks {
			if want := bruteForce(after, b); got[i] != want {
				t.Errorf("seed %d: %+v starts at %d, want %d, in %q", seed, b, got[i], want, after.Content())
			}
		}
	}
}

func TestFindAllBounds(t *testing.T) {
	sha := text.HexHash("b")[:8]
	blocks := []snippet.Block{
		{StartLine: 1, EndLine: 999_999_999, SHA8: sha}, {StartLine: 999_999_999, EndLine: 999_999_999, SHA8: sha},
		{StartLine: 0, EndLine: 0, SHA8: sha}, {StartLine: 3, EndLine: 2, SHA8: sha}, {StartLine: 999_999_999, EndLine: 999_999_999, SHA8: sha, Text: "b"},
	}
	got, err := snippet.FindAll(context.Background(), text.New("a\nb\n"), blocks)
	if err != nil || fmt.Sprint(got) != "[0 2 0 0 2]" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = snippet.FindAll(context.Background(), text.New(""), blocks); err != nil || fmt.Sprint(got) != "[0 0 0 0 0]" {
		t.Errorf("an empty text: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	many := strings.Repeat("x\ny\n", 1000)
	if _, err := snippet.FindAll(ctx, text.New(many), blocks[:2]); err == nil {
		t.Error("a cancelled search ended well")
	}
}

// Blocks so long that hashing them at every line would take minutes are looked
// for nearby, and found there.
func TestFindAllHuge(t *testing.T) {
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, "line %d of many\n", i)
	}
	d := text.New(b.String())
	cited, _ := d.Lines(1, 30_000)
	after := text.New("new\n" + b.String())
	got, err := snippet.FindAll(context.Background(), after, []snippet.Block{
		{StartLine: 1, EndLine: 30_000, SHA8: text.HexHash(cited)[:8]}, {StartLine: 1, EndLine: 30_000, SHA8: "00000000"},
	})
	if err != nil || got[0] != 2 || got[1] != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAll(t *testing.T) {
	d := text.New("a\r\n// x.go:1-2 sha256:0123abcd\r\n\t/* y z.c:3-4 sha256:89abcdef */  \r\nno sha256:0123abcd sha256:0123abcd\r\n<!-- z.md:5-6 sha256:00000000 -->")
	all := snippet.All(d)
	var got []string
	for _, p := range all {
		start, end := p.Span(d)
		got = append(got, fmt.Sprintf("%d %s:%d-%d %q", p.Line, p.Path, p.StartLine, p.EndLine, d.Content()[start:end]))
	}
	want := `[2 x.go:1-2 "// x.go:1-2 sha256:0123abcd" 5 z.md:5-6 "<!-- z.md:5-6 sha256:00000000 -->"]`
	if fmt.Sprint(got) != want {
		t.Errorf("got %s", got)
	}
	if snippet.Mentions("sha256: nothing") || !snippet.Mentions(d.Content()) {
		t.Error("Mentions is wrong")
	}
}
