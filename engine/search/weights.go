package search

// The weights are a linear ranker's, fitted by pairwise logistic regression
// with constrained signs over 810 questions on 34 projects, and rounded.
// Leaving out an eighth of the projects at a time, file NDCG@10 was .904 on
// repository questions, .803 on commit messages and .613 on web questions; the
// hand formula that was measured before (lexical and vector maxima, cosine,
// name and definition matches) had .888, .781 and .573. The penalties of tests
// and documentation are set lower than fitted: the labels never point at
// those, while a user's questions do.
var hybridWeights = Features{
	fLexMax: 0.25, fLexTop: 1.4, fLexRank: 0.8, fLexCover: 1.15, fLexRaw: 0.2, fFileCover: 0.2, fLexHits: 0.7,
	fVecMax: 0.85, fVecTop: 0.5, fVecRank: 0.6, fVecRaw: 0.65, fVecMean: 0.8, fVecFirst: 0.85, fVecHits: 0.4,
	fSlowMax: 0.85, fSlowTop: 0.5, fSlowRank: 0.6, fSlowRaw: 0.65, fSlowMean: 0.8,
	fRRF:   0.7,
	fBaseQ: 0.05, fBaseCover: 1.15, fBasePrefix: 0.1, fDirQ: 0.05,
	fDefExact: 0.5, fDefRare: 0.4, fDefBest: 0.5, fDefCapital: 0.05, fDefWord: 0.05, fDefOverlap: 1.5, fDefMain: 0.05,
	fPathNamed: 8,
	fTest:      -1.6, fLegacy: -1, fReexport: -0.05, fExample: -0.6, fDocs: -0.3, fGenerated: -0.5, fVendored: -0.7, fMarkdown: -1, fData: -0.9,
	fLanguage: 0.5, fKind: 0.4, fWanted: 1, fLogChunks: 0.2, fLexLong: 0.5, fVecLong: 0.2,
}

// lexicalWeights serve while there are no vectors: .876, .779 and .620 on the
// same questions.
var lexicalWeights = Features{
	fLexMax: 0.6, fLexTop: 2.6, fLexRank: 1.0, fLexCover: 1.8, fLexRaw: 0.2,
	fBaseQ: 0.5, fBaseCover: 1.7, fBasePrefix: 1.1, fDirQ: 0.5,
	fDefExact: 0.7, fDefRare: 0.6, fDefCapital: 0.1, fDefWord: 0.1, fDefOverlap: 1.6, fDefMain: 0.1,
	fPathNamed: 8,
	fTest:      -1.7, fLegacy: -1, fReexport: -0.1, fExample: -0.6, fDocs: -0.3, fGenerated: -0.5, fVendored: -0.7, fMarkdown: -1, fData: -0.8,
	fLanguage: 0.5, fKind: 0.5, fWanted: 1.2, fLogChunks: 0.7,
}
