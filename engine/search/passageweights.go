package search

// The weights of chunks are a conditional logit's with constrained signs over
// 1,729 doc comments of 39 projects asked for their definitions
// (internal/fitpassages), half way to what the same gives for 195 of them that
// were drawn first: masked comments leave a chunk fewer words than it has
// elsewhere, and that fit trusts words more. The penalties of documentation and
// data are set by hand, lower than fitted (-3.7 and -4): no label points at
// those, while questions do.
var passageWeights = PassageFeatures{
	pWordsAll: 1.2, pWordsRank: 0.8, pWhole: 1.25, pNear: 0.5, pNearRaw: 1.3, pNearRank: 0.1,
	pContent: 0.55, pContentRaw: 5.3, pContentRank: 0.15, pSlow: 0.5, pSlowRaw: 5,
	pSymbols: 3.5, pName: 0.5, pParent: 1.2, pAround: 2,
	pTypeDoing: -1, pVariable: -3.1, pModule: -2.4, pSection: -1, pBlock: -1.5, pLater: -2.1, pFirst: -1.05,
	pSize: 0.7, pTiny: -1.25, pTestIn: -2.35, pFile: 0.35, pFileRank: 0.9,
}

// lexicalPassageWeights serve while there are no vectors.
var lexicalPassageWeights = PassageFeatures{
	pWords: 0.5, pWordsAll: 2, pWordsRank: 1, pCover: 1, pWhole: 2,
	pSymbols: 3.5, pName: 0.5, pParent: 1.2,
	pTypeDoing: -1, pVariable: -3.1, pModule: -2.4, pSection: -1, pBlock: -1.5, pLater: -2.1, pFirst: -1.05,
	pSize: 0.5, pTiny: -1.25, pTestIn: -2.35, pFile: 0.35, pFileRank: 0.9,
}
