package lsp_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

type action struct {
	Title     string                 `json:"title"`
	Kind      string                 `json:"kind,omitempty"`
	Edit      *lsptest.WorkspaceEdit `json:"edit,omitempty"`
	Data      json.RawMessage        `json:"data,omitempty"`
	Command   any                    `json:"command,omitempty"` // a name in a Command, an object in a CodeAction
	Arguments []json.RawMessage      `json:"arguments,omitempty"`
}

// actionsAt asks for the actions at bytes of a document.
func actionsAt(t testing.TB, e *lsptest.Editor, path string, start, end int, context map[string]any) []action {
	t.Helper()
	var all []action
	e.MustCall("textDocument/codeAction", actionParams(e, path, start, end, context), &all)
	return all
}

func actionParams(e *lsptest.Editor, path string, start, end int, context map[string]any) map[string]any {
	if context == nil {
		context = map[string]any{"diagnostics": []any{}}
	}
	return map[string]any{
		"textDocument": map[string]any{"uri": lsptest.URI(path)}, "context": context,
		"range": text.Range{Start: e.Position(path, start), End: e.Position(path, end)},
	}
}

func titles(actions []action) []string {
	all := []string{}
	for _, a := range actions {
		all = append(all, a.Title)
	}
	return all
}

const target = "func use() {\n\ta()\n\t// TODO(me): needle\n\tb()\n}\n"

// choose applies an action as an editor does.
func choose(t testing.TB, e *lsptest.Editor, a action) {
	t.Helper()
	if a.Edit == nil {
		e.MustCall("codeAction/resolve", a, &a)
	}
	if a.Edit == nil {
		t.Fatalf("%s has no edit", a.Title)
	}
	if err := e.Apply(*a.Edit); err != nil {
		t.Fatalf("%s: %v", a.Title, err)
	}
}

// Clients of every kind get the same text from the same action.
func TestInsertAction(t *testing.T) {
	for _, client := range []string{lsptest.VSCode, lsptest.Neovim, lsptest.Emacs} {
		t.Run(client, func(t *testing.T) {
			dir := folder(t, "src.go", "x\nfunc needle() {}\n", "target.go", target)
			e, _ := start(t, client, dir)
			path := dir + "/target.go"
			e.OpenFile(path)
			at := strings.Index(target, "needle")
			actions := actionsAt(t, e, path, at, at, nil)
			if want := []string{"Insert cited snippet: src.go:2-2 (needle)"}; !slices.Equal(titles(actions), want) {
				t.Fatalf("titles %q", titles(actions))
			}
			if lazy := actions[0].Edit == nil; lazy != (client != lsptest.Emacs) {
				t.Errorf("lazy: %v", lazy)
			}
			if strings.Contains(string(actions[0].Data), "func needle") {
				t.Errorf("the data holds the text: %s", actions[0].Data)
			}
			choose(t, e, actions[0])
			sha := text.HexHash("func needle() {}")[:8]
			want := strings.Replace(target, "\tb()", "\t// src.go:2-2 sha256:"+sha+"\n\tfunc needle() {}\n\tb()", 1)
			if got := e.Text(path); got != want {
				t.Errorf("got\n%s", got)
			}
			// What was inserted is no question.
			at = strings.Index(want, "sha256")
			if actions := actionsAt(t, e, path, at, at, nil); len(actions) != 0 {
				t.Errorf("on a citation: %q", titles(actions))
			}
		})
	}
}

// A client without action literals gets commands.
func TestInsertActionMinimal(t *testing.T) {
	dir := folder(t, "src.go", "x\nfunc needle() {}\n", "target.go", target)
	e := lsptest.Start(t, lsptest.Config{Folders: []string{dir}, Server: lsp.Options{Open: (&lsptest.Workspace{}).Open},
		Capabilities: json.RawMessage(`{"workspace": {"applyEdit": true}}`)})
	path := dir + "/target.go"
	e.OpenFile(path)
	at := strings.Index(target, "needle")
	actions := actionsAt(t, e, path, at, at, nil)
	if len(actions) != 1 || actions[0].Command != lsp.CommandInsert {
		t.Fatalf("%+v", actions)
	}
	var result lsp.InsertResult
	e.MustCall("workspace/executeCommand", map[string]any{"command": lsp.CommandInsert, "arguments": actions[0].Arguments}, &result)
	if !result.Applied || result.Citation != "src.go:2-2" {
		t.Errorf("%+v", result)
	}
	if !strings.Contains(e.Text(path), "needle\n\t// src.go:2-2 sha256:") {
		t.Errorf("got\n%s", e.Text(path))
	}
}

