package lsp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// Every encoding finds the same places in a text in which they all differ.
func TestPositionEncodings(t *testing.T) {
	const content = "// 😀 é 日本 func decoy(\r\nfunc héllo() { /* 😀😀 */ wörld() }\r\nfunc wörld() {}\r"
	for _, enc := range []text.Encoding{text.UTF8, text.UTF16, text.UTF32} {
		t.Run(string(enc), func(t *testing.T) {
			dir := folder(t, "a.go", content)
			w := &lsptest.Workspace{}
			e := lsptest.Start(t, lsptest.Config{Encodings: []text.Encoding{enc}, Folders: []string{dir}, Server: lsp.Options{Open: w.Open}})
			if e.Encoding != enc {
				t.Fatalf("negotiated %s", e.Encoding)
			}
			path := dir + "/a.go"
			e.OpenFile(path)

			// Hover finds the word behind two emoji.
			hover := hoverAt(t, e, path, e.Find(path, "wörld() }"))
			if !strings.Contains(hover, "func wörld() {}") {
				t.Errorf("hover: %q", hover)
			}
			// Similar takes exactly the range's text.
			start, end := e.Find(path, "😀 */"), e.Find(path, " */")
			var similar wire.SearchResult
			e.MustCall(lsp.MethodSimilar, wire.RangeParams{Document: wire.Document{URI: lsptest.URI(path), Range: &wire.Range{Start: wire.Position(start), End: wire.Position(end)}}}, &similar)
			if len(similar.Hits) != 2 {
				t.Errorf("similar to the emoji: %v", similar.Hits)
			}
			// Edits land where the editor made them.
			e.Replace(path, "😀😀", "é😀")
			e.Replace(path, "wörld() }", "日() }")
			e.Replace(path, "decoy", "")
			e.Edit(path, len(e.Text(path)), len(e.Text(path)), "😀")
			want := text.New(e.Text(path))
			for n := 1; n <= want.LineCount(); n++ {
				if got := hits(t, e, want.Line(n)); !slices.Contains(got, "a.go: "+want.Line(n)) {
					t.Errorf("line %d is %q in the editor; hits %q", n, want.Line(n), got)
				}
			}
		})
	}
}

func hoverAt(t testing.TB, e *lsptest.Editor, path string, at text.Position) string {
	t.Helper()
	var result *struct {
		Contents struct{ Kind, Value string }
	}
	e.MustCall("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": lsptest.URI(path)}, "position": at}, &result)
	if result == nil {
		return ""
	}
	return result.Contents.Value
}

func TestEncodingNegotiation(t *testing.T) {
	for _, test := range []struct {
		offered []text.Encoding
		want    text.Encoding
	}{
		{[]text.Encoding{"utf-16", "utf-8"}, text.UTF8},
		{[]text.Encoding{"utf-32", "utf-16"}, text.UTF16},
		{[]text.Encoding{"utf-32"}, text.UTF32},
		{[]text.Encoding{"utf-7", "ebcdic"}, text.UTF16},
		{[]text.Encoding{}, text.UTF16},
	} {
		e := lsptest.Start(t, lsptest.Config{Encodings: test.offered})
		if e.Encoding != test.want {
			t.Errorf("of %q, %s was chosen", test.offered, e.Encoding)
		}
	}
}

func TestFullTextSync(t *testing.T) {
	dir := folder(t, "a.go", "old\n")
	e, w := start(t, lsptest.Emacs, dir)
	path := dir + "/a.go"
	e.OpenFile(path)
	e.SetText(path, "new\n")
	if got := hits(t, e, "new"); len(got) != 1 {
		t.Errorf("hits: %q", got)
	}
	e.SetText(path, "") // empty is a text too
	if got := hits(t, e, "e"); len(got) != 0 {
		t.Errorf("hits: %q", got)
	}
	e.Close(path)
	if got := hits(t, e, "old"); len(got) != 1 {
		t.Errorf("after closing, the disk's text: %q", got)
	}
	if got := w.Applied(); !strings.Contains(strings.Join(got, ", "), "didChange: edited a.go, didClose: closed a.go") {
		t.Errorf("applied: %q", got)
	}
}

