package lexical

import "encoding/binary"

// pool holds many byte strings that grow at the same time: one per term while
// postings are gathered. A string is a chain of slices, each twice the one before up to
// maxSlice; the last four bytes of a full slice are the address of the next. (The
// scheme is that of in-memory inverted indexes at large: little waste for the
// many terms that occur once, few links for the few that occur everywhere.)
type pool struct {
	pages [][]byte
	free  uint32 // address of the first free byte
}

const (
	pageBits  = 16
	pageSize  = 1 << pageBits
	firstSize = 8
	maxSlice  = 1 << 9
	linkSize  = 4
)

// chain is one byte string of a pool.
type chain struct {
	head uint32 // address of the first slice
	pos  uint32 // address of the next byte
	end  uint32 // address of the link at the end of the current slice
	size uint32 // of the current slice; 0 where nothing was written
	n    uint32 // bytes in all
	df   uint32 // postings in it
}

// alloc reserves size bytes within one page and returns their address.
func (p *pool) alloc(size uint32) uint32 {
	if len(p.pages) == 0 || p.free&(pageSize-1)+size > pageSize || p.free>>pageBits >= uint32(len(p.pages)) {
		p.free = uint32(len(p.pages)) << pageBits
		p.pages = append(p.pages, make([]byte, pageSize))
	}
	at := p.free
	p.free += size
	return at
}

// bytes is the memory that the pool takes.
func (p *pool) bytes() int { return len(p.pages) * pageSize }

// append adds b to the chain.
func (p *pool) append(c *chain, b []byte) {
	c.n += uint32(len(b))
	for {
		if c.pos < c.end {
			n := copy(p.pages[c.pos>>pageBits][c.pos&(pageSize-1):][:c.end-c.pos], b)
			c.pos += uint32(n)
			b = b[n:]
		}
		if len(b) == 0 {
			return
		}
		size := uint32(firstSize)
		if c.size > 0 {
			size = min(2*c.size, maxSlice)
		}
		at := p.alloc(size)
		if c.size == 0 {
			c.head = at
		} else {
			binary.LittleEndian.PutUint32(p.pages[c.end>>pageBits][c.end&(pageSize-1):], at)
		}
		c.size, c.pos, c.end = size, at, at+size-linkSize
	}
}

// appendTo appends the chain's bytes to dst.
func (p *pool) appendTo(dst []byte, c *chain) []byte {
	left, size, at := c.n, uint32(firstSize), c.head
	for left > 0 {
		page := p.pages[at>>pageBits][at&(pageSize-1):]
		n := min(left, size-linkSize)
		dst = append(dst, page[:n]...)
		if left -= n; left > 0 {
			at = binary.LittleEndian.Uint32(page[size-linkSize:])
		}
		size = min(2*size, maxSlice)
	}
	return dst
}
