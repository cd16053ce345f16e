package lexical

import "slices"

// topK keeps the best hits in a heap whose root is the worst of them.
type topK struct {
	k    int
	heap []Hit
}

func (t *topK) offer(c cell, part, doc int) {
	score := float64(c.score)
	if len(t.heap) == t.k {
		// Documents come in order, so an equal score is no better.
		if score <= t.heap[0].Score {
			return
		}
		t.heap[0] = Hit{Part: part, Doc: doc, Score: score, Groups: c.groups}
		t.down(0)
		return
	}
	t.heap = append(t.heap, Hit{Part: part, Doc: doc, Score: score, Groups: c.groups})
	for i := len(t.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if compareHits(t.heap[i], t.heap[up]) <= 0 {
			return
		}
		t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
		i = up
	}
}

func (t *topK) down(i int) {
	for {
		worst := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(t.heap) && compareHits(t.heap[c], t.heap[worst]) > 0 {
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

func (t *topK) sorted() []Hit {
	slices.SortFunc(t.heap, compareHits)
	return t.heap
}

// compareHits orders hits best first.
func compareHits(a, b Hit) int {
	switch {
	case a.Score != b.Score:
		if a.Score > b.Score {
			return -1
		}
		return 1
	case a.Part != b.Part:
		return a.Part - b.Part
	}
	return a.Doc - b.Doc
}
