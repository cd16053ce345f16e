package engine

import (
	"context"

	"coderag-ls/engine/wire"
)

// Event is a part of an answer as it is made: exactly one field is set.
type Event struct {
	Text     string
	Citation *wire.Citation
	Retract  string // the ID of a citation that no longer holds
}

// Ask answers a question with citations that were checked when they were
// emitted. emit, which may be nil, receives the parts in order before Ask
// returns the whole. A question that cannot be asked is a *QueryError.
func (v *View) Ask(ctx context.Context, p wire.AskParams, emit func(Event)) (wire.AskResult, error) {
	return wire.AskResult{}, nil
}

// Context packs what a question needs into budgeted Markdown.
func (v *View) Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error) {
	return wire.ContextResult{}, nil
}

// Explain explains the symbol at a range's start.
func (v *View) Explain(ctx context.Context, p wire.RangeParams) (wire.ExplainResult, error) {
	return wire.ExplainResult{}, nil
}

// ExplainName explains the symbol of that name, preferring what is near the
// document.
func (v *View) ExplainName(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error) {
	return wire.ExplainResult{}, nil
}
