package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/snippet"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Citations tells what became of the lines that a document's citation lines
// cite, by the text as it stands in the view: the buffers', else the disk's.
// Files outside of the workspace, and those that its rules leave out, are never
// read, whatever a citation says.
func (v *View) Citations(ctx context.Context, p wire.CitationsParams) (wire.CitationsResult, error) {
	for {
		result, err := v.citations(ctx, p)
		if err == nil || ctx.Err() != nil || !errors.Is(err, store.ErrClosed) {
			return result, err
		} // else another index takes its place
	}
}

func (v *View) citations(ctx context.Context, p wire.CitationsParams) (wire.CitationsResult, error) {
	result := wire.CitationsResult{Citations: []wire.CheckedCitation{}}
	d := text.New(p.Text)
	var placed []snippet.Placed
	if p.Line == 0 {
		placed = snippet.All(d)
	} else if one, ok := snippet.At(d, p.Line); ok {
		placed = append(placed, one)
	}
	if len(placed) == 0 {
		return result, nil
	}
	c := citationCheck{View: v, document: d, sources: map[string]*citedSource{}, texts: map[string]*text.Document{}}
	var err error
	if c.ix, _, err = v.e.index(ctx); err != nil {
		return result, err
	}
	v.mu.Lock()
	c.inner = v.inner
	v.mu.Unlock()
	if c.inner == nil {
		return result, index.ErrClosed
	}
	if abs, err := text.PathFromURI(p.URI); err == nil {
		c.from, _ = c.ix.WorkspacePath(filepath.Clean(abs))
	}
	if err := c.find(ctx, placed); err != nil {
		return result, err
	}
	for i := range c.all {
		one, err := c.report(ctx, &c.all[i], p.Instead)
		if err != nil {
			return result, err
		}
		result.Citations = append(result.Citations, one)
	}
	return result, nil
}

// citationCheck is one look at a document's citations. Each file is read once,
// so that all are held against one state.
type citationCheck struct {
	*View
	ix       *index.Index
	inner    *index.View
	document *text.Document
	from     string // the document's workspace path, "" where it has none
	sources  map[string]*citedSource
	texts    map[string]*text.Document // by absolute path, nil where there is none
	all      []citedLines
}

// citedSource is the file that a citation's path names.
type citedSource struct {
	abs string         // "" where the path names none that may be read
	doc *text.Document // nil where it cannot be read
}

// citedLines is one citation and what is known of it.
type citedLines struct {
	snippet.Placed
	source *citedSource
	state  string
	was    string // the lines as they were cited, "" where that is not known
	// Where they stand, once they are found in another place.
	abs   string
	path  string
	start int
}

// source finds the file of a citation's path.
func (c *citationCheck) source(path string) *citedSource {
	s, ok := c.sources[path]
	if ok {
		return s
	}
	s = &citedSource{}
	c.sources[path] = s
	for _, name := range append([]string{path}, c.ix.Relative(path, c.from)...) {
		abs, ok := c.ix.Admits(name)
		if !ok {
			continue
		}
		if s.abs == "" {
			s.abs = abs
		}
		if doc := c.text(abs); doc != nil {
			s.abs, s.doc = abs, doc
			break
		}
	}
	return s
}

// text reads a file that may be read.
func (c *citationCheck) text(abs string) *text.Document {
	d, ok := c.texts[abs]
	if !ok {
		if content, is := c.inner.Text(abs); is {
			d = text.New(content)
		}
		c.texts[abs] = d
	}
	return d
}

// state is what is said of a citation whose lines are nowhere.
func (s *citedSource) state() string {
	switch {
	case s.abs == "":
		return wire.CitationUnknown
	case s.doc != nil && s.doc.LineCount() > 0:
		return wire.CitationChanged
	case s.doc != nil:
		return wire.CitationGone // it is empty
	}
	if _, err := os.Lstat(s.abs); err != nil && os.IsNotExist(err) {
		return wire.CitationGone
	}
	return wire.CitationUnknown // a file that cannot be read is not a deleted one
}

// find finds all citations' lines.
func (c *citationCheck) find(ctx context.Context, placed []snippet.Placed) error {
	bySource := map[*citedSource][]int{}
	var sources []*citedSource
	c.all = make([]citedLines, len(placed))
	for i, p := range placed {
		one := &c.all[i]
		*one = citedLines{Placed: p, source: c.source(p.Path)}
		if ctx.Err() != nil {
			return ctx.Err() // long ranges take their time
		}
		if doc := one.source.doc; doc != nil {
			if lines, ok := doc.Lines(p.StartLine, p.EndLine); ok && p.Matches(text.HexHash(lines)) {
				one.state = wire.CitationExact
				c.cited.remember(p.Citation, lines)
				continue
			}
		}
		one.was = c.cited.recall(p.Citation)
		if one.was == "" {
			one.was = snippet.Below(c.document, p, "").Was
		}
		if bySource[one.source] == nil {
			sources = append(sources, one.source)
		}
		bySource[one.source] = append(bySource[one.source], i)
	}
	var missing []int
	for _, s := range sources {
		which := bySource[s]
		if err := c.findIn(ctx, s.doc, which, func(one *citedLines) { one.abs, one.path = s.abs, one.Path }); err != nil {
			return err
		}
		for _, i := range which {
			if c.all[i].state == "" && s.abs != "" {
				missing = append(missing, i)
			}
		}
	}
	if err := c.findElsewhere(ctx, missing); err != nil {
		return err
	}
	for i := range c.all {
		if one := &c.all[i]; one.state == "" {
			one.state = one.source.state()
		}
	}
	return nil
}

