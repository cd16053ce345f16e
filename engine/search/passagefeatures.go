package search

import (
	"math"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
)

// PassageFeatures are what a chunk's score is made of, one number each, most of
// them from 0 to 1. The score is their product with the weights.
type PassageFeatures [numPassageFeatures]float64

// The passage features.
const (
	pWords       = iota // BM25F score over the best of its file
	pWordsAll           // BM25F score over the best of all
	pWordsRank          // 1/rank in its file by words
	pCover              // share of the question's words that it holds, by rarity
	pWhole              // the same for all parts of its definition together
	pNear               // cosine over the best of its file
	pNearRaw            // cosine
	pNearRank           // 1/rank in its file
	pContent            // cosine without the path's words over the best of its file
	pContentRaw         // that cosine
	pContentRank        // 1/rank in its file
	pSlow               // cosine of the second model over the best of its file
	pSlowRaw            // that cosine
	pName               // share of the question, by rarity, in the definition's name
	pNameCover          // share of the name's stems in the question
	pNameOverlap        // m*m/len for a name of len stems that shares m
	pSymbols            // best of pNameOverlap over all that the chunk defines
	pParent             // share of the question in the enclosing definition's name
	pAround             // mean pContentRaw of the chunks before and behind
	pType               // kinds: a class or struct
	pInterface          // an interface, trait or named type
	pTypeDoing          // any of these where the question is how something is done
	pVariable           // constants and variables
	pModule             // imports and loose statements
	pSection            // a section of Markdown
	pBlock              // data and plain lines
	pLater              // a part of a definition, but not the first
	pFirst              // the first chunk of a file that has more
	pSize               // log(lines)
	pDefinition         // log(lines) of the whole definition
	pTiny               // at most four lines
	pTestIn             // a test that the question does not ask for
	pFile               // points by which its file is behind the best, negative
	pFileFirst          // its file is the best
	pFileRank           // 1/rank of its file
	numPassageFeatures
)

// passageFeatureNames name the features in tables.
var passageFeatureNames = [numPassageFeatures]string{"words", "wordsAll", "wordsRank", "cover", "whole", "near", "nearRaw", "nearRank",
	"content", "contentRaw", "contentRank", "slow", "slowRaw", "name", "nameCover", "nameOverlap", "symbols", "parent", "around", "type", "interface", "typeDoing", "variable", "module", "section", "block", "later", "first", "size",
	"definition", "tiny", "testIn", "file", "fileFirst", "fileRank"}

// PassageFeatureNames returns the names of the features of chunks, in order.
func PassageFeatureNames() []string { return passageFeatureNames[:] }

// PassageScore is a chunk of a candidate file with its score and what that is
// made of.
type PassageScore struct {
	Ref      index.Ref
	Score    float64
	Features PassageFeatures
}

// passageFiles is how many of the best files have the names and the content of
// their chunks compared; Input.Passages tells of theirs.
const passageFiles = 20

// filePassages is what the features of a file's chunks have in common.
type filePassages struct {
	names                            *worker
	c                                *candidate
	bestWords, bestNear, bestSlow    float64
	bestContent                      float64
	wordsRank, nearRank, contentRank []int
	whole                            []uint32 // groups of the definition, by chunk
	lines                            []int    // of the definition
}

func (r *ranking) newFilePassages(w *worker, c *candidate) filePassages {
	n := len(c.passages)
	f := filePassages{names: w, c: c, whole: make([]uint32, n), lines: make([]int, n)}
	for i := 0; i < n; {
		p := &c.passages[i]
		groups, lines, j := p.group, p.doc.EndLine-p.doc.StartLine+1, i+1
		for ; j < n && sameDefinition(&p.doc.Chunk, &c.passages[j].doc.Chunk); j++ {
			groups |= c.passages[j].group
			lines += c.passages[j].doc.EndLine - c.passages[j].doc.StartLine + 1
		}
		for ; i < j; i++ {
			f.whole[i], f.lines[i] = groups, lines
		}
	}
	if !c.compared {
		for i := range c.passages {
			c.passages[i].content = 0
		}
	}
	words := func(p *passage) float64 { return p.words }
	near := func(p *passage) float64 { return p.near[0] }
	content := func(p *passage) float64 { return p.content }
	f.wordsRank, f.nearRank, f.contentRank = ranksBy(c.passages, words), ranksBy(c.passages, near), ranksBy(c.passages, content)
	f.bestWords, f.bestNear, f.bestContent = best(c.passages, words)[0], best(c.passages, near)[0], best(c.passages, content)[0]
	f.bestSlow = best(c.passages, func(p *passage) float64 { return p.near[1] })[0]
	return f
}

// sameDefinition reports whether b is a further part of the definition that a
// is the first part of.
func sameDefinition(a, b *chunk.Chunk) bool {
	return a.Part > 0 && b.Part > 1 && a.Parts == b.Parts && a.Name == b.Name && a.Parent == b.Parent
}

// ranksBy are the ranks of passages from 1, equals sharing one.
func ranksBy(ps []passage, value func(*passage) float64) []int {
	sorted := make([]float64, len(ps))
	for i := range ps {
		sorted[i] = -value(&ps[i])
	}
	slices.Sort(sorted)
	ranks := make([]int, len(ps))
	for i := range ps {
		at, _ := slices.BinarySearch(sorted, -value(&ps[i]))
		ranks[i] = at + 1
	}
	return ranks
}

