package engine

import (
	"context"
	"fmt"
	"time"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/pack"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Event is a part of an answer as it is made: exactly one field is set.
type Event struct {
	Text     string
	Citation *wire.Citation
	Retract  string // the ID of a citation that no longer holds
}

// texts gives an answer the files of its snapshot as the view has them.
type texts struct{ state }

// Text implements answer.Texts.
func (t texts) Text(ctx context.Context, path string) (*text.Document, bool) {
	f := t.snap.File(path)
	if f == nil || f.Named(t.omit) {
		return nil, false
	}
	content, ok := t.read(ctx, f)
	if !ok {
		return nil, false
	}
	return text.New(content), true
}

// Hidden implements answer.Hider.
func (t texts) Hidden(path string) bool {
	f := t.snap.File(path)
	return f != nil && f.Named(t.omit)
}

func checkBudget(p wire.AskParams) error {
	if p.TokenBudget < 0 {
		return &QueryError{Reason: fmt.Sprintf("tokenBudget is %d, want 0 or more", p.TokenBudget)}
	}
	return nil
}

// Ask answers a question with citations that are checked when they are
// emitted. emit, which may be nil, receives the parts in order before Ask
// returns the whole. A question that cannot be asked is a *QueryError.
func (v *View) Ask(ctx context.Context, p wire.AskParams, emit func(Event)) (wire.AskResult, error) {
	defer v.e.gate.Request()()
	if err := checkBudget(p); err != nil {
		return wire.AskResult{}, err
	}
	f, err := v.find(ctx, p)
	if err != nil {
		return wire.AskResult{}, v.failed("ask", err)
	}
	at := time.Now()
	graph := make(chan *pack.Graph, 1)
	go func() { graph <- v.graph(f.state) }() // while the answer is made
	in := answer.Input{
		Snapshot: f.snap, Texts: texts{f.state}, Tokenizer: f.ix.Tokenizer(), Analysis: &f.analysis,
		Result: f.result, Settings: f.settings.Answer, Coverage: f.ix.Coverage(f.snap),
	}
	if emit != nil {
		in.Emit = func(p answer.Part) {
			if p.Citation != nil {
				shown := *p.Citation
				f.present(&shown)
				p.Citation = &shown
			}
			emit(Event{Text: p.Text, Citation: p.Citation})
		}
	}
	made, err := answer.Extract(ctx, in)
	around := <-graph
	if err != nil {
		return wire.AskResult{}, v.failed("ask", err)
	}
	f.presentAll(made.Citations)
	f.stage("answer", at)
	at = time.Now()
	related, excerpt := around.RelatedWithin(ctx, f.snap, texts{f.state}, made.Citations, f.settings.Answer)
	f.stage("related", at)
	res := wire.AskResult{
		Answer: made.Markdown, Citations: made.Citations, Dropped: made.Dropped, Related: related, Graph: excerpt,
		Plan: f.analysis.Plan, Coverage: in.Coverage, Model: f.model(),
		FollowUps: made.FollowUps, NoAnswer: made.NoAnswer,
	}
	f.stateDegraded(&res, emit)
	res.Metrics = f.metrics()
	for _, c := range made.Citations {
		res.Metrics.TokensUsed += len(c.Text) / 4
	}
	v.e.requests.Answered("ask", res.Metrics)
	return res, nil
}

// graph returns the graph of the files as the view has them.
func (v *View) graph(st state) *pack.Graph {
	g := v.e.graph(st.ix)
	if st.snap == st.ix.Snapshot() {
		return g
	}
	return g.Update(st.snap, func(path string) (string, bool) {
		f := st.snap.File(path)
		if f == nil {
			return "", false
		}
		return st.read(context.Background(), f)
	})
}

// Context packs what a question needs into budgeted Markdown: the best chunks
// with what stands around them, related places, and how the files hang
// together. p.TokenBudget 0 is the setting answer.tokenBudget.
func (v *View) Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error) {
	defer v.e.gate.Request()()
	if err := checkBudget(p); err != nil {
		return wire.ContextResult{}, err
	}
	f, err := v.find(ctx, p)
	if err != nil {
		return wire.ContextResult{}, v.failed("context", err)
	}
	at := time.Now()
	budget := p.TokenBudget
	if budget == 0 {
		budget = f.settings.Answer.TokenBudget
	}
	packed, err := pack.Pack(ctx, pack.Input{
		Snapshot: f.snap, Graph: v.graph(f.state), Texts: texts{f.state}, Hits: f.result.Hits,
		Budget: budget, Reserved: f.settings.Answer.ReservedTokens, Settings: f.settings.Answer,
	})
	if err != nil {
		return wire.ContextResult{}, v.failed("context", err)
	}
	f.presentAll(packed.Primary)
	f.stage("pack", at)
	m := f.metrics()
	m.TokensUsed = packed.Tokens
	v.e.requests.Answered("context", m)
	return wire.ContextResult{
		Content: packed.Content, Primary: packed.Primary, Related: packed.Related,
		TokenCount: packed.Tokens, Truncated: packed.Truncated, Coverage: f.ix.Coverage(f.snap),
		Plan: f.analysis.Plan, Metrics: m, Degraded: f.degraded(),
	}, nil
}

// Explain explains the symbol of that name. Of several definitions the one
// nearest to the document and its range comes first.
func (v *View) Explain(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error) {
	defer v.e.gate.Request()()
	if err := checkQuery(&wire.SearchParams{Query: name}); err != nil {
		return wire.ExplainResult{}, err
	}
	began := time.Now()
	st, err := v.begin(ctx)
	if err != nil {
		return wire.ExplainResult{}, v.failed("explain", err)
	}
	if err := v.joinName(ctx, &st, name); err != nil {
		return wire.ExplainResult{}, v.failed("explain", err)
	}
	var from answer.Near
	from.Path, from.Line = v.place(st.ix, &near)
	res, err := answer.Explain(ctx, st.snap, texts{st}, name, from)
	if err != nil {
		return wire.ExplainResult{}, v.failed("explain", err)
	}
	st.presentAll(res.Definitions, res.Usages, res.Tests)
	res.Coverage = st.ix.Coverage(st.snap)
	v.e.requests.Answered("explain", wire.Metrics{Timings: map[string]float64{"total": milliseconds(time.Since(began))}})
	return res, nil
}
