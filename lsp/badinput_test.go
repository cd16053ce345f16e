package lsp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// raw sends one framed message.
func raw(e *lsptest.Editor, content string) { e.WriteRaw(lsptest.Frame([]byte(content))) }

// awaitNull waits for an error answer with a null id and returns its code.
func awaitNull(t *testing.T, e *lsptest.Editor, part string) int {
	t.Helper()
	var m struct{ Error lsptest.Error }
	if err := json.Unmarshal(e.Await("", func(m json.RawMessage) bool { return strings.Contains(string(m), part) }), &m); err != nil {
		t.Fatal(err)
	}
	return m.Error.Code
}

func TestBadMessages(t *testing.T) {
	tests := []struct {
		name, content, answer string
		code                  int
	}{
		{"no JSON", `{"jsonrpc": "2.0", "id": 1, "meth`, "decoding a message", parseError},
		{"nothing", ``, "decoding a message", parseError},
		{"a number", `17`, "must be a JSON object", invalidRequest},
		{"a string", `"x"`, "must be a JSON object", invalidRequest},
		{"a method that is no string", `{"jsonrpc":"2.0","method":5}`, "decoding a message", invalidRequest},
		{"no method", `{"jsonrpc":"2.0"}`, "must have a method", invalidRequest},
		{"a null id", `{"jsonrpc":"2.0","id":null,"method":"shutdown"}`, "must be a number or a string", invalidRequest},
		{"an object for an id", `{"jsonrpc":"2.0","id":{},"method":"shutdown"}`, "must be a number or a string", invalidRequest},
		{"a batch of notifications", `[{"jsonrpc":"2.0","method":"exit"}]`, "batches are not part of LSP", invalidRequest},
		{"an empty batch", `[]`, "batches are not part of LSP", invalidRequest},
		{"a broken batch", `[{"jsonrpc":`, "decoding a message", parseError},
		{"deep nesting", strings.Repeat(`{"a":`, 100_000), "decoding a message", parseError},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := start(t, lsptest.VSCode, folder(t))
			raw(e, test.content)
			if code := awaitNull(t, e, test.answer); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			e.MustCall(lsp.MethodStatus, nil, nil) // the server goes on
		})
	}
}

// Ids come back exactly as they were sent.
func TestOddIDs(t *testing.T) {
	for _, id := range []string{`"abc"`, `""`, `"\u00e4\ud83d\ude00"`, `0`, `-7`, `1.5`, `12345678901234567890`, `1e3`} {
		e, _ := start(t, lsptest.VSCode, folder(t))
		raw(e, `{"jsonrpc":"2.0","id":`+id+`,"method":"coderag/status"}`)
		m := e.Await("", nil)
		var got struct {
			ID     json.RawMessage
			Result json.RawMessage
		}
		if err := json.Unmarshal(m, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.ID) != id || got.Result == nil {
			t.Errorf("id %s: answered %s", id, clip(m))
		}
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 200)] }

func TestBatchOfRequests(t *testing.T) {
	e, _ := start(t, lsptest.VSCode, folder(t))
	raw(e, `[{"jsonrpc":"2.0","id":"a","method":"coderag/status"},{"jsonrpc":"2.0","id":"b","method":"coderag/status"},{"jsonrpc":"2.0","method":"exit"},7]`)
	for _, id := range []string{`"id":"a"`, `"id":"b"`} {
		if code := awaitNull(t, e, id); code != invalidRequest {
			t.Errorf("%s: code %d", id, code)
		}
	}
	e.MustCall(lsp.MethodStatus, nil, nil)
}

func TestIDInUse(t *testing.T) {
	g := newGate()
	e, w := start(t, lsptest.VSCode, folder(t))
	w.SetBefore(g.hold("ask"))
	ask := `{"jsonrpc":"2.0","id":"q","method":"coderag/ask","params":{"query":"x"}}`
	raw(e, ask)
	<-g.entered
	raw(e, ask)
	if code := awaitNull(t, e, "in use"); code != invalidRequest {
		t.Errorf("code %d", code)
	}
	close(g.open)
	e.Await("", func(m json.RawMessage) bool { return strings.Contains(string(m), `"result"`) })
}

func TestOversizedMessage(t *testing.T) {
	e, _ := start(t, lsptest.VSCode, folder(t))
	e.WriteRaw(lsptest.Frame(bytes.Repeat([]byte("x"), 64<<20+1)))
	if code := awaitNull(t, e, "over the limit of 67108864 bytes"); code != invalidRequest {
		t.Errorf("code %d", code)
	}
	if err := e.Call(lsp.MethodStatus, nil, nil); err != nil {
		t.Fatalf("after it: %v, %v", err, e.Served())
	}
}

func TestBadHeaders(t *testing.T) {
	for _, header := range []string{
		"Content-Length: -5\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: 99999999999999999\r\n\r\n", "X: 1\r\n\r\n", "{}\r\n\r\n",
	} {
		e, w := start(t, lsptest.VSCode, folder(t))
		e.MustCall(lsp.MethodStatus, nil, nil)
		e.WriteRaw([]byte(header))
		if code := awaitNull(t, e, "bad message header"); code != parseError {
			t.Errorf("%q: code %d", header, code)
		}
		if err := e.Served(); err == nil || !strings.Contains(err.Error(), "bad message header") {
			t.Errorf("%q: Serve returned %v", header, err)
		}
		if !w.Closed() {
			t.Errorf("%q: the index was left open", header)
		}
	}
}

