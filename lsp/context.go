package lsp

import "context"

func (s *server) context(ctx context.Context, req *request, p AskParams) (*ContextResult, error) {
	done, err := s.working(p.WorkDoneToken, "coderag: collecting context", p.Query)
	if err != nil {
		return nil, err
	}
	defer done()
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	if p.Document, err = s.optionalDocument(ctx, req, view, p.Document); err != nil {
		return nil, err
	}
	result, err := view.Context(ctx, p.AskParams)
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}
