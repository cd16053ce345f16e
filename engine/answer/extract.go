// Package answer makes answers whose every statement carries a citation that
// was checked against the text as it stands. Without a language model the
// answer is extracted: what the thing is, the lines that matter, what else
// answers, where it is used and tested.
package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/wire"
)

// Input is what an answer is made of.
type Input struct {
	Snapshot  *index.Snapshot
	Texts     Texts
	Tokenizer *lexical.Tokenizer
	Analysis  *query.Analysis
	Result    search.Result
	Settings  config.Answer
	// Coverage says how complete the index is: where it is not, that nothing was
	// found does not mean that nothing is there.
	Coverage wire.Coverage
	// Emit, where given, receives the answer part by part as it is made: the
	// texts joined are Answer.Markdown, and each citation comes before the text
	// that cites it.
	Emit func(Part)
}

// Part is a piece of an answer: exactly one field is set.
type Part struct {
	Text     string
	Citation *wire.Citation
}

// Answer is an answer with its checked citations.
type Answer struct {
	Markdown string
	// Citations in order of first appearance, without repetition.
	Citations []wire.Citation
	// Dropped counts places that no longer stand in their file.
	Dropped   int
	FollowUps []string
	// NoAnswer: nothing relevant was found; there are no citations then.
	NoAnswer bool
}

// maker collects an answer.
type maker struct {
	in    *Input
	v     *Verifier
	asked *asked
	out   strings.Builder
	ids   map[string]bool
	cites []wire.Citation
	shown []index.Ref // chunks quoted or described
	room  int         // citations left
}

// Extract makes an answer without a language model. It fails only with ctx.
func Extract(ctx context.Context, in Input) (Answer, error) {
	if in.Emit == nil {
		in.Emit = func(Part) {}
	}
	m := &maker{in: &in, v: NewVerifier(in.Snapshot, in.Texts), ids: map[string]bool{}, room: in.Settings.MaxCitations}
	if m.room <= 0 {
		m.room = config.Default().Answer.MaxCitations
	}
	m.asked = newAsked(in.Tokenizer, in.Snapshot, in.Analysis.Terms, in.Analysis.Names)
	hits := m.standing(ctx, in.Result.Hits)
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	if len(hits) == 0 {
		m.nothing()
		return Answer{Markdown: m.out.String(), Citations: []wire.Citation{}, Dropped: m.v.Dropped, FollowUps: []string{}, NoAnswer: true}, nil
	}
	if in.Analysis.Intent != query.FindUsage || !m.usageAnswer(ctx, hits) {
		m.definitionAnswer(ctx, hits[0], byOdds(append(hits, m.standing(ctx, in.Result.Further)...)))
	}
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	return Answer{
		Markdown: m.out.String(), Citations: m.cites, Dropped: m.v.Dropped, FollowUps: m.followUps(hits),
	}, nil
}

// write emits text.
func (m *maker) write(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	m.out.WriteString(s)
	m.in.Emit(Part{Text: s})
}

// hit is a hit whose chunk still stands.
type hit struct {
	search.Hit
	doc   *index.Doc
	place Place
}

// maxRead bounds how many files an answer reads for its hits.
const maxRead = 16

// standing locates the hits' chunks; those that are gone fall away.
func (m *maker) standing(ctx context.Context, hits []search.Hit) []hit {
	var out []hit
	for _, h := range hits {
		d := m.in.Snapshot.Doc(h.Ref)
		if _, read := m.v.files[d.File]; !read && m.v.read >= maxRead {
			continue
		}
		if p, ok := m.v.Locate(ctx, h.Ref); ok {
			out = append(out, hit{h, d, p})
		}
	}
	return out
}

// byOdds puts the hits in the order in which they are told: by how likely their
// lines answer, whichever their file.
func byOdds(hits []hit) []hit {
	sorted := slices.Clone(hits)
	slices.SortStableFunc(sorted, func(a, b hit) int { return cmp.Compare(b.Odds, a.Odds) })
	return sorted
}

// citation checks and records the citation of some lines, which belong to sym
// where that is given, and returns how it is written; ok is false where there
// is no room for another.
func (m *maker) citation(r index.Ref, p Place, sym *chunk.Symbol, start, end int, score float64, why []string) (id string, ok bool) {
	id = ID(m.in.Snapshot.Doc(r).File.Path, start, end)
	if m.ids[id] {
		return id, true
	}
	if m.room == 0 {
		return "", false
	}
	c, err := m.v.Cite(r, p, start, end, score, why)
	if err != nil {
		return "", false
	}
	if sym != nil {
		c.Symbol, c.Kind = symbolName(sym, c.Language), string(sym.Kind)
	}
	m.room--
	m.ids[id] = true
	m.cites = append(m.cites, c)
	m.in.Emit(Part{Citation: &c})
	return id, true
}