// passageFeatures returns the features of a file's i-th chunk but for the file's
// place.
func (r *ranking) passageFeatures(f *filePassages, i int) (x PassageFeatures) {
	c := f.c
	p := &c.passages[i]
	d := &p.doc.Chunk
	over := func(a, b float64) float64 {
		if b <= 0 {
			return 0
		}
		return max(0, a) / b
	}
	x[pWords], x[pWordsAll], x[pCover] = over(p.words, f.bestWords), over(p.words, r.bestWords), p.cover
	x[pWhole] = r.stats.Coverage(lexical.Hit{Groups: f.whole[i]})
	if p.words > 0 {
		x[pWordsRank] = 1 / float64(f.wordsRank[i])
	}
	x[pNear], x[pNearRaw] = over(p.near[0], f.bestNear), p.near[0]
	x[pContent], x[pContentRaw] = over(p.content, f.bestContent), p.content
	x[pSlow], x[pSlowRaw] = over(p.near[1], f.bestSlow), p.near[1]
	if f.bestNear > 0 {
		x[pNearRank] = 1 / float64(f.nearRank[i])
	}
	if f.bestContent > 0 {
		x[pContentRank] = 1 / float64(f.contentRank[i])
	}
	if c.compared { // names take time
		name := r.said(d.Name, f.names)
		x[pName], x[pNameCover], x[pNameOverlap] = name.question, name.text, name.overlap
		x[pSymbols] = name.overlap
		for _, s := range d.Symbols {
			x[pSymbols] = max(x[pSymbols], r.said(s, f.names).overlap)
		}
		x[pParent] = r.said(d.Parent, f.names).question
	}
	var around float64
	if i > 0 {
		around += c.passages[i-1].content / 2
	}
	if i+1 < len(c.passages) {
		around += c.passages[i+1].content / 2
	}
	x[pAround] = around
	switch d.Kind {
	case chunk.Class:
		x[pType] = 1
		if r.an.Doing {
			x[pTypeDoing] = 1
		}
	case chunk.Interface, chunk.Type:
		x[pInterface] = 1
		if r.an.Doing {
			x[pTypeDoing] = 1
		}
	case chunk.Variable:
		x[pVariable] = 1
	case chunk.Module:
		x[pModule] = 1
	case chunk.Section:
		if !r.an.Wants.Docs {
			x[pSection] = 1
		}
	case chunk.Block, chunk.Lines:
		if !r.an.Wants.Docs && !r.an.Wants.Config {
			x[pBlock] = 1
		}
	}
	if d.Part > 1 {
		x[pLater] = 1
	}
	if i == 0 && len(c.passages) > 1 {
		x[pFirst] = 1
	}
	lines := d.EndLine - d.StartLine + 1
	x[pSize], x[pDefinition] = math.Log(float64(lines)), math.Log(float64(f.lines[i]))
	if f.lines[i] <= tinyLines {
		x[pTiny] = 1
	}
	if !r.an.Wants.Tests && !c.file.Class.Test && aboutTests(d) {
		x[pTestIn] = 1
	}
	return x
}

// place is a file's among the others, which its chunks share.
type place struct {
	gap  float64 // points behind the best, negative
	rank int     // from 1
}

func (r *ranking) placeOf(c *candidate, rank int) place {
	return place{c.score - r.cands[0].score, rank}
}

func (p place) into(x *PassageFeatures) {
	x[pFile], x[pFileRank] = p.gap, 1/float64(p.rank)
	if p.rank == 1 {
		x[pFileFirst] = 1
	}
}

// tinyLines is how long a definition may be that is hardly more than its name.
const tinyLines = 4

// aboutTests reports whether a chunk of a file that is no test is one: Rust
// keeps unit tests beside what they test.
func aboutTests(d *chunk.Chunk) bool {
	parent := lower(d.Parent)
	return d.Layer == "test" || parent == "tests" || parent == "test" || strings.HasSuffix(parent, ".tests") || strings.HasPrefix(lower(d.Name), "test")
}

// said is how much of a name the question says and the other way round.
type said struct {
	question float64 // share of the question's words, by rarity
	text     float64 // share of the name's stems
	overlap  float64 // m*m/len for len stems of which m are shared, over the question's number
}

// said compares a name with the question, synonyms included. Names come again
// and again: what was found is kept.
func (r *ranking) said(name string, w *worker) said {
	if name == "" {
		return said{}
	}
	if s, ok := w.said[name]; ok {
		return s
	}
	var groups uint32
	var shared, n float64
	stems := w.stemsOf(name)
	for _, s := range stems {
		n++
		if g, ok := r.groups[s]; ok {
			groups |= 1 << g.group
			shared += g.weight
		}
	}
	var s said
	if groups != 0 {
		s.question = r.stats.Coverage(lexical.Hit{Groups: groups})
		s.text = shared / n
		s.overlap = shared * shared / n / float64(max(1, len(r.an.Stems)))
	}
	w.said[name] = s
	return s
}

// termGroup is the word of the question that a term stands for.
type termGroup struct {
	group  int
	weight float64 // 1, less for a synonym
}

// termGroups maps the terms of the question, synonyms included, to its words.
func (r *ranking) termGroups() map[string]termGroup {
	m := make(map[string]termGroup, len(r.an.Terms))
	for _, t := range r.an.Terms {
		if _, ok := m[t.Text]; !ok {
			m[t.Text] = termGroup{min(t.Group, lexical.MaxGroups-1), min(1, t.Weight)}
		}
	}
	return m
}

func (x *PassageFeatures) score(w *PassageFeatures) float64 {
	var s float64
	for i, v := range x {
		s += v * w[i]
	}
	return s
}
