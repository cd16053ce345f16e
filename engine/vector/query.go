package vector

import (
	"fmt"
	"math"
)

// Query is a vector prepared for comparison with rows. It is immutable and
// safe for concurrent use.
type Query struct {
	kernel Kernel
	dim    int
	scale  float32
	values []int8  // [stride]
	wide   []int16 // [stride], the same values for kernels that multiply 16-bit numbers
}

// NewQuery quantises v for the fastest kernel of this machine. Scores are dot
// products with v as it is: give it unit length where cosines are wanted. It
// refuses a vector that holds a NaN or an infinity, and a dimension outside 1
// to MaxDim.
func NewQuery(v []float32) (*Query, error) { return Kernels()[0].NewQuery(v) }

// NewQuery is as the function NewQuery, for this kernel.
func (k Kernel) NewQuery(v []float32) (*Query, error) {
	if len(v) < 1 || len(v) > MaxDim {
		return nil, fmt.Errorf("query vector has %d values, want 1 to %d", len(v), MaxDim)
	}
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("query vector has value %g at %d, want finite numbers", x, i)
		}
	}
	stride := (len(v) + lane - 1) / lane * lane
	q := &Query{kernel: k, dim: len(v), values: make([]int8, stride), wide: make([]int16, stride)}
	scale, values := Quantize(v)
	q.scale = scale
	for i, x := range values {
		q.values[i], q.wide[i] = x, int16(x)
	}
	return q, nil
}

// Dim is the number of values of the query.
func (q *Query) Dim() int { return q.dim }

// Zero tells whether the query has no direction: nothing is near to it.
func (q *Query) Zero() bool { return q.scale == 0 }

// score turns an integer dot product into the product of the two vectors.
func (q *Query) score(dot int32, rowScale float32) float32 {
	return float32(dot) * rowScale * q.scale
}

// Dot returns the dot product of the query and row i. It panics where the
// dimensions differ; Scores is faster for many rows.
func (m *Matrix) Dot(q *Query, i int) float32 {
	m.mustMatch(q)
	at := i * m.stride
	return q.score(dotGo(m.values[at:at+m.stride], q.values), m.scales[i])
}

// Scores appends the dot products of the query and the given rows to dst, in
// order. It panics where the dimensions differ.
func (m *Matrix) Scores(dst []float32, q *Query, rows []int32) []float32 {
	if len(rows) == 0 {
		return dst
	}
	m.mustMatch(q)
	var dots [256]int32
	for len(rows) > 0 {
		some := rows[:min(len(rows), len(dots))]
		rows = rows[len(some):]
		for _, r := range some {
			_ = m.scales[r] // the kernels do not check bounds
		}
		q.dotsAt(m, some, dots[:len(some)])
		for i, r := range some {
			dst = append(dst, q.score(dots[i], m.scales[r]))
		}
	}
	return dst
}

func (m *Matrix) mustMatch(q *Query) {
	if m.Dim() != q.dim {
		panic(fmt.Sprintf("vector: query of dimension %d on a matrix of dimension %d", q.dim, m.Dim()))
	}
}
