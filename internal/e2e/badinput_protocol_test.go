package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

func TestBadInputQuestionsOnTheCommandLine(t *testing.T) {
	h := newHome(t)
	dir := workspace(t)
	for _, command := range []string{"ask", "search", "context"} {
		for _, q := range []string{"", " \t\n"} {
			h.run(command, "--root", dir, q).wants(2, "no question")
			h.runWith(q, command, "--root", dir, "-").wants(2, "no question")
		}
		h.run(command, "--root", dir).wants(2, "no question")
		h.runWith(strings.Repeat("numbat ", 1<<20/7), command, "--root", dir, "-").wants(2, "bytes, the most is 65536", "shorten")
		h.runWith(strings.Repeat("x", 5<<20), command, "--root", dir, "-").wants(2, "the most is 65536")
		h.runWith("what does Quokka count? \x00 \xff\xfe \x1b[31m", command, "--root", dir, "-").wants(0, "zoo.go")
		h.run(command, "--root", dir, strings.Repeat("Quokka ", 9000)).wants(0, "zoo.go")
		for _, q := range []string{"???", "((((", "\"", "*", "\\", "[a-", "%s%n", "'; drop table", "😀", strings.Repeat("q", 60000), "\u202e", "的"} {
			if o := h.run(command, "--root", dir, "--", q); o.code != 0 && o.code != 3 {
				t.Errorf("%s %q ended with %d: %s", command, clip(q, 20), o.code, clip(o.stderr, 500))
			}
		}
	}
}

func TestBadInputQuestionsInTheEditor(t *testing.T) {
	e := newHome(t).edit(workspace(t))
	wantQuokka(t, e, "")
	long := strings.Repeat("numbat ", 1<<20/7)
	for _, method := range []string{lsp.MethodAsk, lsp.MethodSearch, lsp.MethodContext} {
		for query, says := range map[string]string{"": "empty", " \n\t": "empty", long: "65536"} {
			err := e.Call(method, wire.SearchParams{Query: query}, nil)
			var answer *lsptest.Error
			if !errors.As(err, &answer) || answer.Code != -32602 || !strings.Contains(answer.Message, says) || len(answer.Message) > 1000 {
				t.Errorf("%s of %d bytes: %.300v", method, len(query), err)
			}
		}
		for _, query := range []string{"\x00", "a\x00b", "\U0010FFFF", "???", "((((", strings.Repeat("q", 60000), strings.Repeat("a b ", 16000), "\u202e", "e\u0301"} {
			if err := e.Call(method, wire.SearchParams{Query: query}, nil); err != nil {
				t.Errorf("%s %q: %v", method, clip(query, 20), err)
			}
		}
		for _, topK := range []int{-1, 1 << 30} {
			if err := e.Call(method, wire.SearchParams{Query: "Quokka", TopK: topK}, nil); err == nil || !strings.Contains(err.Error(), "topK") {
				t.Errorf("%s with topK %d: %v", method, topK, err)
			}
		}
		for _, f := range []wire.Filters{{FilePatterns: []string{"[a-"}}, {FilePatterns: []string{strings.Repeat("**/", 5000) + "x"}}, {Languages: []string{"klingon"}}, {Layers: []string{""}}} {
			var answer *lsptest.Error
			if err := e.Call(method, wire.SearchParams{Query: "Quokka", Filters: f}, nil); err != nil && (!errors.As(err, &answer) || answer.Code != -32602) {
				t.Errorf("%s with filters %.100v: %.300v", method, f, err)
			}
		}
		history := make([]wire.Turn, 2000)
		for i := range history {
			history[i] = wire.Turn{Query: "what is a numbat?", Answer: strings.Repeat("It eats termites. ", 100)}
		}
		if method != lsp.MethodSearch {
			if err := e.Call(method, wire.AskParams{SearchParams: wire.SearchParams{Query: "where is it called?"}, History: history}, nil); err != nil {
				t.Errorf("%s with 3 MB of history: %.300v", method, err)
			}
			if err := e.Call(method, wire.AskParams{SearchParams: wire.SearchParams{Query: "Quokka"}, TokenBudget: -5}, nil); err == nil || !strings.Contains(err.Error(), "tokenBudget") {
				t.Errorf("%s with a negative budget: %v", method, err)
			}
		}
	}
	wantQuokka(t, e, "")
}

// framed sends one message with a header.
func framed(e *lsptest.Editor, content string) { e.WriteRaw(lsptest.Frame([]byte(content))) }

