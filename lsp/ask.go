package lsp

import (
	"context"

	"coderag-ls/engine"
)

// ask answers a question, streaming the parts where the client gave a
// partialResultToken.
func (s *server) ask(ctx context.Context, req *request, p AskParams) (*AskResult, error) {
	partial, err := checkToken("partialResultToken", p.PartialResultToken)
	if err != nil {
		return nil, err
	}
	view, done, err := s.question(ctx, req, "coderag: answering", p.WorkDoneToken, &p.SearchParams)
	if err != nil {
		return nil, err
	}
	defer done()
	var emit func(engine.Event)
	if partial != nil {
		emit = func(e engine.Event) { s.progress(partial, partialOf(e)) }
	}
	result, err := s.models.asker(ctx).Ask(ctx, view, p.AskParams, emit)
	if err != nil {
		return nil, queryError(err)
	}
	s.answers.remember(result.Citations)
	return &result, nil
}

func partialOf(e engine.Event) Partial {
	switch {
	case e.Citation != nil:
		return Partial{Kind: PartialCitation, Citation: e.Citation}
	case e.Retract != "":
		return Partial{Kind: PartialRetract, ID: e.Retract}
	}
	return Partial{Kind: PartialText, Text: e.Text}
}

// prompt shows what ask would send to a language model.
func (s *server) prompt(ctx context.Context, req *request, p AskParams) (*PromptResult, error) {
	view, done, err := s.question(ctx, req, "coderag: collecting what would be sent", p.WorkDoneToken, &p.SearchParams)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := s.models.asker(ctx).Prompt(ctx, view, p.AskParams)
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}
