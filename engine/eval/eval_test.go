package eval_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/eval"
)

func TestMetrics(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	near("NDCG, first of one", eval.NDCG([]bool{true}, 1), 1)
	near("NDCG, second of one", eval.NDCG([]bool{false, true}, 1), 1/math.Log2(3))
	near("NDCG, first and third of two", eval.NDCG([]bool{true, false, true}, 2), (1+0.5)/(1+1/math.Log2(3)))
	near("NDCG, nothing found", eval.NDCG(nil, 3), 0)
	near("NDCG, nothing relevant", eval.NDCG([]bool{false}, 0), 0)
	eleventh := append(make([]bool, 10), true)
	near("NDCG beyond ten", eval.NDCG(eleventh, 1), 0)
	near("MRR, third", eval.MRR([]bool{false, false, true, true}), 1.0/3)
	near("MRR beyond ten", eval.MRR(eleventh), 0)
	near("Recall@2", eval.Recall([]bool{true, false, true}, 2, 2), 0.5)
	// More relevant ones than places: the ideal is a full list.
	full := make([]bool, 10)
	for i := range full {
		full[i] = true
	}
	near("NDCG, twelve relevant", eval.NDCG(full, 12), 1)
}

// suite writes a suite with two projects, one of them in two states.
func suite(t *testing.T, queries string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	for path, content := range map[string]string{
		"meta.json":            `{"repos": {"alpha": {"root": "src"}, "beta": {"root": null}}}`,
		"queries.jsonl":        queries,
		"repos/alpha/src/a.go": "a", "repos/alpha/src/b.go": "b", "repos/alpha/docs/c.md": "c",
		"repos/beta@1/x.go": "x", "repos/beta@2/x.go": "x",
	} {
		p := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const questions = `
{"id": "1", "query": "b then a", "repo": "alpha", "relevant": [{"path": "src/a.go", "start": 5, "end": 6}], "secondary": [], "category": "one", "language": "go"}
{"id": "2", "query": "nothing", "repo": "alpha", "relevant": [{"path": "src/b.go"}], "secondary": [{"path": "src/gone.go"}], "category": "two", "language": "go"}
{"id": "3", "query": "gone", "repo": "alpha", "relevant": [{"path": "src/gone.go"}], "category": "one", "language": "go"}
{"id": "4", "query": "x", "repo": "beta@1", "project": "beta", "relevant": [{"path": "x.go"}], "category": "two", "language": "c"}
{"id": "5", "query": "x", "repo": "beta@2", "project": "beta", "relevant": [{"path": "x.go"}], "category": "two", "language": "c"}
`

// scripted answers by the words of the question.
type scripted struct{ dir string }

func (s scripted) Search(_ context.Context, q string, k int) ([]eval.Hit, error) {
	switch q {
	case "b then a":
		return []eval.Hit{{Path: "b.go", StartLine: 1, EndLine: 2}, {Path: "b.go", StartLine: 3, EndLine: 4}, {Path: "a.go", StartLine: 1, EndLine: 2}, {Path: "a.go", StartLine: 3, EndLine: 5}}, nil
	case "x":
		return []eval.Hit{{Path: "x.go", StartLine: 1, EndLine: 1}}, nil
	}
	return nil, nil
}

func (s scripted) Ask(ctx context.Context, q string) (eval.Answer, error) {
	hits, err := s.Search(ctx, q, 3)
	return eval.Answer{Citations: hits}, err
}

func (s scripted) Close() error { return nil }

func TestRun(t *testing.T) {
	s, err := eval.Load(suite(t, questions))
	if err != nil {
		t.Fatal(err)
	}
	var opened []string
	r, scores, err := eval.Run(t.Context(), s, func(_ context.Context, dir string) (eval.Engine, error) {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("opened %s: %v", dir, err)
		}
		rel, _ := filepath.Rel(s.Dir, dir)
		opened = append(opened, filepath.ToSlash(rel))
		return scripted{dir}, nil
	}, eval.Options{Answers: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(opened, " "); got != "repos/alpha/src repos/beta@1 repos/beta@2" {
		t.Errorf("opened %s", got)
	}
	if r.Name != "small" || r.Queries != 4 || r.LeftOut != 1 || len(scores) != 4 {
		t.Errorf("%s: %d questions, %d left out, %d scores", r.Name, r.Queries, r.LeftOut, len(scores))
	}
	want := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %.4f, want %.4f", name, got, want)
		}
	}
	// Question 1: a.go is the second file; by chunk, the fourth one overlaps.
	second, fourth := 1/math.Log2(3), 1/math.Log2(5)
	want("ndcg10Query", r.NDCG10Query, (second+0+1+1)/4)
	want("ndcg10", r.NDCG10, ((second+0)/2+1)/2)
	want("ndcg10Chunk", r.NDCG10Chunk, (fourth+0+1+1)/4)
	want("mrr10", r.MRR10, (0.5+0+1+1)/4)
	want("recall5", r.Recall5, 3.0/4)
	want("citations3", *r.Citations3, 3.0/4)
	want("noAnswer", *r.NoAnswer, 1.0/4)
	want("byCategory two", r.ByCategory["two"].NDCG10, 2.0/3)
	if g := r.ByLanguage["c"]; g.Queries != 2 || g.NDCG10 != 1 {
		t.Errorf("byLanguage c: %+v", g)
	}
	if g := r.ByProject["beta"]; g.Queries != 2 {
		t.Errorf("byProject beta: %+v", g)
	}
}

func TestEngineErrorsNameTheRepository(t *testing.T) {
	s, err := eval.Load(suite(t, questions))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no such index")
	_, _, err = eval.Run(t.Context(), s, func(context.Context, string) (eval.Engine, error) { return nil, broken }, eval.Options{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "alpha") {
		t.Errorf("error %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, queries := range map[string]string{
		"queries.jsonl, line 1": `{"id": `,
		`"../x"`:                `{"id": "1", "query": "q", "repo": "../x"}`,
		`""`:                    `{"id": "1", "query": "q"}`,
	} {
		if _, err := eval.Load(suite(t, queries)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("loading %s: error %v, want one that names %s", queries, err, name)
		}
	}
	if _, err := eval.Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing suite: %v", err)
	}
}