// nothing says that nothing relevant was found.
func (m *maker) nothing() {
	n, cov := m.in.Snapshot.FileCount(), m.in.Coverage
	all := n
	if cov.Shared > 0 { // of the shared index's the snapshot has what may answer
		all = max(n, cov.Indexed)
	}
	files := fmt.Sprintf("%d indexed files", all)
	if all == 1 {
		files = "one indexed file"
	}
	unfinished := cov.Pending > 0 || cov.Stale
	switch {
	case n == 0 && cov.Shared > 0:
		m.write("Nothing that could be searched answers this: the workspace's %d files are found through the shared index.\n", cov.Shared)
	case n == 0 && unfinished:
		m.write("The index is still being built and holds nothing yet. Ask again in a moment.\n")
	case n == 0:
		m.write("No files are indexed, so there is nothing to answer from.\n")
	case len(m.in.Result.Hits) > 0:
		m.write("What was found has been changed or deleted since it was indexed; nothing that still stands answers this. Ask again in a moment.\n")
	default:
		m.write("I don't know: nothing relevant to %s was found in %s.\n", Code(clip(m.in.Analysis.Cleaned, 120)), files)
		if unfinished {
			m.write("The index is not up to date, so that it may have missed something. Ask again in a moment.\n")
		}
	}
}

// Shares of the citations.
const (
	otherPlaces = 4 // passages beside the first
	ofOneFile   = 2 // of them, of one file
	furtherHere = 2 // more passages of the first file
	mostUses    = 3
	mostTests   = 1
)

// definitionAnswer leads with the best passage: what it is and its lines; then
// the other files that answer, further passages, uses and tests. first is the best
// file's passage.
func (m *maker) definitionAnswer(ctx context.Context, first hit, hits []hit) {
	lead := hits[0]
	var about *chunk.Symbol
	if m.overview(lead) {
		m.fileOverview(ctx, lead)
	} else {
		about = m.lead(lead)
	}
	others := m.others(first, hits, lead, about)
	if len(others) > 0 && m.room > 0 {
		m.write("\n**Also relevant**\n\n")
		for i, h := range others {
			m.also(h, i < 2)
		}
	}
	m.further(hits, lead)
	m.context(ctx, lead.doc.File, about)
}

// lead describes the best passage and quotes its lines.
func (m *maker) lead(h hit) *chunk.Symbol {
	f, w, id, ok := m.passage(h)
	if !ok {
		return nil
	}
	m.write("%s%s\n\n", describe(h.doc, f.sym), cite(id))
	m.quote(h, w)
	return f.sym
}

// passage chooses what of a hit to show and cites it.
func (m *maker) passage(h hit) (f focus, w window, id string, ok bool) {
	f = m.asked.focus(h.place, h.doc)
	w = m.asked.best(h.place, h.doc, f, m.in.Analysis.Intent == query.FindDefinition)
	id, ok = m.citation(h.Ref, h.place, f.sym, w.start, w.end, h.Score, h.Why)
	if ok {
		m.shown = append(m.shown, h.Ref)
	}
	return f, w, id, ok
}

func (m *maker) quote(h hit, w window) {
	if lines, ok := h.place.Doc.Lines(w.start, w.end); ok {
		m.write("%s", Fenced(lines, h.doc.File.Class.Language))
	}
}

// otherShare is how near another hit must come to the best one to be worth
// mentioning; the first two other files may be further off, since readers look
// at three.
const (
	otherShare = 0.35
	secondBest = 0.12
	// nearLead is by how much less likely another passage of the first one's file
	// may be, in log-odds, to stand among the others.
	nearLead = 3.0
)

