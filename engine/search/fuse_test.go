package search

import (
	"math"
	"testing"

	"coderag-ls/engine/index"
)

// TestC7Fusion compares fused scores with the formula: weight/(k + rank), ranks
// from 1, equal scores sharing one, the missing rank where a list has not the
// candidate, and nothing beyond a list's depth.
func TestC7Fusion(t *testing.T) {
	a, b, c, d := index.Ref{Doc: 1}, index.Ref{Doc: 2}, index.Ref{Doc: 3}, index.Ref{Doc: 4}
	words := &list{weight: 0.4, hits: []index.Scored{{Ref: a, Score: 9}, {Ref: b, Score: 7}, {Ref: c, Score: 7}, {Ref: d, Score: 1}}}
	near := &list{weight: 1, hits: []index.Scored{{Ref: c, Score: .9}, {Ref: a, Score: .5}}}
	got := reciprocalRank([]*list{words, near}, []int{3, 50}, 60, 1000)
	want := map[index.Ref]float64{
		a: 0.4/61 + 1.0/62,
		b: 0.4/62 + 1.0/1060,
		c: 0.4/62 + 1.0/61,
	}
	if len(got) != len(want) {
		t.Errorf("%d candidates, want %d", len(got), len(want))
	}
	for ref, score := range want {
		if math.Abs(got[ref]-score) > 1e-12 {
			t.Errorf("%v has %.6f, want %.6f", ref, got[ref], score)
		}
	}
}
