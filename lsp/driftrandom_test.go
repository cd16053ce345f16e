package lsp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/lsp/lsptest"
)

// verdict is what became of a citation, by looking at every line of its file.
func verdict(c snippet.Placed, source *text.Document) string {
	best := 0
	far := func(n int) int { return max(n-c.StartLine, c.StartLine-n) }
	for start := 1; ; start++ {
		lines, ok := source.Lines(start, start+c.Lines()-1)
		if !ok {
			break
		}
		if c.Matches(text.HexHash(lines)) && (best == 0 || far(start) <= far(best)) {
			best = start
		}
	}
	switch best {
	case 0:
		return "changed: the cited lines have changed"
	case c.StartLine:
		return ""
	}
	return fmt.Sprintf("moved: the cited lines have moved to %s:%d-%d", c.Path, best, best+c.Lines()-1)
}

// Random edits above, below and inside the cited lines, in the source and in the
// document: what is said is what looking at every line says, and what mends all
// leaves nothing to be said.
func TestDriftRandomEdits(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			eol := []string{"\n", "\r\n"}[rng.IntN(2)]
			client := []string{lsptest.VSCode, lsptest.Neovim, lsptest.Emacs}[seed%3]
			line := func() string {
				return []string{"", "\t", "\tif 𝛂 {", "\t}", "}", "func f() {", "\treturn 日本"}[rng.IntN(7)] + []string{"", "", "x", "yy"}[rng.IntN(4)]
			}
			lines := []string{"package a"}
			for i := range 60 {
				lines = append(lines, line())
				if rng.IntN(2) == 0 {
					lines = append(lines, fmt.Sprintf("\tunique(%d)", i))
				}
			}
			d := startDrifting(t, lsptest.Config{Client: client}, rng.IntN(2) == 0,
				"src.go", strings.Join(lines, eol)+eol, "doc.py", "# notes"+eol+"def a():"+eol+"    one()"+eol+"    two()"+eol)
			d.OpenFile(d.in("src.go"))
			d.OpenFile(d.in("doc.py"))
			for range 6 {
				first := 1 + rng.IntN(len(lines)-8)
				d.insert("doc.py", []string{"# notes", "def a", "one()", "two()"}[rng.IntN(4)], fmt.Sprintf("src.go:%d-%d", first, first+rng.IntN(8)))
			}
			d.want("doc.py")
			check := func(step int) {
				t.Helper()
				source, want := text.New(d.Text(d.in("src.go"))), []string{}
				for _, c := range snippet.All(text.New(d.Text(d.in("doc.py")))) {
					if says := verdict(c, source); says != "" {
						want = append(want, says)
					}
				}
				if got := d.said("doc.py"); !slices.Equal(got, want) {
					t.Fatalf("step %d: %q, want %q\n%s\n%s", step, got, want, d.Text(d.in("doc.py")), d.Text(d.in("src.go")))
				}
			}
			for step := range 40 {
				name := "src.go"
				if rng.IntN(4) == 0 {
					name = "doc.py"
				}
				doc := text.New(d.Text(d.in(name)))
				n := 1 + rng.IntN(doc.LineCount())
				start, end, with := doc.LineStart(n), doc.LineStart(n), line()+eol
				switch kind := rng.IntN(4); {
				case name == "doc.py": // lines come and go, but not the citations
					with = "    mine()" + eol
				case kind == 0: // a line more
				case kind == 1: // a line less
					end, with = doc.LineStart(n+1), ""
				case kind == 2: // a line changed
					end = doc.LineStart(n + 1)
				default: // within a line
					start, with = doc.LineEnd(n), " // 𝛂"
					end = start
				}
				if after := doc.Content()[:start] + with + doc.Content()[end:]; d.full {
					d.SetText(d.in(name), after)
				} else {
					d.Edit(d.in(name), start, end, with)
				}
				if rng.IntN(3) == 0 {
					check(step)
				}
				if rng.IntN(8) == 0 {
					d.fixAll("doc.py", 1)
					d.want("doc.py")
				}
			}
			check(40)
			d.fixAll("doc.py", 1)
			d.want("doc.py")
		})
	}
}
