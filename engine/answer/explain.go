package answer

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/index"
	"coderag-ls/engine/wire"
)

// Near is where the asker stands: a workspace path and a line (1-based, 0 for
// none). Its zero value is nowhere.
type Near struct {
	Path string
	Line int
}

// What an explanation shows.
const (
	maxExplained = 3 // definitions
	maxCallers   = 3
	maxTests     = 2
)

// Explain explains the symbol of a name: its definition, what its
// documentation says, where it is used and tested. Of several definitions the
// nearest to the asker comes first: the one he stands in, of his file, of what
// his file imports, of his directory. It reads at most a dozen and a half
// files. Coverage is left to the caller. It fails only with ctx.
func Explain(ctx context.Context, snap *index.Snapshot, texts Texts, name string, near Near) (wire.ExplainResult, error) {
	res := wire.ExplainResult{Symbol: name, Definitions: []wire.Citation{}, Usages: []wire.Citation{}, Tests: []wire.Citation{}}
	name, parent := splitName(name)
	defs := snap.Definitions(name)
	if len(defs) == 0 {
		defs = snap.DefinitionsFold(strings.ToLower(name))
	}
	if len(defs) == 0 || name == "" {
		return res, ctx.Err()
	}
	from := snap.File(near.Path)
	defs = nearestFirst(defs, parent, from, near.Line)
	v := NewVerifier(snap, texts)
	var md strings.Builder
	for _, d := range defs {
		if len(res.Definitions) == maxExplained {
			break
		}
		c, ok := v.definition(ctx, snap, d)
		if !ok {
			continue
		}
		if len(res.Definitions) == 0 {
			res.Found = true
			res.Symbol = symbolName(d.Symbol, d.File.Class.Language)
			res.Kind, res.Signature, res.Summary = string(d.Symbol.Kind), d.Symbol.Signature, d.Symbol.Summary
			headline(&md, d, c)
		}
		res.Definitions = append(res.Definitions, c)
	}
	if !res.Found {
		return res, ctx.Err()
	}
	if n := len(defs) - 1; n > 0 {
		var others []string
		for _, c := range res.Definitions[1:] {
			others = append(others, strings.TrimSpace(cite(c.ID)))
		}
		fmt.Fprintf(&md, "\nDefined in %d more %s: %s\n", n, plural(n, "place", "places"), strings.Join(others, ", "))
	}
	main := defs[slices.IndexFunc(defs, func(d index.Definition) bool { return d.File.Path == res.Definitions[0].Path })]
	t := target{name: main.Symbol.Name, home: main.File, start: main.Symbol.StartLine, end: main.Symbol.EndLine}
	v.explainUses(ctx, snap, t, len(defs) > 1, &res, &md)
	res.Markdown = md.String()
	return res, ctx.Err()
}

// splitName takes "Session.send" and "send()" apart.
func splitName(s string) (name, parent string) {
	s = strings.TrimSuffix(strings.TrimSpace(s), "()")
	if i := strings.LastIndexAny(s, ".:#>"); i >= 0 {
		parent = strings.TrimRight(s[:i], ".:#>-")
		if j := strings.LastIndexAny(parent, ".:#>"); j >= 0 {
			parent = parent[j+1:]
		}
		s = s[i+1:]
	}
	return strings.TrimLeft(s, "$"), parent
}

// nearestFirst sorts definitions by how near they are.
func nearestFirst(defs []index.Definition, parent string, from *index.File, line int) []index.Definition {
	type placed struct {
		index.Definition
		near float64
	}
	all := make([]placed, len(defs))
	in := newImports(from)
	for i, d := range defs {
		all[i] = placed{d, proximity(d, parent, from, in, line)}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(b.near, a.near) })
	sorted := make([]index.Definition, len(defs))
	for i := range all {
		sorted[i] = all[i].Definition
	}
	return sorted
}

// proximity is how near a definition is to where the asker stands.
func proximity(d index.Definition, parent string, from *index.File, in []importOf, line int) float64 {
	var s float64
	if parent != "" && (d.Symbol.Parent == parent || strings.HasSuffix(d.Symbol.Parent, "."+parent)) {
		s += 20
	}
	if from != nil {
		switch {
		case d.File == from:
			s += 8
			if line >= d.Symbol.StartLine && line <= d.Symbol.EndLine {
				s += 4
			}
			if line == d.Symbol.NameLine {
				s += 20 // he points at the definition itself
			}
		case imported(in, d.File, d.Symbol.Name):
			s += 6
		case sameDir(from, d.File):
			s += 3
		default:
			s += float64(shared(from.Path, d.File.Path)) / 4
		}
		if from.Class.Language == d.File.Class.Language {
			s += 2
		}
	}
	if d.Symbol.Exported {
		s += 0.5
	}
	if d.Symbol.Kind == chunk.Variable {
		s -= 1
	}
	c := d.File.Class
	if c.Test || c.Vendored || c.Generated || c.Example {
		s -= 2.5
	}
	return s + min(1, float64(d.Symbol.EndLine-d.Symbol.StartLine)/50)
}

// importOf is an import taken apart: the last two parts of its target and the
// names.
type importOf struct {
	last, before string
	parts        int
	names        []string
}