// others are the best hits beside the lead, the best file's first passage among
// them. Where the question is nothing but the name of about, one must be as good
// or define it too.
func (m *maker) others(first hit, hits []hit, lead hit, about *chunk.Symbol) []hit {
	found := about != nil && m.in.Analysis.Plan.Route == query.RouteFast && m.asked.isNamed(about.Name)
	var out []hit
	of := map[*index.File]int{}
	for _, h := range hits {
		here := h.doc.File == lead.doc.File
		switch {
		case h.Ref == lead.Ref, of[h.doc.File] == ofOneFile:
			continue
		case h.doc.Hash == lead.doc.Hash, slices.ContainsFunc(out, func(o hit) bool { return o.doc.Hash == h.doc.Hash }):
			continue // a copy
		case here && (h.Odds < lead.Odds-nearLead || found || sameDefinition(h.doc, lead.doc)):
			continue
		case !here && (h.Share < secondBest || len(out) >= 2 && h.Share < otherShare):
			continue
		case found && h.Share < otherShare && !slices.Contains(h.doc.Symbols, about.Name):
			continue
		case h.doc.File.Class.Test && !lead.doc.File.Class.Test && !m.in.Analysis.Wants.Tests && isDefinition(lead.doc.Kind):
			continue // tests have a part of their own
		}
		of[h.doc.File]++
		if out = append(out, h); len(out) == otherPlaces {
			break
		}
	}
	// Readers look at three: one of them is of another file, in case the first one's
	// is wrong.
	forward(out, 0, func(h hit) bool { return h.doc.File != lead.doc.File })
	// And one is the best file's, whose passages may be less alike to the question
	// than prose is.
	forward(out, 1, func(h hit) bool { return h.Ref == first.Ref })
	return out
}

// forward moves the first hit that is so to a place, if it stands behind it.
func forward(hits []hit, to int, is func(hit) bool) {
	if i := slices.IndexFunc(hits, is); i > to {
		h := hits[i]
		copy(hits[to+1:i+1], hits[to:i])
		hits[to] = h
	}
}

// sameDefinition reports whether two chunks of a file are parts of one
// definition.
func sameDefinition(a, b *index.Doc) bool {
	return a.Part > 0 && b.Part > 0 && a.Name == b.Name && a.Parent == b.Parent && a.Parts == b.Parts
}

// also mentions another place, with its lines where quoted is set.
func (m *maker) also(h hit, quoted bool) {
	f, w, id, ok := m.passage(h)
	if !ok {
		return
	}
	m.write("- %s%s\n", describe(h.doc, f.sym), cite(id))
	if quoted {
		m.write("\n")
		m.quote(h, w)
		m.write("\n")
	}
}

// further adds other passages of the first file.
func (m *maker) further(hits []hit, lead hit) {
	n := 0
	for _, h := range hits {
		if h.doc.File != lead.doc.File || slices.Contains(m.shown, h.Ref) || h.Share < otherShare {
			continue
		}
		if n == 0 {
			if m.room <= mostUses {
				return
			}
			m.write("\n**In the same file**\n\n")
		}
		m.also(h, false)
		if n++; n == furtherHere || m.room <= mostUses {
			return
		}
	}
}

// context adds where a symbol is used and tested.
func (m *maker) context(ctx context.Context, home *index.File, s *chunk.Symbol) {
	if s == nil || m.room == 0 {
		return
	}
	found, _ := m.v.usages(ctx, target{name: s.Name, home: home, start: s.StartLine, end: s.EndLine})
	var uses, tests []usage
	for _, u := range byCaller(found, m.in.Snapshot) {
		switch {
		case u.imported || u.comment:
		case u.test:
			tests = append(tests, u)
		case u.code:
			uses = append(uses, u)
		}
	}
	uses = spread(uses, m.in.Snapshot)
	if len(uses) > 0 {
		m.write("\n**Where %s is used**\n\n", Code(s.Name))
		for _, u := range uses[:min(mostUses, len(uses))] {
			m.usage(u)
		}
	}
	if len(tests) > 0 && m.room > 0 {
		m.write("\n**Tests**\n\n")
		for _, u := range tests[:min(mostTests, len(tests))] {
			m.usage(u)
		}
	}
}

// usage writes one use: who, the line, its citation.
func (m *maker) usage(u usage) {
	id, ok := m.citation(u.ref, u.place, u.caller, u.line, u.line, u.relevance(), []string{"uses the symbol"})
	if !ok {
		return
	}
	d := m.in.Snapshot.Doc(u.ref)
	m.shown = append(m.shown, u.ref)
	verb := "names it"
	if u.call {
		verb = "calls it"
	}
	who := place(d)
	if u.caller != nil {
		who = Code(symbolName(u.caller, d.Language)) + " in " + who
	}
	m.write("- %s %s: %s%s\n", who, verb, Code(clip(u.text, 160)), cite(id))
}

