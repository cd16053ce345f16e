package lexical

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
)

// Part is a segment as a search sees it.
type Part struct {
	Segment *Segment
	// Live leaves out documents that were replaced or removed; nil means that all are
	// live. Statistics do not count the others.
	Live Bitmap
	// Filter keeps the result to its documents; nil means all. Statistics do
	// not depend on it.
	Filter Bitmap
	// Sample says that the documents are counted in the query's Background already:
	// they add nothing to its statistics.
	Sample bool
}

// Hit is one document found.
type Hit struct {
	Part, Doc int
	Score     float64
	// Groups are the groups of the query that occur in the document (bit 1<<Group).
	Groups uint32
}

// Result is what a search found, best first: by score, then part, then document.
type Result struct {
	Hits  []Hit
	Stats Stats
}

// Stats is what fusion wants to know of a query.
type Stats struct {
	Docs int // live documents in all parts; with a background those that it counts
	// Candidates is the number of documents that matched.
	Candidates int
	Terms      []TermStat
	Groups     []GroupStat // by Group, up to the highest in use
}

// TermStat is how a term of the query occurs in the corpus.
type TermStat struct {
	Term
	DF  int
	IDF float64
}

// GroupStat is how a word of the question occurs in the corpus.
type GroupStat struct {
	// DF is the greatest of its terms', 0 where none occurs; IDF is the
	// inverse document frequency at that DF.
	DF  int
	IDF float64
}

// Coverage is the share, 0 to 1, of the question's words that a document
// holds, each weighed by its IDF. Words that occur nowhere count as missing.
func (s *Stats) Coverage(h Hit) float64 {
	var has, all float64
	for g, st := range s.Groups {
		all += st.IDF
		if h.Groups>>g&1 != 0 {
			has += st.IDF
		}
	}
	if all == 0 {
		return 0
	}
	return has / all
}

// Known is the share, 0 to 1, of the question's words that occur in the corpus.
func (s *Stats) Known() float64 {
	if len(s.Groups) == 0 {
		return 0
	}
	n := 0
	for _, g := range s.Groups {
		if g.DF > 0 {
			n++
		}
	}
	return float64(n) / float64(len(s.Groups))
}

// cell is a document's score while a query runs.
type cell struct {
	score  float32
	groups uint32
}

// normTable is how far a field's inverse length norms are looked up.
const normTable = 1024

// scorer is BM25F with the statistics of one search (Robertson, Zaragoza and
// Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004):
//
//	tf~   = Σ_f w_f · tf_f / (1 - b_f + b_f · len_f / avglen_f)
//	score = Σ_t weight_t · idf_t · tf~ · (k1 + 1) / (k1 + tf~)
type scorer struct {
	params Params
	docs   float64
	avg    [NumFields]float64
	// norm[f][len] is w_f / (1 - b_f + b_f·len/avglen_f).
	norm [NumFields][normTable]float32
	size [NumFields]int // entries of norm in use
}

// prepare sets the statistics up.
func (sc *scorer) prepare(parts []Part, q *Query) {
	p := q.Params
	if p == (Params{}) {
		p = DefaultParams()
	}
	sc.params = p
	docs := 0
	var totals [NumFields]uint64
	var longest [NumFields]int
	if b := q.Background; b != nil {
		docs, totals = b.Docs, b.Terms
	}
	for _, part := range parts {
		for f := range longest {
			longest[f] = max(longest[f], int(part.Segment.longest[f]))
		}
		if part.Sample && q.Background != nil {
			continue
		}
		live, sums := part.totals()
		docs += live
		for f, n := range sums {
			totals[f] += n
		}
	}
	sc.docs = float64(docs)
	for f := range sc.avg {
		sc.avg[f] = max(float64(totals[f])/max(sc.docs, 1), 1e-9)
		sc.size[f] = min(longest[f]+1, normTable)
		for n := range sc.size[f] {
			sc.norm[f][n] = sc.inverse(f, n)
		}
	}
}

func (sc *scorer) inverse(f, length int) float32 {
	b := sc.params.B[f]
	return float32(sc.params.Weights[f] / (1 - b + b*float64(length)/sc.avg[f]))
}

func (sc *scorer) at(f int, length uint16) float32 {
	if int(length) < sc.size[f] {
		return sc.norm[f][length]
	}
	return sc.inverse(f, int(length))
}

// tf is tf~ of a posting.
func (sc *scorer) tf(lens []uint16, tf *Frequencies) float32 {
	var x float32
	for f, n := range tf {
		if n > 0 {
			x += float32(n) * sc.at(f, lens[f])
		}
	}
	return x
}

// scratch is what a search reuses.
type scratch struct {
	scorer scorer
	cells  []cell
}

// Searcher runs searches; it keeps their working memory from one to the next.
// The zero value is ready, and it is safe for concurrent use.
type Searcher struct {
	pool sync.Pool
}

