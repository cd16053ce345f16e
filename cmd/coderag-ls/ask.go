package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coderag-ls/assist"
	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
	"coderag-ls/engine/wire"
)

func (a *app) askCommand() *cobra.Command {
	var q queryFlags
	var lines, budget int
	var model string
	var again bool
	var showPrompt bool
	cmd := &cobra.Command{
		Use:   "ask [flags] QUESTION...",
		Short: "Answer a question with checked citations",
		Long: `Answer a question with checked citations. The index is brought up to date first.

The question is made of all arguments; - reads it from standard input.

With --continue the question may refer to the earlier ones about this workspace
("and where is it tested?"). They are kept with the index, readable by you
alone; a question without --continue begins anew.

Where a language model is set (llm.baseUrl and llm.model), it writes the answer from
what was found; sentences that the cited lines do not support are marked. Where it
fails, the answer is what was found, with the reason. A terminal shows it as it comes.`,
		Example: `  coderag-ls ask where is the retry delay computed
  coderag-ls ask --lang go --lines 0 "how are cancelled requests answered?"
  coderag-ls ask --continue "and where is it tested?"
  echo "what does TestMain do?" | coderag-ls ask --json -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.searchParams(cmd, &q, args)
			if err != nil {
				return err
			}
			if budget < 0 || lines < 0 {
				return usagef("--budget and --lines cannot be negative")
			}
			if model != "" && model != wire.LLMNone {
				return usagef("--llm %q: the only value is none; the model is setting llm.model", model)
			}
			return a.synced(cmd.Context(), someVectors, func(s *session) error {
				budget := budget
				if !cmd.Flags().Changed("budget") {
					budget = s.settings.Answer.TokenBudget
				}
				start := time.Now()
				asker := assist.New(cmd.Context(), assist.Options{Settings: s.settings, Key: s.key})
				defer asker.Close()
				params := wire.AskParams{SearchParams: p, TokenBudget: budget, LLM: model}
				turns := a.earlier(s, again)
				params.History = turns
				if showPrompt {
					return a.showPrompt(cmd.Context(), asker, s, params)
				}
				var shown *shownAnswer
				var emit func(engine.Event)
				if a.out.Terminal && !a.json && model != wire.LLMNone && asker.Uses() {
					shown = a.showAnswer()
					emit = shown.event
				}
				r, err := asker.Ask(cmd.Context(), s.view, params, emit)
				if err != nil {
					return errors.Join(err, shown.end())
				}
				a.remember(s, append(turns, wire.Turn{Query: p.Query, Answer: r.Answer}))
				switch {
				case a.json:
					err = a.printJSON(r)
				case shown != nil:
					if err = shown.end(); err == nil {
						err = a.print(a.restText(r, shown.cited, lines, time.Since(start)))
					}
				default:
					err = a.print(a.answerText(r, lines, time.Since(start)))
				}
				if err == nil && r.NoAnswer {
					err = errNothing
				}
				return err
			})
		},
	}
	q.add(cmd)
	cmd.Flags().IntVarP(&lines, "lines", "n", 4, "show at most this many `lines` of citations that the answer does not quote, 0 for none")
	cmd.Flags().IntVar(&budget, "budget", 0, "size of the context in `tokens` (default: setting answer.tokenBudget)")
	cmd.Flags().BoolVarP(&again, "continue", "c", false, "go on with the earlier questions about this workspace")
	cmd.Flags().StringVar(&model, "llm", "", "`none`: answer without a language model, whatever is set")
	cmd.Flags().BoolVar(&showPrompt, "show-prompt", false, "show what would be sent to the language model, and send nothing")
	a.jsonFlag(cmd)
	return cmd
}

// showPrompt prints what would be sent to the language model.
func (a *app) showPrompt(ctx context.Context, asker *assist.Asker, s *session, p wire.AskParams) error {
	r, err := asker.Prompt(ctx, s.view, p)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(a.out.Paint(terminal.Heading, m.Role) + "\n\n" + a.out.Text(m.Content) + "\n\n")
	}
	to := "No language model is set: nothing would be sent anywhere."
	switch {
	case r.Endpoint != "":
		to = fmt.Sprintf("This would be sent to %s at %s: about %s.", r.Model, r.Endpoint, plural(r.TokenCount, "token"))
	case len(r.Messages) == 0:
		to = "Nothing relevant was found: nothing would be sent."
	}
	b.WriteString(a.out.Paint(terminal.Dim, a.out.Text(to)) + "\n")
	for _, kind := range slices.Sorted(maps.Keys(r.Redacted)) {
		b.WriteString(a.out.Paint(terminal.Dim, fmt.Sprintf("Replaced: %s, %s.", a.out.Text(kind), plural(r.Redacted[kind], "time"))) + "\n")
	}
	for _, path := range r.Withheld {
		b.WriteString(a.out.Paint(terminal.Dim, "Never sent: "+a.out.Text(path)) + "\n")
	}
	return a.print(b.String())
}

func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print the result as JSON (docs/wire.md)")
}

// answerText is an answer for people: the text, the cited lines, and how
// complete the index was.
func (a *app) answerText(r wire.AskResult, lines int, took time.Duration) string {
	cited := newCited(a.out, r.Citations)
	return a.out.Markdown(r.Answer, cited) + a.restText(r, cited, lines, took)
}

// restText is what stands below an answer.
func (a *app) restText(r wire.AskResult, cited *cited, lines int, took time.Duration) string {
	var b strings.Builder
	heading := "\n" + a.out.Paint(terminal.Heading, "Also cited") + "\n"
	for _, c := range r.Citations {
		if cited.quoted[c.ID] || lines == 0 || c.StartLine == c.EndLine && strings.Contains(r.Answer, strings.TrimSpace(c.Text)) {
			continue // the answer shows it, or it is not to be shown
		}
		b.WriteString(heading + "\n" + a.place(c.URI, c.Path, c.StartLine, c.EndLine))
		heading = ""
		detail := []string{a.out.Text(c.Symbol), c.Kind}
		if c.Verified == wire.VerifiedMoved {
			detail = append(detail, "moved since it was indexed")
		}
		b.WriteString(a.details(detail) + "\n" + a.snippet(c.Text, c.StartLine, lines))
	}
	b.WriteString("\n" + a.footer(r.Coverage, r.Model, took))
	switch {
	case r.Dropped == 1:
		b.WriteString(a.out.Paint(terminal.Warn, "1 citation no longer held and was dropped.") + "\n")
	case r.Dropped > 1:
		b.WriteString(a.out.Paint(terminal.Warn, fmt.Sprintf("%d citations no longer held and were dropped.", r.Dropped)) + "\n")
	}
	if r.Plan.Fallback != "" {
		b.WriteString(a.out.Paint(terminal.Warn, "Nothing matched the filters; "+a.out.Text(r.Plan.Fallback)+".") + "\n")
	}
	return b.String()
}

// cited finds an answer's citations by their IDs. It implements
// terminal.Citations.
type cited struct {
	out    *terminal.Output
	byID   map[string]wire.Citation
	quoted map[string]bool // those whose lines the answer shows
}

func newCited(out *terminal.Output, citations []wire.Citation) *cited {
	c := &cited{out, map[string]wire.Citation{}, map[string]bool{}}
	for _, one := range citations {
		c.byID[out.Text(one.ID)] = one
	}
	return c
}

// URI implements terminal.Citations.
func (c *cited) URI(id string) string { return c.byID[id].URI }

// FirstLine implements terminal.Citations: it looks for the block among the
// cited lines.
func (c *cited) FirstLine(id string, block []string) (int, bool) {
	one, ok := c.byID[id]
	if !ok || len(block) == 0 {
		return 0, false
	}
	all := strings.Split(c.out.Text(one.Text), "\n")
	for i := range all {
		if len(block) <= len(all)-i && slices.Equal(all[i:i+len(block)], block) {
			c.quoted[one.ID] = true
			return one.StartLine + i, true
		}
	}
	return 0, false
}

// place is a citation that terminals and editors make clickable.
func (a *app) place(uri, path string, start, end int) string {
	return a.out.Link(uri, a.out.Paint(terminal.Place, fmt.Sprintf("%s:%d-%d", a.out.Text(path), start, end)))
}

// details are the words behind a place.
func (a *app) details(words []string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return ""
	}
	return "  " + a.out.Paint(terminal.Dim, strings.Join(words, " · "))
}

// snippet shows the first lines of a text with their numbers.
func (a *app) snippet(text string, start, most int) string {
	all := strings.Split(a.out.Text(text), "\n")
	shown := all[:min(most, len(all))]
	digits := len(fmt.Sprint(start + len(shown) - 1))
	var b strings.Builder
	for i, line := range shown {
		gutter := fmt.Sprintf("  %*d │ ", digits, start+i)
		b.WriteString(a.out.Paint(terminal.Dim, gutter+a.out.Cut(line, a.out.Width-digits-6)) + "\n")
	}
	if rest := len(all) - len(shown); rest > 0 {
		b.WriteString(a.out.Paint(terminal.Dim, fmt.Sprintf("  %*s   … %s", digits, "", plural(rest, "more line"))) + "\n")
	}
	return b.String()
}

// footer tells how complete the index was, which models were used and how long
// it took.
func (a *app) footer(c wire.Coverage, m wire.ModelInfo, took time.Duration) string {
	parts := []string{fmt.Sprintf("%d of %s indexed", c.Indexed, plural(c.Total, "file"))}
	if c.Pending > 0 {
		parts = append(parts, fmt.Sprintf("%d pending", c.Pending))
	}
	if n := total(c.Skipped); n > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", n))
	}
	if c.VectorsReady < 1 && m.Embedder != "" {
		parts = append(parts, fmt.Sprintf("vectors %d %%", int(c.VectorsReady*100)))
	}
	parts = append(parts, m.Embedder)
	if m.LLM != nil {
		parts = append(parts, *m.LLM)
	}
	parts = append(parts, duration(took))
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return a.out.Paint(terminal.Dim, strings.Join(parts, " · ")) + "\n"
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// duration is a time for people.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
