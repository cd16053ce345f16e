package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

const (
	// FixAllKind is the kind of the action that mends all citations of a file.
	// Editors that run it on their own, such as when a file is saved, have
	// numbers of lines put right by it and nothing else.
	FixAllKind protocol.CodeActionKind = "source.fixAll.coderag"
	// maxMended is how many citations of a selection are offered to be mended.
	maxMended = 20
)

// The ways to mend a citation.
const (
	// MendRange cites the same lines where they stand now.
	MendRange = "range"
	// MendSnippet cites the lines that stand in place of the cited ones, and
	// puts them in place of the pasted ones.
	MendSnippet = "snippet"
	// MendCitation cites the lines that stand in place of the cited ones, and
	// leaves the pasted ones as they are.
	MendCitation = "citation"
	// MendUnlink removes the citation and leaves the pasted lines.
	MendUnlink = "unlink"
	// MendAll mends all citations of the document: ranges where lines have
	// moved; where they have changed, snippets that nobody has edited, and else
	// the citations alone. Where the source is gone nothing is done.
	MendAll = "all"
	// mendMoved is MendAll for moved lines only.
	mendMoved = "moved"
)

// MendParams are those of the mend command.
type MendParams struct {
	// Document is the one with the citation, which stands on the line where the
	// range starts.
	Document wire.Document `json:"document"`
	// Mend is one of the ways to mend a citation.
	Mend string `json:"mend"`
}

// mendData is what an action that mends is resolved from.
type mendData struct {
	URI     string `json:"uri"`
	Version int32  `json:"version"`
	Line    int    `json:"line"` // 1-based
	Mend    string `json:"mend"`
}

// mendAction is LSP's CodeAction with the diagnostics as the client sent them.
type mendAction struct {
	Title       string                  `json:"title"`
	Kind        protocol.CodeActionKind `json:"kind"`
	Diagnostics []json.RawMessage       `json:"diagnostics,omitempty"`
	IsPreferred bool                    `json:"isPreferred,omitempty"`
	Edit        *protocol.WorkspaceEdit `json:"edit,omitempty"`
	Data        *mendData               `json:"data,omitempty"`
}

// mendActions offers to mend the citations that a range touches, and all of the
// document.
func (s *server) mendActions(ctx context.Context, req *request, doc *document, p codeActionParams) ([]any, error) {
	fixes, all := wantsKind(p.Context.Only, string(protocol.QuickFix)), wantsKind(p.Context.Only, string(FixAllKind))
	if !fixes && !all || !s.mayDrift(doc) {
		return nil, nil
	}
	first, last, err := s.lines(doc, p.Range)
	if err != nil {
		return nil, err
	}
	var touched []snippet.Placed
	for _, placed := range snippet.All(doc.text) {
		if placed.Line >= first && placed.Line <= last && len(touched) < maxMended {
			touched = append(touched, placed)
		}
	}
	asked := len(p.Context.Only) > 0
	if len(touched) == 0 && (!all || !asked) {
		return nil, nil
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, ctx.Err()
	}
	var actions []any
	adrift := 0
	for _, placed := range touched {
		found, err := view.Citations(ctx, wire.CitationsParams{URI: doc.uri, Text: doc.text.Content(), Line: placed.Line, Instead: true})
		if err != nil {
			return nil, err
		}
		for _, c := range found.Citations {
			if c.State != wire.CitationExact {
				adrift++
			}
			if fixes {
				actions = append(actions, s.mendsOf(doc, c, p)...)
			}
		}
	}
	if !all || !asked && adrift == 0 {
		return actions, nil
	}
	way := MendAll
	if p.Context.TriggerKind == automatic {
		way = mendMoved
	}
	edits, err := s.mendAll(ctx, view, doc, way)
	if err != nil {
		return nil, err
	}
	if len(edits) > 0 && (asked || len(edits) > 1) {
		actions = append(actions, s.mendAction(doc, mendData{doc.uri, doc.version, 0, way}, "Update all citations in this file", FixAllKind, edits))
	}
	return actions, nil
}