func TestActionsOfLastAnswer(t *testing.T) {
	dir := folder(t, "src.go", "func needle() {}\nneedle()\n", "target.go", target)
	e, _ := start(t, lsptest.VSCode, dir)
	path := dir + "/target.go"
	e.OpenFile(path)
	if actions := actionsAt(t, e, path, 0, 0, nil); len(actions) != 0 {
		t.Errorf("before any answer: %q", titles(actions))
	}
	e.MustCall(lsp.MethodAsk, ask("needle()"), nil)
	actions := actionsAt(t, e, path, 0, 0, nil)
	want := []string{"Insert cited snippet: src.go:1-1 (needle)", "Insert cited snippet: src.go:2-2"}
	if !slices.Equal(titles(actions), want) {
		t.Fatalf("titles %q", titles(actions))
	}
	if got := actionsAt(t, e, path, 0, 0, map[string]any{"triggerKind": 2}); len(got) != 0 {
		t.Errorf("unasked, on a line of code: %q", titles(got))
	}
	if got := actionsAt(t, e, path, len(target), len(target), map[string]any{"triggerKind": 2}); len(got) != 2 {
		t.Errorf("unasked, on an empty line: %q", titles(got))
	}
	for only, n := range map[string]int{"quickfix": 0, "source": 0, "refactor": 2, "refactor.insert": 2, "refactor.insert.coderag": 2, "": 2, "refactor.ins": 0} {
		if got := actionsAt(t, e, path, 0, 0, map[string]any{"only": []string{only}}); len(got) != n {
			t.Errorf("only %q: %q", only, titles(got))
		}
	}

	// The source moves before the action is chosen: the citation follows.
	e.OpenFile(dir + "/src.go")
	e.Edit(dir+"/src.go", 0, 0, "// new\n\n")
	choose(t, e, actions[0])
	if got := e.Text(path); !strings.Contains(got, "// src.go:3-3 sha256:"+text.HexHash("func needle() {}")[:8]+"\n\tfunc needle() {}\n") {
		t.Errorf("got\n%s", got)
	}
	// The target was edited since: the place is not known any more.
	if err := e.Call("codeAction/resolve", actions[1], nil); code(err) != modified {
		t.Errorf("%v", err)
	}
	// The source's lines are gone.
	actions = actionsAt(t, e, path, 0, 0, nil)
	e.SetText(dir+"/src.go", "nothing\n")
	if err := e.Call("codeAction/resolve", actions[0], nil); code(err) != requestFailed || !strings.Contains(err.Error(), "src.go:1-1") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(dir + "/src.go"); err != nil {
		t.Fatal(err)
	}
	e.Close(dir + "/src.go")
	if err := e.Call("codeAction/resolve", actions[0], nil); code(err) != requestFailed || !strings.Contains(err.Error(), "no longer in the workspace") {
		t.Errorf("%v", err)
	}
}

// While the user only moves about, nothing is searched.
func TestAutomaticActions(t *testing.T) {
	dir := folder(t, "src.go", "func needle() {}\n", "target.go", target)
	for client, want := range map[string][]string{
		lsptest.VSCode: {"Insert cited snippet for “needle”"}, lsptest.Emacs: {},
	} {
		e, w := start(t, client, dir)
		path := dir + "/target.go"
		e.OpenFile(path)
		e.MustCall(lsp.MethodStatus, nil, nil)
		w.SetBefore(panicking)
		at := strings.Index(target, "needle")
		actions := actionsAt(t, e, path, at, at, map[string]any{"triggerKind": 2})
		if !slices.Equal(titles(actions), want) {
			t.Fatalf("%s: %q", client, titles(actions))
		}
		w.SetBefore(nil)
		if len(actions) > 0 {
			choose(t, e, actions[0])
			if !strings.Contains(e.Text(path), "src.go:1-1 sha256:") {
				t.Errorf("got\n%s", e.Text(path))
			}
		}
	}
}

