package assist

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/ground"
	"coderag-ls/engine/query"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

//go:embed prompts/*.tmpl
var prompts embed.FS

// render fills in a template of prompts.
func render(name string, data any) string {
	t := template.Must(template.ParseFS(prompts, "prompts/"+name))
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		panic(fmt.Sprintf("template %s: %v", name, err)) // a mistake in it, which every test finds
	}
	return strings.TrimSpace(b.String())
}

// group is what one retrieval request found.
type group struct {
	reasoning string
	found     []wire.Citation
	truncated bool
}

// retrieve finds what the model is given.
func (q *question) retrieve(ctx context.Context) ([]group, error) {
	if err := q.route(ctx); err != nil {
		return nil, err
	}
	if err := q.expand(ctx); err != nil {
		return nil, err
	}
	requests := []wire.Request{{Reasoning: reasoning(q.plan)}} // the question itself
	if q.plan.Route == query.RouteLLM || q.expanded {
		requests = q.plan.Requests
	}
	found := make([]group, len(requests))
	errs := make([]error, len(requests))
	var searches sync.WaitGroup
	for i, r := range requests {
		searches.Go(func() { found[i], errs[i] = q.search(ctx, r, q.room()) })
	}
	searches.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	found, err := q.evaluate(ctx, found)
	if err != nil {
		return nil, err
	}
	return q.rerank(ctx, found)
}

func reasoning(p wire.Plan) string {
	if len(p.Requests) > 0 && p.Requests[0].Reasoning != "" {
		return p.Requests[0].Reasoning
	}
	return p.CleanedQuery
}

// search carries out a retrieval request; one without a query is the question
// itself.
func (q *question) search(ctx context.Context, r wire.Request, room int) (group, error) {
	p := q.p
	p.TokenBudget = room*10/9 + q.reserved() // the primary part is what is used, and room leaves the reserve out
	if r.Query != "" {
		p.Query, p.History = r.Query, nil
		p.Filters = narrowed(p.Filters, r)
		if r.TopK > 0 {
			p.TopK = min(r.TopK, 200)
		}
	}
	found, err := q.v.Context(ctx, p)
	if err != nil {
		return group{}, err
	}
	return group{r.Reasoning, append(found.Primary, q.related(ctx, found)...), found.Truncated}, nil
}

// related are the places around what was found, as citations.
func (q *question) related(ctx context.Context, found wire.ContextResult) []wire.Citation {
	root := ""
	if len(found.Primary) > 0 {
		root = found.Primary[0].Root
	}
	texts := viewTexts{q.v}
	var all []wire.Citation
	for _, r := range found.Related {
		abs, ok := q.v.Resolve(r.Path)
		if !ok {
			continue
		}
		doc, ok := texts.Text(ctx, r.Path)
		if !ok {
			continue
		}
		lines, ok := doc.Lines(r.StartLine, r.EndLine)
		if !ok {
			continue
		}
		c := wire.Citation{
			ID: answer.ID(r.Path, r.StartLine, r.EndLine), URI: text.URIFromPath(abs), Path: r.Path, Root: root,
			Range:     wire.Range{Start: wire.Position{Line: r.StartLine - 1}, End: wire.Position{Line: r.EndLine}},
			StartLine: r.StartLine, EndLine: r.EndLine, Text: lines, SHA256: text.HexHash(lines),
			Why: []string{strings.ReplaceAll(r.Relation, "_", " ")}, Verified: wire.VerifiedExact,
		}
		if len(found.Primary) > 0 && strings.HasPrefix(found.Primary[0].Path, root+"/") { // several folders
			c.Root, _, _ = strings.Cut(r.Path, "/")
		}
		all = append(all, c)
	}
	return all
}

// room is how many tokens the sources may take.
func (q *question) room() int {
	set := q.a.set
	left := set.Window - min(set.MaxTokens, set.Window/3) - promptTokens - q.a.meter.Tokens(q.p.Query) - q.historyRoom()
	budget := q.p.TokenBudget
	if budget == 0 {
		budget = q.a.opts.Settings.Answer.TokenBudget
	}
	if budget > 0 {
		left = min(left, max(budget-q.reserved(), budget*3/4))
	}
	return max(left, 256)
}