// lines are the 1-based lines that a range touches.
func (s *server) lines(doc *document, r text.Range) (first, last int, err error) {
	start, err := doc.text.Offset(r.Start, s.enc)
	if err != nil {
		return 0, 0, jsonrpc.Errorf(jsonrpc.InvalidParams, "range: %v", err)
	}
	end, err := doc.text.Offset(r.End, s.enc)
	if err != nil || end < start {
		return 0, 0, jsonrpc.Errorf(jsonrpc.InvalidParams, "range: the end is outside the text or before the start")
	}
	return doc.text.LineAt(start), doc.text.LineAt(end), nil
}

// mendsOf offers the ways to mend one citation.
func (s *server) mendsOf(doc *document, c wire.CheckedCitation, p codeActionParams) []any {
	var ways []string
	switch c.State {
	case wire.CitationMoved:
		ways = []string{MendRange}
	case wire.CitationChanged:
		ways = []string{MendSnippet, MendCitation, MendUnlink}
	case wire.CitationGone, wire.CitationUnknown:
		ways = []string{MendUnlink}
	}
	var actions []any
	for _, way := range ways {
		edit, err := mendOne(doc, c, way)
		if err != nil {
			s.log.Debug("code action", "mend", way, "error", err)
			continue
		}
		action := s.mendAction(doc, mendData{doc.uri, doc.version, c.Line, way}, mendTitle(c, way), protocol.QuickFix, []snippet.Insertion{edit})
		if a, ok := action.(*mendAction); ok {
			a.Diagnostics = diagnosticsOf(p.Context.Diagnostics, c.Line)
			a.IsPreferred = way == MendRange && s.caps.preferredActions()
		}
		actions = append(actions, action)
	}
	return actions
}

func mendTitle(c wire.CheckedCitation, way string) string {
	switch way {
	case MendRange:
		return "Update range: " + citationID(*c.Now)
	case MendSnippet:
		return "Update snippet: " + citationID(*c.Now)
	case MendCitation:
		return "Update citation only: " + citationID(*c.Now)
	}
	return "Unlink citation"
}

// diagnosticsOf picks those of ours, of the ones that the client has, that start
// on a line.
func diagnosticsOf(all []json.RawMessage, line int) []json.RawMessage {
	var ours []json.RawMessage
	for _, raw := range all {
		var one struct {
			Source string     `json:"source"`
			Range  text.Range `json:"range"`
		}
		if json.Unmarshal(raw, &one) == nil && one.Source == diagnosticSource && one.Range.Start.Line == line-1 {
			ours = append(ours, raw)
		}
	}
	return ours
}

// mendAction makes an action as the client takes it: with the edit, or to be
// resolved, or as a command.
func (s *server) mendAction(doc *document, data mendData, title string, kind protocol.CodeActionKind, edits []snippet.Insertion) any {
	if !s.caps.actionLiterals() {
		return protocol.Command{Title: title, Command: CommandMend, Arguments: []any{MendParams{
			Document: wire.Document{URI: doc.uri, Range: lineRange(data.Line)}, Mend: data.Mend,
		}}}
	}
	action := &mendAction{Title: title, Kind: kind}
	if s.caps.actionResolve() {
		action.Data = &data
	} else {
		action.Edit = s.workspaceEdit(doc, edits)
	}
	return action
}

// mendOne makes the edit that mends one citation.
func mendOne(doc *document, c wire.CheckedCitation, way string) (snippet.Insertion, error) {
	placed, ok := snippet.At(doc.text, c.Line)
	if !ok {
		return snippet.Insertion{}, fmt.Errorf("line %d is no citation", c.Line)
	}
	cannot := fmt.Errorf("the cited lines are %s: that cannot be mended so (%s)", c.State, way)
	switch {
	case way == MendUnlink:
		return snippet.Unlink(doc.text, placed), nil
	case c.Now == nil, way == MendRange && c.State != wire.CitationMoved, way != MendRange && c.State != wire.CitationChanged:
		return snippet.Insertion{}, cannot
	case way == MendRange, way == MendCitation:
		return snippet.Recite(doc.text, placed, c.Now.Path, c.Now.StartLine, c.Now.EndLine, c.Now.SHA256)
	case way == MendSnippet:
		pasted := snippet.Below(doc.text, placed, c.Was)
		lines := strings.Split(c.Now.Text+"\n"+c.Was, "\n")
		if len(pasted.Lines) == 0 || !pasted.Like(lines) {
			return snippet.Insertion{}, fmt.Errorf("below line %d stands nothing that was pasted with its citation", c.Line)
		}
		target := snippet.Target{Document: doc.text, Language: doc.linguistName(), Line: c.Line}
		return snippet.Repaste(target, placed, pasted.Within(lines), *c.Now)
	}
	return snippet.Insertion{}, cannot
}

