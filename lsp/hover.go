package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/wire"
)

// The most callers, tests and definitions that a hover names; it is read at a
// glance. coderag/explain has all of them.
const (
	hoverCallers     = 3
	hoverTests       = 2
	hoverDefinitions = 2
)

// hover explains the symbol under the pointer in a few lines. Where there is
// nothing to say it is empty, never an error: other servers answer as well.
func (s *server) hover(ctx context.Context, req *request, p positionParams) (*protocol.Hover, error) {
	place, view, err := s.symbolAt(ctx, req, p)
	if err != nil || view == nil || !s.settings().LSP.Hover {
		return nil, err
	}
	result, err := place.explain(ctx, view)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Debug("hover", "error", err)
			return nil, nil
		}
		return nil, err
	}
	if !result.Found {
		return nil, nil
	}
	kind := protocol.PlainText
	if s.caps.hoverMarkdown() {
		kind = protocol.Markdown
	}
	return &protocol.Hover{Contents: protocol.MarkupContent{
		Kind: kind, Value: hoverText(result, kind == protocol.Markdown),
	}}, nil
}

// symbolAt finds the identifier at a position; the view is nil where there is
// none, or nothing is indexed.
func (s *server) symbolAt(ctx context.Context, req *request, p positionParams) (location, View, error) {
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return location{}, nil, ctx.Err()
	}
	at := wire.Position(p.Position)
	place, err := s.locate(ctx, req, view, wire.Document{URI: p.TextDocument.URI, Range: &wire.Range{Start: at, End: at}})
	if err != nil {
		s.log.Debug("hover", "error", err)
		return location{}, nil, nil
	}
	if place.identifier() == "" {
		return location{}, nil, nil
	}
	return place, view, nil
}

func hoverText(r wire.ExplainResult, markdown bool) string {
	w := &writer{markdown: markdown}
	language := ""
	if len(r.Definitions) > 0 {
		language = r.Definitions[0].Language
	}
	signature := r.Signature
	if signature == "" {
		signature = r.Symbol
	}
	w.code(language, clip(signature, 500))
	if r.Summary != "" {
		w.WriteString("\n")
		w.text(r.Summary, 400)
		w.WriteString("\n")
	}
	lines := 0
	line := func(format string, args ...any) {
		if lines++; lines == 1 {
			w.WriteString("\n")
		} else if markdown {
			w.WriteString("  \n") // a line break
		} else {
			w.WriteString("\n")
		}
		fmt.Fprintf(w, format, args...)
	}
	if len(r.Definitions) > 0 {
		kind := r.Kind
		if kind == "" {
			kind = "symbol"
		}
		line("%s defined in ", escaped(kind, markdown))
		w.citations(r.Definitions, hoverDefinitions)
	}
	switch {
	case r.UsageCount == 1:
		line("used in 1 line")
	case r.UsageCount > 1:
		line("used in %d lines", r.UsageCount)
	default:
		line("not used elsewhere")
	}
	if len(r.Usages) > 0 {
		w.WriteString(": ")
		w.citations(r.Usages, hoverCallers)
	}
	if len(r.Tests) > 0 {
		line("tested in ")
		w.citations(r.Tests, hoverTests)
	}
	if r.Coverage.Pending > 0 {
		line("(%d of %d files indexed so far)", r.Coverage.Indexed, r.Coverage.Total)
	}
	return w.String()
}

func escaped(s string, markdown bool) string {
	if markdown {
		return escapeMarkdown(s)
	}
	return s
}

// citations writes the first n citations and how many more there are.
func (w *writer) citations(all []wire.Citation, n int) {
	for i, c := range all[:min(n, len(all))] {
		if i > 0 {
			w.WriteString(", ")
		}
		w.cite(c)
	}
	if more := len(all) - n; more > 0 {
		fmt.Fprintf(w, " and %d more", more)
	}
}
