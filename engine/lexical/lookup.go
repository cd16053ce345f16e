package lexical

import (
	"math"
	"sort"
	"strings"
)

// Occurrence is a document in which a term occurs.
type Occurrence struct {
	Part, Doc int
	TF        Frequencies
}

// Has says whether the term occurs in a field of the document.
func (o Occurrence) Has(f Field) bool { return o.TF[f] > 0 }

// Lookup returns the live documents in which an identifier occurs as a whole, by part and
// document. Case is ignored, so that the text tells dial from Dial. In
// comments and prose only words that look like identifiers (several parts, digits)
// count; words of a single ASCII character and English stop words are not indexed.
func Lookup(parts []Part, identifier string) []Occurrence {
	return LookupTerm(parts, Exact(identifier))
}

// LookupTerm is Lookup for a term as the dictionary holds it.
func LookupTerm(parts []Part, term string) []Occurrence {
	var out []Occurrence
	for pi, part := range parts {
		e, ok := part.Segment.find(term)
		if !ok {
			continue
		}
		for p := newPostings(e.posts); p.next(); {
			doc := int(p.doc)
			if part.Live != nil && !part.Live.Has(doc) || part.Filter != nil && !part.Filter.Has(doc) {
				continue
			}
			out = append(out, Occurrence{Part: pi, Doc: doc, TF: p.tf})
		}
	}
	return out
}

// DF is the number of live documents in which a term occurs. For a term of
// thousands of documents it is estimated where some of them are dead. Samples
// count as what they hold: Background.DFIn knows more.
func DF(parts []Part, term string) int {
	return (*Background)(nil).DFIn(parts, term)
}

// exactly is up to how many documents live ones are counted one by one: a word
// that was edited away must count as unknown, one of thousands more or less
// changes nothing.
const exactly = 4096

// docs is the number of live documents.
func (p Part) docs() int {
	if p.Live == nil {
		return p.Segment.docs
	}
	return p.Live.Count()
}

// df is the number of live documents among a term's.
func (p Part) df(e entry) int {
	live := p.docs()
	switch {
	case live == p.Segment.docs:
		return int(e.df)
	case e.df > exactly:
		return int(math.Round(float64(e.df) * float64(live) / float64(p.Segment.docs)))
	}
	return p.living(e)
}

// living counts the live documents among a term's one by one.
func (p Part) living(e entry) int {
	n := 0
	for at := newPostings(e.posts); at.next(); {
		if p.Live.Has(int(at.doc)) {
			n++
		}
	}
	return n
}

// DFs is in how many live documents each term occurs that occurs in one, none of
// them estimated.
func DFs(parts []Part) map[string]int {
	df := map[string]int{}
	for _, p := range parts {
		whole := p.docs() == p.Segment.docs
		for c := p.Segment.cursor(0); c.next(); {
			n := int(c.entry.df)
			if !whole {
				n = p.living(c.entry)
			}
			if n > 0 {
				df[string(c.term)] += n
			}
		}
	}
	return df
}

// Totals are the lengths of the live documents' fields in all parts, summed up, none of
// them estimated.
func Totals(parts []Part) (sums [NumFields]uint64) {
	for _, p := range parts {
		for doc := range p.Segment.docs {
			if p.Live == nil || p.Live.Has(doc) {
				for f, n := range p.Segment.lens[doc*int(NumFields) : (doc+1)*int(NumFields)] {
					sums[f] += uint64(n)
				}
			}
		}
	}
	return sums
}

// totals are the lengths of the live documents' fields, summed up.
func (p Part) totals() (docs int, sums [NumFields]uint64) {
	docs = p.docs()
	switch {
	case docs == p.Segment.docs:
		return docs, p.Segment.totals
	case p.Segment.docs > exactly:
		for f, n := range p.Segment.totals {
			sums[f] = uint64(math.Round(float64(n) * float64(docs) / float64(p.Segment.docs)))
		}
		return docs, sums
	}
	for doc := range p.Segment.docs {
		if p.Live.Has(doc) {
			for f, n := range p.Segment.lens[doc*int(NumFields) : (doc+1)*int(NumFields)] {
				sums[f] += uint64(n)
			}
		}
	}
	return docs, sums
}

// TermCount is a term of the vocabulary and in how many documents it occurs,
// dead ones included.
type TermCount struct {
	Text string
	DF   int
}

// Terms returns the terms that begin with prefix, in order of their bytes, at most limit
// of them (0 means all). With prefix Exact("get") these are identifiers.
func Terms(parts []Part, prefix string, limit int) []TermCount {
	var merged []TermCount
	for _, p := range parts {
		var one []TermCount
		s := p.Segment
		i := sort.Search(len(s.blocks), func(i int) bool { return string(s.head(i)) > prefix })
		for c := s.cursor(max(i-1, 0)); c.next(); {
			if string(c.term) < prefix {
				continue
			}
			if !strings.HasPrefix(string(c.term), prefix) || limit > 0 && len(one) == limit {
				break
			}
			one = append(one, TermCount{string(c.term), int(c.entry.df)})
		}
		merged = mergeTerms(merged, one)
	}
	if limit > 0 && len(merged) > limit {
		merged = merged[:limit]
	}
	return merged
}

func mergeTerms(a, b []TermCount) []TermCount {
	if len(a) == 0 {
		return b
	}
	out := make([]TermCount, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0].Text, b[0].Text) {
		case -1:
			out, a = append(out, a[0]), a[1:]
		case 1:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, TermCount{a[0].Text, a[0].DF + b[0].DF})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
