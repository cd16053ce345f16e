package lsptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
)

// running is a request without an answer yet.
type running struct {
	pending *Pending
	render  func(json.RawMessage) (string, error)
}

// start sends a request and does not wait.
func (s *session) start(args []string) error {
	c := command{verb: args[1], args: args[2:]}
	method, params, render := s.request(c)
	if method == "" {
		return fmt.Errorf("%s cannot be started", c.verb)
	}
	s.noteAll()
	s.running[args[0]] = &running{s.e.Send(method, params), render}
	return nil
}

// finish waits for the answer of a request.
func (s *session) finish(name string) (string, error) {
	r := s.running[name]
	if r == nil {
		return "", inapplicable("no request %s", name)
	}
	delete(s.running, name)
	defer func() {
		if len(s.running) == 0 {
			clear(s.texts)
		}
	}()
	return answered(r.pending, r.render)
}

// answered waits for an answer; an error of the protocol is one, too.
func answered(p *Pending, render func(json.RawMessage) (string, error)) (string, error) {
	var raw json.RawMessage
	err := p.Wait(&raw)
	if refused := (*Error)(nil); errors.As(err, &refused) {
		return fmt.Sprintf("error %d: %s\n", refused.Code, refused.Message), nil
	}
	if err != nil {
		return "", err
	}
	return render(raw)
}

// as decodes a result for what renders it.
func as[R any](render func(R, *bytes.Buffer) error) func(json.RawMessage) (string, error) {
	return func(raw json.RawMessage) (string, error) {
		var r R
		if err := json.Unmarshal(raw, &r); err != nil {
			return "", err
		}
		var out bytes.Buffer
		err := render(r, &out)
		return out.String(), err
	}
}

// request is what a query of the server's own methods sends, and how its answer
// is written down; method is "" for other commands.
func (s *session) request(c command) (method string, params any, render func(json.RawMessage) (string, error)) {
	arg := ""
	if len(c.args) > 0 {
		arg = c.args[0]
	}
	switch c.verb {
	case "ask", "search", "context":
		if !slices.Contains(s.asked, arg) {
			s.asked = append(s.asked, arg)
		}
	}
	switch c.verb {
	case "sync":
		var p wire.SyncParams
		for _, a := range c.args {
			p.Scan, p.Vectors = p.Scan || a == "scan", p.Vectors || a == "vectors"
		}
		return lsp.MethodSync, p, as(func(r wire.SyncResult, out *bytes.Buffer) error {
			s.untold = s.untold && !p.Scan
			fmt.Fprintf(out, "%d of %d files, %d pending\n", r.Coverage.Indexed, r.Coverage.Total, r.Coverage.Pending)
			return nil
		})
	case "ask":
		return lsp.MethodAsk, wire.SearchParams{Query: arg}, as(func(r wire.AskResult, out *bytes.Buffer) error {
			fmt.Fprintf(out, "%s\n--\n", strings.TrimRight(r.Answer, "\n"))
			return s.citations(r.Citations, out)
		})
	case "context":
		return lsp.MethodContext, wire.SearchParams{Query: arg}, as(func(r wire.ContextResult, out *bytes.Buffer) error {
			return s.citations(r.Primary, out)
		})
	case "search":
		return lsp.MethodSearch, wire.SearchParams{Query: arg}, as(func(r wire.SearchResult, out *bytes.Buffer) error {
			for _, h := range r.Hits {
				if err := s.stands(h.URI, h.StartLine, h.EndLine, h.Text); err != nil {
					return fmt.Errorf("the hit %s: %w", h.Path, err)
				}
				fmt.Fprintf(out, "%s:%d-%d %s\n", h.Path, h.StartLine, h.EndLine, h.Symbol)
			}
			return nil
		})
	case "status":
		return lsp.MethodStatus, nil, as(func(r wire.Status, out *bytes.Buffer) error {
			fmt.Fprintf(out, "%d of %d files, %d chunks\n", r.Coverage.Indexed, r.Coverage.Total, r.Chunks)
			for _, f := range r.SkippedFiles {
				fmt.Fprintf(out, "skipped %s: %s\n", f.Path, f.Reason)
			}
			return nil
		})
	}
	return "", nil, nil
}

// citations checks citations and writes them down.
func (s *session) citations(all []wire.Citation, out *bytes.Buffer) error {
	for _, c := range all {
		if err := s.checkCitation(c); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s:%d-%d %s %s\n", c.Path, c.StartLine, c.EndLine, c.Symbol, c.Verified)
	}
	return nil
}

// query sends a request and writes down what came back.
func (s *session) query(c command) (string, error) { return s.queryOf(s.e, c) }

