// Package vector scans int8 vectors exactly. A Matrix holds rows quantised
// with one scale each; Search returns the rows nearest to a query by dot
// product in a total order. It imports no other package of the project.
//
// A row is scale * values, with 8-bit values; the dot product of a row and a
// query is an exact integer times both scales, so every kernel (AVX2, NEON,
// plain Go) gives the same bits. For vectors of unit length it approximates the
// cosine; against float32, quantisation costs about one in a hundred of the
// nearest fifty.
package vector

import (
	"fmt"
	"math"
	"slices"
)

// lane is what a row's length in bytes is padded to: a cache line, and more
// than what the kernels take in one step.
const lane = 64

// MaxDim is the largest supported dimension. 2^16 products of two int8 values fit
// an int32 sum.
const MaxDim = 1 << 16

// Matrix holds n vectors of one dimension. It is immutable and safe for
// concurrent use. A nil Matrix is an empty one.
type Matrix struct {
	dim, stride int
	values      []int8    // [n][stride], zero beyond dim
	scales      []float32 // [n]
}

// Len is the number of rows.
func (m *Matrix) Len() int {
	if m == nil {
		return 0
	}
	return len(m.scales)
}

// Dim is the number of values of a row, 0 for a nil Matrix.
func (m *Matrix) Dim() int {
	if m == nil {
		return 0
	}
	return m.dim
}

// Bytes is the memory that the rows and scales take.
func (m *Matrix) Bytes() int64 {
	if m == nil {
		return 0
	}
	return int64(cap(m.values)) + 4*int64(cap(m.scales))
}

// Row returns row i: its scale and its dim values. The values alias the
// matrix and must not be changed.
func (m *Matrix) Row(i int) (scale float32, values []int8) {
	at := i * m.stride
	return m.scales[i], m.values[at : at+m.dim : at+m.dim]
}

// AppendRow appends row i as float32 values to dst.
func (m *Matrix) AppendRow(dst []float32, i int) []float32 {
	scale, values := m.Row(i)
	for _, v := range values {
		dst = append(dst, scale*float32(v))
	}
	return dst
}

// Builder collects rows for a Matrix.
type Builder struct {
	m Matrix
}

// NewBuilder returns a Builder for vectors of dim values, 1 to MaxDim, with
// room for capacity rows (more may be appended).
func NewBuilder(dim, capacity int) (*Builder, error) {
	if dim < 1 || dim > MaxDim {
		return nil, fmt.Errorf("vector dimension %d is not between 1 and %d", dim, MaxDim)
	}
	stride := (dim + lane - 1) / lane * lane
	return &Builder{m: Matrix{
		dim: dim, stride: stride,
		values: make([]int8, 0, max(capacity, 0)*stride),
		scales: make([]float32, 0, max(capacity, 0)),
	}}, nil
}

// Len is the number of rows so far.
func (b *Builder) Len() int { return len(b.m.scales) }

// Append adds a quantised row: value i is scale * values[i]. It refuses a row
// of another dimension and a scale that is negative, NaN or infinite.
func (b *Builder) Append(scale float32, values []int8) error {
	if len(values) != b.m.dim {
		return fmt.Errorf("vector has %d values, the matrix has rows of %d", len(values), b.m.dim)
	}
	if !(scale >= 0) || math.IsInf(float64(scale), 0) {
		return fmt.Errorf("vector has scale %g, want a finite number that is not negative", scale)
	}
	at := len(b.m.values)
	b.m.values = slices.Grow(b.m.values, b.m.stride)[:at+b.m.stride]
	clear(b.m.values[at+copy(b.m.values[at:], values):])
	b.m.scales = append(b.m.scales, scale)
	return nil
}

// AppendFloat32 quantises v and adds it as a row. It refuses a row of another
// dimension.
func (b *Builder) AppendFloat32(v []float32) error {
	if len(v) != b.m.dim {
		return fmt.Errorf("vector has %d values, the matrix has rows of %d", len(v), b.m.dim)
	}
	scale, values := Quantize(v)
	return b.Append(scale, values)
}

// Matrix returns the rows as a Matrix and empties the Builder.
func (b *Builder) Matrix() *Matrix {
	m := b.m
	if cap(m.values) > len(m.values)+len(m.values)/16 {
		m.values = slices.Clone(m.values) // what append left over would stay for long
	}
	m.values, m.scales = slices.Clip(m.values), slices.Clip(m.scales)
	b.m.values, b.m.scales = nil, nil
	return &m
}

// Quantize returns v as scale * values with values from -127 to 127: the
// scale is the largest magnitude over 127, and values are rounded to the
// nearest, ties to even. A zero vector, and one that holds a NaN or an infinity
// and so has no direction, gives scale 0 and zero values.
func Quantize(v []float32) (scale float32, values []int8) {
	values = make([]int8, len(v))
	var top float32
	for _, x := range v {
		a := max(x, -x)
		if !(a <= math.MaxFloat32) {
			return 0, values
		}
		top = max(top, a)
	}
	// Below the smallest normal number the quotient would lose its precision.
	if scale = top / 127; scale < 0x1p-126 {
		return 0, values
	}
	for i, x := range v {
		values[i] = int8(math.RoundToEven(float64(x) / float64(scale)))
	}
	return scale, values
}
