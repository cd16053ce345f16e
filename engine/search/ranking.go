package search

import (
	"cmp"
	"math"
	"slices"

	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
)

// maxFiles is how many files of each list are ranked. The union of the two
// first forty holds 98.5 to 100 % of the answers.
const maxFiles = 60

// passage is a chunk of a candidate file with what each list says of it.
type passage struct {
	ref   index.Ref
	doc   *index.Doc
	words float64 // BM25F score, 0 where the list does not hold it
	rank  int     // in the lexical list, from 1; 0 where absent
	cover float64
	group uint32 // the question's words that it holds (lexical.Hit.Groups)
	// near are the cosines by vector list, nearRank the ranks in them.
	near     [2]float64
	nearRank [2]int
	content  float64 // cosine without the path's words, by the first list
	score    float64 // log-odds against the other passages of all files
	defines  []string
}

// candidate is a file that may answer.
type candidate struct {
	file     *index.File
	passages []passage
	refs     []index.Ref // of the passages
	features Features
	score    float64
	order    []int // passages, best first
	names    []string
	placed   placed
	compared bool    // names and content of its passages are
	answer   float64 // the best passage's score, of which file it is left out
	path     string  // the path of the question that names the file
	line     int
}

// ranking is the state of one search after the lists are there.
type ranking struct {
	s       *Searcher
	in      *Input
	filter  *filter
	an      *query.Analysis
	words   *list
	near    []*list // at most two
	stats   *lexical.Stats
	ideal   float64
	fused   map[index.Ref]float64
	cands   []*candidate
	byFile  map[*index.File]*candidate
	terms   questionTerms
	groups  map[string]termGroup
	workers []*worker
	// bestWords is the best passage's BM25F score.
	bestWords float64
}

func newRanking(s *Searcher, in *Input, f *filter, lists []*list, stats *lexical.Stats) *ranking {
	r := &ranking{s: s, in: in, filter: f, an: in.Analysis, stats: stats, byFile: map[*index.File]*candidate{}, words: &list{}}
	for _, l := range lists {
		if l.model == nil {
			r.words = l
		} else if len(r.near) < 2 && l.query != nil {
			r.near = append(r.near, l)
		}
	}
	k1 := in.Settings.BM25K1
	for _, t := range stats.Terms {
		r.ideal += t.Weight * t.IDF * (k1 + 1)
	}
	r.terms = newQuestionTerms(s.tok, in.Analysis)
	r.groups, r.workers = r.termGroups(), newWorkers(s.tok)
	if len(r.words.hits) > 0 {
		r.bestWords = float64(r.words.hits[0].Score)
	}
	return r
}

// fuse fuses the lists by reciprocal rank and counts the candidates.
func (r *ranking) fuse(topK int, res *Result) {
	set := r.in.Settings
	lists := append([]*list{r.words}, r.near...)
	depth := []int{max(set.BM25K, 2*topK)}
	for range r.near {
		depth = append(depth, max(set.VectorK, 2*topK))
	}
	r.fused = reciprocalRank(lists, depth, set.RRFK, set.MissingRank)
	res.Candidates.Lexical = min(depth[0], len(r.words.hits))
	for i, l := range r.near {
		res.Candidates.Vector += min(depth[i+1], len(l.hits))
	}
	res.Candidates.Fused = len(r.fused)
}

// collect finds the candidate files and everything that the lists say of their
// chunks.
func (r *ranking) collect() {
	snap := r.in.Snapshot
	for _, l := range append([]*list{r.words}, r.near...) {
		files := 0
		for _, h := range l.hits {
			if r.candidate(snap.Doc(h.Ref).File) {
				if files++; files == maxFiles {
					break
				}
			}
		}
	}
	r.collectNamed()
	at := make(map[index.Ref]*passage, len(r.words.hits))
	var refs []index.Ref
	keep := r.filter.keep()
	for _, c := range r.cands {
		all := snap.DocsOf(c.file)
		c.passages = make([]passage, 0, len(all))
		for _, ref := range all {
			d := snap.Doc(ref)
			if keep != nil && !keep(d) {
				continue
			}
			c.passages = append(c.passages, passage{ref: ref, doc: d})
			c.refs = append(c.refs, ref)
		}
		for i := range c.passages {
			at[c.passages[i].ref] = &c.passages[i]
		}
		refs = append(refs, c.refs...)
	}
	r.cands = slices.DeleteFunc(r.cands, func(c *candidate) bool { return len(c.passages) == 0 })
	ranks := rankOf(r.words.hits)
	for i, h := range r.words.hits {
		if p := at[h.Ref]; p != nil {
			p.words, p.rank, p.cover, p.group = float64(h.Score), ranks[i], r.words.coverage[i], r.words.groups[i]
		}
	}
	for n, l := range r.near {
		scores, ok, err := snap.VectorScores(l.model.Fingerprint, l.query, refs)
		if err != nil {
			continue // a query vector that could be searched with can be scored with
		}
		for i, ref := range refs {
			if ok[i] {
				at[ref].near[n] = float64(scores[i])
			}
		}
		ranks := rankOf(l.hits)
		for i, h := range l.hits {
			if p := at[h.Ref]; p != nil {
				p.nearRank[n] = ranks[i]
			}
		}
	}
}

