// Package assist answers questions with a language model, where one is set. It
// works on a view of an index, in this process or another, and in the process of
// whoever asks: keys and what a model says go nowhere else.
//
// The answer that the index gives without a model is always made first. It is
// what the user gets where there is no model, where it fails, and where it takes
// too long; with one line that says why.
//
// What is sent passes one gate ([Asker.send]): files that are never sent are
// left out, secrets replaced, the audit log written. What comes back passes
// engine/ground.
package assist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/answer"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/ground"
	"coderag-ls/engine/llm"
	"coderag-ls/engine/llm/audit"
	"coderag-ls/engine/llm/redact"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// View is what is asked of the index. *engine.View and *attach.View are ones.
type View interface {
	Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error)
	Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error)
	Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error)
	// Tree draws the indexed files for the router.
	Tree(ctx context.Context, p wire.TreeParams) (wire.TreeResult, error)
	Text(ctx context.Context, path string) (content string, ok bool)
	Resolve(path string) (abs string, ok bool)
}

// Options are what an Asker is made with.
type Options struct {
	Settings config.Settings
	// Key returns a key that the environment holds, by the variable's name
	// (config.Layers.Key); nil where there is none.
	Key func(variable string) string
	// Secret asks the client's secret store; nil where it has none. "" is no key.
	Secret func(ctx context.Context, p wire.SecretParams) (string, error)
	// Client is the client's own model; nil where it offers none.
	Client llm.Provider
}

// Asker answers questions. It is safe for concurrent use.
type Asker struct {
	opts     Options
	set      config.LLM
	redactor *redact.Redactor
	never    file.Globs
	audit    *audit.Log

	main, small llm.Provider // who answers, who routes; nil where nobody does
	why         error        // why main is nil though a model is set
	meter       llm.Meter    // of main's tokens
}

// New returns an Asker. Nothing is sent. A model that is set and cannot be used
// is no error here: answers say so.
func New(ctx context.Context, o Options) *Asker {
	a := &Asker{opts: o, set: o.Settings.LLM, redactor: redact.New(), audit: audit.New(o.Settings.LLM.AuditLog)}
	var err error
	if a.never, err = file.NewGlobs(a.set.NeverSend); err != nil {
		a.why = fmt.Errorf("setting llm.neverSend: %w; nothing is sent until it is right", err)
		return a
	}
	a.choose(ctx)
	return a
}

// Uses reports whether questions are put to a language model.
func (a *Asker) Uses() bool { return a.main != nil || a.why != nil }

// Model names the model that answers, "" for none, and where it is.
func (a *Asker) Model() (name, endpoint string, err error) {
	if a.main == nil {
		return "", "", a.why
	}
	return a.main.Model(), a.main.Endpoint(), nil
}

// Close lets go of connections that are kept open.
func (a *Asker) Close() {
	for _, p := range []llm.Provider{a.main, a.small} {
		if c, ok := p.(interface{ Close() }); ok {
			c.Close()
		}
	}
}

// Ask answers a question; see engine.View.Ask. With a language model the answer
// is the model's, held to what it was given.
func (a *Asker) Ask(ctx context.Context, v View, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error) {
	if p.LLM != "" && p.LLM != wire.LLMNone {
		return wire.AskResult{}, &engine.QueryError{Reason: fmt.Sprintf("llm is %q, want %q or nothing", p.LLM, wire.LLMNone)}
	}
	if p.LLM == wire.LLMNone || !a.Uses() {
		return v.Ask(ctx, p, emit)
	}
	began := time.Now()
	found, err := v.Ask(ctx, p, nil)
	if err != nil {
		return found, err
	}
	q := &question{a: a, v: v, p: p, found: found, began: began, emit: emit, budget: newBudget(a.set)}
	if q.emit == nil {
		q.emit = func(engine.Event) {}
	}
	if found.NoAnswer { // there is nothing to send
		q.emit(engine.Event{Text: found.Answer})
		return found, nil
	}
	return q.answer(ctx)
}

// question is one question on its way.
type question struct {
	a      *Asker
	v      View
	p      wire.AskParams
	found  wire.AskResult // without a model
	began  time.Time
	emit   func(engine.Event)
	budget *budget
	notes  []string // for the plan
	plan   wire.Plan
	// expanded: the requests hold words that the question does not.
	expanded bool
}

