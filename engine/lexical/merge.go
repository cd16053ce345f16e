package lexical

import (
	"bytes"
	"cmp"
	"slices"
)

// NoDoc is where Merge maps a document that it dropped.
const NoDoc = -1

// Merge makes one segment of the live documents of several, in their order,
// without the text. moved[part][doc] is a document's new number, or NoDoc.
// Filters are ignored. The result equals the segment that a Builder makes of
// the same documents.
func Merge(parts []Part) (merged *Segment, moved [][]int) {
	docs, postings, terms := 0, 0, 0
	moved = make([][]int, len(parts))
	for pi, part := range parts {
		moved[pi] = make([]int, part.Segment.docs)
		for d := range moved[pi] {
			if part.Live != nil && !part.Live.Has(d) {
				moved[pi][d] = NoDoc
				continue
			}
			moved[pi][d] = docs
			docs++
		}
		postings += len(part.Segment.posts)
		terms += part.Segment.terms
	}
	w := newSegmentWriter(docs, terms, postings)
	w.seg.lens = make([]uint16, 0, docs*int(NumFields))
	var open []*source
	for pi, part := range parts {
		for d, to := range moved[pi] {
			if to != NoDoc {
				w.seg.lens = append(w.seg.lens, part.Segment.lens[d*int(NumFields):(d+1)*int(NumFields)]...)
			}
		}
		if c := part.Segment.cursor(0); c.next() {
			open = append(open, &source{cursor: c, part: pi})
		}
	}
	var term []byte
	for len(open) > 0 {
		term = append(term[:0], slices.MinFunc(open, compareSources).cursor.term...)
		at := len(w.seg.posts)
		df, last := uint32(0), 0
		for _, src := range open { // by part, so that documents ascend
			if !bytes.Equal(src.cursor.term, term) {
				continue
			}
			for p := newPostings(src.cursor.entry.posts); p.next(); {
				to := moved[src.part][p.doc]
				if to == NoDoc {
					continue
				}
				w.seg.posts = appendPosting(w.seg.posts, uint32(to-last), &p.tf)
				last = to + 1
				df++
			}
			src.done = !src.cursor.next()
		}
		open = slices.DeleteFunc(open, func(s *source) bool { return s.done })
		if df > 0 {
			w.term(term, df, at)
		}
	}
	return w.finish(), moved
}

// source is one segment's dictionary while merging.
type source struct {
	cursor *cursor
	part   int
	done   bool
}

func compareSources(a, b *source) int {
	if c := bytes.Compare(a.cursor.term, b.cursor.term); c != 0 {
		return c
	}
	return cmp.Compare(a.part, b.part)
}
