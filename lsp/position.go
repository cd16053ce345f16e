package lsp

import (
	"context"
	"unicode"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

// location is a range of a document, found in its text as the client had it
// when it sent the request.
type location struct {
	path       string // absolute, "" where the URI names no file
	text       *text.Document
	start, end int           // bytes; the whole text where no range was given
	document   wire.Document // with the range in UTF-16, as the engine takes it
}

// selection is the text of the range.
func (l location) selection() string { return l.text.Content()[l.start:l.end] }

// identifier is the identifier that the range's start touches, "" where there
// is none.
func (l location) identifier() string {
	content := l.text.Content()
	start, end := l.start, l.start
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(content[:start])
		if !isIdentifier(r) {
			break
		}
		start -= size
	}
	for end < len(content) {
		r, size := utf8.DecodeRuneInString(content[end:])
		if !isIdentifier(r) {
			break
		}
		end += size
	}
	word := content[start:end]
	if r, _ := utf8.DecodeRuneInString(word); word == "" || unicode.IsDigit(r) {
		return ""
	}
	return word
}

func isIdentifier(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// explain explains the symbol at the location's start, as the workspace defines
// it nearest to there.
func (l location) explain(ctx context.Context, view View) (wire.ExplainResult, error) {
	name := l.identifier()
	if name == "" {
		return wire.ExplainResult{Definitions: []wire.Citation{}, Usages: []wire.Citation{}, Tests: []wire.Citation{}}, nil
	}
	return view.Explain(ctx, name, l.document)
}

// textOf returns a document's text: the editor's, else the workspace's. Where
// the editor's is not known, a file's is the disk's.
func textOf(ctx context.Context, req *request, view View, uri string) (*text.Document, bool) {
	if doc := req.docs.get(uri); doc != nil {
		return doc.text, true
	}
	path := filePath(uri)
	if path == "" || view == nil {
		return nil, false
	}
	content, ok := view.Text(ctx, path)
	if !ok {
		return nil, false
	}
	return text.New(content), true
}

// locate finds a document's range. The error is one of the parameters.
func (s *server) locate(ctx context.Context, req *request, view View, d wire.Document) (location, error) {
	doc, ok := textOf(ctx, req, view, d.URI)
	if !ok {
		return location{}, jsonrpc.Errorf(jsonrpc.InvalidParams, "document %.200q is neither open nor in the workspace", d.URI)
	}
	l := location{path: filePath(d.URI), text: doc, end: len(doc.Content()), document: wire.Document{URI: d.URI}}
	if d.Range == nil {
		return l, nil
	}
	var err error
	if l.start, err = doc.Offset(text.Position(d.Range.Start), s.enc); err == nil {
		l.end, err = doc.Offset(text.Position(d.Range.End), s.enc)
	}
	if err != nil {
		return l, jsonrpc.Errorf(jsonrpc.InvalidParams, "document.range: %v", err)
	}
	if l.end < l.start {
		return l, jsonrpc.Errorf(jsonrpc.InvalidParams, "document.range ends before it starts")
	}
	l.document.Range = &wire.Range{
		Start: wire.Position(doc.PositionAt(l.start, text.UTF16)),
		End:   wire.Position(doc.PositionAt(l.end, text.UTF16)),
	}
	return l, nil
}

// optionalDocument converts the document that a question comes from. One that
// is no file, or not known, says nothing about where to look and is left out.
func (s *server) optionalDocument(ctx context.Context, req *request, view View, d *wire.Document) (*wire.Document, error) {
	if d == nil || filePath(d.URI) == "" {
		return nil, nil
	}
	if _, ok := textOf(ctx, req, view, d.URI); !ok {
		return &wire.Document{URI: d.URI}, nil
	}
	l, err := s.locate(ctx, req, view, *d)
	if err != nil {
		return nil, err
	}
	return &l.document, nil
}

// protocolRange is a range of bytes as the client counts.
func (s *server) protocolRange(doc *text.Document, start, end int) protocol.Range {
	return protocol.Range{Start: s.protocolPosition(doc, start), End: s.protocolPosition(doc, end)}
}

func (s *server) protocolPosition(doc *text.Document, offset int) protocol.Position {
	p := doc.PositionAt(offset, s.enc)
	return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Character)}
}
