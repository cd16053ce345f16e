package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

const (
	// actionHits is how many hits of a query are offered.
	actionHits = 3
	// actionTime is how long a light bulb may wait for a query.
	actionTime = time.Second
	// maxActionQuery is the most bytes of a selection or comment that are
	// searched for.
	maxActionQuery = 400
)

// automatic is CodeActionTriggerKind.Automatic of LSP 3.17: the editor looks
// for actions while the user moves, nothing was asked for.
const automatic = 2

type codeActionParams struct {
	TextDocument textDocumentIdentifier `json:"textDocument"`
	Range        text.Range             `json:"range"`
	Context      struct {
		Diagnostics []json.RawMessage `json:"diagnostics"`
		Only        []string          `json:"only"`
		TriggerKind int               `json:"triggerKind"`
	} `json:"context"`
}

// actionData is what an action is resolved from.
type actionData struct {
	URI     string `json:"uri"`
	Version int32  `json:"version"`
	Line    int    `json:"line"` // 1-based, below which the snippet goes
	// Citation is what is inserted; where it is nil, Query's best hit is.
	Citation *wire.Citation `json:"citation,omitempty"`
	Query    string         `json:"query,omitempty"`
}

// codeAction offers to mend citations that no longer hold, and to insert cited
// snippets.
func (s *server) codeAction(ctx context.Context, req *request, p codeActionParams) ([]any, error) {
	doc := req.docs.get(p.TextDocument.URI)
	if doc == nil {
		return []any{}, nil
	}
	mends, err := s.mendActions(ctx, req, doc, p)
	if err != nil {
		return nil, err
	}
	inserts, err := s.insertActions(ctx, req, doc, p)
	return append(mends, inserts...), err
}

// insertActions offers to insert cited snippets: what the last answer cited, and
// what a search for the selection, or for the comment under the cursor, finds.
func (s *server) insertActions(ctx context.Context, req *request, doc *document, p codeActionParams) ([]any, error) {
	actions := []any{}
	if !wantsKind(p.Context.Only, string(ActionKind)) {
		return actions, nil
	}
	if _, err := snippet.Line(doc.linguistName(), "a", 1, 1, text.HexHash("")); err != nil {
		return actions, nil // a language without comments
	}
	start, err := doc.text.Offset(p.Range.Start, s.enc)
	if err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "range: %v", err)
	}
	end, err := doc.text.Offset(p.Range.End, s.enc)
	if err != nil || end < start {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "range: the end is outside the text or before the start")
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil || !s.settings().LSP.CodeActions {
		return actions, ctx.Err()
	}
	query, line := actionQuery(doc, start, end)
	data := actionData{URI: doc.uri, Version: doc.version, Line: line}

	var citations []wire.Citation
	lazy := ""
	switch {
	case query == "":
	case p.Context.TriggerKind != automatic:
		citations = s.actionHits(ctx, view, doc, query, start, end)
	case s.caps.actionResolve():
		lazy = query
	}
	if p.Context.TriggerKind != automatic || strings.TrimSpace(doc.text.Line(line)) == "" {
		// No light bulb on every line after an answer: on blank ones only.
		citations = append(citations, s.answers.citations()...)
	}
	seen := map[string]bool{}
	for _, c := range citations {
		if seen[citationID(c)] {
			continue
		}
		seen[citationID(c)] = true
		data.Citation = &c
		if action, ok := s.insertAction(ctx, view, doc, insertTitle(c), data); ok {
			actions = append(actions, action)
		}
	}
	if lazy != "" {
		data.Citation, data.Query = nil, lazy
		title := fmt.Sprintf("Insert cited snippet for “%s”", clip(lazy, 50))
		if action, ok := s.insertAction(ctx, view, doc, title, data); ok {
			actions = append(actions, action)
		}
	}
	return actions, ctx.Err()
}

// wantsKind reports whether actions of a kind are among those wanted.
func wantsKind(only []string, ours string) bool {
	for _, kind := range only {
		if kind == "" || kind == ours || strings.HasPrefix(ours, kind+".") {
			return true
		}
	}
	return len(only) == 0
}

func insertTitle(c wire.Citation) string {
	if c.Symbol == "" {
		return "Insert cited snippet: " + citationID(c)
	}
	return fmt.Sprintf("Insert cited snippet: %s (%s)", citationID(c), c.Symbol)
}

