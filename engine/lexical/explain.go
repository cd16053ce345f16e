package lexical

// Explanation is how a document came by its score.
type Explanation struct {
	Score float64
	Terms []TermMatch // in the order of the query
}

// TermMatch is one term's share in a document's score.
type TermMatch struct {
	TermStat
	TF    Frequencies
	Score float64
}

// Explain says what a hit of a query matched.
func Explain(parts []Part, q Query, h Hit) Explanation {
	st := statistics(parts, &q)
	var sc scorer
	sc.prepare(parts, &q)
	seg := parts[h.Part].Segment
	var ex Explanation
	for _, t := range st.Terms {
		e, ok := seg.find(t.Text)
		if !ok {
			continue
		}
		p := newPostings(e.posts)
		for p.next() {
			if int(p.doc) < h.Doc {
				continue
			}
			if int(p.doc) == h.Doc {
				x := float64(sc.tf(seg.lens[h.Doc*int(NumFields):], &p.tf))
				s := t.Weight * t.IDF * (sc.params.K1 + 1) * x / (sc.params.K1 + x)
				ex.Terms = append(ex.Terms, TermMatch{TermStat: t, TF: p.tf, Score: s})
				ex.Score += s
			}
			break
		}
	}
	return ex
}
