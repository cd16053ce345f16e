package lsp

import (
	"context"
	"encoding/json"
	"fmt"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// diagnosticSource is who says what the diagnostics say.
const diagnosticSource = "coderag"

// The codes of diagnostics; they never change.
const (
	// DiagnosticMoved is the code of "the cited lines stand elsewhere".
	DiagnosticMoved = "citation-moved"
	// DiagnosticChanged is the code of "the cited lines were changed".
	DiagnosticChanged = "citation-changed"
	// DiagnosticGone is the code of "the cited file is gone".
	DiagnosticGone = "citation-gone"
	// DiagnosticUnknown is the code of "the path names no file of the
	// workspace".
	DiagnosticUnknown = "citation-unknown"
)

// diagnostic is LSP's. The library's sends fields that not every client takes.
type diagnostic struct {
	Range              protocol.Range              `json:"range"`
	Severity           protocol.DiagnosticSeverity `json:"severity"`
	Code               string                      `json:"code"`
	Source             string                      `json:"source"`
	Message            string                      `json:"message"`
	RelatedInformation []relatedInformation        `json:"relatedInformation,omitempty"`
	Data               *diagnosticData             `json:"data,omitempty"`
}

type relatedInformation struct {
	Location struct {
		URI   string     `json:"uri"`
		Range wire.Range `json:"range"`
	} `json:"location"`
	Message string `json:"message"`
}

// diagnosticData tells an editor's plugin what the message says in words.
type diagnosticData struct {
	// Citation is what the line cites, Now where that stands, both
	// "path:start-end".
	Citation string `json:"citation"`
	Now      string `json:"now,omitempty"`
}

type publishDiagnosticsParams struct {
	URI         string       `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// driftDiagnostics words what became of a document's citations; nothing is said
// of those that hold. It is never nil.
func (s *server) driftDiagnostics(doc *document, found []wire.CheckedCitation) []diagnostic {
	all := []diagnostic{}
	for _, c := range found {
		code, message := driftMessage(c)
		placed, ok := snippet.At(doc.text, c.Line)
		if code == "" || !ok {
			continue
		}
		start, end := placed.Span(doc.text)
		one := diagnostic{
			Range: s.protocolRange(doc.text, start, end), Severity: protocol.DiagnosticSeverityInformation,
			Code: code, Source: diagnosticSource, Message: message,
		}
		if s.caps.diagnosticData() {
			one.Data = &diagnosticData{Citation: fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine)}
			if c.Now != nil {
				one.Data.Now = citationID(*c.Now)
			}
		}
		if s.caps.relatedInformation() {
			one.RelatedInformation = driftPlace(c)
		}
		all = append(all, one)
	}
	return all
}

// driftMessage returns the code and the words for a citation; "" for one that
// holds.
func driftMessage(c wire.CheckedCitation) (code, message string) {
	switch c.State {
	case wire.CitationMoved:
		return DiagnosticMoved, "the cited lines have moved to " + citationID(*c.Now)
	case wire.CitationChanged:
		return DiagnosticChanged, "the cited lines have changed"
	case wire.CitationGone:
		return DiagnosticGone, fmt.Sprintf("the cited source is gone: %s", c.Path)
	case wire.CitationUnknown:
		return DiagnosticUnknown, fmt.Sprintf("unknown path: %s is no file that is indexed in this workspace", clip(c.Path, 200))
	}
	return "", ""
}

// driftPlace points to the source.
func driftPlace(c wire.CheckedCitation) []relatedInformation {
	var one relatedInformation
	switch c.State {
	case wire.CitationMoved:
		one.Location.URI, one.Location.Range = c.Now.URI, c.Now.Range
		one.Message = "the cited lines stand here"
	case wire.CitationChanged:
		one.Location.URI, one.Location.Range = c.URI, wireLines(c.StartLine, c.EndLine)
		one.Message = "the cited lines stood here"
	default:
		return nil
	}
	return []relatedInformation{one}
}

type diagnosticParams struct {
	TextDocument     textDocumentIdentifier `json:"textDocument"`
	PreviousResultID string                 `json:"previousResultId"`
}

// diagnosticReport is LSP 3.17's, of either kind.
type diagnosticReport struct {
	Kind     string        `json:"kind"` // full, unchanged
	ResultID string        `json:"resultId"`
	Items    *[]diagnostic `json:"items,omitempty"` // of a full one
}

// diagnostic answers a client that asks for diagnostics (LSP 3.17).
func (s *server) diagnostic(ctx context.Context, req *request, p diagnosticParams) (*diagnosticReport, error) {
	items := []diagnostic{}
	doc := req.docs.get(p.TextDocument.URI)
	if doc != nil && s.mayDrift(doc) {
		view, err := s.manager.viewFor(ctx, req)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // without an index nothing is known
		default:
			found, err := view.Citations(ctx, wire.CitationsParams{URI: doc.uri, Text: doc.text.Content()})
			if err != nil {
				return nil, err
			}
			items = s.driftDiagnostics(doc, found.Citations)
		}
	}
	encoded := ""
	if len(items) > 0 {
		data, err := json.Marshal(items)
		if err != nil {
			return nil, err
		}
		encoded = string(data)
	}
	if doc != nil {
		s.drift.answered(doc, encoded)
	}
	id := text.HexHash(encoded)[:16]
	if id == p.PreviousResultID {
		return &diagnosticReport{Kind: "unchanged", ResultID: id}, nil
	}
	return &diagnosticReport{Kind: "full", ResultID: id, Items: &items}, nil
}

// answered notes what a client was told that asked for diagnostics.
func (d *drift) answered(doc *document, encoded string) {
	d.mu.Lock()
	d.pulled[doc.uri] = pulled{doc, encoded}
	d.mu.Unlock()
	if d.s.manager.document(doc.uri) == nil {
		signal(d.wake) // closed meanwhile: to be forgotten
	}
}