// reserved is how many tokens of a budget are not the context's.
func (q *question) reserved() int { return q.a.opts.Settings.Answer.ReservedTokens }

// promptTokens is what the instructions take, rounded up.
const promptTokens = 700

// historyRoom is how many tokens earlier turns may take: a quarter of the
// window.
func (q *question) historyRoom() int {
	used := 0
	for _, t := range q.p.History {
		used += q.a.meter.Tokens(t.Query) + q.a.meter.Tokens(t.Answer)
	}
	return min(used, q.a.set.Window/4)
}

// prompt is what is sent for the answer.
type prompt struct {
	mark      string // begins the lines around sources
	messages  []wire.Message
	passages  []ground.Passage
	withheld  []string
	redacted  map[string]int
	truncated bool
	tokens    int // estimated
}

// places are the passages' names.
func (p prompt) places() []string {
	var all []string
	for _, one := range p.passages {
		all = append(all, one.ID)
	}
	return all
}

// shownPassage is a passage as the template shows it.
type shownPassage struct{ ID, About, Numbered string }

type shownGroup struct {
	Reasoning string
	Passages  []shownPassage
}

// prompt makes the messages, with as many of the passages as fit: the best of
// each group before the second best.
func (q *question) prompt(groups []group, room int) prompt {
	pr := prompt{redacted: map[string]int{}}
	mark := boundary()
	pr.mark = mark
	shown := make([]shownGroup, len(groups))
	withheld := map[string]bool{}
	taken := map[string][][2]int{}
	used := 0
	for rank, more := 0, true; more; rank++ {
		more = false
		for i, g := range groups {
			shown[i].Reasoning = q.redact(g.reasoning, pr.redacted)
			pr.truncated = pr.truncated || g.truncated
			if rank >= len(g.found) {
				continue
			}
			more = true
			c := g.found[rank]
			if q.a.withheld(c.Path, c.Root) {
				withheld[c.Path] = true
				continue
			}
			if slices.ContainsFunc(taken[c.Path], func(r [2]int) bool { return r[0] <= c.StartLine && c.EndLine <= r[1] }) {
				continue // another request found it
			}
			counts := map[string]int{}
			p := ground.Passage{Citation: c, Given: q.redact(c.Text, counts)}
			s := shownPassage{c.ID, about(c), numbered(p.Given, c.StartLine)}
			cost := q.a.meter.Tokens(s.Numbered) + q.a.meter.Tokens(s.ID)*2 + q.a.meter.Tokens(s.About) + 8
			if used+cost > room {
				if used > 0 {
					pr.truncated = true
					continue // a smaller one may still fit
				}
				p, s = q.a.clipped(p, s, room)
				pr.truncated = true
			}
			used += cost
			addCounts(pr.redacted, counts)
			taken[c.Path] = append(taken[c.Path], [2]int{p.StartLine, p.EndLine})
			pr.passages = append(pr.passages, p)
			shown[i].Passages = append(shown[i].Passages, s)
		}
	}
	shown = slices.DeleteFunc(shown, func(g shownGroup) bool { return len(g.Passages) == 0 })
	pr.withheld = sortedKeys(withheld)
	example := "src/name.go:10-14"
	if len(pr.passages) > 0 {
		example = pr.passages[0].ID
	}
	pr.messages = append(pr.messages, wire.Message{Role: wire.RoleSystem, Content: render("answer.tmpl", map[string]any{
		"Mark": mark, "Example": example, "Redacted": len(pr.redacted) > 0,
	})})
	pr.messages = append(pr.messages, q.history(pr.redacted)...)
	pr.messages = append(pr.messages, wire.Message{Role: wire.RoleUser, Content: render("question.tmpl", map[string]any{
		"Mark": mark, "Groups": shown, "Question": q.redact(q.p.Query, pr.redacted),
	})})
	for _, m := range pr.messages {
		pr.tokens += q.a.meter.Tokens(m.Content)
	}
	return pr
}