// sameScore is the relative difference of two scores that only rounding tells
// apart: the order of a sum's terms depends on the part of the index.
const sameScore = 1e-5

// rankOf returns the hits' ranks from 1. Equal scores share one: in which order
// they come depends on the order in which files happened to be indexed.
func rankOf(hits []index.Scored) []int {
	ranks := make([]int, len(hits))
	first := 0 // of those with the score
	for i, h := range hits {
		if hits[first].Score-h.Score > sameScore*hits[first].Score {
			first = i
		}
		ranks[i] = first + 1
	}
	return ranks
}

// candidate adds a file, and reports whether it is new.
func (r *ranking) candidate(f *index.File) bool {
	if r.byFile[f] != nil {
		return false
	}
	if r.filter.files != nil && !r.filter.files[f] {
		return false
	}
	c := &candidate{file: f}
	r.byFile[f] = c
	r.cands = append(r.cands, c)
	return true
}

// maxDefinitions is how many definitions of one name become candidates: a name
// defined more often tells little.
const maxDefinitions = 24

// collectNamed adds files that the question names by path or that define what
// it names.
func (r *ranking) collectNamed() {
	snap := r.in.Snapshot
	for _, e := range r.an.Paths() {
		for _, f := range filesNamed(snap, e.Text) {
			r.candidate(f)
			if c := r.byFile[f]; c != nil {
				c.path, c.line = e.Text, e.Line
			}
		}
	}
	for _, name := range r.an.Names {
		defs := snap.Definitions(name)
		if len(defs) == 0 {
			defs = snap.DefinitionsFold(lower(name))
		}
		for _, d := range defs[:min(len(defs), maxDefinitions)] {
			r.candidate(d.File)
			if c := r.byFile[d.File]; c != nil && !slices.Contains(c.names, d.Symbol.Name) {
				c.names = append(c.names, d.Symbol.Name)
			}
		}
	}
	if r.an.Intent == query.FindUsage {
		r.collectUses()
	}
}

// maxUses is how many chunks that use a name are looked at.
const maxUses = 200

// collectUses marks the chunks that use what the question names.
func (r *ranking) collectUses() {
	files := 0
	for _, name := range r.an.Names {
		for _, ref := range r.in.Snapshot.Identifier(name, maxUses) {
			if r.candidate(r.in.Snapshot.Doc(ref).File) {
				if files++; files >= maxFiles {
					return
				}
			}
		}
	}
}

// rank computes the features and sorts the files, and the chunks of those that
// can be among as many hits as are told: each file has one at least.
func (r *ranking) rank(told int) {
	r.features()
	weights := r.weights()
	for _, c := range r.cands {
		c.placed = r.placed(c)
		c.score = c.features.score(&weights) + r.adjust(c) + c.placed.score
	}
	r.sort(r.cands)
	r.each(func(w *worker, i int, c *candidate) {
		c.compared = i < passageFiles
		if i < told {
			r.scorePassages(w, c)
		}
	})
	r.answers()
	r.each(func(_ *worker, i int, c *candidate) {
		if i < told {
			r.orderPassages(c, i+1)
		}
	})
}

func (r *ranking) sort(cands []*candidate) {
	slices.SortFunc(cands, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.file.Path, b.file.Path))
	})
}