func newImports(f *index.File) []importOf {
	if f == nil {
		return nil
	}
	out := make([]importOf, 0, len(f.Imports))
	for _, im := range f.Imports {
		parts := strings.FieldsFunc(im.Target, func(r rune) bool { return strings.ContainsRune("./:\\\"'<>", r) })
		o := importOf{names: im.Names, parts: len(parts)}
		if n := len(parts); n > 0 {
			o.last = parts[n-1]
			if n > 1 {
				o.before = parts[n-2]
			}
		}
		out = append(out, o)
	}
	return out
}

// imported reports whether a file imports a name, or a module whose path ends
// like the other file's.
func imported(in []importOf, of *index.File, name string) bool {
	if len(in) == 0 {
		return false
	}
	base := strings.TrimSuffix(path.Base(of.Path), path.Ext(of.Path))
	dir := path.Base(path.Dir(of.Path))
	for _, im := range in {
		switch {
		case slices.Contains(im.names, name) && (im.last == base || im.last == dir || im.last == ""),
			im.last != "" && (im.last == base || im.last == dir && of.Class.Language == "go"),
			im.last == name && (im.parts < 2 || im.before == base || im.before == dir):
			return true
		}
	}
	return false
}

// shared counts the path segments that two paths begin with.
func shared(a, b string) int {
	x, y := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// definition cites a definition: all its lines where they are few, else its
// declaration.
func (v *Verifier) definition(ctx context.Context, snap *index.Snapshot, d index.Definition) (wire.Citation, bool) {
	ref, ok := snap.DocOf(d.File, d.Symbol.NameLine)
	if !ok {
		return wire.Citation{}, false
	}
	p, ok := v.Locate(ctx, ref)
	if !ok {
		return wire.Citation{}, false
	}
	shift := p.shift(snap.Doc(ref))
	start, end := max(d.Symbol.StartLine+shift, 1), d.Symbol.EndLine+shift
	if p.Verified != wire.VerifiedExact {
		start, end = max(start, p.Start), min(end, p.End)
	}
	start, end = trim(p.Doc, start, min(end, p.Doc.LineCount()))
	if end-start+1 > wholeLines {
		a := asked{}
		docEnd := 0
		if d.Symbol.DocStart > 0 {
			docEnd = d.Symbol.DocEnd + shift
		}
		w := a.head(p.Doc, start, end, d.Symbol.NameLine+shift, d.Symbol.DocStart, docEnd)
		start, end = w.start, w.end
	}
	c, err := v.Cite(ref, p, start, end, 1, []string{"defines " + d.Symbol.Name})
	if err != nil {
		return wire.Citation{}, false
	}
	c.Symbol, c.Kind = symbolName(d.Symbol, d.File.Class.Language), string(d.Symbol.Kind)
	return c, true
}

// headline writes signature, kind, place and documentation.
func headline(md *strings.Builder, d index.Definition, c wire.Citation) {
	s := d.Symbol
	if s.Signature != "" {
		md.WriteString(Fenced(s.Signature, d.File.Class.Language))
		md.WriteString("\n")
	}
	summary := sentence(s.Summary)
	if summary != "" {
		summary = ": " + summary
	}
	fmt.Fprintf(md, "%s is %s%s%s\n", Code(symbolName(s, d.File.Class.Language)), nounIn(s.Kind, d.File.Class.Language), summary, cite(c.ID))
}

// explainUses fills uses and tests.
func (v *Verifier) explainUses(ctx context.Context, snap *index.Snapshot, t target, shared bool, res *wire.ExplainResult, md *strings.Builder) {
	found, n := v.usages(ctx, t)
	res.UsageCount = n
	if n == 0 {
		fmt.Fprintf(md, "\nNothing else in the index names it.\n")
		return
	}
	verb := "use it"
	if shared {
		verb = "use that name" // which definition each one means is not known
	}
	fmt.Fprintf(md, "\n%d %s%s %s.\n", n, plural(n, "line", "lines"), atLeast(n), verb)
	uses := spread(byCaller(found, snap), snap)
	for _, u := range uses {
		if u.imported || u.comment {
			continue
		}
		d := snap.Doc(u.ref)
		into, most, why := &res.Usages, maxCallers, "uses "+t.name
		if u.test {
			into, most, why = &res.Tests, maxTests, "tests "+t.name
		}
		if len(*into) == most {
			continue
		}
		c, err := v.Cite(u.ref, u.place, u.line, u.line, 1, []string{why})
		if err != nil {
			continue
		}
		if u.caller != nil {
			c.Symbol, c.Kind = symbolName(u.caller, d.Language), string(u.caller.Kind)
		}
		*into = append(*into, c)
	}
	writeUses(md, "", res.Usages)
	writeUses(md, "Tests", res.Tests)
}

func writeUses(md *strings.Builder, title string, uses []wire.Citation) {
	if len(uses) == 0 {
		return
	}
	if title != "" {
		fmt.Fprintf(md, "\n%s:\n", title)
	}
	md.WriteString("\n")
	for _, c := range uses {
		who := c.Symbol
		if who == "" {
			who = c.Path
		}
		fmt.Fprintf(md, "- %s: %s%s\n", Code(who), Code(clip(strings.TrimSpace(c.Text), 120)), cite(c.ID))
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
