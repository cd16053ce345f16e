package vector

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// block is how many rows one call of a kernel covers: enough that the call
// costs nothing, few enough that the products stay in the first-level cache.
const block = 1024

// perWorker is how many bytes of rows are worth another worker (about 0.3 ms
// of scanning).
const perWorker = 4 << 20

// Part is a matrix with the rows that count.
type Part struct {
	Matrix *Matrix // of the query's dimension, or empty
	// Live is the set of rows to look at; nil means all.
	Live Bitmap
	// Keep, where given, is asked for rows that would be among the best; false
	// leaves the row out. With more than one worker it is called concurrently.
	Keep func(row int) bool
}

// Hit is a row that was found.
type Hit struct {
	Part  int // index of the part that was given
	Row   int
	Score float32 // dot product of query and row
}

// compareHits is the total order of results: score descending, then part and
// row ascending.
func compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Row, b.Row))
}

// Scan returns the k live rows of the matrix with the highest dot products,
// exactly, by score descending, then row ascending. A nil live means all rows.
func (m *Matrix) Scan(q *Query, k int, live Bitmap) []Hit {
	return Search([]Part{{Matrix: m, Live: live}}, q, k)
}

// Search returns the k rows of all parts with the highest dot products, as
// Searcher{}.Search does.
func Search(parts []Part, q *Query, k int) []Hit { return Searcher{}.Search(parts, q, k) }

// Searcher searches with options; the zero value is ready to use.
type Searcher struct {
	// Workers is the largest number of goroutines that scan; 0 means 1. Small
	// matrices are scanned by fewer.
	Workers int
	// Rescore, where given, replaces the score of the best Candidates rows (at
	// least k), by one from unquantised vectors for example, before the best k
	// are taken.
	Rescore    func(Hit) float32
	Candidates int
}

// Search returns the k rows of all parts with the highest dot products,
// exactly, in a total order: score descending, then part and row ascending. The
// result does not depend on the number of workers or the kernel. Fewer than k
// are returned where fewer are live; none for a query of zeros, to which every
// row would be equally near. It panics where a part that is not empty has
// another dimension than the query.
func (s Searcher) Search(parts []Part, q *Query, k int) []Hit {
	if s.Rescore != nil {
		k = max(k, 0)
		hits := scan(parts, q, max(k, s.Candidates), s.Workers)
		for i := range hits {
			hits[i].Score = s.Rescore(hits[i])
		}
		slices.SortFunc(hits, compareHits)
		return hits[:min(k, len(hits))]
	}
	return scan(parts, q, k, s.Workers)
}

// span is a run of rows of one part.
type span struct{ part, first, n int }

func scan(parts []Part, q *Query, k, workers int) []Hit {
	var spans []span
	bytes := 0
	for p, part := range parts {
		n := part.Matrix.Len()
		if n == 0 {
			continue
		}
		part.Matrix.mustMatch(q)
		bytes += n * part.Matrix.stride
		for i := 0; i < n; i += block {
			spans = append(spans, span{p, i, min(block, n-i)})
		}
	}
	if k <= 0 || q.Zero() || len(spans) == 0 {
		return nil
	}
	workers = max(1, min(workers, bytes/perWorker))
	if workers == 1 {
		var t top
		t.k = k
		for _, sp := range spans {
			t.scan(parts, q, sp)
		}
		return t.sorted()
	}
	tops := make([]top, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range tops {
		wg.Go(func() {
			t := &tops[w]
			t.k = k
			for {
				i := int(next.Add(1)) - 1
				if i >= len(spans) {
					return
				}
				t.scan(parts, q, spans[i])
			}
		})
	}
	wg.Wait()
	all := tops[0]
	for _, t := range tops[1:] {
		for _, h := range t.heap {
			all.add(h)
		}
	}
	return all.sorted()
}

// top keeps the best k hits: a heap with the worst of them first.
type top struct {
	k    int
	heap []Hit
	dots [block]int32
	rows [block]int32
}

// scan adds the live rows of a span.
func (t *top) scan(parts []Part, q *Query, sp span) {
	p := &parts[sp.part]
	m := p.Matrix
	if p.Live == nil {
		q.dots(m, sp.first, t.dots[:sp.n])
		for i, dot := range t.dots[:sp.n] {
			t.offer(p, Hit{sp.part, sp.first + i, q.score(dot, m.scales[sp.first+i])})
		}
		return
	}
	rows := t.rows[:0]
	for w := sp.first / 64; w*64 < sp.first+sp.n && w < len(p.Live); w++ {
		for set := p.Live[w]; set != 0; set &= set - 1 {
			rows = append(rows, int32(w*64+bits.TrailingZeros64(set)))
		}
	}
	// Bits beyond the last row count for nothing.
	for len(rows) > 0 && int(rows[len(rows)-1]) >= sp.first+sp.n {
		rows = rows[:len(rows)-1]
	}
	q.dotsAt(m, rows, t.dots[:len(rows)])
	for i, r := range rows {
		t.offer(p, Hit{sp.part, int(r), q.score(t.dots[i], m.scales[r])})
	}
}

// offer adds the hit if it is good enough and the part keeps it.
func (t *top) offer(p *Part, h Hit) {
	if len(t.heap) == t.k && h.Score < t.heap[0].Score {
		return
	}
	if p.Keep != nil && !p.Keep(h.Row) {
		return
	}
	t.add(h)
}

func (t *top) add(h Hit) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, h)
		for i := len(t.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if compareHits(t.heap[i], t.heap[up]) <= 0 {
				break
			}
			t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
			i = up
		}
		return
	}
	if compareHits(h, t.heap[0]) >= 0 {
		return
	}
	t.heap[0] = h
	for i := 0; ; {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(t.heap); c++ {
			if compareHits(t.heap[c], t.heap[worst]) > 0 {
				worst = c
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

func (t *top) sorted() []Hit {
	slices.SortFunc(t.heap, compareHits)
	return t.heap
}