// Search returns the k best live documents that match any term of the query,
// and those only that match every required group. It stops with ctx.
func (se *Searcher) Search(ctx context.Context, parts []Part, q Query, k int) (Result, error) {
	w, _ := se.pool.Get().(*scratch)
	if w == nil {
		w = &scratch{}
	}
	defer se.pool.Put(w)
	var res Result
	res.Stats = statistics(parts, &q)
	if k <= 0 || len(q.Terms) == 0 {
		return res, ctx.Err()
	}
	w.scorer.prepare(parts, &q)
	var required uint32
	for _, t := range q.Terms {
		if t.Required {
			required |= 1 << clampGroup(t.Group)
		}
	}
	top := topK{k: k}
	for pi, part := range parts {
		seg := part.Segment
		if cap(w.cells) < seg.docs {
			w.cells = make([]cell, seg.docs)
		}
		cells := w.cells[:seg.docs]
		matched := false
		for i, t := range q.Terms {
			if err := ctx.Err(); err != nil {
				clear(cells)
				return Result{}, fmt.Errorf("searching %d documents: %w", res.Stats.Docs, err)
			}
			e, ok := seg.find(t.Text)
			if !ok {
				continue
			}
			matched = true
			gain := float32(t.Weight * res.Stats.Terms[i].IDF * (w.scorer.params.K1 + 1))
			w.scorer.add(cells, seg.lens, e.posts, gain, 1<<clampGroup(t.Group))
		}
		if !matched {
			continue
		}
		for doc := range cells {
			c := cells[doc]
			if c.groups == 0 {
				continue
			}
			cells[doc] = cell{}
			if c.groups&required != required ||
				part.Live != nil && !part.Live.Has(doc) || part.Filter != nil && !part.Filter.Has(doc) {
				continue
			}
			res.Stats.Candidates++
			top.offer(c, pi, doc)
		}
	}
	res.Hits = top.sorted()
	return res, nil
}

// add adds a term's share to the scores. It is the search's inner loop: the
// posting codec is written out here.
func (sc *scorer) add(cells []cell, lens []uint16, b []byte, gain float32, group uint32) {
	k1 := float32(sc.params.K1)
	body := &sc.norm[Body]
	bodySize := sc.size[Body]
	doc := -1
	for i := 0; i < len(b); {
		v := uint32(b[i])
		i++
		if v >= 0x80 {
			v &= 0x7f
			for shift := 7; ; shift += 7 {
				c := uint32(b[i])
				i++
				v |= (c & 0x7f) << shift
				if c < 0x80 {
					break
				}
			}
		}
		doc += int(v>>2) + 1
		var tf float32
		if v&3 <= codeBodyN {
			n := uint32(1)
			if v&3 == codeBodyN {
				n, i = smallUvarint(b, i)
				n += 2
			}
			length := lens[doc*int(NumFields)+int(Body)]
			if int(length) < bodySize {
				tf = float32(n) * body[length&(normTable-1)]
			} else {
				tf = float32(n) * sc.inverse(int(Body), int(length))
			}
		} else {
			mask := b[i]
			i++
			l := lens[doc*int(NumFields):][:NumFields]
			for ; mask != 0; mask &= mask - 1 {
				f := bits.TrailingZeros8(mask)
				n := uint32(1)
				if v&3 == codeMaskN {
					n, i = smallUvarint(b, i)
					n++
				}
				tf += float32(n) * sc.at(f, l[f])
			}
		}
		c := &cells[doc]
		c.score += gain * tf / (k1 + tf)
		c.groups |= group
	}
}

func smallUvarint(b []byte, i int) (uint32, int) {
	c := uint32(b[i])
	i++
	if c < 0x80 {
		return c, i
	}
	v := c & 0x7f
	for shift := 7; ; shift += 7 {
		c = uint32(b[i])
		i++
		v |= (c & 0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
}

// statistics sums a query's document frequencies over the parts and the
// background.
func statistics(parts []Part, q *Query) Stats {
	var st Stats
	if q.Background != nil {
		st.Docs = q.Background.Docs
	}
	for _, p := range parts {
		if !p.Sample || q.Background == nil {
			st.Docs += p.docs()
		}
	}
	groups := 0
	st.Terms = make([]TermStat, len(q.Terms))
	for i, t := range q.Terms {
		df := q.Background.DFIn(parts, t.Text)
		st.Terms[i] = TermStat{Term: t, DF: df, IDF: idf(float64(st.Docs), float64(df))}
		groups = max(groups, clampGroup(t.Group)+1)
	}
	st.Groups = make([]GroupStat, groups)
	for _, t := range st.Terms {
		g := &st.Groups[clampGroup(t.Group)]
		g.DF = max(g.DF, t.DF)
	}
	for i := range st.Groups {
		g := &st.Groups[i]
		g.IDF = idf(float64(st.Docs), float64(g.DF))
	}
	return st
}

func clampGroup(g int) int { return max(0, min(g, MaxGroups-1)) }