// findIn looks for citations' lines in a document, which may be nil. found is
// told of each that stands there.
func (c *citationCheck) findIn(ctx context.Context, d *text.Document, which []int, found func(*citedLines)) error {
	if d == nil {
		return nil
	}
	blocks := make([]snippet.Block, len(which))
	for i, n := range which {
		one := &c.all[n]
		blocks[i] = snippet.Block{StartLine: one.StartLine, EndLine: one.EndLine, SHA8: one.SHA8, Text: one.was}
	}
	starts, err := snippet.FindAll(ctx, d, blocks)
	if err != nil {
		return err
	}
	for i, n := range which {
		if one := &c.all[n]; starts[i] > 0 {
			one.state, one.start = wire.CitationMoved, starts[i]
			found(one)
		}
	}
	return nil
}

// report is what is told of a citation.
func (c *citationCheck) report(ctx context.Context, one *citedLines, instead bool) (wire.CheckedCitation, error) {
	r := wire.CheckedCitation{
		Line: one.Line, Path: one.Path, StartLine: one.StartLine, EndLine: one.EndLine, SHA8: one.SHA8, State: one.state,
	}
	if one.source.abs != "" {
		r.URI = text.URIFromPath(one.source.abs)
	}
	switch {
	case one.state == wire.CitationMoved:
		r.Now = c.cite(one.abs, one.path, one.start, one.start+one.Lines()-1, instead)
	case one.state == wire.CitationChanged && instead:
		start, end, err := c.instead(ctx, one)
		if err != nil {
			return r, err
		}
		r.Now = c.cite(one.source.abs, one.Path, start, end, true)
	}
	if instead {
		r.Was = one.was
	}
	return r, nil
}

// cite cites lines that were read.
func (c *citationCheck) cite(abs, path string, start, end int, withText bool) *wire.Citation {
	lines, _ := c.text(abs).Lines(start, end)
	r := text.LSPRange(start, end)
	cited := &wire.Citation{
		ID: fmt.Sprintf("%s:%d-%d", path, start, end), URI: text.URIFromPath(abs), Path: path,
		Range:     wire.Range{Start: wire.Position(r.Start), End: wire.Position(r.End)},
		StartLine: start, EndLine: end, SHA256: text.HexHash(lines), Verified: wire.VerifiedExact, Why: []string{},
	}
	if withText {
		cited.Text = lines
		content := c.text(abs).Content()
		class, _, _ := file.Classify(filepath.Base(abs), content[:min(len(content), classified)])
		cited.Language = class.Language
	}
	return cited
}

// classified is how much of a text tells its language, in bytes.
const classified = 16 << 10

// instead returns the lines that stand in place of changed ones. Where a whole
// definition was cited, they are the definition as it is.
func (c *citationCheck) instead(ctx context.Context, one *citedLines) (start, end int, err error) {
	d := one.source.doc
	var was []string
	if one.was != "" {
		was = strings.Split(one.was, "\n")
	} else if pasted := snippet.Below(c.document, one.Placed, ""); len(pasted.Lines) > 0 {
		was = pasted.Lines
	}
	start, end, _ = snippet.Instead(d, was, one.StartLine, one.EndLine)
	if len(was) == 0 {
		return start, end, nil
	}
	snap, err := c.inner.Snapshot(ctx)
	if err != nil {
		return 0, 0, err
	}
	name, _ := c.ix.WorkspacePath(one.source.abs)
	f := snap.File(name)
	if f == nil {
		return start, end, nil
	}
	for i := range f.Symbols {
		if s := &f.Symbols[i]; s.EndLine <= d.LineCount() && wholeWasCited(d, s, was, start, end) {
			return s.StartLine, s.EndLine, nil
		}
	}
	return start, end, nil
}

// wholeWasCited reports whether cited lines were a whole definition: they ended
// as it ends, and began as it begins or name it where it is named.
func wholeWasCited(d *text.Document, s *chunk.Symbol, was []string, start, end int) bool {
	same := func(n int, line string) bool { return strings.TrimSpace(d.Line(n)) == strings.TrimSpace(line) }
	if s.StartLine > end || s.EndLine < start {
		return false
	}
	if last := was[len(was)-1]; !same(s.EndLine, last) {
		// Its last line is another now, so nothing tells where it ends but the
		// definition, where that has grown by little.
		return !same(end, last) && s.StartLine == start && named(s, was) && abs(s.EndLine-end) <= max(3, len(was)/4)
	}
	if s.StartLine == start {
		return same(start, was[0]) || named(s, was)
	}
	// Lines were put in front, such as a comment.
	return s.NameLine >= start && s.NameLine <= end && s.StartLine < start && named(s, was) && d.Line(s.StartLine) != "" && len(was) > 1
}

func abs(n int) int { return max(n, -n) }

// named reports whether the first of cited lines hold a symbol's name.
func named(s *chunk.Symbol, was []string) bool {
	name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
	return name != "" && strings.Contains(strings.Join(was[:min(len(was), 1+s.NameLine-s.StartLine)], "\n"), name)
}

// sameBase reports whether two paths end in the same name.
func sameBase(a, b string) bool { return path.Base(a) == path.Base(b) }
