package search

import (
	"coderag-ls/engine/index"
)

// reciprocalRank is weighted reciprocal rank fusion (Cormack, Clarke and
// Büttcher, SIGIR 2009): the sum over the lists of weight/(k + rank), ranks
// from 1, equal scores sharing one. A list that does not hold a candidate counts with the rank missing.
func reciprocalRank(lists []*list, depth []int, k, missing int) map[index.Ref]float64 {
	fused := map[index.Ref]float64{}
	var absent float64
	for _, l := range lists {
		absent += l.weight / float64(k+missing)
	}
	for i, l := range lists {
		rank := 0
		for n, h := range l.hits[:min(depth[i], len(l.hits))] {
			if n > 0 && h.Score != l.hits[n-1].Score {
				rank = n
			}
			score, seen := fused[h.Ref]
			if !seen {
				score = absent
			}
			fused[h.Ref] = score + l.weight*(1/float64(k+rank+1)-1/float64(k+missing))
		}
	}
	return fused
}
