package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// A stored segment is, all numbers little-endian:
//
//	magic "CRAGLEX\n"
//	uint16 format version, uint16 TokenizerVersion, uint32 number of fields
//	uint64 documents, terms, bytes of dictionary, bytes of postings
//	uint16 lengths [documents][fields]
//	dictionary, postings
//	uint32 CRC-32C of everything before
const (
	segmentMagic   = "CRAGLEX\n"
	segmentVersion = 1
	headerSize     = len(segmentMagic) + 8 + 4*8
	trailerSize    = 4
)

// The errors of ReadSegment, for errors.Is.
var (
	// ErrVersion: the segment is sound but of another version; build it anew.
	ErrVersion = errors.New("lexical segment of another version")
	// ErrCorrupt: the bytes are no sound segment.
	ErrCorrupt = errors.New("damaged lexical segment")
)

// WriteTo writes the segment in its stored form.
func (s *Segment) WriteTo(w io.Writer) (int64, error) {
	head := append(make([]byte, 0, headerSize), segmentMagic...)
	head = binary.LittleEndian.AppendUint16(head, segmentVersion)
	head = binary.LittleEndian.AppendUint16(head, TokenizerVersion)
	head = binary.LittleEndian.AppendUint32(head, uint32(NumFields))
	for _, n := range []int{s.docs, s.terms, len(s.dict), len(s.posts)} {
		head = binary.LittleEndian.AppendUint64(head, uint64(n))
	}
	lens := make([]byte, 0, 2*len(s.lens))
	for _, n := range s.lens {
		lens = binary.LittleEndian.AppendUint16(lens, n)
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	var written int64
	for _, b := range [][]byte{head, lens, s.dict, s.posts} {
		sum = crc32.Update(sum, table, b)
		n, err := w.Write(b)
		written += int64(n)
		if err != nil {
			return written, fmt.Errorf("writing lexical segment: %w", err)
		}
	}
	n, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum))
	written += int64(n)
	if err != nil {
		return written, fmt.Errorf("writing lexical segment: %w", err)
	}
	return written, nil
}

// ReadSegment reads the stored form and checks all of it. The segment keeps b,
// which must not change afterwards. Errors are ErrVersion or ErrCorrupt.
func ReadSegment(b []byte) (*Segment, error) {
	if len(b) < headerSize+trailerSize || string(b[:len(segmentMagic)]) != segmentMagic {
		return nil, fmt.Errorf("%w: no segment header", ErrCorrupt)
	}
	h := b[len(segmentMagic):headerSize]
	version, tokenizer, fields := binary.LittleEndian.Uint16(h), binary.LittleEndian.Uint16(h[2:]), binary.LittleEndian.Uint32(h[4:])
	if version != segmentVersion || tokenizer != TokenizerVersion || fields != uint32(NumFields) {
		return nil, fmt.Errorf("%w: format %d, tokenizer %d, %d fields", ErrVersion, version, tokenizer, fields)
	}
	body := b[headerSize : len(b)-trailerSize]
	var size [4]uint64
	left := uint64(len(body))
	for i := range size {
		size[i] = binary.LittleEndian.Uint64(h[8+8*i:])
		if size[i] > left && i != 1 || size[i] > math.MaxUint32 {
			return nil, fmt.Errorf("%w: sizes do not add up", ErrCorrupt)
		}
	}
	lensSize := size[0] * uint64(NumFields) * 2
	if lensSize+size[2]+size[3] != left {
		return nil, fmt.Errorf("%w: sizes do not add up", ErrCorrupt)
	}
	if crc32.Checksum(b[:len(b)-trailerSize], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[len(b)-trailerSize:]) {
		return nil, fmt.Errorf("%w: checksum", ErrCorrupt)
	}
	s := &Segment{docs: int(size[0]), terms: int(size[1]),
		lens:  make([]uint16, int(size[0])*int(NumFields)),
		dict:  body[lensSize : lensSize+size[2] : lensSize+size[2]],
		posts: body[lensSize+size[2]:],
	}
	for i := range s.lens {
		s.lens[i] = binary.LittleEndian.Uint16(body[2*i:])
	}
	if err := s.index(); err != nil {
		return nil, err
	}
	s.measure()
	return s, nil
}

// index walks the dictionary and all postings, checks them, and fills the block
// table, so that look-ups need no checks.
func (s *Segment) index() error {
	d := s.dict
	var prev, term []byte
	var at uint64
	for n := 0; n < s.terms; n++ {
		if n%blockTerms == 0 {
			s.blocks = append(s.blocks, block{uint32(len(s.dict) - len(d)), at})
		}
		var v [2]uint64
		for i := range v {
			var k int
			if v[i], k = canonicalUvarint(d); k <= 0 {
				return fmt.Errorf("%w: dictionary", ErrCorrupt)
			}
			d = d[k:]
		}
		shared, rest := v[0], v[1]
		if shared > uint64(len(prev)) || n%blockTerms == 0 && shared != 0 || rest > uint64(len(d)) || rest == 0 {
			return fmt.Errorf("%w: dictionary", ErrCorrupt)
		}
		term = append(append(term[:0], prev[:shared]...), d[:rest]...)
		d = d[rest:]
		if n > 0 && string(term) <= string(prev) {
			return fmt.Errorf("%w: dictionary out of order", ErrCorrupt)
		}
		prev, term = term, prev
		for i := range v {
			var k int
			if v[i], k = canonicalUvarint(d); k <= 0 {
				return fmt.Errorf("%w: dictionary", ErrCorrupt)
			}
			d = d[k:]
		}
		df, size := v[0], v[1]
		if size > uint64(len(s.posts))-at || df == 0 || df > uint64(s.docs) {
			return fmt.Errorf("%w: postings", ErrCorrupt)
		}
		if !validPostings(s.posts[at:at+size], uint32(df), s.docs) {
			return fmt.Errorf("%w: postings", ErrCorrupt)
		}
		at += size
	}
	if len(d) != 0 || at != uint64(len(s.posts)) {
		return fmt.Errorf("%w: bytes left over", ErrCorrupt)
	}
	return nil
}

// canonicalUvarint reads a number of at most 32 bits; n is 0 where there is none.
func canonicalUvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	v, n = binary.Uvarint(b)
	if n <= 0 || v > math.MaxUint32 {
		return 0, 0
	}
	return v, n
}

// validPostings says whether b is df sound postings of documents below docs.
func validPostings(b []byte, df uint32, docs int) bool {
	doc, i := -1, 0
	n := uint32(0)
	for ; i < len(b); n++ {
		v := uint64(b[i])
		if v < 0x80 {
			i++
		} else {
			var k int
			if v, k = binary.Uvarint(b[i:]); k <= 0 || v > math.MaxUint32<<2 {
				return false
			}
			i += k
		}
		doc += int(v>>2) + 1
		if doc >= docs {
			return false
		}
		switch v & 3 {
		case codeBody:
			continue
		case codeBodyN:
			f, k := canonicalUvarint(b[i:])
			if k == 0 || f+2 > math.MaxUint16 {
				return false
			}
			i += k
			continue
		}
		if i >= len(b) {
			return false
		}
		mask := b[i]
		i++
		if mask == 0 || mask >= 1<<NumFields {
			return false
		}
		if v&3 == codeMask {
			continue
		}
		for ; mask != 0; mask &= mask - 1 {
			f, k := canonicalUvarint(b[i:])
			if k == 0 || f+1 > math.MaxUint16 {
				return false
			}
			i += k
		}
	}
	return n == df
}