// awaitError waits for an answer that belongs to no request.
func awaitError(e *lsptest.Editor, part string) {
	e.Await("", func(m json.RawMessage) bool { return strings.Contains(string(m), part) })
}

func TestBadInputMalformedMessages(t *testing.T) {
	e := newHome(t).edit(workspace(t))
	wantQuokka(t, e, "")
	framed(e, `{"jsonrpc":"2.0","id":1,"met`)
	framed(e, ``)
	framed(e, "\x00\xff\xfe")
	awaitError(e, "decoding a message")
	framed(e, `[]`)
	framed(e, `[{"jsonrpc":"2.0","method":"exit"}]`)
	awaitError(e, "batches are not part of LSP")
	framed(e, `{"jsonrpc":"2.0","id":{},"method":"shutdown"}`)
	awaitError(e, "must be a number or a string")
	framed(e, strings.Repeat(`{"a":`, 200_000))
	framed(e, `{"jsonrpc":"2.0","id":77777,"result":{}}`) // an answer to nothing
	framed(e, `{"jsonrpc":"2.0","method":"`+strings.Repeat("x", 1<<20)+`"}`)
	framed(e, `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///never/opened.go","version":-1},"contentChanges":[{"range":{"start":{"line":4294967295,"character":4294967295},"end":{"line":0,"character":0}},"text":"x"}]}}`)
	for _, uri := range []string{"", "file:", "file://other.host/x", "file:///%zz", "file:///%00", "untitled:Untitled-1", "git:/x?y", "http://example.org/x.go", "file:///" + strings.Repeat("x", 100_000)} {
		raw, err := json.Marshal(uri)
		must(t, err)
		framed(e, fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":%s,"languageId":"go","version":1,"text":"package x"}}}`, raw))
		for _, method := range []string{"textDocument/hover", "textDocument/documentLink", "textDocument/codeLens"} {
			if err := e.Call(method, map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": 0, "character": 0}}, nil); err != nil {
				var answer *lsptest.Error
				if !errors.As(err, &answer) || answer.Code == -32603 {
					t.Errorf("%s of %q: %.300v", method, clip(uri, 40), err)
				}
			}
		}
	}
	wantQuokka(t, e, "")
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

func TestBadInputOversizedMessage(t *testing.T) {
	h := newHome(t)
	e := h.edit(workspace(t))
	wantQuokka(t, e, "")
	before := state(t, e).RSSBytes
	e.WriteRaw(lsptest.Frame(bytes.Repeat([]byte("x"), 65<<20)))
	awaitError(e, "over the limit")
	wantQuokka(t, e, "")
	if after := state(t, e).RSSBytes; after > before+60<<20 {
		t.Errorf("memory went from %d to %d bytes: the message was kept", before, after)
	}
	// A document of 30 MB is taken, and not indexed.
	e.Open("/nowhere/at/all/big.go", "go", strings.Repeat("numbat\n", 30<<20/7))
	wantQuokka(t, e, "")
}

// What is no message ends the server with a reason, not with a crash.
func TestBadInputNoProtocolAtAll(t *testing.T) {
	for name, input := range map[string]string{
		"a shell session":     "ls -la\n",
		"JSON without header": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		"HTTP":                "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"zeros":               strings.Repeat("\x00", 100_000),
		"a huge length":       "Content-Length: 99999999999999999999\r\n\r\n",
		"a negative length":   "Content-Length: -1\r\n\r\n",
		"an endless header":   strings.Repeat("X", 1<<20),
		"half a message":      "Content-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			o := newHome(t).runWith(input, "serve", "--stdio")
			if o.code != 1 || !strings.Contains(o.stderr, "error:") || len(o.stderr) > 4000 {
				t.Errorf("ended with %d: %s", o.code, clip(o.stderr, 1000))
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		o := newHome(t).runWith("", "serve", "--stdio")
		if o.code != 0 && !strings.Contains(o.stderr, "connection was closed") {
			t.Errorf("ended with %d: %s", o.code, o.stderr)
		}
	})
}

// An editor that goes away without a word leaves nothing behind: no process, no
// lock, no lost work.
func TestBadInputEditorDies(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 50)
	e := h.edit(dir)
	e.Sync(wire.SyncParams{})
	e.CloseInput()
	<-h.server.ended
	var exit *exec.ExitError
	if !errors.As(h.server.err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the server ended with %v", h.server.err)
	}
	if st := h.status(dir); st.Counters.Embedded != 0 {
		t.Errorf("%d texts are embedded again", st.Counters.Embedded)
	}
}
