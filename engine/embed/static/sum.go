package static

import "math"

// idBatch is how many pieces are counted at a time, so that scratch space does
// not grow with the text.
const idBatch = 4096

// scratch is the working memory of one Append. Between uses counts are 0.
type scratch struct {
	ids    []int32
	counts []uint32  // of each piece
	seen   []int32   // pieces with a count
	terms  []term    // [group]
	acc    []float64 // [dim]
	powers []float64 // count^alpha for small counts
}

// term is a row and its weight as a fixed-point number.
type term struct {
	at     int
	weight uint64
}

func newScratch(t *table) *scratch {
	s := &scratch{
		ids:    make([]int32, 0, 512),
		counts: make([]uint32, len(t.scales)),
		terms:  make([]term, 0, group),
		acc:    make([]float64, t.dim),
		powers: make([]float64, 64),
	}
	for i := range s.powers {
		s.powers[i] = math.Pow(float64(i), t.alpha)
	}
	return s
}

// count adds ids to the counts.
func (s *scratch) count() {
	for _, id := range s.ids {
		if s.counts[id] == 0 {
			s.seen = append(s.seen, id)
		}
		s.counts[id]++
	}
}

// group is how many rows are summed in fixed point before the sum is taken
// over to floating point.
const group = 256

// sum appends the vector of what was counted and clears the counts.
func (s *scratch) sum(dst []float32, t *table) []float32 {
	clear(s.acc)
	weights := [group]float64{}
	for rest := s.seen; len(rest) > 0; {
		some := rest[:min(len(rest), group)]
		rest = rest[len(some):]
		total := 0.0
		for i, id := range some {
			n := s.counts[id]
			s.counts[id] = 0
			var p float64
			if n < uint32(len(s.powers)) {
				p = s.powers[n]
			} else {
				p = math.Pow(float64(n), t.alpha)
			}
			weights[i] = p * float64(t.scales[id])
			total += weights[i]
		}
		if total > 0 {
			s.add(t, some, weights[:len(some)], total)
		}
	}
	s.seen = s.seen[:0]
	for _, x := range s.acc {
		dst = append(dst, float32(x))
	}
	return dst
}

// add adds the weighted rows to acc. Weights become fixed-point numbers whose
// total is just under 2^24: a value of a row, shifted to 0..255, times its
// weight then sums to less than 2^32, so two sums share a 64-bit word and one
// multiplication serves two values. Go's compiler makes no vector instructions;
// this does without them, and gives the same on every machine. The error is
// below 2*10^-6 of the vector's length.
func (s *scratch) add(t *table, ids []int32, weights []float64, total float64) {
	factor := float64((1<<24)-group) / total
	s.terms = s.terms[:0]
	sum := uint64(0)
	for i, id := range ids {
		// The conversion keeps the product from being fused into another operation.
		w := uint64(float64(weights[i]*factor) + 0.5)
		sum += w
		s.terms = append(s.terms, term{int(id) * t.dim, w})
	}
	const pair = 0x000000FF000000FF
	const shift = 0x8080808080808080
	bias, inverse := float64(sum*128), 1/factor
	value := func(x uint64) float64 { return float64((float64(uint32(x)) - bias) * inverse) }
	d := 0
	for ; d+8 <= t.dim; d += 8 {
		var s04, s15, s26, s37 uint64
		for _, term := range s.terms {
			x := load8(t.rows, term.at+d) ^ shift
			s04 += (x & pair) * term.weight
			s15 += (x >> 8 & pair) * term.weight
			s26 += (x >> 16 & pair) * term.weight
			s37 += (x >> 24 & pair) * term.weight
		}
		out := (*[8]float64)(s.acc[d:])
		out[0] += value(s04)
		out[1] += value(s15)
		out[2] += value(s26)
		out[3] += value(s37)
		out[4] += value(s04 >> 32)
		out[5] += value(s15 >> 32)
		out[6] += value(s26 >> 32)
		out[7] += value(s37 >> 32)
	}
	for ; d < t.dim; d++ {
		var one uint64
		for _, term := range s.terms {
			one += uint64(t.rows[term.at+d]^0x80) * term.weight
		}
		s.acc[d] += value(one)
	}
}

// load8 reads eight bytes, the first in the lowest place.
func load8(s string, at int) uint64 {
	b := s[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