// An edit that cannot be right never makes a wrong text: the disk's is used
// until the editor sends all of it.
func TestOutOfSync(t *testing.T) {
	bad := map[string]func(e *lsptest.Editor, uri string){
		"a range outside the text": func(e *lsptest.Editor, uri string) {
			change(e, uri, `{"range":{"start":{"line":70,"character":0},"end":{"line":71,"character":0}},"text":"wrong"}`)
		},
		"a range that ends before it starts": func(e *lsptest.Editor, uri string) {
			change(e, uri, `{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":1}},"text":"wrong"}`)
		},
		"a negative position": func(e *lsptest.Editor, uri string) {
			change(e, uri, `{"range":{"start":{"line":-1,"character":0},"end":{"line":0,"character":1}},"text":"wrong"}`)
		},
		"an edit that does not decode": func(e *lsptest.Editor, uri string) {
			change(e, uri, `{"range":{"start":{"line":"x"}},"text":"wrong"}`)
		},
		"bytes that are no UTF-8": func(e *lsptest.Editor, uri string) {
			change(e, uri, "{\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":0,\"character\":1}},\"text\":\"wrong \xff\"}")
		},
		"a good edit behind a bad one": func(e *lsptest.Editor, uri string) {
			change(e, uri, `{"range":{"start":{"line":70,"character":0},"end":{"line":71,"character":0}},"text":"wrong"},{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"wrong"}`)
		},
	}
	for name, edit := range bad {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, "a.go", "disk one\n")
			e, _ := start(t, lsptest.VSCode, dir)
			path := dir + "/a.go"
			e.OpenFile(path)
			e.Replace(path, "one", "two")
			if got := hits(t, e, "disk"); !slices.Equal(got, []string{"a.go: disk two"}) {
				t.Fatalf("before: %q", got)
			}
			edit(e, lsptest.URI(path))
			if got := hits(t, e, "disk"); !slices.Equal(got, []string{"a.go: disk one"}) {
				t.Errorf("after the bad edit: %q", got)
			}
			e.Replace(path, "two", "three") // cannot be placed
			if got := hits(t, e, "disk"); !slices.Equal(got, []string{"a.go: disk one"}) {
				t.Errorf("after another edit: %q", got)
			}
			e.Await("window/logMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), "didChange") })
			e.SetText(path, "disk four\n")
			if got := hits(t, e, "disk"); !slices.Equal(got, []string{"a.go: disk four"}) {
				t.Errorf("after the whole text: %q", got)
			}
			e.Replace(path, "four", "five")
			if got := hits(t, e, "disk"); !slices.Equal(got, []string{"a.go: disk five"}) {
				t.Errorf("edits count again: %q", got)
			}
			e.Close(path)
			if got := hits(t, e, "disk"); !slices.Equal(got, []string{"a.go: disk one"}) {
				t.Errorf("after closing: %q", got)
			}
		})
	}
}

// change sends content changes as they are.
func change(e *lsptest.Editor, uri, changes string) {
	raw(e, `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"`+uri+`","version":9},"contentChanges":[`+changes+`]}}`)
}

func TestOpenWithoutUTF8(t *testing.T) {
	dir := folder(t, "a.go", "disk\n")
	e, _ := start(t, lsptest.Neovim, dir)
	uri := lsptest.URI(dir + "/a.go")
	raw(e, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":{\"uri\":\""+uri+"\",\"languageId\":\"go\",\"version\":1,\"text\":\"latin \xe9\"}}}")
	if got := hits(t, e, ""+"disk"); len(got) != 1 {
		t.Errorf("the disk's text: %q", got)
	}
	if got := hits(t, e, "latin"); len(got) != 0 {
		t.Errorf("a text that is not the editor's: %q", got)
	}
	e.Await("window/logMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), "not valid UTF-8") })
}

// Documents that are no files are nobody's text, but nothing fails in them.
func TestUntitled(t *testing.T) {
	dir := folder(t, "a.go", "func hello() {}\nhello()\n")
	e, w := start(t, lsptest.VSCode, dir)
	for _, uri := range []string{"untitled:Untitled-1", "git:/x/a.go?ref", "file://other.host/x.go"} {
		e.Open(uri, "go", "func decoy() { hello() }\n")
		if hover := hoverAt(t, e, uri, e.Find(uri, "hello")); !strings.Contains(hover, "func hello()") {
			t.Errorf("%s: hover %q", uri, hover)
		}
		document := wire.Document{URI: uri, Range: &wire.Range{Start: wire.Position(e.Find(uri, "hello")), End: wire.Position(e.Find(uri, "() }"))}}
		var answer wire.AskResult
		p := ask("hello")
		p.Document = &document
		e.MustCall(lsp.MethodAsk, p, &answer)
		if len(answer.Citations) != 2 {
			t.Errorf("%s: citations %v", uri, answer.Citations)
		}
		var similar wire.SearchResult
		e.MustCall(lsp.MethodSimilar, wire.RangeParams{Document: document}, &similar)
		if len(similar.Hits) != 2 {
			t.Errorf("%s: similar %v", uri, similar.Hits)
		}
		var explained wire.ExplainResult
		e.MustCall(lsp.MethodExplain, wire.RangeParams{Document: document}, &explained)
		if !explained.Found {
			t.Errorf("%s: explain %+v", uri, explained)
		}
		e.Replace(uri, "decoy", "bait")
		e.Close(uri)
	}
	if got := w.Applied(); len(got) != 0 {
		t.Errorf("applied: %q", got)
	}
}
