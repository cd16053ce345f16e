package lexical

import "math/bits"

// Bitmap is a set of document numbers.
type Bitmap []uint64

// NewBitmap returns an empty set for documents 0..n-1.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// FullBitmap returns the set of all documents 0..n-1.
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

// Set adds a document.
func (b Bitmap) Set(doc int) { b[doc>>6] |= 1 << (doc & 63) }

// Clear removes a document.
func (b Bitmap) Clear(doc int) { b[doc>>6] &^= 1 << (doc & 63) }

// Has says whether a document is in the set; documents past its end are not.
func (b Bitmap) Has(doc int) bool { return doc>>6 < len(b) && b[doc>>6]>>(doc&63)&1 != 0 }

// Count is the number of documents in the set.
func (b Bitmap) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}
