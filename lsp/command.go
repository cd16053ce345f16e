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

type executeCommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
	WorkDone
}

// executeCommand runs a command; all but insert are the method of that name.
func (s *server) executeCommand(ctx context.Context, req *request, p executeCommandParams) (any, error) {
	if len(p.Arguments) > 1 {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "%s takes one argument, not %d", p.Command, len(p.Arguments))
	}
	var argument json.RawMessage
	if len(p.Arguments) == 1 {
		argument = p.Arguments[0]
	}
	var word string
	isWord := json.Unmarshal(argument, &word) == nil && len(argument) > 0 && argument[0] == '"'
	if p.Command == CommandInsert {
		return handle(s.insert)(ctx, req, argument)
	}
	if p.Command == CommandMend {
		return handle(s.mend)(ctx, req, argument)
	}
	if p.Command == CommandExplain && isWord {
		return s.explainName(ctx, req, word)
	}
	method, ok := strings.CutPrefix(p.Command, "coderag.server.")
	h := s.requests["coderag/"+method]
	if !ok || h == nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "no such command: %s", p.Command)
	}
	if isWord {
		argument, _ = json.Marshal(wire.SearchParams{Query: word}) // strings always encode
	}
	return h(ctx, req, withToken(argument, p.WorkDoneToken))
}

// withToken adds the command's progress token to the method's parameters.
func withToken(argument json.RawMessage, token Token) json.RawMessage {
	if len(token) == 0 {
		return argument
	}
	params := map[string]json.RawMessage{}
	if len(argument) > 0 && json.Unmarshal(argument, &params) != nil || params == nil {
		return argument // not an object: the method says so
	}
	if params["workDoneToken"] == nil {
		params["workDoneToken"] = token
	}
	with, err := json.Marshal(params)
	if err != nil {
		return argument
	}
	return with
}

func (s *server) explainName(ctx context.Context, req *request, name string) (*ExplainResult, error) {
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	result, err := view.Explain(ctx, name, wire.Document{})
	if err != nil {
		return nil, queryError(err)
	}
	return &result, nil
}

// insert inserts a cited snippet into an open document, through the client.
func (s *server) insert(ctx context.Context, req *request, p InsertParams) (*InsertResult, error) {
	if !s.caps.applyEdit() {
		return nil, jsonrpc.NewError(jsonrpc.RequestFailed, "the editor does not take edits from the server (workspace/applyEdit)")
	}
	doc := req.docs.get(p.Document.URI)
	if doc == nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "document %.200q is not open", p.Document.URI)
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	place, err := s.locate(ctx, req, view, p.Document)
	if err != nil {
		return nil, err
	}
	c, err := s.chooseCitation(ctx, view, doc, p, place)
	if err != nil {
		return nil, err
	}
	_, line := actionQuery(doc, place.start, place.end)
	edit, err := s.insertEdit(ctx, view, doc, line, c)
	if err != nil {
		return nil, err
	}
	result, err := s.applyEdit(ctx, insertTitle(c), *edit)
	if err != nil {
		return nil, err
	}
	result.Citation = citationID(c)
	return result, nil
}

// applyEdit has the client apply an edit.
func (s *server) applyEdit(ctx context.Context, label string, edit protocol.WorkspaceEdit) (*InsertResult, error) {
	var answer struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason"`
	}
	params := protocol.ApplyWorkspaceEditParams{Label: label, Edit: edit}
	if err := s.conn.Call(ctx, "workspace/applyEdit", params, &answer); err != nil {
		return nil, err
	}
	return &InsertResult{Applied: answer.Applied, FailureReason: answer.FailureReason}, nil
}

// chooseCitation finds what is to be inserted.
func (s *server) chooseCitation(ctx context.Context, view View, doc *document, p InsertParams, place location) (wire.Citation, error) {
	last := s.answers.citations()
	switch {
	case p.Citation != "":
		for _, c := range last {
			if citationID(c) == p.Citation {
				return c, nil
			}
		}
		return cite(ctx, view, p.Citation)
	case p.Query != "":
		hits := s.actionHits(ctx, view, doc, clip(p.Query, maxActionQuery), place.start, place.end)
		if len(hits) == 0 {
			return wire.Citation{}, jsonrpc.Errorf(jsonrpc.RequestFailed, "nothing in the workspace fits “%s”", clip(p.Query, 80))
		}
		return hits[0], nil
	case len(last) > 0:
		return last[0], nil
	}
	return wire.Citation{}, jsonrpc.NewError(jsonrpc.InvalidParams, "nothing to insert: give a citation or a query, or ask first")
}

// cite cites lines by name, "path:start-end", as they stand.
func cite(ctx context.Context, view View, id string) (wire.Citation, error) {
	// Borrow the one parser of citations: a citation line is the name and a hash.
	parsed, ok := snippet.Parse(id + " sha256:00000000")
	if !ok {
		return wire.Citation{}, jsonrpc.Errorf(jsonrpc.InvalidParams, "citation %.200q is not path:start-end", id)
	}
	abs, ok := view.Resolve(parsed.Path)
	if !ok {
		return wire.Citation{}, jsonrpc.Errorf(jsonrpc.InvalidParams, "%s is not in the workspace", parsed.Path)
	}
	content, ok := view.Text(ctx, abs)
	if !ok {
		return wire.Citation{}, fmt.Errorf("%s cannot be read", parsed.Path)
	}
	d := text.New(content)
	lines, ok := d.Lines(parsed.StartLine, parsed.EndLine)
	if !ok {
		return wire.Citation{}, jsonrpc.Errorf(jsonrpc.InvalidParams, "%s has %d lines, not lines %d-%d", parsed.Path, d.LineCount(), parsed.StartLine, parsed.EndLine)
	}
	c := wire.Citation{
		ID: id, URI: text.URIFromPath(abs), Path: parsed.Path, Range: wireLines(parsed.StartLine, parsed.EndLine),
		StartLine: parsed.StartLine, EndLine: parsed.EndLine, Text: lines, SHA256: text.HexHash(lines), Verified: wire.VerifiedExact,
	}
	cited := &document{path: abs, text: d}
	c.Language = cited.linguistName()
	return c, nil
}
