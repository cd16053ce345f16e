package lsp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

const calls = `package a

func load(path string) {}

func main() {
	load("x")
	load("y")
}
`

func TestHover(t *testing.T) {
	dir := folder(t, "a.go", calls, "b.go", "func other() { load(2) }\nload(3)\nload(4)\n")
	for client, want := range map[string][]string{
		lsptest.VSCode: {"```go\nfunc load(path string) {}\n```\n", "function defined in [a.go:3-3](" + lsptest.URI(dir+"/a.go") + "#L3)",
			"used in 5 lines: [a.go:6-6]", " and 2 more"},
		lsptest.Emacs: {"func load(path string) {}\n", "function defined in a.go:3-3\nused in 5 lines: a.go:6-6, a.go:7-7, b.go:1-1 and 2 more"},
	} {
		e, _ := start(t, client, dir)
		path := dir + "/a.go"
		e.OpenFile(path)
		hover := hoverAt(t, e, path, e.Find(path, "load(\"y"))
		for _, part := range want {
			if !strings.Contains(hover, part) {
				t.Errorf("%s: no %q in\n%s", client, part, hover)
			}
		}
		if client == lsptest.Emacs && strings.ContainsAny(hover, "`\\[") {
			t.Errorf("Markdown in plain text: %s", hover)
		}
		for _, nothing := range []string{"\"x\"", ") {}", "package", "\nfunc main"} {
			if hover := hoverAt(t, e, path, e.Find(path, nothing)); hover != "" {
				t.Errorf("%s: on %q: %q", client, nothing, hover)
			}
		}
		if hover := hoverAt(t, e, path, text.Position{Line: 500}); hover != "" {
			t.Errorf("%s: outside of the text: %q", client, hover)
		}
		if hover := hoverAt(t, e, dir+"/none.go", text.Position{}); hover != "" {
			t.Errorf("%s: in no document: %q", client, hover)
		}
	}
}

// What stands in the repository stays text.
func TestHoverEscapes(t *testing.T) {
	dir := folder(t, "a](x).go", "func f( ```\x07<script>\n", "b.go", "f(\n")
	e, _ := start(t, lsptest.VSCode, dir)
	e.OpenFile(dir + "/b.go")
	hover := hoverAt(t, e, dir+"/b.go", text.Position{})
	if !strings.HasPrefix(hover, "````") || strings.Contains(hover, "\x07") {
		t.Errorf("the code leaves its fence: %q", hover)
	}
	if !strings.Contains(hover, "[a\\](x).go:1-1](file://") || strings.Contains(hover, "(x).go#") {
		t.Errorf("the path leaves its link: %q", hover)
	}
}

func TestHoverOff(t *testing.T) {
	dir := folder(t, "a.go", calls)
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{Folders: []string{dir}, Server: lsp.Options{Open: w.Open}, InitializationOptions: map[string]any{
		"lsp": map[string]any{"hover": false, "codeActions": false, "documentLinks": false}}})
	path := dir + "/a.go"
	e.OpenFile(path)
	if hover := hoverAt(t, e, path, e.Find(path, "load(\"y")); hover != "" {
		t.Errorf("hover: %q", hover)
	}
	e.MustCall(lsp.MethodAsk, ask("load"), nil)
	if actions := actionsAt(t, e, path, 0, 0, nil); len(actions) != 0 {
		t.Errorf("actions: %v", actions)
	}
}

func TestCodeLens(t *testing.T) {
	dir := folder(t, "a.go", calls)
	e, _ := start(t, lsptest.VSCode, dir)
	path := dir + "/a.go"
	e.OpenFile(path)
	lenses := func() (all []struct {
		Range   text.Range
		Command struct {
			Title, Command string
			Arguments      []json.RawMessage
		}
	}) {
		t.Helper()
		e.MustCall("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": lsptest.URI(path)}}, &all)
		return all
	}
	if got := lenses(); len(got) != 0 {
		t.Errorf("not off by default: %v", got)
	}
	e.SetSettings(map[string]any{"lsp": map[string]any{"codeLens": true}})
	e.Notify("workspace/didChangeConfiguration", nil)
	e.MustCall(lsp.MethodAsk, ask("func load"), nil)
	e.Await("workspace/codeLens/refresh", nil)
	got := lenses()
	if len(got) != 2 || got[0].Command.Title != "asked 1 · used by 2" || got[1].Command.Title != "used by 0" {
		t.Fatalf("%+v", got)
	}
	if got[0].Range.Start != e.Find(path, "load") {
		t.Errorf("at %v", got[0].Range)
	}
	var explained wire.ExplainResult
	e.MustCall("workspace/executeCommand", got[0].Command, &explained)
	if !explained.Found || explained.Symbol != "load" {
		t.Errorf("the lens explains %+v", explained)
	}
}

type link struct {
	Range  text.Range      `json:"range"`
	Target string          `json:"target,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

func TestDocumentLinks(t *testing.T) {
	source := "one\ntwo\nthree\nfour\n"
	sha := text.HexHash("two\nthree")[:8]
	dir := folder(t, "src/a b.go", source, "src/x.go", source, "notes.md", "")
	tests := []struct {
		name, language, content string
		want                    map[string]string // text of the link -> path and fragment
	}{
		{"comments", "go", "// see src/x.go:2-3, none.go:1-2 and x.go:4\nf(\"src/x.go:1-1\") // src/x.go:4\n/* src/x.go:1\nsrc/x.go:3-3 */\nsrc/x.go:2-2\n😀 // 😀src/x.go:9-1 src/x.go:1-2\n",
			map[string]string{"src/x.go:2-3": "src/x.go#L2-L3", "src/x.go:4": "src/x.go#L4", "src/x.go:1": "src/x.go#L1", "src/x.go:3-3": "src/x.go#L3", "src/x.go:1-2": "src/x.go#L1-L2"}},
		{"prose", "markdown", "Look at [src/x.go:2-3], `src/x.go:4` and http://src/x.go:80.\n",
			map[string]string{"src/x.go:2-3": "src/x.go#L2-L3", "src/x.go:4": "src/x.go#L4"}},
		{"an inserted citation with a space, moved", "go", "\t// src/a b.go:1-2 sha256:" + sha + "\n",
			map[string]string{"src/a b.go:1-2": "src/a%20b.go#L2-L3"}},
		{"an inserted citation that is gone", "python", "# src/x.go:1-2 sha256:00000000\n",
			map[string]string{"src/x.go:1-2": "src/x.go#L1-L2"}},
		{"an untitled document", "", "src/x.go:1-2", map[string]string{"src/x.go:1-2": "src/x.go#L1-L2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := start(t, lsptest.VSCode, dir)
			uri := "untitled:" + test.name
			e.Open(uri, test.language, test.content)
			var links []link
			e.MustCall("textDocument/documentLink", map[string]any{"textDocument": map[string]any{"uri": uri}}, &links)
			got := map[string]string{}
			doc := text.New(test.content)
			for _, l := range links {
				start, err := doc.Offset(l.Range.Start, e.Encoding)
				if err != nil {
					t.Fatal(err)
				}
				end, err := doc.Offset(l.Range.End, e.Encoding)
				if err != nil {
					t.Fatal(err)
				}
				var resolved link
				e.MustCall("documentLink/resolve", l, &resolved)
				got[test.content[start:end]] = strings.TrimPrefix(resolved.Target, lsptest.URI(dir)+"/")
			}
			if len(got) != len(test.want) {
				t.Errorf("links %q", got)
			}
			for place, target := range test.want {
				if got[place] != target {
					t.Errorf("%s leads to %q, want %q", place, got[place], target)
				}
			}
		})
	}
}
