package answer

import (
	"context"
	"fmt"
	"strings"

	"coderag-ls/engine/index"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Texts gives the text of a workspace file as the asker has it: the editor's
// buffer, else the disk. ok is false where there is no such text.
type Texts interface {
	Text(ctx context.Context, path string) (doc *text.Document, ok bool)
}

// Hider is a Texts that keeps some texts back.
type Hider interface {
	// Hidden reports whether the text of a path is there and not given.
	Hidden(path string) bool
}

// Verifier reads cited lines again when they are cited and tells whether they
// still hold. One serves one answer and is used by one goroutine; it reads
// each file once, so that all citations of an answer are of one state.
type Verifier struct {
	snap    *index.Snapshot
	texts   Texts
	files   map[*index.File]*current
	located map[index.Ref]Place
	// Dropped counts the chunks that no longer stand anywhere in their file.
	Dropped int
	read    int
}

// current is a file as it stands.
type current struct {
	doc *text.Document // nil where it is gone
	// same: the text is what was indexed.
	same bool
}

// NewVerifier returns a verifier for the chunks of a snapshot.
func NewVerifier(snap *index.Snapshot, texts Texts) *Verifier {
	return &Verifier{snap: snap, texts: texts, files: map[*index.File]*current{}, located: map[index.Ref]Place{}}
}

// Place is where a chunk stands now. Doc is nil where it is gone.
type Place struct {
	Doc *text.Document
	// Start and End are 1-based, inclusive.
	Start, End int
	Verified   string // wire.VerifiedExact or wire.VerifiedMoved
	// changed: the lines are not those that were indexed; only the definition
	// was found again.
	changed bool
}

// shift is how far the chunk has moved.
func (p Place) shift(d *index.Doc) int { return p.Start - d.StartLine }

// file returns a file as it stands.
func (v *Verifier) file(ctx context.Context, f *index.File) *current {
	if c, ok := v.files[f]; ok {
		return c
	}
	c := &current{}
	if doc, ok := v.texts.Text(ctx, f.Path); ok {
		v.read++
		c.doc, c.same = doc, text.Hash(doc.Content()) == f.Hash
	}
	v.files[f] = c
	return c
}

// Locate finds where a chunk stands now: in its place where the lines there
// hash as indexed, else where the same lines are found in the file, nearest
// first, else, where the chunk changed itself, where its definition is found
// again by its declaration. ok is false, and Dropped grows, where it is gone.
func (v *Verifier) Locate(ctx context.Context, r index.Ref) (p Place, ok bool) {
	if p, done := v.located[r]; done {
		return p, p.Doc != nil
	}
	d := v.snap.Doc(r)
	c := v.file(ctx, d.File)
	if c.doc != nil {
		p = locate(c, d)
	}
	if p.Doc == nil {
		if h, hides := v.texts.(Hider); !hides || !h.Hidden(d.File.Path) { // else it may well stand
			v.Dropped++
		}
	}
	v.located[r] = p
	return p, p.Doc != nil
}

// maxMoves bounds how many lines are hashed to find moved ones.
const maxMoves = 20000

func locate(c *current, d *index.Doc) Place {
	exact := Place{Doc: c.doc, Start: d.StartLine, End: d.EndLine, Verified: wire.VerifiedExact}
	if c.same || hashed(c.doc, d.StartLine, d) {
		return exact
	}
	n := d.EndLine - d.StartLine
	last := c.doc.LineCount() - n
	for away := 1; away < maxMoves && (d.StartLine-away >= 1 || d.StartLine+away <= last); away++ {
		for _, start := range [2]int{d.StartLine - away, d.StartLine + away} {
			if start >= 1 && start <= last && hashed(c.doc, start, d) {
				return Place{Doc: c.doc, Start: start, End: start + n, Verified: wire.VerifiedMoved}
			}
		}
	}
	return again(c.doc, d)
}

func hashed(doc *text.Document, start int, d *index.Doc) bool {
	lines, ok := doc.Lines(start, start+d.EndLine-d.StartLine)
	return ok && text.Hash(lines) == d.Hash
}

// again finds the definition that a changed chunk begins with by its
// declaration's name line. What is cited then are the lines as they stand.
func again(doc *text.Document, d *index.Doc) Place {
	sym := symbolOf(d)
	if sym == nil || sym.Signature == "" {
		return Place{}
	}
	head := strings.TrimSpace(sym.Signature)
	if i := strings.IndexByte(head, '('); i > 0 {
		head = head[:i+1] // parameters may have changed or be on further lines
	}
	found := 0
	for n := 1; n <= doc.LineCount(); n++ {
		if line := doc.Line(n); strings.Contains(line, head) && (found == 0 || distance(n, sym.NameLine) < distance(found, sym.NameLine)) {
			found = n
		}
	}
	if found == 0 {
		return Place{}
	}
	start := max(1, found-(sym.NameLine-d.StartLine))
	return Place{Doc: doc, Start: start, End: min(doc.LineCount(), start+d.EndLine-d.StartLine), Verified: wire.VerifiedMoved, changed: true}
}

func distance(a, b int) int { return max(a-b, b-a) }

// Cite makes the citation of some lines of a place. Its text is read from the
// place, so that it is what stands there by construction.
func (v *Verifier) Cite(r index.Ref, p Place, start, end int, score float64, why []string) (wire.Citation, error) {
	d := v.snap.Doc(r)
	lines, ok := p.Doc.Lines(start, end)
	if !ok {
		return wire.Citation{}, fmt.Errorf("citing %s: it has no lines %d to %d", d.File.Path, start, end)
	}
	if why == nil {
		why = []string{}
	}
	return wire.Citation{
		ID: ID(d.File.Path, start, end), URI: text.URIFromPath(d.File.Abs()), Path: d.File.Path, Root: d.File.Root.Name,
		Range:     wire.Range{Start: wire.Position{Line: start - 1}, End: wire.Position{Line: end}},
		StartLine: start, EndLine: end, Text: lines, SHA256: text.HexHash(lines),
		Symbol: qualified(d), Kind: string(d.Kind), Language: d.Language, Score: score, Why: why, Verified: p.Verified,
	}, nil
}

// Recheck reads the lines of a finished citation again (after a language model
// has written its answer, for example): it holds where its text still stands
// there; where the same lines stand elsewhere in the file it is relocated; ok
// is false where they are gone.
func Recheck(ctx context.Context, texts Texts, c wire.Citation) (out wire.Citation, ok bool) {
	doc, ok := texts.Text(ctx, c.Path)
	if !ok {
		return c, false
	}
	if lines, ok := doc.Lines(c.StartLine, c.EndLine); ok && lines == c.Text {
		return c, true
	}
	n := c.EndLine - c.StartLine
	last := doc.LineCount() - n
	for away := 1; away < maxMoves && (c.StartLine-away >= 1 || c.StartLine+away <= last); away++ {
		for _, start := range [2]int{c.StartLine - away, c.StartLine + away} {
			if start < 1 || start > last {
				continue
			}
			if lines, ok := doc.Lines(start, start+n); ok && lines == c.Text {
				c.StartLine, c.EndLine, c.Verified = start, start+n, wire.VerifiedMoved
				c.Range = wire.Range{Start: wire.Position{Line: start - 1}, End: wire.Position{Line: start + n}}
				c.ID = ID(c.Path, start, start+n)
				return c, true
			}
		}
	}
	return c, false
}

// ID is how a citation is written: path:start-end.
func ID(path string, start, end int) string { return fmt.Sprintf("%s:%d-%d", path, start, end) }
