package search

import "math"

// The weights are a linear ranker's, fitted by pairwise logistic regression
// with constrained signs over 810 questions on 34 projects, and rounded.
// Leaving out an eighth of the projects at a time, file NDCG@10 was .905 on
// repository questions, .799 on commit messages and .618 on web questions; the
// hand formula that was measured before (lexical and vector maxima, cosine,
// name and definition matches) had .888, .781 and .573. The penalties are set
// by hand, lower than fitted (-4.9 for tests, -4.4 for Markdown): the labels
// never point at those, while a user's questions do. All fitted, it is .908,
// .810 and .620.
var hybridWeights = Features{
	fLexTop: 1.4, fLexRank: 0.95, fLexCover: 1.6, fLexHits: 0.7, fLexLong: 1.8,
	fVecMax: 1.75, fVecRank: 0.15, fVecRaw: 1.3, fVecMean: 2.25, fVecFirst: 1.6, fVecHits: 0.15, fVecLong: 1.1,
	// MiniLM's are those of the embedded model, over which fitting gained
	// nothing: what it is worth depends on the question.
	fSlowMax: 1.75, fSlowRank: 0.15, fSlowRaw: 1.3, fSlowMean: 2.25,
	fRRF:       0.2,
	fBaseCover: 1.3, fDefExact: 0.05, fDefRare: 0.95, fDefBest: 0.4, fDefOverlap: 2.35,
	fPathNamed: 8,
	fTest:      -3, fLegacy: -2, fReexport: -0.1, fExample: -1.6, fDocs: -0.5, fGenerated: -1.5, fVendored: -1.5,
	fMarkdown: -1.8, fChangelog: -2, fData: -1.8,
	fLanguage: 0.5, fKind: 0.5, fWanted: 2, fLogChunks: 0.35,
}

// lexicalWeights serve while there are no vectors: .887, .776 and .631 on the
// same questions.
var lexicalWeights = Features{
	fLexTop: 1.3, fLexRank: 1.5, fLexCover: 2.3, fLexHits: 1.3, fLexLong: 2.3,
	fBaseCover: 2, fBasePrefix: 2.1, fDirQ: 1.7, fDefExact: 0.1, fDefRare: 0.65, fDefBest: 0.75, fDefOverlap: 2.65,
	fPathNamed: 8,
	fTest:      -3, fLegacy: -2, fReexport: -0.1, fExample: -1.6, fDocs: -0.5, fGenerated: -1.5, fVendored: -1.5,
	fMarkdown: -1.8, fChangelog: -2, fData: -1.8,
	fLanguage: 0.5, fKind: 0.5, fWanted: 2, fLogChunks: 0.4,
}

// weights are the ranker's for this question. The share of meaning depends on
// how much of the question the best chunk says in its own words: where it says
// all, words decide; where it says little, meaning does. The factors were
// chosen from a dozen: the embedded model's gain .007 on commit messages and
// nothing elsewhere; MiniLM's lift web questions from .656 to .767 and
// repository questions from .924 to .928. The settings' weights multiply
// everything that comes from their list.
func (r *ranking) weights() Features {
	w := lexicalWeights
	if len(r.near) > 0 {
		w = hybridWeights
	}
	var cover float64
	for _, c := range r.cands {
		cover = max(cover, c.features[fLexCover])
	}
	missing := 1 - min(1, cover)
	set := r.in.Settings
	scale := func(from, to int, by float64) {
		for i := from; i <= to; i++ {
			w[i] *= by
		}
	}
	scale(fLexMax, fLexHits, set.BM25Weight)
	w[fLexLong] *= set.BM25Weight
	vec := set.VectorWeight * (0.8 + 0.6*missing)
	scale(fVecMax, fVecHits, vec)
	w[fVecLong] *= vec
	scale(fSlowMax, fSlowPath, set.MiniLMWeight*(0.5+2*math.Sqrt(missing)))
	return w
}