func (q *question) note(format string, args ...any) {
	q.notes = append(q.notes, fmt.Sprintf(format, args...))
}

// answer asks the model.
func (q *question) answer(ctx context.Context) (wire.AskResult, error) {
	if q.a.main == nil {
		return q.without(ctx, q.a.why, "")
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(q.a.set.Timeout)*time.Millisecond)
	defer cancel()
	q.plan = q.found.Plan
	groups, err := q.retrieve(limited)
	if err != nil {
		return q.failed(ctx, err, "")
	}
	pr := q.prompt(groups, q.room())
	if len(pr.passages) == 0 {
		if len(pr.withheld) > 0 {
			return q.without(ctx, errors.New("all that was found is never sent (setting llm.neverSend)"), "")
		}
		return q.without(ctx, errors.New("nothing that was found could be sent"), "")
	}
	w, resp, err := q.write(limited, pr)
	if llm.KindOf(err) == llm.ContextLength && w.Text() == "" {
		q.note("the context was too long for the model and was halved")
		pr = q.prompt(groups, q.room()/2)
		w, resp, err = q.write(limited, pr)
	}
	if ctx.Err() != nil {
		return wire.AskResult{}, ctx.Err()
	}
	made := w.Close()
	if err == nil && strings.TrimSpace(made.Markdown) == "" {
		err = llm.Errorf(llm.BadReply, "it wrote nothing")
	}
	if err != nil {
		return q.failed(ctx, err, made.Markdown, made.Citations...)
	}
	return q.finish(ctx, made, pr, resp.Model)
}

// write has the model write the answer.
func (q *question) write(ctx context.Context, pr prompt) (*ground.Writer, llm.Response, error) {
	w := ground.New(ctx, ground.Options{
		Passages: pr.passages, Texts: viewTexts{q.v},
		Text:     func(s string) { q.emit(engine.Event{Text: s}) },
		Citation: func(c wire.Citation) { q.emit(engine.Event{Citation: &c}) },
		Clean:    func(s string) string { s, _ = q.a.redactor.Redact(s); return s },
	})
	var thinking thoughts
	resp, err := q.a.send(ctx, q.budget, q.a.main, llm.Request{
		Purpose: wire.PurposeAnswer, Messages: pr.messages, Temperature: q.a.set.Temperature, MaxTokens: q.a.set.MaxTokens,
	}, pr.places(), func(s string) { w.Write(thinking.skip(s)) })
	if err == nil && resp.FinishReason == "length" {
		q.note("the answer was cut at %d tokens (setting llm.maxTokens)", q.a.set.MaxTokens)
	}
	return w, resp, err
}

// finish makes the result of a model's answer.
func (q *question) finish(ctx context.Context, made ground.Result, pr prompt, name string) (wire.AskResult, error) {
	res := q.found
	gone := ground.Check(ctx, viewTexts{q.v}, made.Citations)
	for _, id := range gone { // a file changed while the model wrote
		made.Markdown = strings.ReplaceAll(made.Markdown, "["+id+"]", "")
		made.Citations = slices.DeleteFunc(made.Citations, func(c wire.Citation) bool { return c.ID == id })
		q.emit(engine.Event{Retract: id})
	}
	res.Answer, res.Citations, res.Unsupported = made.Markdown, made.Citations, made.Unsupported
	res.Dropped = made.Dropped + len(gone)
	if len(made.FollowUps) > 0 {
		res.FollowUps = made.FollowUps
	}
	res.Truncated = res.Truncated || pr.truncated
	if name == "" {
		name = q.a.main.Model()
	}
	res.Model.LLM = &name
	res.Metrics.TokensUsed = pr.tokens
	return q.dress(res), nil
}