// usageAnswer leads with the uses of what the question names. It is false
// where it names nothing that is used anywhere.
func (m *maker) usageAnswer(ctx context.Context, hits []hit) bool {
	for _, name := range m.in.Analysis.Names {
		t := target{name: name}
		defs := m.in.Snapshot.Definitions(name)
		if len(defs) > 0 {
			best := bestDefinition(defs, hits)
			t.home, t.start, t.end = best.File, best.Symbol.StartLine, best.Symbol.EndLine
		}
		found, n := m.v.usages(ctx, t)
		uses := byCaller(found, m.in.Snapshot)
		if m.in.Analysis.Wants.Tests {
			slices.SortStableFunc(uses, func(a, b usage) int { return boolOrder(b.test, a.test) })
		} else {
			slices.SortStableFunc(uses, func(a, b usage) int { return boolOrder(a.test, b.test) })
		}
		if len(uses) == 0 {
			continue
		}
		m.write("%s is used on %d %s%s:\n\n", Code(name), n, plural(n, "line", "lines"), atLeast(n))
		// The first line of each file before further ones of the same.
		uses = spread(uses, m.in.Snapshot)
		for i, u := range uses {
			if i == max(3, m.room-1) || m.room <= 1 {
				break
			}
			m.usage(u)
		}
		if t.home != nil {
			for _, r := range m.in.Snapshot.DocsOf(t.home) {
				d := m.in.Snapshot.Doc(r)
				if d.StartLine > t.end || d.EndLine < t.start {
					continue
				}
				if p, ok := m.v.Locate(ctx, r); ok {
					m.write("\n**Defined**\n\n")
					m.also(hit{search.Hit{Ref: r, Score: hits[0].Score, Why: []string{"defines " + name}}, d, p}, true)
				}
				break
			}
		}
		return true
	}
	return false
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func atLeast(n int) string {
	if n >= maxUsageDocs {
		return " or more"
	}
	return ""
}

// spread puts the first use of each file before the others.
func spread(uses []usage, snap *index.Snapshot) []usage {
	var first, rest []usage
	seen := map[*index.File]bool{}
	for _, u := range uses {
		f := snap.Doc(u.ref).File
		if seen[f] {
			rest = append(rest, u)
		} else {
			first = append(first, u)
			seen[f] = true
		}
	}
	return append(first, rest...)
}

// bestDefinition prefers the definition in the best ranked file.
func bestDefinition(defs []index.Definition, hits []hit) index.Definition {
	for _, h := range hits {
		for _, d := range defs {
			if d.File == h.doc.File {
				return d
			}
		}
	}
	return defs[0]
}

// overview reports whether the question asks for a whole file.
func (m *maker) overview(h hit) bool {
	return m.in.Analysis.Intent != query.FindDefinition && slices.ContainsFunc(m.in.Analysis.Paths(), func(e query.Entity) bool {
		return e.Line == 0 && strings.HasSuffix(strings.ToLower(h.doc.File.Path), strings.ToLower(strings.Trim(e.Text, "/")))
	})
}

// maxOverview is how many definitions an overview lists.
const maxOverview = 12

// fileOverview tells what a file holds: its beginning, then its definitions.
func (m *maker) fileOverview(ctx context.Context, h hit) {
	f := h.doc.File
	refs := m.in.Snapshot.DocsOf(f)
	first := refs[0]
	p, ok := m.v.Locate(ctx, first)
	if !ok {
		m.lead(h)
		return
	}
	start, end := trim(p.Doc, p.Start, min(p.End, p.Start+windowLines-1))
	id, ok := m.citation(first, p, nil, start, end, h.Score, h.Why)
	if !ok {
		return
	}
	m.shown = append(m.shown, first)
	var names []string
	for i := range f.Symbols {
		s := &f.Symbols[i]
		if s.Parent == "" && (s.Exported || f.Class.SourceType != file.Code) || s.Parent == "" && len(f.Symbols) <= maxOverview {
			names = append(names, s.Name)
		}
	}
	m.write("%s has %d lines", Code(f.Path), p.Doc.LineCount())
	if len(names) > 0 {
		m.write(" and defines %s", list(names, maxOverview))
	}
	m.write(".%s\n\n", cite(id))
	m.quote(hit{search.Hit{Ref: first}, m.in.Snapshot.Doc(first), p}, window{start, end})
	m.write("\n")
	m.also(h, true)
}

// followUps suggests what to ask next.
func (m *maker) followUps(hits []hit) []string {
	out := []string{}
	add := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); len(out) < 3 && !slices.Contains(out, s) && !strings.EqualFold(s, m.in.Analysis.Query) {
			out = append(out, s)
		}
	}
	usage := m.in.Analysis.Intent == query.FindUsage
	for i, h := range hits[:min(4, len(hits))] {
		f := m.asked.focus(h.place, h.doc)
		switch {
		case f.sym == nil:
		case i == 0 && !usage:
			add("Where is %s used?", f.sym.Name)
			add("Which tests cover %s?", f.sym.Name)
		default:
			add("How does %s work?", f.sym.Name)
		}
	}
	return out
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
