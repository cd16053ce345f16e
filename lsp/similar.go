package lsp

import (
	"context"

	"coderag-ls/engine/wire"
)

// maxQuery is the most bytes of a document's text that are searched for.
const maxQuery = 2000

// similar ranks chunks by likeness to a range, the whole document where none
// is given. A text that is in no file is searched for as a question.
func (s *server) similar(ctx context.Context, req *request, p RangeParams) (*SearchResult, error) {
	done, err := s.working(p.WorkDoneToken, "coderag: searching similar code", "")
	if err != nil {
		return nil, err
	}
	defer done()
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	place, err := s.locate(ctx, req, view, p.Document)
	if err != nil {
		return nil, err
	}
	var result SearchResult
	if place.path == "" {
		query := clip(place.selection(), maxQuery)
		result, err = view.Search(ctx, wire.SearchParams{Query: query, TopK: p.TopK})
	} else {
		result, err = view.Similar(ctx, wire.RangeParams{Document: place.document, TopK: p.TopK})
	}
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}
