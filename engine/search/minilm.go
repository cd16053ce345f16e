package search

import "math"

// miniLMWeights are added to hybridWeights where the second model has vectors.
// They were fitted by pairwise logistic regression (scripts/fit-minilm.py) with
// the others held and with no gate but missing words; the gate of addMiniLM was
// chosen after that. Fitted with the gate they give .809, .933 and .873 with an
// eighth of the projects left out at a time.
var miniLMWeights = Features{
	fSlowContentMean: 0.6, fSlowContentFirst: 1.8, fSlowContentWhole: 0.5,
	fSlowContentMeanZ: 1, fSlowContentWholeZ: 1.35, fSlowMeanZ: 0.45,
}

// addMiniLM adds the second model's weights, as far as it is needed: it knows
// what means the same, and is worse at names. missing is the share of the
// question's words that the best chunk lacks. Where paths speak to the question
// it is not asked, and long questions, such as commit messages, have words
// enough of their own. File NDCG@10 without it, and with it: web questions .711
// and .804, repository questions (10 repositories) .931 and .933, commit messages
// (2 projects) .883 and .892. With twice the weight they are .824, .932 and
// .876; asked everywhere alike .809, .934 and .853.
func (r *ranking) addMiniLM(w *Features, missing float64) {
	if len(r.near) < 2 {
		return
	}
	mute := r.mutePaths()
	by := r.in.Settings.MiniLMWeight * mute * mute * (1 - r.long()) * (0.5 + 2*math.Sqrt(missing))
	for i, x := range miniLMWeights {
		w[i] += by * x
	}
}

// long is how long the question is, 0 up to six content words and 1 from
// twenty.
func (r *ranking) long() float64 {
	return min(1, max(0, float64(len(r.an.Stems)-6)/14))
}
