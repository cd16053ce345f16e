package eval

import (
	"maps"
	"slices"
)

// sum adds up the scores of questions that have an answer.
type sum struct{ n, ndcg, chunk, mrr, r1, r5, r10, asked, cited, silent, lined, lines10, askedLines, lines1, lines3 float64 }

func (a *sum) add(s *Score) {
	a.n++
	a.ndcg += s.NDCG
	a.chunk += s.NDCGChunk
	a.mrr += s.MRR
	a.r1 += s.Recall1
	a.r5 += s.Recall5
	a.r10 += s.Recall
	if s.HasLines {
		a.lined++
		a.lines10 += s.Lines10
	}
	if s.Asked {
		a.asked++
		a.cited += s.Citations3
		a.silent += s.NoAnswer
	}
	if s.Asked && s.HasLines {
		a.askedLines++
		a.lines1 += s.CitationLines1
		a.lines3 += s.CitationLines3
	}
}

// mean is nil where nothing was measured.
func mean(total, n float64) *float64 {
	if n == 0 {
		return nil
	}
	m := total / n
	return &m
}

func (a *sum) group() Group {
	return Group{
		Queries: int(a.n), NDCG10: a.ndcg / a.n, MRR10: a.mrr / a.n,
		Lines10: mean(a.lines10, a.lined), Citations3: mean(a.cited, a.asked),
		CitationLines1: mean(a.lines1, a.askedLines), CitationLines3: mean(a.lines3, a.askedLines),
	}
}

// Summary returns the means of some questions, of one suite or of several.
func Summary(scores []Score) SuiteReport {
	var all sum
	var absent, refused float64
	category, language, project := map[string]*sum{}, map[string]*sum{}, map[string]*sum{}
	add := func(m map[string]*sum, key string, s *Score) {
		if m[key] == nil {
			m[key] = &sum{}
		}
		m[key].add(s)
	}
	for i := range scores {
		s := &scores[i]
		if s.Question.Absent {
			absent++
			refused += s.NoAnswer
			continue
		}
		all.add(s)
		add(category, s.Question.Category, s)
		add(language, s.Question.Language, s)
		add(project, s.Question.project(), s)
	}
	groups := func(m map[string]*sum) map[string]Group {
		out := make(map[string]Group, len(m))
		for key, s := range m {
			out[key] = s.group()
		}
		return out
	}
	r := SuiteReport{
		Queries: len(scores), Absent: int(absent), Refused: mean(refused, absent),
		ByCategory: groups(category), ByLanguage: groups(language), ByProject: groups(project),
	}
	if all.n == 0 {
		return r
	}
	r.NDCG10Query, r.NDCG10Chunk, r.MRR10 = all.ndcg/all.n, all.chunk/all.n, all.mrr/all.n
	r.Recall1, r.Recall5, r.Recall10 = all.r1/all.n, all.r5/all.n, all.r10/all.n
	// In a fixed order, so that the last digit does not depend on chance.
	for _, name := range slices.Sorted(maps.Keys(project)) {
		r.NDCG10 += project[name].ndcg / project[name].n
	}
	r.NDCG10 /= float64(len(project))
	r.LineQueries, r.Lines10 = int(all.lined), mean(all.lines10, all.lined)
	r.Citations3, r.NoAnswer = mean(all.cited, all.asked), mean(all.silent, all.asked)
	r.CitationLines1, r.CitationLines3 = mean(all.lines1, all.askedLines), mean(all.lines3, all.askedLines)
	return r
}
