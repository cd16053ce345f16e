package lsp

import "context"

func (s *server) context(ctx context.Context, req *request, p AskParams) (*ContextResult, error) {
	view, done, err := s.question(ctx, req, "coderag: collecting context", p.WorkDoneToken, &p.SearchParams)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := view.Context(ctx, p.AskParams)
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}
