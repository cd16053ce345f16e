package snippet

import (
	"strings"

	"coderag-ls/engine/text"
)

// Placed is a citation line of a document.
type Placed struct {
	Citation
	// Line is the 1-based line on which it stands.
	Line int
}

// MaxPlaced is the most citation lines that are looked at in one document.
const MaxPlaced = 10_000

// tag stands in every citation line.
const tag = " sha256:"

// Mentions reports whether a text may hold citation lines. It is fast, for it
// is asked of every text that is typed.
func Mentions(content string) bool { return strings.Contains(content, tag) }

// All returns the citation lines of a document in order, MaxPlaced at most.
func All(d *text.Document) []Placed {
	var all []Placed
	content := d.Content()
	for at := 0; len(all) < MaxPlaced; {
		i := strings.Index(content[at:], tag)
		if i < 0 {
			break
		}
		n := d.LineAt(at + i)
		if c, ok := Parse(d.Line(n)); ok {
			all = append(all, Placed{c, n})
		}
		at = max(at+i+len(tag), d.LineEnd(n))
	}
	return all
}

// At returns the citation on the 1-based line.
func At(d *text.Document, line int) (Placed, bool) {
	c, ok := Parse(d.Line(line))
	return Placed{c, line}, ok
}

// Span returns the bytes of the citation's comment: its line without the white
// space around it.
func (p Placed) Span(d *text.Document) (start, end int) {
	line := d.Line(p.Line)
	start = d.LineStart(p.Line) + len(leading(line))
	return start, max(start, d.LineStart(p.Line)+len(strings.TrimRight(line, " \t")))
}

// Lines is how many lines are cited.
func (c Citation) Lines() int { return c.EndLine - c.StartLine + 1 }
