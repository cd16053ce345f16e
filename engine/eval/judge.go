package eval

import "path"

// Score is how one question did.
type Score struct {
	Question                                       *Question
	NDCG, NDCGChunk, MRR, Recall1, Recall5, Recall float64
	// HasLines says that the answers have lines; Lines10, CitationLines1 and
	// CitationLines3 are 0 where they have none.
	HasLines                       bool
	Lines10                        float64
	Asked                          bool // whether the rest was measured
	Citations3, NoAnswer           float64
	CitationLines1, CitationLines3 float64
	Files                          []string // ranked, relative to the checkout
	Hits                           []Hit    // the first ten, relative to the checkout
	Citations                      []Hit    // the first three, relative to the checkout
}

func judge(q *Question, places []Place, hits []Hit, root string) Score {
	relevant := map[string]bool{}
	s := Score{Question: q}
	for _, p := range places {
		relevant[p.Path] = true
		s.HasLines = s.HasLines || p.Start > 0
	}
	hits = under(root, hits)
	var files []string
	for _, h := range hits {
		files = append(files, h.Path)
	}
	s.Files, s.Hits = distinct(files), hits[:min(cutoff, len(hits))]
	g := gains(s.Files, relevant)
	s.NDCG, s.MRR, s.Recall1 = NDCG(g, len(relevant)), MRR(g), Recall(g, len(relevant), 1)
	s.Recall5, s.Recall = Recall(g, len(relevant), 5), Recall(g, len(relevant), cutoff)
	// By chunk, a place counts where the first chunk that overlaps it stands.
	first := make([]bool, len(hits))
	for _, p := range places {
		for i, h := range hits {
			if p.holds(h) {
				first[i] = true
				break
			}
		}
	}
	s.NDCGChunk = NDCG(first, len(places))
	s.Lines10 = overlap(places, s.Hits)
	return s
}

// citationsJudged is how many citations a reader is taken to look at.
const citationsJudged = 3

func (s *Score) judgeAnswer(places []Place, a Answer, root string) {
	s.Asked = true
	if a.Refused || len(a.Citations) == 0 {
		s.NoAnswer = 1
	}
	cited := under(root, a.Citations)
	s.Citations = cited[:min(citationsJudged, len(cited))]
	for _, c := range s.Citations {
		for _, p := range places {
			if c.Path == p.Path {
				s.Citations3 = 1
			}
		}
	}
	s.CitationLines1 = overlap(places, s.Citations[:min(1, len(s.Citations))])
	s.CitationLines3 = overlap(places, s.Citations)
}

// holds reports whether a hit shares a line with the place, or only its file
// where the place has no lines.
func (p Place) holds(h Hit) bool {
	return h.Path == p.Path && (p.Start == 0 || h.StartLine <= p.End && p.Start <= h.EndLine)
}

// overlap is 1 where a hit shares a line with a place that has lines.
func overlap(places []Place, hits []Hit) float64 {
	for _, p := range places {
		for _, h := range hits {
			if p.Start > 0 && p.holds(h) {
				return 1
			}
		}
	}
	return 0
}

// under returns the hits with paths that are relative to the checkout.
func under(root string, hits []Hit) []Hit {
	out := make([]Hit, len(hits))
	for i, h := range hits {
		h.Path = path.Join(root, h.Path)
		out[i] = h
	}
	return out
}
