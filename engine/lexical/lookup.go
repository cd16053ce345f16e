package lexical

import (
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

// DF is the number of documents, dead ones included, in which a term occurs.
func DF(parts []Part, term string) int {
	n := 0
	for _, p := range parts {
		if e, ok := p.Segment.find(term); ok {
			n += int(e.df)
		}
	}
	return n
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
