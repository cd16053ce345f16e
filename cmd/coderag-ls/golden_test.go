package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/config"
	"coderag-ls/engine/eval"
)

// golden is what ranking does on a frozen corpus. Numbers have six decimals.
type golden struct {
	Recall1 string `json:"recall@1"`
	Recall5 string `json:"recall@5"`
	MRR10   string `json:"mrr@10"`
	// Ranks are the first right file's, by question; 0 beyond ten files.
	Ranks map[string]int `json:"ranks"`
}

// TestGoldenRanking makes every change of the ranking show in review: it runs
// the questions of eval/golden on the packages that are kept there and compares
// recall and ranks with those committed. After a change that is meant, run
//
//	go test ./cmd/coderag-ls -run TestGoldenRanking -update
func TestGoldenRanking(t *testing.T) {
	dir := filepath.Join("..", "..", "eval", "golden")
	suite, err := eval.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	settings := config.Default()
	settings.Embed.Provider = "static"
	settings.Index.CacheDir = t.TempDir()
	report, scores, err := eval.Run(t.Context(), suite, measured(settings), eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.LeftOut > 0 || report.Queries < 30 {
		t.Fatalf("%d questions measured, %d left out", report.Queries, report.LeftOut)
	}
	decimals := func(f float64) string { return fmt.Sprintf("%.6f", f) }
	got := golden{Recall1: decimals(report.Recall1), Recall5: decimals(report.Recall5), MRR10: decimals(report.MRR10), Ranks: map[string]int{}}
	for _, s := range scores {
		got.Ranks[s.Question.ID] = rank(s)
	}
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	path := filepath.Join(dir, "golden.json")
	if *update {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if committed = bytes.ReplaceAll(committed, []byte("\r\n"), []byte("\n")); bytes.Equal(committed, data) {
		return
	}
	var want golden
	if err := json.Unmarshal(committed, &want); err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	var b strings.Builder
	for _, s := range scores {
		id := s.Question.ID
		if was, ok := want.Ranks[id]; !ok || was != got.Ranks[id] {
			fmt.Fprintf(&b, "\n%s %q: rank %d -> %d; right: %s; found: %s", id, s.Question.Query, was, got.Ranks[id],
				s.Question.Relevant[0].Path, strings.Join(s.Files[:min(3, len(s.Files))], " "))
		}
		delete(want.Ranks, id)
	}
	for id := range want.Ranks {
		fmt.Fprintf(&b, "\n%s: no such question any more", id)
	}
	t.Errorf("the ranking changed: recall@1 %s -> %s, recall@5 %s -> %s, MRR@10 %s -> %s; where that is meant, "+
		"run this test with -update and commit eval/golden/golden.json%s",
		want.Recall1, got.Recall1, want.Recall5, got.Recall5, want.MRR10, got.MRR10, b.String())
}

// rank is the place of the first right file among ten.
func rank(s eval.Score) int {
	for i, f := range s.Files[:min(10, len(s.Files))] {
		right := func(p eval.Place) bool { return p.Path == f }
		if slices.ContainsFunc(s.Question.Relevant, right) || slices.ContainsFunc(s.Question.Secondary, right) {
			return i + 1
		}
	}
	return 0
}