// mendAll makes the edits that mend all citations of a document.
func (s *server) mendAll(ctx context.Context, view View, doc *document, way string) ([]snippet.Insertion, error) {
	found, err := view.Citations(ctx, wire.CitationsParams{URI: doc.uri, Text: doc.text.Content(), Instead: way == MendAll})
	if err != nil {
		return nil, err
	}
	var edits []snippet.Insertion
	behind := 0 // edits must not overlap
	for _, c := range found.Citations {
		var edit snippet.Insertion
		var err error
		switch {
		case c.State == wire.CitationMoved:
			edit, err = mendOne(doc, c, MendRange)
		case c.State == wire.CitationChanged && way == MendAll:
			placed, _ := snippet.At(doc.text, c.Line)
			one := MendCitation
			if snippet.Below(doc.text, placed, c.Was).Was != "" {
				one = MendSnippet
			}
			edit, err = mendOne(doc, c, one)
		default:
			continue
		}
		if err != nil || edit.Start < behind {
			s.log.Debug("mending all citations", "line", c.Line, "error", err)
			continue
		}
		edits, behind = append(edits, edit), edit.End
	}
	return edits, nil
}

// mends makes the edits of a way to mend.
func (s *server) mends(ctx context.Context, view View, doc *document, line int, way string) ([]snippet.Insertion, error) {
	if way == MendAll || way == mendMoved {
		return s.mendAll(ctx, view, doc, way)
	}
	found, err := view.Citations(ctx, wire.CitationsParams{URI: doc.uri, Text: doc.text.Content(), Line: line, Instead: true})
	if err != nil {
		return nil, err
	}
	if len(found.Citations) != 1 {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "line %d is no citation", line)
	}
	edit, err := mendOne(doc, found.Citations[0], way)
	if err != nil {
		return nil, err
	}
	return []snippet.Insertion{edit}, nil
}

// resolveMend makes the edit of an action that was chosen.
func (s *server) resolveMend(ctx context.Context, req *request, action mendAction) (*mendAction, error) {
	data := action.Data
	doc := req.docs.get(data.URI)
	if doc == nil || doc.version != data.Version {
		return nil, jsonrpc.NewError(protocol.CodeContentModified, "the document was changed after the action was offered: ask for the actions again")
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	edits, err := s.mends(ctx, view, doc, data.Line, data.Mend)
	if err != nil {
		return nil, err
	}
	action.Edit = s.workspaceEdit(doc, edits)
	return &action, nil
}

// mend mends citations of an open document, through the client.
func (s *server) mend(ctx context.Context, req *request, p MendParams) (*InsertResult, error) {
	if !s.caps.applyEdit() {
		return nil, jsonrpc.NewError(jsonrpc.RequestFailed, "the editor does not take edits from the server (workspace/applyEdit)")
	}
	doc := req.docs.get(p.Document.URI)
	if doc == nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "document %.200q is not open", p.Document.URI)
	}
	line := 0
	if p.Document.Range != nil {
		line = p.Document.Range.Start.Line + 1
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	edits, err := s.mends(ctx, view, doc, line, p.Mend)
	if err != nil {
		return nil, err
	}
	if len(edits) == 0 {
		return &InsertResult{FailureReason: "there is nothing to mend"}, nil
	}
	return s.applyEdit(ctx, "Update citations", *s.workspaceEdit(doc, edits))
}