func (q *question) redact(s string, counts map[string]int) string {
	out, n := q.a.redactor.Redact(s)
	addCounts(counts, n)
	return out
}

// history are the earlier turns that fit, the newest first kept. A turn that
// cites a file which is never sent is left out.
func (q *question) history(counts map[string]int) []wire.Message {
	room := q.historyRoom()
	var all []wire.Message
	for _, t := range slices.Backward(q.p.History) {
		if room -= q.a.meter.Tokens(t.Query) + q.a.meter.Tokens(t.Answer); room < 0 {
			break
		}
		if slices.ContainsFunc(answer.Parse(t.Answer, nil), func(m answer.Mention) bool { return q.a.never.Match(m.Path) }) {
			continue
		}
		all = append(all, wire.Message{Role: wire.RoleAssistant, Content: q.redact(t.Answer, counts)},
			wire.Message{Role: wire.RoleUser, Content: q.redact(t.Query, counts)})
	}
	slices.Reverse(all)
	return all
}

// about says what a passage is.
func about(c wire.Citation) string {
	var words []string
	for _, w := range []string{c.Language, c.Kind, c.Symbol} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// numbered puts its number before each line. No line of a file can look like
// one of the prompt's own then.
func numbered(s string, start int) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d| %s", start+i, strings.TrimRight(line, "\r"))
	}
	return b.String()
}

// clipped cuts a passage by lines to so many tokens, one line at least.
func (a *Asker) clipped(p ground.Passage, s shownPassage, room int) (ground.Passage, shownPassage) {
	given, real := strings.Split(p.Given, "\n"), strings.Split(p.Text, "\n")
	n := len(given)
	for n > 1 && a.meter.Tokens(numbered(strings.Join(given[:n], "\n"), p.StartLine)) > room {
		n -= max(1, n/8)
	}
	p.Given, p.Text = strings.Join(given[:n], "\n"), strings.Join(real[:n], "\n")
	p.EndLine = p.StartLine + n - 1
	p.ID, p.SHA256 = answer.ID(p.Path, p.StartLine, p.EndLine), text.HexHash(p.Text)
	p.Range.End = wire.Position{Line: p.EndLine}
	return p, shownPassage{p.ID, s.About, numbered(p.Given, p.StartLine)}
}

// boundary is a mark that no file holds.
func boundary() string {
	var b [8]byte
	rand.Read(b[:]) // it never fails (crypto/rand)
	return "=== SOURCE " + hex.EncodeToString(b[:])
}

// Prompt shows what Ask would send for the answer. Nothing is sent, not even to
// a router.
func (a *Asker) Prompt(ctx context.Context, v View, p wire.AskParams) (wire.PromptResult, error) {
	found, err := v.Ask(ctx, p, nil)
	if err != nil {
		return wire.PromptResult{}, err
	}
	q := &question{a: a, v: v, p: p, found: found, budget: newBudget(a.set)}
	res := wire.PromptResult{Messages: []wire.Message{}, Places: []string{}, Withheld: []string{}, Redacted: map[string]int{}}
	if a.main != nil {
		res.Model, res.Endpoint = a.main.Model(), a.main.Endpoint()
	}
	if found.NoAnswer {
		return res, nil // nothing would be sent
	}
	g, err := q.search(ctx, wire.Request{Reasoning: reasoning(found.Plan)}, q.room())
	if err != nil {
		return res, err
	}
	pr := q.prompt([]group{g}, q.room())
	res.Withheld = append(res.Withheld, pr.withheld...)
	if len(pr.passages) > 0 {
		res.Messages, res.Places, res.Redacted, res.TokenCount = pr.messages, append(res.Places, pr.places()...), pr.redacted, pr.tokens
	}
	return res, nil
}

// narrowed adds a request's filters to the user's own, which hold in any case.
func narrowed(f wire.Filters, r wire.Request) wire.Filters {
	if len(f.SourceTypes) == 0 {
		f.SourceTypes = r.SourceTypes
	}
	if len(f.FilePatterns) == 0 {
		f.FilePatterns = r.FilePatterns
	}
	f.Folders = append(slices.Clone(f.Folders), r.Folders...)
	return f
}
