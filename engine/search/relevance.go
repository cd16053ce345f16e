package search

import (
	"math"

	"coderag-ls/engine/lexical"
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
	// Cosine is the best chunk's.
	Cosine float64
	// Content, First and Whole are cosines of the best file without the words of
	// its path: the mean of its best three chunks, its first chunk's, and that of
	// all of it.
	Content, First, Whole float64
	// Named is 1 where something that the question names is defined here, or a
	// file that it names exists.
	Named float64
	// Words is how many distinct content words the question has.
	Words int
	// Name is the largest share of the question in a base name or definition.
	Name float64
}

// signalFiles is how many of the best files are looked at.
const signalFiles = 3

func (r *ranking) signals() Signals {
	ignored := r.wherewords()
	s := Signals{Words: len(r.an.Stems)}
	known, all := 0, 0
	for g, st := range r.stats.Groups {
		if ignored>>g&1 != 0 {
			continue
		}
		all++
		if st.DF > 0 {
			known++
		}
	}
	if all > 0 {
		s.Known = float64(known) / float64(all)
	}
	for i, c := range r.cands[:min(signalFiles, len(r.cands))] {
		f := &c.features
		if i == 0 {
			s.Content, s.First, s.Whole = f[fContentMean], f[fContentFirst], f[fContentWhole]
		}
		for i := range c.passages {
			s.Cover = max(s.Cover, r.cover(c.passages[i].group, ignored))
		}
		s.Cosine = max(s.Cosine, f[fVecRaw])
		s.Named = max(s.Named, f[fPathNamed])
		s.Name = max(s.Name, f[fBaseQ]*f[fBaseCover], f[fDefOverlap])
		if f[fDefExact] > 0 && r.aboutNames() >= 0.3 {
			s.Named = 1
		}
	}
	return s
}

// wherewords are the groups of the words that say where to look ("tests",
// "documentation"), not what for: a file need not hold them.
func (r *ranking) wherewords() uint32 {
	w := r.an.Wants
	var ignored uint32
	for _, t := range r.stats.Terms {
		var where bool
		switch t.Text {
		case "test", "unit", "suit", "cover", "spec", "case", "benchmark":
			where = w.Tests
		case "doc", "document", "readm", "say", "guid", "tutori", "explain":
			where = w.Docs
		case "exampl", "sampl", "demo":
			where = w.Examples
		case "file", "workflow", "config", "configur":
			where = w.Config
		}
		if where {
			ignored |= 1 << min(t.Group, lexical.MaxGroups-1)
		}
	}
	return ignored
}

// cover is lexical.Stats.Coverage without some of the groups.
func (r *ranking) cover(groups, ignored uint32) float64 {
	var has, all float64
	for g, st := range r.stats.Groups {
		if ignored>>g&1 != 0 {
			continue
		}
		all += st.IDF
		if groups>>g&1 != 0 {
			has += st.IDF
		}
	}
	if all == 0 {
		return 0
	}
	return has / all
}

// relevance turns the signals into a probability. The weights are a logistic
// regression's over 2,057 questions (doc comments, about repositories, web
// questions) asked of their own project and 3,952 asked of another one in the same
// language (internal/fitpassages -relevance, scripts/fit-relevance.py), balanced,
// and moved by .9 towards answering (docs/decisions/0036-relevance.md).
func (s Signals) relevance(vectors bool) float64 {
	// Few of a long question's words stand in one chunk: length must be
	// allowed for.
	length := min(1, math.Log(float64(max(1, s.Words)))/math.Log(30))
	switch {
	case s.Named > 0:
		// What is named is there, whatever else the words are.
		return max(foundName, s.words(vectors, length))
	case s.Known == 1 && s.Cover > allWords:
		// One chunk holds every word of the question: a rare word, a message, a
		// phrase that was looked for.
		return max(foundWords, s.words(vectors, length))
	}
	return s.words(vectors, length)
}

const (
	// foundName is the relevance of a name that is defined in the index.
	foundName = 0.8
	// foundWords is that of a chunk with all of the question's words. The
	// regression knows whole questions only, and would refuse a single word
	// that stands in a comment.
	foundWords = 0.5
	// allWords is the least cover, of 1, at which nothing but rounding is missing.
	allWords = 0.999
)

func (s Signals) words(vectors bool, length float64) float64 {
	if vectors {
		return logistic(3.1*s.Cover + 2.7*s.Known + 3.1*s.Cosine + 5.7*s.Content + 2.1*s.First + 2.3*s.Whole + 0.7*s.Named + 1.7*s.Name + 6.2*length - 11)
	}
	return logistic(5.1*s.Cover + 7.1*s.Known + s.Named + 4.9*s.Name + 5.7*length - 10.9)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logit is the inverse of logistic.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }
