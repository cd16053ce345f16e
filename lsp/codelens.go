package lsp

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"coderag-ls/engine"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// codeLens shows above each definition how often it is used and how often
// answers cited it. Off by default (lsp.codeLens).
func (s *server) codeLens(ctx context.Context, req *request, p documentParams) ([]protocol.CodeLens, error) {
	lenses := []protocol.CodeLens{}
	doc := req.docs.get(p.TextDocument.URI)
	if doc == nil || doc.path == "" {
		return lenses, nil
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil || !s.settings().LSP.CodeLens {
		return lenses, ctx.Err()
	}
	symbols, err := view.Symbols(ctx, doc.path)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Debug("code lens", "error", err)
			return lenses, nil
		}
		return nil, err
	}
	asked := s.answers.cited(text.URIFromPath(doc.path))
	for _, symbol := range symbols {
		at, ok := nameStart(doc.text, symbol)
		if !ok {
			continue // the view is ahead of the request's text
		}
		rng := s.protocolRange(doc.text, at, at+len(symbol.Name))
		lenses = append(lenses, protocol.CodeLens{
			Range: rng,
			Command: &protocol.Command{
				Title: lensTitle(asked[symbol.Name], symbol.Uses), Command: CommandExplain,
				Arguments: []any{wire.RangeParams{Document: wire.Document{URI: doc.uri, Range: wireRange(rng)}}},
			},
		})
	}
	return lenses, nil
}

func lensTitle(asked, uses int) string {
	title := fmt.Sprintf("used by %d", uses)
	if asked > 0 {
		return fmt.Sprintf("asked %d · %s", asked, title)
	}
	return title
}

// nameStart is the byte where a symbol's name stands.
func nameStart(d *text.Document, symbol engine.SymbolUse) (int, bool) {
	if symbol.NameLine < 1 || symbol.NameLine > d.LineCount() {
		return 0, false
	}
	column := strings.Index(d.Line(symbol.NameLine), symbol.Name)
	return d.LineStart(symbol.NameLine) + column, column >= 0
}

func wireRange(r protocol.Range) *wire.Range {
	return &wire.Range{
		Start: wire.Position{Line: int(r.Start.Line), Character: int(r.Start.Character)},
		End:   wire.Position{Line: int(r.End.Line), Character: int(r.End.Character)},
	}
}
