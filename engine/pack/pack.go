// Package pack fits what was found into a token budget: the best chunks with
// what stands around them, related places, an excerpt of how the files hang
// together, as Markdown in which every block names its lines.
package pack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/config"
	"coderag-ls/engine/graph"
	"coderag-ls/engine/index"
	"coderag-ls/engine/search"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Input is what is packed.
type Input struct {
	Snapshot *index.Snapshot
	Graph    *Graph // of the snapshot, or of a recent one
	Texts    answer.Texts
	Hits     []search.Hit
	// Budget is in tokens, 0 or less for no limit; Reserved of them are kept
	// free for the answer, a quarter of the budget where it is not larger.
	Budget, Reserved int
	// Settings are the shares and bounds; the zero value means the defaults.
	// Their budget does not count.
	Settings config.Answer
	// Count counts the tokens of a text as its reader does; nil for Tokens.
	Count func(text string) int
}

// Context is a packed context.
type Context struct {
	Content string
	// Primary are the citations of the primary blocks, in order.
	Primary []wire.Citation
	Related []wire.Related
	Graph   wire.Graph
	// Tokens is the estimate of Content's size.
	Tokens int
	// Truncated: something that was found did not fit.
	Truncated bool
	// Dropped counts hits whose lines no longer stand.
	Dropped int
}

// Tokens estimates how many tokens a text has: a quarter of its bytes,
// rounded up (TS).
func Tokens(s string) int { return (len(s) + 3) / 4 }

// Pack packs. At least one chunk is packed whatever the budget, cut by lines
// where it must be. It fails only with ctx.
func Pack(ctx context.Context, in Input) (Context, error) {
	if in.Settings.PrimaryShare == 0 {
		in.Settings = config.Default().Answer
	}
	if in.Count == nil {
		in.Count = Tokens
	}
	p := &packer{in: &in, v: answer.NewVerifier(in.Snapshot, in.Texts)}
	limit := available(in.Budget, in.Reserved)
	var c Context
	blocks := p.primary(ctx, share(limit, in.Settings.PrimaryShare), limit, &c)
	if err := ctx.Err(); err != nil {
		return Context{}, err
	}
	var b strings.Builder
	if len(blocks) > 0 {
		b.WriteString("## Primary results\n")
	}
	for _, bl := range blocks {
		b.WriteString(bl.render())
		c.Primary = append(c.Primary, bl.cite)
	}
	relations := in.Graph.around(ctx, in.Snapshot, in.Texts, places(blocks), in.Settings)
	p.related(ctx, relations, share(limit, in.Settings.RelatedShare), &b, &c)
	p.graph(relations, limit, &b, &c)
	c.Content, c.Dropped = b.String(), p.v.Dropped
	c.Tokens = in.Count(c.Content)
	if c.Primary == nil {
		c.Primary = []wire.Citation{}
	}
	if c.Related == nil {
		c.Related = []wire.Related{}
	}
	return c, ctx.Err()
}

const unlimited = 1 << 40

// available is what of a budget may be filled.
func available(budget, reserved int) int {
	if budget <= 0 {
		return unlimited
	}
	if reserved >= budget {
		reserved = budget / 4
	}
	return budget - max(0, reserved)
}

func share(limit int, part float64) int { return int(float64(limit) * part) }

type packer struct {
	in *Input
	v  *answer.Verifier
}

// block is a run of lines of one file that is packed.
type block struct {
	ref        index.Ref // its best chunk
	doc        *index.Doc
	place      answer.Place
	start, end int
	rank       int // of its best hit
	why        []string
	score      float64
	around     []string // lines of Markdown about what stands around it
	cite       wire.Citation
}

func (b *block) render() string {
	var s strings.Builder
	fmt.Fprintf(&s, "\n### %s (%s)\n[%s]\n", heading(b.doc), b.doc.Kind, answer.ID(b.doc.File.Path, b.start, b.end))
	lines, _ := b.place.Doc.Lines(b.start, b.end)
	s.WriteString(answer.Fenced(lines, b.doc.File.Class.Language))
	for _, line := range b.around {
		s.WriteString("- " + line + "\n")
	}
	return s.String()
}

func heading(d *index.Doc) string {
	switch {
	case d.Name == "":
		return answer.Code(d.File.Path)
	case d.Parent != "" && d.Parent != d.Name:
		return answer.Code(d.Parent + "." + d.Name)
	}
	return answer.Code(d.Name)
}

