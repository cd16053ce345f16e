package eval_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/eval"
)

// answers is an engine with fixed hits and answers by question.
type answers map[string]struct {
	hits    []eval.Hit
	cited   []eval.Hit
	refused bool
}

func (a answers) Search(_ context.Context, q string, k int) ([]eval.Hit, error) {
	return a[q].hits, nil
}

func (a answers) Ask(_ context.Context, q string) (eval.Answer, error) {
	return eval.Answer{Citations: a[q].cited, Refused: a[q].refused}, nil
}

func (a answers) Close() error { return nil }

const lineQuestions = `
{"id": "near", "query": "near", "repo": "alpha", "relevant": [{"path": "src/a.go", "start": 5, "end": 6}], "secondary": [{"path": "src/b.go", "start": 9, "end": 9}], "category": "c", "language": "go"}
{"id": "far", "query": "far", "repo": "alpha", "relevant": [{"path": "src/a.go", "start": 5, "end": 6}], "category": "c", "language": "go"}
{"id": "file", "query": "file", "repo": "alpha", "relevant": [{"path": "src/b.go"}], "category": "c", "language": "go"}
{"id": "not there", "query": "not there", "repo": "alpha", "absent": true, "category": "a", "language": "go"}
{"id": "made up", "query": "made up", "repo": "alpha", "absent": true, "category": "a", "language": "go"}
{"id": "gone", "query": "gone", "repo": "gamma", "absent": true, "category": "a", "language": "go"}
`

// line is a hit of lines from to to.
func line(path string, from, to int) eval.Hit {
	return eval.Hit{Path: path, StartLine: from, EndLine: to, Why: []string{"words"}}
}

func measure(t *testing.T, e answers) (eval.SuiteReport, eval.Saved) {
	t.Helper()
	s, err := eval.Load(suite(t, lineQuestions))
	if err != nil {
		t.Fatal(err)
	}
	r, scores, err := eval.Run(t.Context(), s, func(context.Context, string) (eval.Engine, error) { return e, nil }, eval.Options{Answers: true})
	if err != nil {
		t.Fatal(err)
	}
	return r, eval.Saved{Suites: []eval.SavedSuite{eval.Save(r, scores)}}
}

func scripts() answers {
	return answers{
		// The first citation misses the lines, the second overlaps further right ones.
		"near":      {hits: []eval.Hit{line("a.go", 1, 4), line("a.go", 6, 9)}, cited: []eval.Hit{line("a.go", 7, 8), line("b.go", 8, 9)}},
		"far":       {hits: []eval.Hit{line("a.go", 1, 4), line("a.go", 7, 9)}, cited: []eval.Hit{line("b.go", 1, 1), line("b.go", 2, 2), line("b.go", 3, 3), line("a.go", 5, 5)}},
		"file":      {hits: []eval.Hit{line("b.go", 1, 4)}, cited: []eval.Hit{line("b.go", 1, 2)}, refused: true},
		"not there": {},
		"made up":   {hits: []eval.Hit{line("a.go", 1, 2)}, cited: []eval.Hit{line("a.go", 1, 2)}},
	}
}

func TestLinesAndRefusals(t *testing.T) {
	r, _ := measure(t, scripts())
	want := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s = %v, want %g", name, got, want)
		}
	}
	want("lines10", r.Lines10, 0.5)
	want("citationLines1", r.CitationLines1, 0)
	want("citationLines3", r.CitationLines3, 0.5)
	want("noAnswer", r.NoAnswer, 1.0/3)
	want("refused", r.Refused, 0.5)
	want("citationLines3 of the language", r.ByLanguage["go"].CitationLines3, 0.5)
	if r.Queries != 5 || r.Absent != 2 || r.LineQueries != 2 || r.LeftOut != 1 || !slices.Equal(r.Missing, []string{"gamma"}) {
		t.Errorf("%d questions, %d without an answer, %d with lines, %d left out, missing %v", r.Queries, r.Absent, r.LineQueries, r.LeftOut, r.Missing)
	}
	// Questions without an answer do not count as wrongly ranked.
	want("recall@1", &r.Recall1, (0.5+1+1)/3)
	if g := r.ByCategory["a"]; g.Queries != 0 {
		t.Errorf("questions without an answer are ranked: %+v", g)
	}
}

