package search

// The weights are a linear ranker's, fitted by pairwise logistic regression
// with constrained signs over 810 questions on 34 projects, and rounded
// (internal/fitfiles, scripts/fit-files.py).
// Leaving each project out in its turn, what that fits anew has file NDCG@10 of .906 on
// repository questions, .833 on commit messages and .737 on web questions. The penalties of tests,
// Markdown and data are set by hand, lower than fitted (-4.3, -3.6 and -2.3): the
// labels never point at those, while a user's questions do. Who asks for a
// change does not mean them, though: fAside.
var hybridWeights = Features{
	fLexRank: 0.77, fLexCover: 0.91, fLexHits: 0.57, fLexTopZ: 0.97, fLexLong: 1.7,
	fVecMax: 0.57, fVecTop: 0.33, fVecRank: 0.72, fVecRaw: 0.37, fVecMean: 0.48, fVecPath: 0.7, fVecFirst: 0.8, fVecHits: 0.57,
	fContentMax: 1.31, fContentMean: 0.81, fContentFirst: 1.14, fContentWhole: 0.62, fContentMeanZ: 1.96, fContentWholeZ: 0.66,
	fRRF:       0.97,
	fBaseCover: 0.76, fDirQ: 0.05, fDefExact: 0.44, fDefRare: 0.32, fDefBest: 0.89, fDefOverlap: 1.71, fDefMain: 0.05,
	fTitleTopZ: 0.56, fScope: 1.4, fScopeNear: 1.44,
	fPathNamed: 8,
	fTest:      -4, fLegacy: -1.65, fTooling: -1.9, fReexport: -0.1, fExample: -1.7, fDocs: -1, fGenerated: -1.5, fVendored: -1.9,
	fMarkdown: -2, fChangelog: -2, fData: -1.8, fAside: -2,
	fLanguage: 0.5, fKind: 0.8, fWanted: 2, fLogChunks: 0.58,
}

// lexicalWeights serve while there are no vectors: .887, .776 and .631 on the
// same questions.
var lexicalWeights = Features{
	fLexTop: 1.3, fLexRank: 1.5, fLexCover: 2.3, fLexHits: 1.3, fLexLong: 2.3,
	fBaseCover: 2, fBasePrefix: 2.1, fDirQ: 1.7, fDefExact: 0.1, fDefRare: 0.65, fDefBest: 0.75, fDefOverlap: 2.65,
	fPathNamed: 8,
	fTest:      -3, fLegacy: -2, fTooling: -1.9, fReexport: -0.1, fExample: -1.6, fDocs: -0.5, fGenerated: -1.5, fVendored: -1.5,
	fMarkdown: -1.8, fChangelog: -2, fData: -1.8, fAside: -2,
	fLanguage: 0.5, fKind: 0.5, fWanted: 2, fLogChunks: 0.4,
}

// weights are the ranker's for this question. A row of the index says what a
// chunk is about and where it stands at once. Where some path speaks to the
// question, rows are compared; where none does, as with the names of scripts, web
// questions and prose, the content alone is, by as much as the best path says
// too little: web questions gain .07 by that, and nothing else loses. The
// settings' weights multiply everything that comes from their list. MiniLM's are
// addMiniLM's.
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
	w[fLexTopZ] *= set.BM25Weight
	mute := r.mutePaths()
	rows, content := set.VectorWeight*(1-muted*mute), set.VectorWeight*mute
	scale(fVecMax, fVecHits, rows)
	w[fVecLong] *= rows
	scale(fContentMax, fContentWhole, content)
	w[fContentMeanZ] *= content
	w[fContentWholeZ] *= content
	r.addMiniLM(&w, missing)
	return w
}

// mutePaths is how little the candidates' paths say to the question, 0 to 1.
func (r *ranking) mutePaths() float64 {
	var said float64
	for _, c := range r.cands {
		said = max(said, c.features[fVecPath])
	}
	return min(1, max(0, (speaks-said)/(speaks-silent)))
}

const (
	// silent and speaks are the cosines of the question to the best path from which
	// on paths say nothing and all; .2 to .35 and .5 to .8 gave the same within
	// .01. Medians are .27 for web questions, .33 for commit messages, .45 for
	// repository questions.
	silent = 0.25
	speaks = 0.6
	// muted is the share of the rows' weight that content takes over.
	muted = 0.9
)
