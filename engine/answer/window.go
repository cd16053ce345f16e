package answer

import (
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/text"
)

// window is a run of lines worth quoting.
type window struct{ start, end int }

// Sizes of quotations, in lines. A chunk of at most wholeLines is quoted
// whole: cutting it would cost more understanding than it saves room.
const (
	wholeLines  = 18
	windowLines = 14
)

// asked is the question prepared for choosing lines.
type asked struct {
	tok   *lexical.Tokenizer
	stems map[string]float64 // weight by rarity
	names map[string]bool    // exact terms of the names
}

func newAsked(tok *lexical.Tokenizer, snap *index.Snapshot, terms []lexical.Term, names []string) *asked {
	parts, background, docs := snap.Parts(), snap.Background(), snap.Corpus()
	a := &asked{tok: tok, stems: map[string]float64{}, names: map[string]bool{}}
	for _, t := range terms {
		df := background.DFIn(parts, t.Text)
		a.stems[t.Text] = t.Weight * rarity(df, docs)
	}
	for _, n := range names {
		a.names[lexical.Exact(n)] = true
	}
	return a
}

// rarity falls from 1 for a word of one chunk to 0.1 for a word of all.
func rarity(df, docs int) float64 {
	if docs == 0 {
		return 1
	}
	share := float64(df) / float64(docs)
	return max(0.1, 1-2*share)
}

// focus is what of a chunk answers: a definition in it, or the chunk itself
// (sym is nil), with the lines of it that stand now.
type focus struct {
	sym        *chunk.Symbol
	start, end int
}

// enough is how much of the chunk's question words a definition inside it must
// hold to stand for the chunk.
const enough = 0.8

// focus chooses the definition of a chunk that the question is about: the
// smallest that holds nearly all of the question's words that the chunk holds,
// one that the question names before all others.
func (a *asked) focus(p Place, d *index.Doc) focus {
	whole := focus{symbolOf(d), p.Start, p.End}
	if !p.sound(d) {
		return whole
	}
	shift := p.shift(d)
	lines := make([]map[string]float64, p.End-p.Start+1)
	for i := range lines {
		lines[i] = a.line(p.Doc.Line(p.Start + i))
	}
	weigh := func(start, end int, name string) float64 {
		seen := a.line(name)
		if seen == nil {
			seen = map[string]float64{}
		}
		for _, words := range lines[start-p.Start : end-p.Start+1] {
			for w, x := range words {
				seen[w] = max(seen[w], x)
			}
		}
		var sum float64
		for _, x := range seen {
			sum += x
		}
		return sum
	}
	name := ""
	if whole.sym != nil {
		name = symbolName(whole.sym, "")
	}
	need := enough * weigh(p.Start, p.End, name)
	best, bestNamed := whole, whole.sym != nil && a.isNamed(whole.sym.Name)
	for i := range d.File.Symbols {
		s := &d.File.Symbols[i]
		start, end := s.StartLine+shift, s.EndLine+shift
		if start < p.Start || end > p.End || s.Kind == chunk.Variable && s.Parent != "" || local(d, s) {
			continue
		}
		named := a.isNamed(s.Name)
		if bestNamed && !named || !named && (need == 0 || weigh(start, end, symbolName(s, "")) < need) {
			continue
		}
		if named && !bestNamed || end-start < best.end-best.start {
			best, bestNamed = focus{s, start, end}, named
		}
	}
	return best
}

// local reports whether a definition stands within a function: it is a part of
// how that works and nothing by itself.
func local(d *index.Doc, s *chunk.Symbol) bool {
	for i := range d.File.Symbols {
		o := &d.File.Symbols[i]
		if o != s && (o.Kind == chunk.Function || o.Kind == chunk.Method) && o.StartLine <= s.StartLine && s.EndLine <= o.EndLine && (o.StartLine < s.StartLine || s.EndLine < o.EndLine) {
			return true
		}
	}
	return false
}

func (a *asked) isNamed(name string) bool { return a.names[lexical.Exact(name)] }

// sound reports whether the lines of a place are those that were indexed, so
// that what was learnt of them holds.
func (p Place) sound(d *index.Doc) bool { return !p.changed && p.End-p.Start == d.EndLine-d.StartLine }

