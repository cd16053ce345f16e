package lexical

import (
	"encoding/binary"
	"math/bits"
)

// Frequencies are a term's occurrences in the fields of one document.
type Frequencies [NumFields]uint16

// A posting list is a sequence of postings in ascending order of document:
//
//	uvarint(gap<<2 | code)   gap = document - previous document - 1, which starts at -1
//	code 0                   once in the body
//	code 1, uvarint(n-2)     n times in the body
//	code 2, mask             once in every field of mask (bit 1<<Field)
//	code 3, mask, uvarint(n-1) for every field of mask
//
// Every posting has exactly one form, the first that fits.
const (
	codeBody = iota
	codeBodyN
	codeMask
	codeMaskN
)

// appendPosting appends one posting. tf has at least one occurrence.
func appendPosting(b []byte, gap uint32, tf *Frequencies) []byte {
	var mask, max, others uint16
	for f, n := range tf {
		if n == 0 {
			continue
		}
		mask |= 1 << f
		if n > max {
			max = n
		}
		if f != int(Body) {
			others |= n
		}
	}
	g := uint64(gap) << 2
	switch {
	case others == 0 && tf[Body] == 1:
		return binary.AppendUvarint(b, g) // codeBody is 0
	case others == 0:
		b = binary.AppendUvarint(b, g|codeBodyN)
		return binary.AppendUvarint(b, uint64(tf[Body]-2))
	case max == 1:
		b = binary.AppendUvarint(b, g|codeMask)
		return append(b, byte(mask))
	}
	b = binary.AppendUvarint(b, g|codeMaskN)
	b = append(b, byte(mask))
	for m := mask; m != 0; m &= m - 1 {
		b = binary.AppendUvarint(b, uint64(tf[bits.TrailingZeros16(m)]-1))
	}
	return b
}

// postings walks a posting list that was validated or built here.
type postings struct {
	b   []byte
	pos int
	doc uint32 // valid after next
	tf  Frequencies
}

func newPostings(b []byte) postings { return postings{b: b, doc: ^uint32(0)} }

// next goes to the next posting; false at the end.
func (p *postings) next() bool {
	if p.pos >= len(p.b) {
		return false
	}
	v := p.uvarint()
	p.doc += uint32(v>>2) + 1
	p.tf = Frequencies{}
	switch v & 3 {
	case codeBody:
		p.tf[Body] = 1
	case codeBodyN:
		p.tf[Body] = uint16(p.uvarint() + 2)
	case codeMask:
		m := p.b[p.pos]
		p.pos++
		for ; m != 0; m &= m - 1 {
			p.tf[bits.TrailingZeros8(m)] = 1
		}
	case codeMaskN:
		m := p.b[p.pos]
		p.pos++
		for ; m != 0; m &= m - 1 {
			p.tf[bits.TrailingZeros8(m)] = uint16(p.uvarint() + 1)
		}
	}
	return true
}

func (p *postings) uvarint() uint64 {
	c := p.b[p.pos]
	p.pos++
	if c < 0x80 {
		return uint64(c)
	}
	v := uint64(c & 0x7f)
	for shift := 7; ; shift += 7 {
		c = p.b[p.pos]
		p.pos++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
}
