package lexical

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// blockTerms is the number of terms that share one entry of the block table.
const blockTerms = 16

// Segment is an immutable inverted index of some documents, numbered from 0.
// It is safe for concurrent use.
//
// The dictionary is sorted by bytes and front-coded in blocks of sixteen terms.
// A term's entry is
//
//	uvarint(shared) uvarint(len(rest)) rest uvarint(df) uvarint(len(postings))
//
// where shared is what it has in common with the term before (0 at the head of a
// block). Postings lie in the order of the terms.
type Segment struct {
	docs   int
	terms  int
	dict   []byte
	blocks []block
	posts  []byte
	lens   []uint16 // docs*NumFields word terms by document and field
	totals [NumFields]uint64
	// longest is the greatest length by field.
	longest [NumFields]uint16
}

// block is where a block of terms begins.
type block struct {
	dict  uint32 // in dict
	posts uint64 // in posts
}

// Len is the number of documents, dead ones included.
func (s *Segment) Len() int { return s.docs }

// NumTerms is the number of distinct terms.
func (s *Segment) NumTerms() int { return s.terms }

// Bytes is about the memory that the segment holds.
func (s *Segment) Bytes() int {
	return len(s.dict) + len(s.posts) + len(s.lens)*2 + len(s.blocks)*16 + 128
}

// FieldLen is the number of word terms in a document's field, at most 65535.
func (s *Segment) FieldLen(doc int, f Field) int { return int(s.lens[doc*int(NumFields)+int(f)]) }

// entry is one term of the dictionary.
type entry struct {
	df    uint32
	posts []byte
}

// find looks a term up.
func (s *Segment) find(term string) (entry, bool) {
	i := sort.Search(len(s.blocks), func(i int) bool { return string(s.head(i)) > term })
	if i == 0 {
		return entry{}, false
	}
	c := s.cursor(i - 1)
	for n := 0; n < blockTerms && c.next(); n++ {
		if string(c.term) >= term {
			return c.entry, string(c.term) == term
		}
	}
	return entry{}, false
}

// head is the first term of a block.
func (s *Segment) head(i int) []byte {
	d := s.dict[s.blocks[i].dict:]
	n, k := binary.Uvarint(d[1:])
	return d[1+k:][:n]
}

// cursor walks the dictionary in order.
type cursor struct {
	seg   *Segment
	at    int    // in dict
	posts uint64 // in posts
	left  int    // terms from here to the end
	term  []byte // valid until the next call
	entry entry
}

// cursor starts before the first term of a block.
func (s *Segment) cursor(i int) *cursor {
	c := &cursor{seg: s}
	if i < len(s.blocks) {
		c.at, c.posts, c.left = int(s.blocks[i].dict), s.blocks[i].posts, s.terms-i*blockTerms
	}
	return c
}

func (c *cursor) next() bool {
	if c.left == 0 {
		return false
	}
	c.left--
	shared, rest := c.uvarint(), c.uvarint()
	c.term = append(c.term[:shared], c.seg.dict[c.at:c.at+rest]...)
	c.at += rest
	c.entry.df = uint32(c.uvarint())
	n := uint64(c.uvarint())
	c.entry.posts = c.seg.posts[c.posts : c.posts+n]
	c.posts += n
	return true
}

func (c *cursor) uvarint() int {
	d := c.seg.dict[c.at:]
	if d[0] < 0x80 {
		c.at++
		return int(d[0])
	}
	v, n := binary.Uvarint(d)
	c.at += n
	return int(v)
}

// segmentWriter writes a dictionary; terms come in order.
type segmentWriter struct {
	seg  *Segment
	prev []byte
	n    int
}

func newSegmentWriter(docs, terms, postingBytes int) *segmentWriter {
	return &segmentWriter{seg: &Segment{docs: docs,
		blocks: make([]block, 0, (terms+blockTerms-1)/blockTerms),
		dict:   make([]byte, 0, terms*10),
		posts:  make([]byte, 0, postingBytes),
	}}
}

// term adds a term whose postings are seg.posts[at:].
func (w *segmentWriter) term(term []byte, df uint32, at int) {
	s := w.seg
	shared := 0
	if w.n%blockTerms == 0 {
		s.blocks = append(s.blocks, block{uint32(len(s.dict)), uint64(at)})
	} else {
		for shared < len(term) && shared < len(w.prev) && term[shared] == w.prev[shared] {
			shared++
		}
	}
	s.dict = binary.AppendUvarint(s.dict, uint64(shared))
	s.dict = binary.AppendUvarint(s.dict, uint64(len(term)-shared))
	s.dict = append(s.dict, term[shared:]...)
	s.dict = binary.AppendUvarint(s.dict, uint64(df))
	s.dict = binary.AppendUvarint(s.dict, uint64(len(s.posts)-at))
	w.prev = append(w.prev[:0], term...)
	w.n++
}

func (w *segmentWriter) finish() *Segment {
	s := w.seg
	s.terms = w.n
	s.measure()
	s.dict = slices.Clip(bytes.Clone(s.dict))
	if cap(s.posts) > len(s.posts)+len(s.posts)/16 {
		s.posts = bytes.Clone(s.posts)
	}
	return s
}

// measure sums the lengths up.
func (s *Segment) measure() {
	s.totals, s.longest = [NumFields]uint64{}, [NumFields]uint16{}
	for i := 0; i < len(s.lens); i += int(NumFields) {
		for f, n := range s.lens[i : i+int(NumFields)] {
			s.totals[f] += uint64(n)
			s.longest[f] = max(s.longest[f], n)
		}
	}
}