func TestAbsentQuestionsAreAskedWithoutAnswers(t *testing.T) {
	s, err := eval.Load(suite(t, lineQuestions))
	if err != nil {
		t.Fatal(err)
	}
	e := scripts()
	r, _, err := eval.Run(t.Context(), s, func(context.Context, string) (eval.Engine, error) { return e, nil }, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Refused == nil || *r.Refused != 0.5 || r.NoAnswer != nil || r.CitationLines1 != nil {
		t.Errorf("refused %v, no answer %v, lines of citations %v", r.Refused, r.NoAnswer, r.CitationLines1)
	}
}

func TestCompare(t *testing.T) {
	_, before := measure(t, scripts())
	changed := scripts()
	near := changed["near"]
	near.hits, near.cited = []eval.Hit{line("a.go", 6, 9)}, []eval.Hit{line("a.go", 6, 8)}
	changed["near"] = near
	changed["not there"] = changed["made up"]
	_, after := measure(t, changed)
	after.Suites[0].Results[1].ID = "new"
	// Through a file, as the command does.
	path := filepath.Join(t.TempDir(), "run.json")
	if err := eval.WriteSaved(path, before); err != nil {
		t.Fatal(err)
	}
	read, err := eval.ReadSaved(path)
	if err != nil {
		t.Fatal(err)
	}
	c := eval.Compare(read, after)
	if len(c.Suites) != 1 {
		t.Fatalf("%d suites", len(c.Suites))
	}
	s := c.Suites[0]
	if len(s.Better) != 1 || len(s.Worse) != 1 || s.Same != 2 || !slices.Equal(s.OnlyBefore, []string{"far"}) || !slices.Equal(s.OnlyAfter, []string{"new"}) {
		t.Fatalf("%+v", s)
	}
	if m := s.Means["citationLines1"]; m != [2]float64{0, 1} {
		t.Errorf("means over the one question with lines of both runs: %v", m)
	}
	if m := s.Means["refused"]; m != [2]float64{0.5, 0} {
		t.Errorf("means of refusals: %v", m)
	}
	b, w := s.Better[0], s.Worse[0]
	if b.ID != "near" || b.Before.Rank != 2 || b.After.Rank != 1 || b.After.Right.Why[0] != "words" || b.Measures["citationLines1"] != [2]float64{0, 1} {
		t.Errorf("better: %+v", b)
	}
	if _, ok := b.Measures["lines10"]; ok {
		t.Errorf("a measure that did not change is listed: %v", b.Measures)
	}
	if w.ID != "not there" || w.Total != -1 || w.Measures["refused"] != [2]float64{1, 0} {
		t.Errorf("worse: %+v", w)
	}
}

func TestSavedRunRefuses(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{`{"format": `: "run.json", `{"format": 7}`: "format is 7"} {
		path := filepath.Join(dir, "run.json")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := eval.ReadSaved(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("reading %s: error %v, want one with %q", content, err, want)
		}
	}
	if _, err := eval.Load(suite(t, `{"id": "1", "repo": "alpha", "absent": true, "relevant": [{"path": "a"}]}`)); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("an absent question with an answer: %v", err)
	}
}

// TestSuitesOfThisProject loads the suites that are kept here: every question
// has an answer or says that it has none, and lines that make sense.
func TestSuitesOfThisProject(t *testing.T) {
	for name, least := range map[string]int{"lines": 100, "docs": 40, "absent": 40, "absent-repository": 150, "golden": 30} {
		s, err := eval.Load(filepath.Join("..", "..", "eval", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Questions) < least {
			t.Errorf("%s has %d questions", name, len(s.Questions))
		}
		seen := map[string]bool{}
		for _, q := range s.Questions {
			if seen[q.ID] {
				t.Errorf("%s: %s is there twice", name, q.ID)
			}
			seen[q.ID] = true
			if q.Absent != (len(q.Relevant) == 0) || q.Query == "" || q.Language == "" || q.Category == "" {
				t.Errorf("%s: %+v", name, q)
			}
			for _, p := range append(q.Relevant, q.Secondary...) {
				if name == "lines" && (p.Start < 1 || p.End < p.Start) {
					t.Errorf("%s: %s has lines %d-%d", name, q.ID, p.Start, p.End)
				}
			}
		}
	}
}
