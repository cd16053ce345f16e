package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/wire"
)

func (a *app) searchCommand() *cobra.Command {
	var q queryFlags
	var lines int
	var why bool
	cmd := &cobra.Command{
		Use:     "search [flags] WORDS...",
		Short:   "Rank the places that fit a question or a name",
		Long:    "Rank the places that fit a question or a name. The index is brought up to date first.",
		Example: "  coderag-ls search --lang go --top-k 10 parse citation\n  coderag-ls search --why RetryPolicy",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.searchParams(cmd, &q, args)
			if err != nil {
				return err
			}
			if lines < 0 {
				return usagef("--lines cannot be negative")
			}
			return a.synced(cmd.Context(), someVectors, func(s *session) error {
				start := time.Now()
				r, err := s.view.Search(cmd.Context(), p)
				if err != nil {
					return err
				}
				return a.tellHits(r, lines, why, time.Since(start))
			})
		},
	}
	q.add(cmd)
	cmd.Flags().IntVarP(&lines, "lines", "n", 3, "show at most this many `lines` of each hit, 0 for none")
	cmd.Flags().BoolVar(&why, "why", false, "say why each hit was found, and its score")
	a.jsonFlag(cmd)
	return cmd
}

// tellHits prints what a search found; finding nothing is an exit status.
func (a *app) tellHits(r wire.SearchResult, lines int, why bool, took time.Duration) error {
	var err error
	if a.json {
		err = a.printJSON(r)
	} else {
		err = a.print(a.hitsText(r, lines, why, took))
	}
	if err == nil && len(r.Hits) == 0 {
		err = errNothing
	}
	return err
}

func (a *app) hitsText(r wire.SearchResult, lines int, why bool, took time.Duration) string {
	var b strings.Builder
	if len(r.Hits) == 0 {
		b.WriteString("Nothing was found.\n\n")
	}
	for _, h := range r.Hits {
		detail := []string{a.out.Text(h.Symbol), h.Kind}
		if why {
			detail = append(detail, fmt.Sprintf("%.3f", h.Score))
			detail = append(detail, h.Why...)
		}
		b.WriteString(a.place(h.URI, h.Path, h.StartLine, h.EndLine) + a.details(detail) + "\n")
		if lines > 0 {
			b.WriteString(a.snippet(h.Text, h.StartLine, lines) + "\n")
		}
	}
	b.WriteString(a.footer(r.Coverage, r.Model, took))
	if r.Plan.Fallback != "" {
		b.WriteString(a.out.Paint(terminal.Warn, "Nothing matched the filters; "+a.out.Text(r.Plan.Fallback)+".") + "\n")
	}
	return b.String()
}

func (a *app) contextCommand() *cobra.Command {
	var q queryFlags
	var budget int
	cmd := &cobra.Command{
		Use:     "context [flags] QUESTION...",
		Short:   "Print what a language model needs to answer a question",
		Long:    "Print, as Markdown within a token budget, the code and documentation that a\nlanguage model needs to answer a question. Nothing is sent anywhere.",
		Example: `  coderag-ls context --budget 4000 "how is the index locked?" | llm`,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.searchParams(cmd, &q, args)
			if err != nil {
				return err
			}
			if budget < 0 {
				return usagef("--budget cannot be negative")
			}
			return a.synced(cmd.Context(), someVectors, func(s *session) error {
				budget := budget
				if !cmd.Flags().Changed("budget") {
					budget = s.settings.Answer.TokenBudget
				}
				r, err := s.view.Context(cmd.Context(), wire.AskParams{SearchParams: p, TokenBudget: budget})
				if err != nil {
					return err
				}
				if a.json {
					err = a.printJSON(r)
				} else {
					err = a.print(strings.TrimRight(a.out.Text(r.Content), "\n") + "\n")
				}
				if err == nil && len(r.Primary) == 0 {
					a.note("Nothing relevant was found.")
					err = errNothing
				}
				return err
			})
		},
	}
	q.add(cmd)
	cmd.Flags().IntVar(&budget, "budget", 0, "size of the context in `tokens` (default: setting answer.tokenBudget)")
	a.jsonFlag(cmd)
	return cmd
}
