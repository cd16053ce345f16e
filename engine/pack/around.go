package pack

import (
	"fmt"
	"slices"
	"strings"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/chunk"
	"coderag-ls/engine/index"
	"coderag-ls/engine/wire"
)

// around tells, in lines of Markdown, what a block belongs to: for code the
// enclosing definition's declaration, sibling methods and the imports it uses;
// for a Markdown section the section above and those below; for text nothing.
func (p *packer) around(b *block) []string {
	d := b.doc
	switch {
	case d.Kind == chunk.Section:
		return sections(p.in.Snapshot, d, p.in.Settings.MaxChildren)
	case d.Language == "" || d.Kind == chunk.Block || d.Kind == chunk.Lines:
		return nil
	}
	shift := b.place.Start - d.StartLine
	var out []string
	// What is told must still stand there: an edit may have moved it.
	stands := func(line int, name string) bool { return strings.Contains(b.place.Doc.Line(line), name) }
	if parent := enclosing(d); parent != nil && stands(parent.NameLine+shift, parent.Name) {
		out = append(out, fmt.Sprintf("in %s [%s]", answer.Code(parent.Signature), answer.ID(d.File.Path, parent.NameLine+shift, parent.NameLine+shift)))
		var near []*chunk.Symbol
		for i := range d.File.Symbols {
			s := &d.File.Symbols[i]
			if s.Parent == d.Parent && s.Name != d.Name && (s.Kind == chunk.Method || s.Kind == chunk.Function) && s.Signature != "" && stands(s.NameLine+shift, s.Name) {
				near = append(near, s)
			}
		}
		slices.SortStableFunc(near, func(x, y *chunk.Symbol) int { return away(x, d) - away(y, d) })
		for _, s := range near[:min(p.in.Settings.MaxSiblings, len(near))] {
			out = append(out, fmt.Sprintf("beside %s [%s]", answer.Code(s.Signature), answer.ID(d.File.Path, s.NameLine+shift, s.NameLine+shift)))
		}
	}
	for i, line := range imports(d) {
		if i == p.in.Settings.MaxImports {
			break
		}
		if s := strings.TrimSpace(b.place.Doc.Line(line)); s != "" && b.place.Verified == wire.VerifiedExact {
			out = append(out, fmt.Sprintf("imports %s [%s]", answer.Code(s), answer.ID(d.File.Path, line, line)))
		}
	}
	return out
}

func away(s *chunk.Symbol, d *index.Doc) int {
	return max(s.StartLine-d.EndLine, d.StartLine-s.EndLine, 0)
}

// enclosing is the definition that a chunk's is a member of.
func enclosing(d *index.Doc) *chunk.Symbol {
	if d.Parent == "" {
		return nil
	}
	var best *chunk.Symbol
	for i := range d.File.Symbols {
		s := &d.File.Symbols[i]
		name := s.Name
		if s.Parent != "" {
			name = s.Parent + "." + s.Name
		}
		if (name == d.Parent || s.Name == d.Parent) && s.Signature != "" && s.StartLine <= d.StartLine && d.EndLine <= s.EndLine &&
			(best == nil || s.EndLine-s.StartLine < best.EndLine-best.StartLine) {
			best = s
		}
	}
	return best
}

// imports are the lines of the imports that a chunk uses, outside of it.
func imports(d *index.Doc) []int {
	var lines []int
	for _, im := range d.File.Imports {
		if slices.Contains(d.Imports, im.Target) && (im.Line < d.StartLine || im.Line > d.EndLine) && !slices.Contains(lines, im.Line) {
			lines = append(lines, im.Line)
		}
	}
	return lines
}

// sections tells the section above a section and those directly below it (PRD,
// context expansion), of these at most maxChildren.
func sections(snap *index.Snapshot, d *index.Doc, maxChildren int) []string {
	var out []string
	if n := len(d.HeaderPath); n > 1 {
		out = append(out, "under "+answer.Code(strings.Join(d.HeaderPath[:n-1], " > ")))
	}
	var children []string
	for _, r := range snap.DocsOf(d.File) {
		c := snap.Doc(r)
		n := len(d.HeaderPath)
		if len(c.HeaderPath) == n+1 && slices.Equal(c.HeaderPath[:n], d.HeaderPath) && !slices.Contains(children, c.HeaderPath[n]) {
			children = append(children, c.HeaderPath[n])
		}
	}
	if len(children) > 0 && maxChildren > 0 {
		more := ""
		if len(children) > maxChildren {
			more = fmt.Sprintf(" and %d more", len(children)-maxChildren)
			children = children[:maxChildren]
		}
		for i := range children {
			children[i] = answer.Code(children[i])
		}
		out = append(out, "contains "+strings.Join(children, ", ")+more)
	}
	return out
}
