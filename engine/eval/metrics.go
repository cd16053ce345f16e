package eval

import "math"

// cutoff is the rank at which the metrics stop.
const cutoff = 10

// NDCG returns the normalised discounted cumulative gain at 10 of a ranked
// list with binary gains: gains[i] tells whether the result at rank i+1 is a
// relevant one, seen for the first time; relevant is how many there are
// (Järvelin and Kekäläinen, TOIS 2002). It is 0 where nothing is relevant.
func NDCG(gains []bool, relevant int) float64 {
	var dcg, ideal float64
	for i := range min(cutoff, max(len(gains), relevant)) {
		d := 1 / math.Log2(float64(i)+2)
		if i < len(gains) && gains[i] {
			dcg += d
		}
		if i < relevant {
			ideal += d
		}
	}
	if ideal == 0 {
		return 0
	}
	return dcg / ideal
}

// MRR returns the reciprocal of the first relevant result's rank, 0 beyond 10.
func MRR(gains []bool) float64 {
	for i, g := range gains[:min(cutoff, len(gains))] {
		if g {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Recall returns the share of the relevant results among the first k.
func Recall(gains []bool, relevant, k int) float64 {
	if relevant == 0 {
		return 0
	}
	n := 0
	for _, g := range gains[:min(k, len(gains))] {
		if g {
			n++
		}
	}
	return float64(n) / float64(relevant)
}

// gains marks, in a ranked list of keys, each relevant key where it stands
// first.
func gains(ranked []string, relevant map[string]bool) []bool {
	out := make([]bool, len(ranked))
	seen := map[string]bool{}
	for i, key := range ranked {
		if relevant[key] && !seen[key] {
			out[i], seen[key] = true, true
		}
	}
	return out
}

// distinct returns the list without repetitions.
func distinct(ranked []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, key := range ranked {
		if !seen[key] {
			seen[key] = true
			out = append(out, key)
		}
	}
	return out
}
