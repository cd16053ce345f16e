package lsp

import (
	"context"
	"errors"

	"coderag-ls/engine"
	"coderag-ls/internal/jsonrpc"
)

func (s *server) search(ctx context.Context, req *request, p SearchParams) (*SearchResult, error) {
	done, err := s.working(p.WorkDoneToken, "coderag: searching", p.Query)
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
	result, err := view.Search(ctx, p.SearchParams)
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}

// queryError gives a question that cannot be asked the code of bad parameters.
func queryError(err error) error {
	var bad *engine.QueryError
	if errors.As(err, &bad) {
		return jsonrpc.NewError(jsonrpc.InvalidParams, bad.Error())
	}
	return err
}
