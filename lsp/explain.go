package lsp

import (
	"context"

	"coderag-ls/internal/jsonrpc"
)

// explain explains the symbol at a range's start.
func (s *server) explain(ctx context.Context, req *request, p RangeParams) (*ExplainResult, error) {
	done, err := s.working(p.WorkDoneToken, "coderag: explaining", "")
	if err != nil {
		return nil, err
	}
	defer done()
	if p.Document.Range == nil {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "bad parameters: document.range is missing: the symbol stands at its start")
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	place, err := s.locate(ctx, req, view, p.Document)
	if err != nil {
		return nil, err
	}
	result, err := place.explain(ctx, view)
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}