// actionQuery returns what to search for at a range, "" where nothing, and the
// 1-based line below which a snippet goes.
func actionQuery(doc *document, start, end int) (query string, line int) {
	selected := doc.text.Content()[start:end]
	line = doc.text.LineAt(end)
	if end == len(doc.text.Content()) && end == doc.text.LineStart(line+1) && end > start {
		line = doc.text.LineAt(max(start, end-1))
	} else if end > start && end == doc.text.LineStart(line) {
		line-- // whole lines are selected
	} else if start == end && end == len(doc.text.Content()) && strings.HasSuffix(doc.text.Content(), "\n") {
		line = doc.text.LineCount() + 1 // the cursor behind the last line
	}
	if strings.TrimSpace(selected) != "" {
		return clip(strings.Join(strings.Fields(selected), " "), maxActionQuery), line
	}
	words, last := commentsOf(doc.linguistName()).at(doc.text, line)
	if words == "" {
		return "", line
	}
	if _, isCitation := snippet.Parse(doc.text.Line(line)); isCitation {
		return "", line
	}
	return clip(words, maxActionQuery), last
}

// actionHits searches for a query and leaves out what it stands in itself.
func (s *server) actionHits(ctx context.Context, view View, doc *document, query string, start, end int) []wire.Citation {
	ctx, cancel := context.WithTimeout(ctx, actionTime)
	defer cancel()
	params := wire.SearchParams{Query: query, TopK: actionHits + 2}
	if doc.path != "" {
		params.Document = &wire.Document{URI: doc.uri}
	}
	result, err := view.Search(ctx, params)
	if err != nil {
		s.log.Debug("searching for a code action", "error", err)
		return nil
	}
	own := ""
	if doc.path != "" {
		own = text.URIFromPath(doc.path)
	}
	first, last := doc.text.LineAt(start), doc.text.LineAt(end)
	var citations []wire.Citation
	for _, hit := range result.Hits {
		if hit.URI == own && hit.StartLine <= last && hit.EndLine >= first {
			continue
		}
		citations = append(citations, citationOf(hit))
		if len(citations) == actionHits {
			break
		}
	}
	return citations
}

// citationOf cites a hit.
func citationOf(h wire.Hit) wire.Citation {
	c := wire.Citation{
		URI: h.URI, Path: h.Path, Root: h.Root, Range: wireLines(h.StartLine, h.EndLine),
		StartLine: h.StartLine, EndLine: h.EndLine, Text: h.Text, SHA256: text.HexHash(h.Text),
		Symbol: h.Symbol, Kind: h.Kind, Language: h.Language, Score: h.Score, Why: h.Why, Verified: wire.VerifiedExact,
	}
	c.ID = citationID(c)
	return c
}

// insertAction makes an action, with its edit where the client cannot ask for
// that later. It is false where the edit cannot be made.
func (s *server) insertAction(ctx context.Context, view View, doc *document, title string, data actionData) (any, bool) {
	if !s.caps.actionLiterals() {
		return protocol.Command{Title: title, Command: CommandInsert, Arguments: []any{InsertParams{
			Document: wire.Document{URI: doc.uri, Range: lineRange(data.Line)},
			Citation: citationID(*data.Citation),
		}}}, true
	}
	action := protocol.CodeAction{Title: title, Kind: ActionKind}
	if s.caps.actionResolve() {
		if data.Citation != nil {
			slim := *data.Citation
			slim.Text, slim.Why = "", nil // it is read again
			data.Citation = &slim
		}
		action.Data = data
		return action, true
	}
	edit, err := s.insertEdit(ctx, view, doc, data.Line, *data.Citation)
	if err != nil {
		s.log.Debug("code action", "error", err)
		return nil, false
	}
	action.Edit = edit
	return action, true
}

// lineRange is the empty range at a 1-based line's start.
func lineRange(line int) *wire.Range {
	at := wire.Position{Line: max(0, line-1)}
	return &wire.Range{Start: at, End: at}
}

