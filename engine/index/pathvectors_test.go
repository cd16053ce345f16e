package index_test

import (
	"math"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/index"
)

// TestSlowModelTellsContentFromPath: what a chunk says and what its path says
// are told apart in the slow model's rows as in the inline model's, when they
// were just made and when they were read again.
func TestSlowModelTellsContentFromPath(t *testing.T) {
	w := newWorkspace(t, small)
	slow := &second{inner: w.model}
	vs, err := w.model.Embed(t.Context(), []string{"verify signature of tokens"})
	if err != nil {
		t.Fatal(err)
	}
	question := vs[0]
	embed.Normalize(question)
	same := func(a, b float64) bool { return math.Abs(a-b) < 0.02 } // rows are quantised
	for _, when := range []string{"new", "opened again"} {
		opts := w.options(w.cache)
		opts.Behind = slow
		ix, err := index.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := ix.Sync(t.Context(), true, true); err != nil {
			t.Fatal(err)
		}
		s := ix.Snapshot()
		spread := false
		for _, f := range s.Files() {
			refs := s.DocsOf(f)
			in, inWhole, ok := s.ContentScores(w.model.Model().Fingerprint, question, f, refs)
			out, outWhole, has := s.ContentScores(slow.Model().Fingerprint, question, f, refs)
			if !ok || !has || !same(inWhole, outWhole) {
				t.Errorf("%s, %s: content %v %v, %v %v", when, f.Path, inWhole, ok, outWhole, has)
				continue
			}
			for i := range in {
				if !same(in[i], out[i]) {
					t.Errorf("%s, %s chunk %d: %v by the inline model's row, %v by the slow one's", when, f.Path, i, in[i], out[i])
				}
			}
			a, b := s.PathScore(w.model.Model().Fingerprint, question, f, refs), s.PathScore(slow.Model().Fingerprint, question, f, refs)
			if !same(a, b) {
				t.Errorf("%s, %s: path %v, %v", when, f.Path, a, b)
			}
			spread = spread || a > 0.1
		}
		if !spread {
			t.Errorf("%s: no path says anything to the question", when)
		}
		closeIndex(t, ix)
	}
}
