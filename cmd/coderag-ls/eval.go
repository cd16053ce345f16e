package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/eval"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

func (a *app) evalCommand() *cobra.Command {
	var suites []string
	var answers, questions bool
	cmd := &cobra.Command{
		Use:   "eval --suite FOLDER [--suite FOLDER]...",
		Short: "Measure retrieval on suites of questions with known answers",
		Long: `Measure retrieval on suites of questions with known answers. A suite is a
folder with queries.jsonl, meta.json and the repositories under repos/. NDCG@10
is the mean over the repositories of each one's mean.`,
		Example: "  coderag-ls eval --suite eval/semble --answers\n  coderag-ls eval --suite eval/semble --embed.provider static --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(suites) == 0 {
				return usagef("--suite is missing: name a folder with queries.jsonl and meta.json")
			}
			return a.evaluate(cmd.Context(), suites, answers, questions)
		},
	}
	cmd.Flags().StringArrayVar(&suites, "suite", nil, "suite `folder`, repeatable")
	cmd.Flags().BoolVar(&answers, "answers", false, "ask too, and measure the first three citations")
	cmd.Flags().BoolVar(&questions, "questions", false, "list every question whose best file is not a right one")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) evaluate(ctx context.Context, dirs []string, answers, questions bool) error {
	layers, err := a.layers()
	if err != nil {
		return err
	}
	settings := layers.Settings()
	if !given(layers, "index.cacheDir") {
		// The user's own indexes are not for throw-away corpora.
		if settings.Index.CacheDir, err = os.MkdirTemp("", "coderag-eval-"); err != nil {
			return fmt.Errorf("making a folder for the indexes: %w", err)
		}
		defer os.RemoveAll(settings.Index.CacheDir)
	}
	var report eval.Report
	var b strings.Builder
	for _, dir := range dirs {
		suite, err := eval.Load(dir)
		if err != nil {
			return err
		}
		r, scores, err := eval.Run(ctx, suite, measured(settings), eval.Options{
			Answers:  answers,
			Progress: func(suite, repo string, done, total int) { a.note("%s: %s (%d of %d)", suite, repo, done, total) },
		})
		if err != nil {
			return err
		}
		report.Suites = append(report.Suites, r)
		b.WriteString(a.suiteText(r))
		if questions {
			b.WriteString(a.missedText(scores))
		}
	}
	if a.json {
		return a.printJSON(report)
	}
	return a.print(b.String())
}

func (a *app) suiteText(r eval.SuiteReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d questions, %d left out\n", a.out.Paint(terminal.Bold, a.out.Text(r.Name)), r.Queries, r.LeftOut)
	fmt.Fprintf(&b, "  NDCG@10 %.4f (per question %.4f, by chunk %.4f)  MRR@10 %.4f  recall@5 %.4f  recall@10 %.4f\n",
		r.NDCG10, r.NDCG10Query, r.NDCG10Chunk, r.MRR10, r.Recall5, r.Recall10)
	if r.Citations3 != nil {
		fmt.Fprintf(&b, "  a right file among the first three citations: %.4f, no answer: %.4f\n", *r.Citations3, *r.NoAnswer)
	}
	for _, part := range []struct {
		by     string
		groups map[string]eval.Group
	}{{"category", r.ByCategory}, {"language", r.ByLanguage}, {"project", r.ByProject}} {
		for _, name := range slices.Sorted(maps.Keys(part.groups)) {
			g := part.groups[name]
			fmt.Fprintf(&b, "  %-9s %-22s %4d  NDCG@10 %.4f  MRR@10 %.4f", part.by, a.out.Text(name), g.Queries, g.NDCG10, g.MRR10)
			if g.Citations3 != nil {
				fmt.Fprintf(&b, "  cited %.4f", *g.Citations3)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func (a *app) missedText(scores []eval.Score) string {
	var b strings.Builder
	for _, s := range scores {
		if s.MRR == 1 {
			continue
		}
		var right []string
		for _, p := range s.Question.Relevant {
			right = append(right, p.Path)
		}
		fmt.Fprintf(&b, "  %.2f %s %q\n       right: %s\n       found: %s\n", s.NDCG, a.out.Text(s.Question.ID), a.out.Text(s.Question.Query),
			a.out.Text(strings.Join(right, " ")), a.out.Text(strings.Join(s.Files[:min(4, len(s.Files))], " ")))
	}
	return b.String()
}

// measured opens engines for eval.
func measured(s config.Settings) eval.Open {
	return func(ctx context.Context, dir string) (eval.Engine, error) {
		e, err := engine.Open(ctx, engine.Options{Roots: []file.Root{{Name: filepath.Base(dir), Dir: dir}}, Version: version(), Settings: s})
		if err != nil {
			return nil, err
		}
		v := e.NewView()
		if _, err := v.Sync(ctx, wire.SyncParams{Vectors: true}); err != nil {
			return nil, errors.Join(err, e.Close())
		}
		return measuredEngine{e, v}, nil
	}
}

type measuredEngine struct {
	engine *engine.Engine
	view   *engine.View
}

// Search implements eval.Engine.
func (m measuredEngine) Search(ctx context.Context, query string, k int) ([]eval.Hit, error) {
	r, err := m.view.Search(ctx, wire.SearchParams{Query: query, TopK: k})
	if err != nil {
		return nil, err
	}
	hits := make([]eval.Hit, len(r.Hits))
	for i, h := range r.Hits {
		hits[i] = eval.Hit{Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine}
	}
	return hits, nil
}

// Ask implements eval.Engine.
func (m measuredEngine) Ask(ctx context.Context, query string) ([]eval.Hit, error) {
	r, err := m.view.Ask(ctx, wire.AskParams{SearchParams: wire.SearchParams{Query: query}}, nil)
	if err != nil {
		return nil, err
	}
	hits := make([]eval.Hit, len(r.Citations))
	for i, c := range r.Citations {
		hits[i] = eval.Hit{Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine}
	}
	return hits, nil
}

// Close implements eval.Engine.
func (m measuredEngine) Close() error {
	m.view.Close()
	return m.engine.Close()
}