// resolveCodeAction makes the edit of the action that was chosen.
func (s *server) resolveCodeAction(ctx context.Context, req *request, raw json.RawMessage) (any, error) {
	if mend, err := decodeParams[mendAction](raw); err == nil && mend.Data != nil && mend.Data.Mend != "" {
		return s.resolveMend(ctx, req, mend)
	}
	action, err := decodeParams[protocol.CodeAction](raw)
	if err != nil {
		return nil, err
	}
	var data actionData
	if err := remarshal(action.Data, &data); err != nil || data.URI == "" || data.Citation == nil && data.Query == "" {
		return nil, jsonrpc.NewError(jsonrpc.InvalidParams, "bad parameters: data is not what textDocument/codeAction returned")
	}
	doc := req.docs.get(data.URI)
	if doc == nil || doc.version != data.Version {
		return nil, jsonrpc.NewError(protocol.CodeContentModified, "the document was changed after the action was offered: ask for the actions again")
	}
	view, err := s.manager.viewFor(ctx, req)
	if err != nil {
		return nil, err
	}
	if data.Citation == nil {
		at := doc.text.LineStart(data.Line)
		hits := s.actionHits(ctx, view, doc, data.Query, at, at)
		if len(hits) == 0 {
			return nil, jsonrpc.Errorf(jsonrpc.RequestFailed, "nothing in the workspace fits “%s”", clip(data.Query, 80))
		}
		data.Citation = &hits[0]
	}
	action.Edit, err = s.insertEdit(ctx, view, doc, data.Line, *data.Citation)
	if err != nil {
		return nil, err
	}
	return &action, nil
}

// insertEdit makes the edit that inserts a citation's lines as they stand now.
// It changes the document and nothing else, in one step.
func (s *server) insertEdit(ctx context.Context, view View, doc *document, line int, c wire.Citation) (*protocol.WorkspaceEdit, error) {
	c, err := verify(ctx, view, c)
	if err != nil {
		return nil, err
	}
	insertion, err := snippet.Edit(snippet.Target{Document: doc.text, Language: doc.linguistName(), Line: line}, c)
	if err != nil {
		return nil, err
	}
	return s.workspaceEdit(doc, []snippet.Insertion{insertion}), nil
}

// workspaceEdit makes edits of one document an edit as the client takes it. All
// of it is undone in one step.
func (s *server) workspaceEdit(doc *document, insertions []snippet.Insertion) *protocol.WorkspaceEdit {
	edits := []protocol.TextEdit{}
	for _, in := range insertions {
		edits = append(edits, protocol.TextEdit{Range: s.protocolRange(doc.text, in.Start, in.End), NewText: in.Text})
	}
	uri := protocol.DocumentURI(doc.uri)
	if !s.caps.documentChanges() {
		return &protocol.WorkspaceEdit{Changes: map[protocol.DocumentURI][]protocol.TextEdit{uri: edits}}
	}
	version := doc.version
	return &protocol.WorkspaceEdit{DocumentChanges: []protocol.TextDocumentEdit{{
		TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: uri}, Version: &version,
		},
		Edits: edits,
	}}}
}

// errGone is wrapped by errors about cited lines that stand nowhere any more.
var errGone = errors.New("the cited lines have changed; ask or search again")

// verify reads a citation's lines again and finds them where they moved to.
func verify(ctx context.Context, view View, c wire.Citation) (wire.Citation, error) {
	abs, ok := view.Resolve(c.Path)
	if !ok {
		return c, fmt.Errorf("%s is no longer in the workspace", c.Path)
	}
	content, ok := view.Text(ctx, abs)
	if !ok {
		return c, fmt.Errorf("%s cannot be read any more", c.Path)
	}
	d := text.New(content)
	start, ok := snippet.Find(d, c.StartLine, c.EndLine, func(sha string) bool { return sha == c.SHA256 })
	if !ok {
		return c, fmt.Errorf("%s: %w", citationID(c), errGone)
	}
	if start != c.StartLine {
		c.StartLine, c.EndLine = start, start+c.EndLine-c.StartLine
		c.ID, c.Verified = citationID(c), wire.VerifiedMoved
		c.Range = wireLines(c.StartLine, c.EndLine)
	}
	c.Text, _ = d.Lines(c.StartLine, c.EndLine)
	return c, nil
}

// wireLines is the range of whole lines.
func wireLines(start, end int) wire.Range {
	r := text.LSPRange(start, end)
	return wire.Range{Start: wire.Position(r.Start), End: wire.Position(r.End)}
}
