package lsp

import (
	"context"
	"errors"

	"coderag-ls/engine"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

func (s *server) search(ctx context.Context, req *request, p SearchParams) (*SearchResult, error) {
	view, done, err := s.question(ctx, req, "coderag: searching", p.WorkDoneToken, &p.SearchParams)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := view.Search(ctx, p.SearchParams)
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}

// question begins a request that asks something: it shows the client that work goes
// on, and finds its view and, in p, its document. end is to be called when the
// request is done, unless there is an error.
func (s *server) question(ctx context.Context, req *request, title string, token Token, p *wire.SearchParams) (view View, end func(), err error) {
	end, err = s.working(token, title, p.Query)
	if err != nil {
		return nil, nil, err
	}
	if view, err = s.manager.viewFor(ctx, req); err == nil {
		p.Document, err = s.optionalDocument(ctx, req, view, p.Document)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return view, end, nil
}

// queryError gives a question that cannot be asked the code of bad parameters.
func queryError(err error) error {
	var bad *engine.QueryError
	if errors.As(err, &bad) {
		return jsonrpc.NewError(jsonrpc.InvalidParams, bad.Error())
	}
	return err
}