// answers adds to each file's score what its best passage's is behind the best of
// all, and sorts the files anew that had everything compared.
func (r *ranking) answers() {
	first := r.cands[:min(passageFiles, len(r.cands))]
	if len(first) == 0 {
		return
	}
	most, least := math.Inf(-1), math.Inf(1)
	for _, c := range first {
		most, least = max(most, c.answer), min(least, c.answer)
	}
	weight := answerWeight
	if len(r.near) == 0 {
		weight = lexicalAnswerWeight
	}
	for i, c := range r.cands {
		if i >= passageFiles {
			c.answer = least
		}
		c.score += weight * (c.answer - most)
	}
	r.sort(first)
}

const (
	// answerWeight is how much of a passage's score counts for its file's: .2 to .4
	// give the same within .01 (docs/decisions/0034-best-passage.md).
	answerWeight = 0.3
	// lexicalAnswerWeight is that while there are no vectors.
	lexicalAnswerWeight = 0.1
)

// FileScore is a candidate file with its score and what it is made of.
type FileScore struct {
	File     *index.File
	Score    float64
	Features Features
	// Answer is the score of the best passage where the file's were compared, else
	// the least of those that were.
	Answer float64
	// Passages are the file's chunks in line order, where Input.Passages asks for
	// them.
	Passages []PassageScore
}

func (r *ranking) files() []FileScore {
	out := make([]FileScore, len(r.cands))
	for i, c := range r.cands {
		out[i] = FileScore{File: c.file, Score: c.score, Features: c.features, Answer: c.answer}
		if r.in.Passages && c.compared {
			f := r.newFilePassages(r.workers[0], c)
			at := r.placeOf(c, i+1)
			for j := range c.passages {
				p := &c.passages[j]
				x := r.passageFeatures(&f, j)
				at.into(&x)
				out[i].Passages = append(out[i].Passages, PassageScore{Ref: p.ref, Score: p.score, Features: x})
			}
		}
	}
	return out
}

// hits orders the chunks: the best of each file by the file's score, further
// ones of the same file behind with decay. The cut is of files: further chunks of
// one that is relevant enough stay above it.
func (r *ranking) hits(topK int, relevance float64) (hits, further []Hit) {
	if len(r.cands) == 0 {
		return nil, nil
	}
	top, least := r.cands[0].score, r.in.Settings.MinRelevance
	for _, c := range r.cands {
		base, share := logistic(logit(relevance)+(c.score-top)/scoreScale), math.Exp((c.score-top)/shareScale)
		if base < least || len(c.order) == 0 {
			continue
		}
		best := c.passages[c.order[0]].score
		decay := 1.0
		for n, i := range c.order {
			if n == maxPerFile {
				break
			}
			p := &c.passages[i]
			if n > 0 {
				decay *= passageDecay * math.Exp((p.score-best)/passageScale)
				if decay < leastPassage {
					break
				}
			}
			hits = append(hits, Hit{Ref: p.ref, Score: least + (base-least)*decay, Share: share * decay, Odds: p.score, Why: append(r.why(c, p), c.placed.why...), Lead: n == 0})
		}
	}
	slices.SortFunc(hits, compareHits(r.in.Snapshot))
	topK = min(topK, len(hits))
	hits, further = hits[:topK:topK], hits[topK:]
	return hits, further[:min(len(further), maxFurther)]
}

const (
	// scoreScale is how many points of a file's score are one unit of log-odds
	// of its relevance; the tenth file is about eight points behind the first.
	// Smaller ones cut right answers behind weak leads: with half of it, 12 % of
	// the commit questions lost theirs.
	scoreScale = 16.0
	// shareScale is the same for Hit.Share, which tells hits apart.
	shareScale = 8.0
	// passageDecay is what each further chunk of a file loses. With .7 a file's
	// second chunk stands behind about two other files.
	passageDecay = 0.7
	// passageScale is how many points of a chunk's score are one unit of the log
	// of what a further chunk keeps.
	passageScale = 8.0
	// leastPassage is what a further chunk must keep to be told at all: the header of
	// a file answers nothing that one of its functions answers.
	leastPassage = 0.1
	// maxPerFile is how many chunks of one file are shown.
	maxPerFile = 4
	// maxFurther is how many hits after the asked for are told apart.
	maxFurther = 30
)

// pathCosine is the cosine of the question to a file's path, 0 where there is
// no vector.
func (r *ranking) pathCosine(l *list, c *candidate) float64 {
	return r.in.Snapshot.PathScore(l.model.Fingerprint, l.query, c.file, c.refs)
}