func TestActionQueries(t *testing.T) {
	dir := folder(t, "src.go", "alpha beta\n")
	tests := []struct {
		name, language, content, selected string
		offered                           bool
	}{
		{"a selection", "go", "x\nalpha beta\ny", "alpha beta", true},
		{"a selection of lines", "go", "x\nalpha  \n beta\ny", "alpha  \n beta\n", true},
		{"a comment over lines", "go", "x\n// alpha\n// beta\ny", "", true},
		{"a doc comment", "rust", "/// alpha\n/// beta\nfn x() {}", "", true},
		{"a block comment", "c", "/*\n * FIXME: alpha\n * beta\n */\n", "", true},
		{"behind code", "python", "x = 1  # TODO alpha beta\n", "", true},
		{"an HTML comment", "html", "<p>\n<!-- alpha beta -->\n", "", true},
		{"code alone", "go", "alpha beta\n", "", false},
		{"JSON", "json", "\"alpha beta\"\n", "alpha beta", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := start(t, lsptest.VSCode, dir)
			uri := "untitled:" + test.name
			e.Open(uri, test.language, test.content)
			start := strings.Index(test.content, "alpha")
			if test.selected != "" {
				start = strings.Index(test.content, test.selected)
			}
			actions := actionsAt(t, e, uri, start, start+len(test.selected), nil)
			if (len(actions) == 1) != test.offered {
				t.Fatalf("titles %q", titles(actions))
			}
			if !test.offered {
				return
			}
			choose(t, e, actions[0])
			// The snippet stands below the selection or comment, which is whole.
			got := e.Text(uri)
			line, _, _ := strings.Cut(got[strings.Index(got, "src.go:1-1"):], "\n")
			before := got[:strings.Index(got, line)]
			if !strings.HasPrefix(test.content+"\n", before[:strings.LastIndex(before, "\n")+1]) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestInsertCommand(t *testing.T) {
	dir := folder(t, "src.go", "one\ntwo\nthree\n", "target.py", "def f():\n    pass\n")
	e, _ := start(t, lsptest.Neovim, dir)
	path := dir + "/target.py"
	e.OpenFile(path)
	insert := func(p lsp.InsertParams) (lsp.InsertResult, error) {
		at := wire.Position(e.Find(path, "pass"))
		p.Document = wire.Document{URI: lsptest.URI(path), Range: &wire.Range{Start: at, End: at}}
		var result lsp.InsertResult
		err := e.Call("workspace/executeCommand", map[string]any{"command": lsp.CommandInsert, "arguments": []any{p}}, &result)
		return result, err
	}
	if _, err := insert(lsp.InsertParams{}); code(err) != invalidParams || !strings.Contains(err.Error(), "nothing to insert") {
		t.Errorf("before any answer: %v", err)
	}
	for citation, says := range map[string]string{
		"src.go": "not path:start-end", "src.go:3-9": "has 3 lines", "none.go:1-2": "not in the workspace", "src.go:0-1": "not path:start-end",
	} {
		if _, err := insert(lsp.InsertParams{Citation: citation}); code(err) != invalidParams || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", citation, err)
		}
	}
	if _, err := insert(lsp.InsertParams{Query: "no such thing"}); code(err) != requestFailed {
		t.Errorf("%v", err)
	}
	if r, err := insert(lsp.InsertParams{Citation: "src.go:2-3"}); err != nil || !r.Applied || r.Citation != "src.go:2-3" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := insert(lsp.InsertParams{Query: "thr"}); err != nil || r.Citation != "src.go:3-3" {
		t.Errorf("%+v, %v", r, err)
	}
	e.MustCall(lsp.MethodAsk, ask("one"), nil)
	if r, err := insert(lsp.InsertParams{}); err != nil || r.Citation != "src.go:1-1" {
		t.Errorf("%+v, %v", r, err)
	}
	want := "def f():\n    pass\n" +
		"    # src.go:1-1 sha256:" + text.HexHash("one")[:8] + "\n    one\n" +
		"    # src.go:3-3 sha256:" + text.HexHash("three")[:8] + "\n    three\n" +
		"    # src.go:2-3 sha256:" + text.HexHash("two\nthree")[:8] + "\n    two\n    three\n"
	if got := e.Text(path); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestCommands(t *testing.T) {
	dir := folder(t, "a.go", calls)
	e, _ := start(t, lsptest.VSCode, dir)
	run := func(command string, result any, arguments ...any) {
		t.Helper()
		e.MustCall("workspace/executeCommand", map[string]any{"command": command, "arguments": arguments}, result)
	}
	var answer wire.AskResult
	run(lsp.CommandAsk, &answer, map[string]any{"query": "load"})
	var short wire.AskResult
	run(lsp.CommandAsk, &short, "load")
	if len(answer.Citations) != 3 || len(short.Citations) != 3 {
		t.Errorf("ask: %v, %v", answer.Citations, short.Citations)
	}
	var search wire.SearchResult
	run(lsp.CommandSearch, &search, map[string]any{"query": "load", "topK": 1})
	if len(search.Hits) != 1 {
		t.Errorf("search: %v", search.Hits)
	}
	var packed wire.ContextResult
	run(lsp.CommandContext, &packed, "load")
	if len(packed.Primary) != 3 {
		t.Errorf("context: %v", packed)
	}
	var explained wire.ExplainResult
	run(lsp.CommandExplain, &explained, "load")
	if !explained.Found {
		t.Errorf("explain: %+v", explained)
	}
	cursor := wire.RangeParams{Document: wire.Document{URI: lsptest.URI(dir + "/a.go"), Range: &wire.Range{Start: wire.Position{Line: 2, Character: 5}, End: wire.Position{Line: 2, Character: 9}}}}
	run(lsp.CommandExplain, &explained, cursor)
	if explained.Symbol != "load" {
		t.Errorf("explain: %+v", explained)
	}
	run(lsp.CommandSimilar, &search, cursor)
	if len(search.Hits) != 3 {
		t.Errorf("similar: %v", search.Hits)
	}
	var status wire.Status
	run(lsp.CommandStatus, &status)
	if status.Version != "test" {
		t.Errorf("status: %+v", status)
	}
	run(lsp.CommandReindex, nil)
	run(lsp.CommandReindex, nil, wire.ReindexParams{Paths: []string{"a.go"}})
	var synced wire.SyncResult
	run(lsp.CommandSync, &synced, wire.SyncParams{Scan: true})
	if synced.Coverage.Indexed != 1 {
		t.Errorf("sync: %+v", synced)
	}
}
