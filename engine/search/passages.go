package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"coderag-ls/engine/query"
)

// scorePassages scores a file's chunks by how well each answers, whatever its
// file.
func (r *ranking) scorePassages(w *worker, c *candidate) {
	f := r.newFilePassages(w, c)
	weights := r.passageWeights()
	usage := r.an.Intent == query.FindUsage
	named := r.aboutNames()
	for i := range c.passages {
		p := &c.passages[i]
		x := r.passageFeatures(&f, i)
		p.score = x.score(&weights)
		if i == 0 || p.score > c.answer {
			c.answer = p.score
		}
		for _, name := range r.an.Names {
			if slices.ContainsFunc(p.doc.Symbols, func(s string) bool { return strings.EqualFold(s, name) }) {
				p.defines = append(p.defines, name)
			}
		}
		if len(p.defines) > 0 && !usage {
			p.score += definesGain * named
			if strings.EqualFold(p.doc.Name, p.defines[0]) && p.doc.Part <= 1 {
				p.score += definesGain / 2 * named
			}
		}
		if r.sought() && p.cover > allWords {
			// Meaning says little about which of them has it in its lines, not only in
			// the summary of what it is a part of.
			p.score += definesGain + soughtLines*x[pWords]
		}
		if c.line > 0 && p.doc.StartLine <= c.line && c.line <= p.doc.EndLine {
			p.score += lineGain
		}
	}
}

// orderPassages adds what a file's place says to its chunks' scores, and sorts
// them. rank is the file's, from 1.
func (r *ranking) orderPassages(c *candidate, rank int) {
	var x PassageFeatures
	r.placeOf(c, rank).into(&x)
	weights := r.passageWeights()
	place := x.score(&weights)
	c.order = make([]int, len(c.passages))
	for i := range c.order {
		c.order[i] = i
		c.passages[i].score += place
	}
	slices.SortStableFunc(c.order, func(a, b int) int { return cmp.Compare(c.passages[b].score, c.passages[a].score) })
}

// passageWeights are those of chunks, by what there is to compare.
func (r *ranking) passageWeights() PassageFeatures {
	if len(r.near) == 0 {
		return lexicalPassageWeights
	}
	return passageWeights
}

const (
	// definesGain is what a chunk gains that defines what the question is about;
	// half as much more where that is its main definition.
	definesGain = 4.0
	// lineGain is what the chunk gains that holds the line that the question names.
	lineGain = 12.0
)

// sought reports whether the question is nothing but an identifier, a code or a
// file name.
func (r *ranking) sought() bool { return r.an.Plan.Route == query.RouteFast }

// aboutNames is how much of the question its names are, 0 to 1: all of
// "ClientSession", little of "how does Flask choose the error handler for an
// exception".
func (r *ranking) aboutNames() float64 {
	if r.an.Intent == query.FindDefinition || len(r.terms.list) == 0 {
		return 1
	}
	in := map[string]bool{}
	for _, name := range r.an.Names {
		for _, s := range r.s.tok.Stems(name) {
			if r.terms.stems[s] {
				in[s] = true
			}
		}
	}
	return float64(len(in)) / float64(len(r.terms.list))
}

// adjust is what the request's folders and what is sought add to a file's
// score.
func (r *ranking) adjust(c *candidate) float64 {
	var s float64
	if boost := r.in.Settings.FolderBoost; boost > 1 && inFolder(r.filter.folders, c.file.Path) {
		s += folderGain * math.Log(boost)
	}
	if r.sought() || r.an.Intent == query.FindDefinition {
		s += soughtDefinition * c.features[fDefBest]
	}
	if r.sought() && c.features[fLexCover] > allWords {
		s += soughtWords
	}
	return s
}

const (
	// folderGain turns the factor search.folderBoost, which PRD applies to
	// reciprocal-rank scores, into log-odds: there 1.3 lifts rank 19 over rank 1.
	folderGain = 8.0
	// soughtDefinition is what the definition of a name gains where nothing
	// else is asked for.
	soughtDefinition = 4.0
	// soughtWords is what a file with all words of an identifier, a code or a file
	// name gains where nothing else is asked for: more than what any kind of file
	// loses, since the others do not hold what was sought.
	soughtWords = 8.0
	// soughtLines is how much more than meaning the words then count for in the
	// order of a file's chunks.
	soughtLines = 16.0
)

// why tells in words what raised a hit.
func (r *ranking) why(c *candidate, p *passage) []string {
	var why []string
	for _, name := range p.defines {
		why = append(why, "defines "+name)
	}
	if c.path != "" {
		why = append(why, "the question names the file")
	} else if c.features[fBaseCover] == 1 || c.features[fBaseQ] >= 0.5 {
		why = append(why, "file name matches")
	}
	if p.rank > 0 {
		why = append(why, fmt.Sprintf("words: BM25 #%d", p.rank))
	}
	for n, l := range r.near {
		if p.nearRank[n] > 0 {
			why = append(why, fmt.Sprintf("meaning (%s) #%d", l.model.Name, p.nearRank[n]))
		}
	}
	return why
}
