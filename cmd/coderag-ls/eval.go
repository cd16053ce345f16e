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
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval --suite FOLDER [--suite FOLDER]...",
		Short: "Measure retrieval on suites of questions with known answers",
		Long: `Measure retrieval on suites of questions with known answers. A suite is a
folder with queries.jsonl, meta.json and the repositories under repos/. NDCG@10
is the mean over the repositories of each one's mean. Where a suite knows the
lines that answer, it also counts hits and citations that overlap them; questions
that a repository cannot answer count as right where that is said.

--save keeps a run with what was found for each question and why; --compare tells
by question what got better and what got worse since then. With --with no suite
is run: two saved runs are compared.`,
		Example: "  coderag-ls eval --suite eval/lines --answers\n  coderag-ls eval --suite eval/lines --embed.provider static --save before.json\n" +
			"  coderag-ls eval --suite eval/lines --embed.provider static --compare before.json\n  coderag-ls eval --compare before.json --with after.json --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.with != "" && (o.compare == "" || len(suites) > 0 || o.save != ""):
				return usagef("--with names the run to compare with that of --compare; it goes without --suite and --save")
			case o.with != "":
				return a.compareSaved(o.compare, o.with)
			case len(suites) == 0:
				return usagef("--suite is missing: name a folder with queries.jsonl and meta.json")
			}
			return a.evaluate(cmd.Context(), suites, o)
		},
	}
	cmd.Flags().StringArrayVar(&suites, "suite", nil, "suite `folder`, repeatable")
	cmd.Flags().BoolVar(&o.answers, "answers", false, "ask too, and measure the first three citations")
	cmd.Flags().StringVar(&o.save, "save", "", "write the run to `file`, to compare later ones with it")
	cmd.Flags().StringVar(&o.compare, "compare", "", "tell what got better and worse since the run saved in `file`")
	cmd.Flags().StringVar(&o.with, "with", "", "compare with the run saved in `file` instead of running suites")
	cmd.Flags().BoolVar(&o.questions, "questions", false, "list every question whose best file is not a right one")
	a.jsonFlag(cmd)
	return cmd
}

// evalOptions are the flags of the eval command.
type evalOptions struct {
	answers, questions  bool
	save, compare, with string // files
}

// evalOutput is what --json prints.
type evalOutput struct {
	eval.Report
	Comparison *eval.Comparison `json:"comparison,omitempty"`
}

func (a *app) compareSaved(before, after string) error {
	b, err := eval.ReadSaved(before)
	if err != nil {
		return err
	}
	n, err := eval.ReadSaved(after)
	if err != nil {
		return err
	}
	c := eval.Compare(b, n)
	if a.json {
		return a.printJSON(c)
	}
	return a.print(a.comparisonText(c))
}

func (a *app) evaluate(ctx context.Context, dirs []string, o evalOptions) error {
	// A file that cannot be read is told before an hour of measuring, not after.
	var before eval.Saved
	if o.compare != "" {
		var err error
		if before, err = eval.ReadSaved(o.compare); err != nil {
			return err
		}
	}
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
	var out evalOutput
	var saved eval.Saved
	var all []eval.Score
	var b strings.Builder
	for _, dir := range dirs {
		suite, err := eval.Load(dir)
		if err != nil {
			return err
		}
		r, scores, err := eval.Run(ctx, suite, measured(settings), eval.Options{
			Answers:  o.answers,
			Progress: func(suite, repo string, done, total int) { a.note("%s: %s (%d of %d)", suite, repo, done, total) },
		})
		if err != nil {
			return err
		}
		out.Suites = append(out.Suites, r)
		saved.Suites = append(saved.Suites, eval.Save(r, scores))
		all = append(all, scores...)
		if len(r.Missing) > 0 {
			a.note("%s: without %s, which is not there (scripts/eval-corpora.sh gets it)", r.Name, strings.Join(r.Missing, ", "))
		}
		b.WriteString(a.suiteText(r))
		if o.questions {
			b.WriteString(a.missedText(scores))
		}
	}
	b.WriteString(refusedText(all))
	if o.save != "" {
		if err := eval.WriteSaved(o.save, saved); err != nil {
			return err
		}
	}
	if o.compare != "" {
		c := eval.Compare(before, saved)
		out.Comparison = &c
		b.WriteString(a.comparisonText(c))
	}
	if a.json {
		return a.printJSON(out)
	}
	return a.print(b.String())
}

func (a *app) suiteText(r eval.SuiteReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d questions, %d left out\n", a.out.Paint(terminal.Bold, a.out.Text(r.Name)), r.Queries, r.LeftOut)
	if r.Queries > r.Absent {
		fmt.Fprintf(&b, "  NDCG@10 %.4f (per question %.4f, by chunk %.4f)  MRR@10 %.4f  recall@1 %.4f  recall@5 %.4f  recall@10 %.4f\n",
			r.NDCG10, r.NDCG10Query, r.NDCG10Chunk, r.MRR10, r.Recall1, r.Recall5, r.Recall10)
	}
	if r.Lines10 != nil {
		fmt.Fprintf(&b, "  the answer's lines (%d questions) in the first ten hits: %.4f", r.LineQueries, *r.Lines10)
		if r.CitationLines1 != nil {
			fmt.Fprintf(&b, ", in the first citation: %.4f, in the first three: %.4f", *r.CitationLines1, *r.CitationLines3)
		}
		b.WriteString("\n")
	}
	if r.Citations3 != nil {
		fmt.Fprintf(&b, "  a right file among the first three citations: %.4f, no answer: %.4f\n", *r.Citations3, *r.NoAnswer)
	}
	if r.Refused != nil {
		fmt.Fprintf(&b, "  %d questions that have no answer, told so: %.4f\n", r.Absent, *r.Refused)
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
			if g.CitationLines1 != nil {
				fmt.Fprintf(&b, "  lines %.4f %.4f", *g.CitationLines1, *g.CitationLines3)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func (a *app) missedText(scores []eval.Score) string {
	var b strings.Builder
	for _, s := range scores {
		if s.MRR == 1 || s.Question.Absent {
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
		hits[i] = eval.Hit{Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Why: h.Why}
	}
	return hits, nil
}

// Ask implements eval.Engine.
func (m measuredEngine) Ask(ctx context.Context, query string) (eval.Answer, error) {
	r, err := m.view.Ask(ctx, wire.AskParams{SearchParams: wire.SearchParams{Query: query}}, nil)
	if err != nil {
		return eval.Answer{}, err
	}
	answer := eval.Answer{Citations: make([]eval.Hit, len(r.Citations)), Refused: r.NoAnswer}
	for i, c := range r.Citations {
		answer.Citations[i] = eval.Hit{Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine, Why: c.Why}
	}
	return answer, nil
}

// Close implements eval.Engine.
func (m measuredEngine) Close() error {
	m.view.Close()
	return m.engine.Close()
}
