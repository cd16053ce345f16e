package vector

import "math/bits"

// Bitmap is a set of row numbers: row i is bit i%64 of word i/64. Rows beyond its
// end are not in it.
type Bitmap []uint64

// NewBitmap returns an empty set with room for the rows 0 to n-1.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// FullBitmap returns the set of the rows 0 to n-1.
func FullBitmap(n int) Bitmap {
	b := NewBitmap(n)
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
	return b
}

// Set adds row i, which the set must have room for.
func (b Bitmap) Set(i int) { b[i/64] |= 1 << (i % 64) }

// Clear removes row i, which the set must have room for.
func (b Bitmap) Clear(i int) { b[i/64] &^= 1 << (i % 64) }

// Has tells whether row i is in the set.
func (b Bitmap) Has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

// Count is the number of rows in the set.
func (b Bitmap) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}