// dress adds what the steps did.
func (q *question) dress(res wire.AskResult) wire.AskResult {
	if q.plan.Route != "" {
		fallback := res.Plan.Fallback
		res.Plan = q.plan
		if res.Plan.Fallback == "" {
			res.Plan.Fallback = fallback
		}
	}
	res.Plan.Notes = append(slices.Clone(res.Plan.Notes), q.notes...)
	if u := q.budget.usage(); u.Calls > 0 {
		res.Metrics.LLM = &u
	}
	timings := map[string]float64{}
	for name, ms := range res.Metrics.Timings {
		timings[name] = ms
	}
	timings["llm"] = q.budget.spent()
	timings["total"] = float64(time.Since(q.began).Microseconds()) / 1000
	res.Metrics.Timings = timings
	return res
}

// failed answers without the model because it failed, or passes on that the
// question was cancelled.
func (q *question) failed(ctx context.Context, err error, partial string, cited ...wire.Citation) (wire.AskResult, error) {
	if ctx.Err() != nil {
		return wire.AskResult{}, ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = llm.Errorf(llm.Timeout, "it did not finish within %s (setting llm.timeout)", time.Duration(q.a.set.Timeout)*time.Millisecond)
	}
	if llm.KindOf(err) == "" {
		return wire.AskResult{}, err // not the model's failure: the index's
	}
	return q.without(ctx, fmt.Errorf("%s at %s: %w", q.a.main.Model(), q.a.main.Endpoint(), err), partial, cited...)
}

// without gives the answer that needs no model, below what a model may have
// written before it failed, and says why.
func (q *question) without(_ context.Context, why error, partial string, cited ...wire.Citation) (wire.AskResult, error) {
	res := q.found
	cause := oneLine(why.Error())
	var head string
	if strings.TrimSpace(partial) == "" {
		res.Notice = "Answered without the language model: " + cause + "."
		head = "> " + res.Notice + "\n\n"
	} else {
		res.Notice = "The language model did not finish its answer: " + cause + "."
		head = strings.Repeat("\n", 2-min(2, trailing(partial))) + "> " + res.Notice + " This was found without it:\n\n"
		name := q.a.main.Model()
		res.Model.LLM = &name
	}
	q.emit(engine.Event{Text: head})
	known := map[string]bool{}
	var all []wire.Citation
	for _, c := range cited {
		known[c.ID] = true
		all = append(all, c)
	}
	for _, c := range res.Citations {
		if !known[c.ID] {
			q.emit(engine.Event{Citation: &c})
			all = append(all, c)
		}
	}
	q.emit(engine.Event{Text: res.Answer})
	res.Answer = partial + head + res.Answer
	if len(cited) > 0 {
		res.Citations = all
	}
	return q.dress(res), nil
}

func trailing(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }

// oneLine makes a message one line that nothing in it acts on.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f && r < 0xa0 }), " ")
	return strings.NewReplacer("`", "'", "<", "‹", ">", "›", "[", "(", "]", ")").Replace(strings.TrimSuffix(s, "."))
}

// viewTexts reads texts through a view. It implements answer.Texts.
type viewTexts struct{ v View }

var _ answer.Texts = viewTexts{}

// Text implements answer.Texts.
func (t viewTexts) Text(ctx context.Context, path string) (*text.Document, bool) {
	abs, ok := t.v.Resolve(path)
	if !ok {
		return nil, false
	}
	content, ok := t.v.Text(ctx, abs)
	if !ok {
		return nil, false
	}
	return text.New(content), true
}

// thoughts drops what a model thinks aloud before it answers:
// <think>...</think>.
type thoughts struct {
	state int // 0: at the beginning, 1: thinking, 2: behind it, 3: answering
	held  string
}

func (t *thoughts) skip(s string) string {
	const open, end = "<think>", "</think>"
	t.held += s
	if t.state == 0 {
		body := strings.TrimLeft(t.held, " \n\t")
		switch {
		case strings.HasPrefix(body, open):
			t.state = 1
		case strings.HasPrefix(open, body):
			return ""
		default:
			t.state = 3
		}
	}
	if t.state == 1 {
		i := strings.Index(t.held, end)
		if i < 0 {
			return ""
		}
		t.held, t.state = t.held[i+len(end):], 2
	}
	if t.state == 2 {
		if t.held = strings.TrimLeft(t.held, " \n\t"); t.held == "" {
			return ""
		}
		t.state = 3
	}
	s, t.held = t.held, ""
	return s
}
