package lsp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// progressOf returns the values sent for a token, which is JSON.
func progressOf(t *testing.T, e *lsptest.Editor, token string) []json.RawMessage {
	t.Helper()
	var values []json.RawMessage
	for _, p := range e.Received("$/progress") {
		var progress struct{ Token, Value json.RawMessage }
		if err := json.Unmarshal(p, &progress); err != nil {
			t.Fatal(err)
		}
		if string(progress.Token) == token {
			values = append(values, progress.Value)
		}
	}
	return values
}

// An answer streams as it is made, and still comes as a whole.
func TestPartialResults(t *testing.T) {
	dir := folder(t, "a.go", "needle <1> & more\nneedle 2\n")
	for _, token := range []string{`"p"`, `7`, `123456789012`} {
		e, _ := start(t, lsptest.VSCode, dir)
		p := ask("needle")
		p.PartialResultToken = json.RawMessage(token)
		var result wire.AskResult
		e.MustCall(lsp.MethodAsk, p, &result)
		text := ""
		var ids []string
		for _, value := range progressOf(t, e, token) {
			var part lsp.Partial
			if err := json.Unmarshal(value, &part); err != nil {
				t.Fatal(err)
			}
			switch part.Kind {
			case lsp.PartialText:
				text += part.Text
			case lsp.PartialCitation:
				ids = append(ids, part.Citation.ID)
			default:
				t.Errorf("part %s", value)
			}
		}
		if text == "" || text != result.Answer {
			t.Errorf("streamed %q, answered %q", text, result.Answer)
		}
		if len(ids) != 2 || len(result.Citations) != 2 || ids[0] != result.Citations[0].ID {
			t.Errorf("streamed citations %q of %v", ids, result.Citations)
		}
	}
}

func TestWorkDone(t *testing.T) {
	dir := folder(t, "a.go", "needle\n")
	e, _ := start(t, lsptest.VSCode, dir)
	cursor := wire.Document{URI: lsptest.URI(dir + "/a.go"), Range: &wire.Range{}}
	for method, params := range map[string]map[string]any{
		lsp.MethodAsk: {"query": "needle"}, lsp.MethodSearch: {"query": "needle"}, lsp.MethodContext: {"query": "needle"},
		lsp.MethodSimilar: {"document": cursor}, lsp.MethodExplain: {"document": cursor}, lsp.MethodSync: {},
	} {
		params["workDoneToken"] = method
		e.MustCall(method, params, nil)
		values := progressOf(t, e, `"`+method+`"`)
		if len(values) != 2 || !strings.Contains(string(values[0]), `"begin"`) || !strings.Contains(string(values[1]), `"end"`) {
			t.Errorf("%s: %s", method, values)
		}
	}
	// A failed request ends its progress too, and a command's goes to the method.
	if err := e.Call(lsp.MethodAsk, map[string]any{"query": "", "workDoneToken": 1}, nil); err == nil {
		t.Error("an empty question was answered")
	}
	e.MustCall("workspace/executeCommand", map[string]any{"command": lsp.CommandSearch, "arguments": []any{"needle"}, "workDoneToken": 2}, nil)
	for _, token := range []string{"1", "2"} {
		if values := progressOf(t, e, token); len(values) != 2 {
			t.Errorf("token %s: %s", token, values)
		}
	}
}

// The work on the index is shown where the client can show it, stage by
// stage, and always ended.
func TestIndexProgress(t *testing.T) {
	e, w := start(t, lsptest.VSCode, folder(t))
	e.MustCall(lsp.MethodStatus, nil, nil)
	step := w.Options().Progress
	awaitValue := func(parts ...string) {
		t.Helper()
		e.Await("$/progress", func(p json.RawMessage) bool {
			for _, part := range parts {
				if !strings.Contains(string(p), part) {
					return false
				}
			}
			return true
		})
	}
	step(wire.Progress{Stage: "scan", Done: 0, Total: 0}) // nothing to show
	step(wire.Progress{Stage: "index", Done: 0, Total: 200})
	awaitValue(`"begin"`, `"coderag/index/1"`, `"0/200 files"`, `"percentage":0`)
	step(wire.Progress{Stage: "index", Done: 50, Total: 200})
	awaitValue(`"report"`, `"50/200 files"`, `"percentage":25`)
	step(wire.Progress{Stage: "embed", Done: 1, Total: 10})
	awaitValue(`"end"`, `"coderag/index/1"`)
	awaitValue(`"begin"`, `"coderag/index/2"`, `"1/10 chunks"`)
	step(wire.Progress{Stage: "embed", Done: 10, Total: 10})
	awaitValue(`"end"`, `"coderag/index/2"`)
	step(wire.Progress{Stage: "index", Done: 1, Total: 2})
	awaitValue(`"begin"`, `"coderag/index/3"`)
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
	awaitValue(`"end"`, `"coderag/index/3"`)
	if created := e.Received("window/workDoneProgress/create"); len(created) != 3 {
		t.Errorf("created: %s", created)
	}

	e, w = start(t, lsptest.Minimal, folder(t))
	e.MustCall(lsp.MethodStatus, nil, nil)
	w.Options().Progress(wire.Progress{Stage: "index", Done: 1, Total: 2})
	e.MustCall("shutdown", nil, nil)
	if got := e.Received("window/workDoneProgress/create"); len(got) != 0 {
		t.Errorf("shown to a client that cannot: %s", got)
	}
}

func TestStatusChanged(t *testing.T) {
	e, w := start(t, lsptest.VSCode, folder(t, "a.go", "x"))
	e.MustCall(lsp.MethodStatus, nil, nil)
	w.Options().Changed()
	var status wire.Status
	if err := json.Unmarshal(e.Await(lsp.MethodStatusChanged, nil), &status); err != nil {
		t.Fatal(err)
	}
	if status.Coverage.Indexed != 1 || len(status.SkippedFiles) != 0 {
		t.Errorf("%+v", status)
	}
	var asked wire.Status
	e.MustCall(lsp.MethodStatus, nil, &asked)
	if len(asked.SkippedFiles) != 1 {
		t.Errorf("%+v", asked)
	}
}

// The answer's parts come before the answer, whatever else is going on.
func TestPartsBeforeAnswer(t *testing.T) {
	dir := folder(t, "a.go", strings.Repeat("needle\n", 50))
	e, _ := start(t, lsptest.VSCode, dir)
	var all []*lsptest.Pending
	for i := range 10 {
		p := ask("needle")
		p.PartialResultToken = json.RawMessage(fmt.Sprint(i))
		all = append(all, e.Send(lsp.MethodAsk, p))
	}
	for i, p := range all {
		if err := p.Wait(nil); err != nil {
			t.Fatal(err)
		}
		if parts := progressOf(t, e, fmt.Sprint(i)); len(parts) != 100 {
			t.Errorf("answer %d came after %d parts", i, len(parts))
		}
	}
}
