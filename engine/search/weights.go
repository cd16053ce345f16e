package search

// The weights are a linear ranker's, fitted by pairwise logistic regression
// with constrained signs over 810 questions on 34 projects, and rounded.
// Leaving out an eighth of the projects at a time, file NDCG@10 was .899 on
// repository questions, .793 on commit messages and .619 on web questions; the
// hand formula that was measured before (lexical and vector maxima, cosine,
// name and definition matches) had .888, .781 and .573. The penalties of tests
// and documentation are set lower than fitted: the labels never point at
// those, while a user's questions do.
var hybridWeights = Features{
	fLexMax: 0.4, fLexTop: 1.6, fLexRank: 0.9, fLexCover: 1.1, fLexRaw: 0.2,
	fVecMax: 0.8, fVecTop: 0.7, fVecRank: 0.8, fVecRaw: 0.6, fVecMean: 0.8, fVecPath: 0.1, fVecFirst: 0.8,
	fSlowMax: 0.8, fSlowTop: 0.7, fSlowRank: 0.8, fSlowRaw: 0.6, fSlowMean: 0.8,
	fRRF:   1.0,
	fBaseQ: 0.1, fBaseCover: 1.1, fBasePrefix: 0.2, fDirQ: 0.1,
	fDefExact: 0.7, fDefRare: 0.6, fDefCapital: 0.1, fDefWord: 0.05, fDefOverlap: 1.4, fDefMain: 0.1,
	fPathNamed: 8,
	fTest:      -1.5, fReexport: -0.1, fExample: -0.5, fDocs: -0.3, fGenerated: -0.5, fVendored: -0.7, fMarkdown: -0.9, fData: -0.8,
	fLanguage: 0.5, fKind: 0.4, fLogChunks: 0.5,
}

// lexicalWeights serve while there are no vectors: .876, .779 and .620 on the
// same questions.
var lexicalWeights = Features{
	fLexMax: 0.6, fLexTop: 2.6, fLexRank: 1.0, fLexCover: 1.8, fLexRaw: 0.2,
	fBaseQ: 0.5, fBaseCover: 1.7, fBasePrefix: 1.1, fDirQ: 0.5,
	fDefExact: 0.7, fDefRare: 0.6, fDefCapital: 0.1, fDefWord: 0.1, fDefOverlap: 1.6, fDefMain: 0.1,
	fPathNamed: 8,
	fTest:      -1.7, fReexport: -0.1, fExample: -0.6, fDocs: -0.3, fGenerated: -0.5, fVendored: -0.7, fMarkdown: -1, fData: -0.8,
	fLanguage: 0.5, fKind: 0.5, fLogChunks: 0.7,
}