// primary chooses chunks greedily by rank, merges neighbours and adds what
// stands around them.
func (p *packer) primary(ctx context.Context, budget, limit int, c *Context) []*block {
	var chosen []*block
	used := p.in.Count("## Primary results\n")
	for rank, h := range p.in.Hits {
		if ctx.Err() != nil {
			return nil
		}
		pl, ok := p.v.Locate(ctx, h.Ref)
		if !ok {
			continue
		}
		b := &block{ref: h.Ref, doc: p.in.Snapshot.Doc(h.Ref), place: pl, start: pl.Start, end: pl.End, rank: rank, why: h.Why, score: h.Score}
		cost := p.in.Count(b.render())
		if used+cost > budget {
			c.Truncated = true
			if len(chosen) > 0 {
				continue // a smaller one may still fit
			}
			b.cut(max(limit-used, 1), p.in.Count)
			cost = p.in.Count(b.render())
		}
		chosen = append(chosen, b)
		used += cost
		if len(chosen) >= p.in.Settings.EnoughChunks && h.Score > p.in.Settings.Enough {
			break // all of them are good (SYN, early termination)
		}
	}
	chosen = merge(chosen)
	for _, b := range chosen {
		for _, line := range p.around(b) {
			cost := p.in.Count(line) + 1
			if used+cost > budget {
				break
			}
			b.around = append(b.around, line)
			used += cost
		}
		cite, err := p.v.Cite(b.ref, b.place, b.start, b.end, b.score, b.why)
		if err == nil {
			b.cite = cite
		}
	}
	return chosen
}

// cut shortens a block to a number of tokens, at least one line.
func (b *block) cut(tokens int, count func(string) int) {
	for b.end > b.start && count(b.render()) > tokens {
		b.end -= max(1, (b.end-b.start)/8)
	}
}

// merge joins blocks of a file that follow one another, with nothing but blank
// lines between, in the place of the better one.
func merge(blocks []*block) []*block {
	byPlace := slices.Clone(blocks)
	slices.SortFunc(byPlace, func(a, b *block) int {
		if a.doc.File != b.doc.File {
			return strings.Compare(a.doc.File.Path, b.doc.File.Path)
		}
		return a.start - b.start
	})
	gone := map[*block]bool{}
	for i := 0; i+1 < len(byPlace); i++ {
		a, b := byPlace[i], byPlace[i+1]
		if a.doc.File != b.doc.File || b.start > a.end+1 && !blank(a.place.Doc, a.end+1, b.start-1) {
			continue
		}
		start, end := a.start, max(a.end, b.end)
		if a.rank < b.rank { // b is swallowed by a
			a, b = b, a
		}
		b.start, b.end = start, end
		gone[a] = true
		byPlace[i+1] = b
	}
	return slices.DeleteFunc(blocks, func(b *block) bool { return gone[b] })
}

func blank(doc *text.Document, from, to int) bool {
	for n := from; n <= to; n++ {
		if strings.TrimSpace(doc.Line(n)) != "" {
			return false
		}
	}
	return true
}

func places(blocks []*block) []graph.Place {
	out := make([]graph.Place, len(blocks))
	for i, b := range blocks {
		out[i] = graph.Place{Path: b.doc.File.Path, StartLine: b.start, EndLine: b.end}
	}
	return out
}

// excerptLines is how many lines of a related place are packed.
const excerptLines = 12

// related adds related files, nearest first, with the lines that connect them.
func (p *packer) related(ctx context.Context, relations []graph.Related, budget int, out *strings.Builder, c *Context) {
	used, head := 0, "\n## Related\n"
	for i := range relations {
		r := &relations[i]
		ref, ok := connecting(p.in.Snapshot, r)
		if !ok {
			continue
		}
		pl, ok := p.v.Locate(ctx, ref)
		if !ok {
			continue
		}
		d := p.in.Snapshot.Doc(ref)
		end := min(pl.End, pl.Start+excerptLines-1)
		lines, _ := pl.Doc.Lines(pl.Start, end)
		s := fmt.Sprintf("%s\n### %s [%s, distance %d]\n[%s]\n%s", head, heading(d), r.Kind, r.Distance, answer.ID(d.File.Path, pl.Start, end), answer.Fenced(lines, d.File.Class.Language))
		if cost := p.in.Count(s); used+cost > budget {
			c.Truncated = true
			continue
		} else {
			used += cost
		}
		head = ""
		out.WriteString(s)
		c.Related = append(c.Related, wire.Related{Path: d.File.Path, StartLine: pl.Start, EndLine: end, Relation: string(r.Kind), Distance: r.Distance})
	}
}

// graph adds the excerpt of the graph.
func (p *packer) graph(relations []graph.Related, limit int, out *strings.Builder, c *Context) {
	c.Graph = excerpt(relations)
	if len(c.Graph.Edges) == 0 {
		return
	}
	left := limit - p.in.Count(out.String())
	share := share(limit, max(0, 1-p.in.Settings.PrimaryShare-p.in.Settings.RelatedShare)) + 1
	s := "\n## How the files hang together\n"
	for _, e := range c.Graph.Edges {
		line := fmt.Sprintf("%s --[%s]--> %s\n", e.From, e.Kind, e.To)
		if cost := p.in.Count(s + line); cost > left || cost > share {
			c.Truncated = true
			break
		}
		s += line
	}
	if strings.Count(s, "\n") > 2 {
		out.WriteString(s)
	}
}