func TestEndInsideMessage(t *testing.T) {
	e, _ := start(t, lsptest.VSCode, folder(t))
	e.WriteRaw([]byte("Content-Length: 100\r\n\r\n{"))
	e.CloseInput()
	if err := e.Served(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

func TestBadParameters(t *testing.T) {
	dir := folder(t, "a.go", "func a() {}\n")
	e, _ := start(t, lsptest.VSCode, dir)
	doc := lsptest.URI(dir + "/a.go")
	far := map[string]any{"start": map[string]any{"line": 90, "character": 0}, "end": map[string]any{"line": 91, "character": 0}}
	tests := []struct {
		method string
		params any
		says   string
	}{
		{lsp.MethodAsk, map[string]any{"query": 5}, "query"},
		{lsp.MethodAsk, map[string]any{"query": ""}, "empty"},
		{lsp.MethodAsk, nil, "empty"},
		{lsp.MethodAsk, []any{1}, "bad parameters"},
		{lsp.MethodAsk, map[string]any{"query": "x", "partialResultToken": map[string]any{}}, "partialResultToken"},
		{lsp.MethodAsk, map[string]any{"query": "x", "workDoneToken": true}, "workDoneToken"},
		{lsp.MethodAsk, map[string]any{"query": "x", "document": map[string]any{"uri": doc, "range": far}}, "outside the text"},
		{lsp.MethodSearch, map[string]any{"query": "x", "topK": "many"}, "topK"},
		{lsp.MethodExplain, map[string]any{"document": map[string]any{"uri": doc}}, "document.range is missing"},
		{lsp.MethodExplain, map[string]any{"document": map[string]any{"uri": doc, "range": far}}, "outside the text"},
		{lsp.MethodSimilar, map[string]any{"document": map[string]any{"uri": "file:///no/such"}}, "neither open nor in the workspace"},
		{"codeAction/resolve", map[string]any{"title": "x"}, "textDocument/codeAction"},
		{"documentLink/resolve", map[string]any{"data": 5}, "textDocument/documentLink"},
		{"workspace/executeCommand", map[string]any{"command": "coderag.server.fly"}, "no such command"},
		{"workspace/executeCommand", map[string]any{"command": "rm"}, "no such command"},
		{"workspace/executeCommand", map[string]any{"command": lsp.CommandAsk, "arguments": []any{1, 2}}, "one argument"},
		{"workspace/executeCommand", map[string]any{"command": lsp.CommandInsert, "arguments": []any{map[string]any{"document": map[string]any{"uri": "x"}}}}, "not open"},
		{"textDocument/codeAction", map[string]any{"range": 5}, "bad parameters"},
	}
	for _, test := range tests {
		err := e.Call(test.method, test.params, nil)
		if code(err) != invalidParams || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s %v: %v", test.method, test.params, err)
		}
	}
	// Notifications with bad parameters are logged and change nothing.
	for _, method := range []string{
		"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave", "workspace/didChangeConfiguration",
		"workspace/didChangeWorkspaceFolders", "workspace/didChangeWatchedFiles", "$/setTrace", "initialized", "$/cancelRequest",
	} {
		e.Notify(method, []any{"x"})
		e.Notify(method, nil)
	}
	if got := hits(t, e, "func a"); len(got) != 1 {
		t.Errorf("hits: %q", got)
	}
}

func TestBadInitialize(t *testing.T) {
	for name, params := range map[string]any{
		"no object":        []any{},
		"a numeric root":   map[string]any{"rootUri": 5},
		"folders no array": map[string]any{"workspaceFolders": "x"},
	} {
		e := lsptest.Connect(t, lsptest.Config{})
		if err := e.Call("initialize", params, nil); code(err) != invalidParams {
			t.Errorf("%s: %v", name, err)
		}
		e.Initialize() // it can be tried again
	}
	// Capabilities of unexpected types are none.
	e := lsptest.Connect(t, lsptest.Config{})
	e.MustCall("initialize", map[string]any{"capabilities": []any{1}, "rootUri": nil, "trace": "off"}, nil)
	e.MustCall(lsp.MethodStatus, nil, nil)
}

func TestPanicInHandler(t *testing.T) {
	e, w := start(t, lsptest.VSCode, folder(t, "a.go", "x\n"))
	e.MustCall(lsp.MethodStatus, nil, nil)
	w.SetBefore(panicking)
	if err := e.Call(lsp.MethodSearch, map[string]any{"query": "x"}, nil); code(err) != internalError || !strings.Contains(err.Error(), "out of cheese") {
		t.Errorf("%v", err)
	}
	e.Open(folder(t)+"/b.go", "go", "x") // panics in a notification
	w.SetBefore(nil)
	if got := hits(t, e, "x"); len(got) != 1 {
		t.Errorf("after it: %q", got)
	}
}

// FuzzServe: whatever a client sends, the server ends when the stream does and
// what it sends is well-formed (the Editor checks that).
func FuzzServe(f *testing.F) {
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`
	frame := func(parts ...string) []byte {
		var all []byte
		for _, part := range parts {
			all = append(all, lsptest.Frame([]byte(part))...)
		}
		return all
	}
	f.Add(frame(initialize, `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`))
	f.Add(frame(initialize, `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:a","languageId":"go","version":1,"text":"a😀b"}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:a","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":4}},"text":"c"}]}}`,
		`{"jsonrpc":"2.0","id":"h","method":"textDocument/hover","params":{"textDocument":{"uri":"untitled:a"},"position":{"line":0,"character":0}}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"h"}}`))
	f.Add([]byte("Content-Length: 5\r\n\r\n[1,2]Content-Length: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := lsptest.Connect(t, lsptest.Config{})
		e.WriteRaw(data)
		e.CloseInput()
		_ = e.Served() // that it returns is what is tested
	})
}