// queryOf is query of an editor with the same texts.
func (s *session) queryOf(e *Editor, c command) (string, error) {
	if method, params, render := s.request(c); method != "" {
		return answered(e.Send(method, params), render)
	}
	var out bytes.Buffer
	switch c.verb {
	case "finish":
		return s.finish(c.args[0])
	case "embedded":
		var r wire.Status
		if err := e.Call(lsp.MethodStatus, nil, &r); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "embedded %d\n", r.Counters.Embedded-s.embedded)
		s.embedded = r.Counters.Embedded
		return out.String(), nil
	case "messages":
		for _, raw := range e.Received("window/showMessage") {
			var p struct{ Message string }
			if err := json.Unmarshal(raw, &p); err != nil {
				return "", err
			}
			fmt.Fprintln(&out, p.Message)
		}
		return out.String(), nil
	}
	return s.ofDocument(e, c)
}

// ofDocument asks about an open document, or one on disk.
func (s *session) ofDocument(e *Editor, c command) (string, error) {
	path := s.path(c.args[0])
	document := map[string]any{"textDocument": map[string]any{"uri": URI(path)}}
	var out bytes.Buffer
	var at text.Position
	switch c.verb {
	case "explain", "hover", "action", "insert":
		content, open := e.content(path)
		i := strings.Index(content, c.args[1])
		if !open || i < 0 {
			return "", inapplicable("%s is not open or does not hold %q", c.args[0], c.args[1])
		}
		at = positionAt(content, i, e.Encoding)
	}
	here := wire.Range{Start: wire.Position(at), End: wire.Position(at)}
	switch c.verb {
	case "explain":
		var r wire.ExplainResult
		if err := e.Call(lsp.MethodExplain, wire.RangeParams{Document: wire.Document{URI: URI(path), Range: &here}}, &r); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s\n", r.Markdown)
		for _, all := range [][]wire.Citation{r.Definitions, r.Usages, r.Tests} {
			for _, c := range all {
				if err := s.checkCitation(c); err != nil {
					return "", err
				}
			}
		}
	case "hover":
		document["position"] = at
		var r *struct{ Contents struct{ Value string } }
		if err := e.Call("textDocument/hover", document, &r); err != nil {
			return "", err
		}
		if r != nil {
			out.WriteString(r.Contents.Value)
		}
	case "links":
		var links []map[string]any
		if err := e.Call("textDocument/documentLink", document, &links); err != nil {
			return "", err
		}
		for _, link := range links {
			var resolved struct{ Target string }
			if err := e.Call("documentLink/resolve", link, &resolved); err != nil {
				return "", err
			}
			fmt.Fprintln(&out, resolved.Target)
		}
	case "lens":
		var lenses []struct {
			Range   text.Range
			Command struct{ Title string }
		}
		if err := e.Call("textDocument/codeLens", document, &lenses); err != nil {
			return "", err
		}
		for _, l := range lenses {
			fmt.Fprintf(&out, "%d: %s\n", l.Range.Start.Line+1, l.Command.Title)
		}
	case "diagnostics":
		for _, d := range e.Diagnostics(path) {
			fmt.Fprintf(&out, "%d:%d-%d %s: %s\n", d.Range.Start.Line+1, d.Range.Start.Character+1, d.Range.End.Character+1, d.Code, d.Message)
		}
	case "action":
		return s.action(path, at, c.args)
	case "fixall":
		return s.fixAll(path)
	case "insert":
		p := lsp.InsertParams{Document: wire.Document{URI: URI(path), Range: &here}, Citation: c.args[2]}
		var r lsp.InsertResult
		if err := e.Call("workspace/executeCommand", map[string]any{"command": lsp.CommandInsert, "arguments": []any{p}}, &r); err != nil {
			return "", err
		}
		if !r.Applied {
			return "", fmt.Errorf("not applied: %s", r.FailureReason)
		}
		return e.Text(path), nil
	case "show":
		content, open := e.content(path)
		if !open {
			return "", inapplicable("%s is not open", c.args[0])
		}
		return content, nil
	}
	return out.String(), nil
}

// action lists the actions at a place, and applies one.
func (s *session) action(path string, at text.Position, args []string) (string, error) {
	var actions []json.RawMessage
	err := s.e.Call("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": URI(path)}, "range": text.Range{Start: at, End: at}, "context": map[string]any{"diagnostics": []any{}},
	}, &actions)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for i, raw := range actions {
		var action struct{ Title string }
		if err := json.Unmarshal(raw, &action); err != nil {
			return "", err
		}
		if len(args) < 3 {
			fmt.Fprintln(&out, action.Title)
			continue
		}
		if strconv.Itoa(i+1) != args[2] {
			continue
		}
		if err := s.choose(raw); err != nil {
			return "", err
		}
		return s.e.Text(path), nil
	}
	if len(args) == 3 {
		return "", fmt.Errorf("there are %d actions", len(actions))
	}
	return out.String(), nil
}