// best chooses the lines of a focus to quote: the window whose distinct
// question words weigh most, the declaration's lines being preferred where the
// question asks for it.
func (a *asked) best(p Place, d *index.Doc, f focus, declaration bool) window {
	start, end := trim(p.Doc, f.start, f.end)
	if end-start+1 <= wholeLines {
		return window{start, end}
	}
	nameLine, docStart, docEnd := 0, 0, 0
	if s := f.sym; s != nil {
		shift := p.shift(d)
		nameLine, docStart, docEnd = s.NameLine+shift, s.DocStart+shift, s.DocEnd+shift
		if s.DocStart == 0 {
			docStart, docEnd = 0, 0
		}
	}
	if declaration && nameLine >= start && nameLine <= end {
		return a.head(p.Doc, start, end, nameLine, docStart, docEnd)
	}
	lines := make([]map[string]float64, end-start+1)
	for i := range lines {
		text := p.Doc.Line(start + i)
		lines[i] = a.line(text)
		less := 1.0
		switch n := start + i; {
		case n >= docStart && n <= docEnd:
			less = 0.7 // what is said of it, not how it is done
		case imports(strings.TrimSpace(text)):
			less = 0.4
		}
		for k := range lines[i] {
			lines[i][k] *= less
		}
	}
	best, bestScore := window{start, start + windowLines - 1}, -1.0
	for from := 0; from+windowLines <= len(lines); from++ {
		seen := map[string]float64{}
		var extra float64
		for _, words := range lines[from : from+windowLines] {
			for w, x := range words {
				if x > seen[w] {
					extra += 0.15 * seen[w]
					seen[w] = x
				} else {
					extra += 0.15 * x
				}
			}
		}
		score := extra
		for _, x := range seen {
			score += x
		}
		first := strings.TrimSpace(p.Doc.Line(start + from))
		switch {
		case first == "" || closing(first):
			score -= 0.15
		case nameLine >= start+from && nameLine < start+from+windowLines:
			score += 0.3
		}
		if score > bestScore+1e-9 {
			best, bestScore = window{start + from, start + from + windowLines - 1}, score
		}
	}
	best.start, best.end = trim(p.Doc, best.start, best.end)
	return best
}

// head is the window of a declaration: the lines from its name on, with the doc
// comment and the decorators above where they are few.
func (a *asked) head(doc *text.Document, start, end, nameLine, docStart, docEnd int) window {
	from := start
	if nameLine-from > windowLines/2 {
		from = nameLine
		if docStart > 0 && docEnd < nameLine && nameLine-docEnd <= windowLines/2 {
			from = max(start, docEnd+1)
		}
	}
	s, e := trim(doc, from, min(end, from+windowLines-1))
	return window{s, e}
}

// line weighs the question's words in one line.
func (a *asked) line(s string) map[string]float64 {
	var words map[string]float64
	add := func(term string, x float64) {
		if words == nil {
			words = map[string]float64{}
		}
		words[term] = max(words[term], x)
	}
	for _, tk := range a.tok.Tokens(s) {
		for _, stem := range tk.Stems {
			if x := a.stems[stem]; x > 0 {
				add(stem, x)
			}
		}
		if tk.Exact != "" && a.names[tk.Exact] {
			add(tk.Exact, 1)
		} else if x := a.stems[tk.Exact]; x > 0 {
			add(tk.Exact, x)
		}
	}
	return words
}

// trim drops blank lines at both ends.
func trim(doc *text.Document, start, end int) (int, int) {
	for start < end && strings.TrimSpace(doc.Line(start)) == "" {
		start++
	}
	for end > start && strings.TrimSpace(doc.Line(end)) == "" {
		end--
	}
	return start, end
}

// closing reports whether a line only closes brackets.
func closing(line string) bool {
	return strings.Trim(line, "})];,") == "" || line == "end"
}

// isDefinition reports whether a chunk is one.
func isDefinition(k chunk.Kind) bool {
	switch k {
	case chunk.Function, chunk.Method, chunk.Class, chunk.Interface, chunk.Type, chunk.Variable:
		return true
	}
	return false
}
