package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp/lsptest"
)

// question is a question and the files that answer it.
type question struct {
	ID    string   `json:"id"`
	Repo  string   `json:"repo"`
	Query string   `json:"query"`
	Files []string `json:"files"`
}

func questions(t *testing.T) map[string][]question {
	t.Helper()
	by := map[string][]question{}
	for _, name := range []string{"questions.jsonl", "own.jsonl"} {
		f, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			var q question
			if err := json.Unmarshal(in.Bytes(), &q); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			by[q.Repo] = append(by[q.Repo], q)
		}
	}
	return by
}

// repositories returns where the repositories lie: cobra as the Go module that
// this project depends on, this project itself, and those that
// scripts/corpora.sh unpacked (CODERAG_TEST_CORPORA). Without them the rest is
// tested.
func repositories(t *testing.T) map[string]string {
	t.Helper()
	repos := map[string]string{"cobra": output(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/spf13/cobra")}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	repos["coderag-ls"] = root
	if dir := os.Getenv("CODERAG_TEST_CORPORA"); dir != "" {
		for _, name := range []string{"flask", "requests", "pydantic"} {
			found, err := filepath.Glob(filepath.Join(dir, name+"-*", "PKG-INFO"))
			if err != nil || len(found) != 1 {
				t.Fatalf("CODERAG_TEST_CORPORA=%s holds %v for %s, want one source package", dir, found, name)
			}
			repos[name] = filepath.Dir(found[0])
		}
	} else {
		t.Log("CODERAG_TEST_CORPORA is not set (make corpora): flask, requests and pydantic are left out")
	}
	return repos
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

type process struct {
	io.Reader
	io.WriteCloser
}

// dial starts the program as an editor does.
func dial(binary string) func(testing.TB) (io.ReadWriteCloser, func() error) {
	return func(tb testing.TB) (io.ReadWriteCloser, func() error) {
		tb.Helper()
		cmd := exec.Command(binary, "serve", "--stdio")
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+tb.TempDir(), "XDG_CONFIG_HOME="+tb.TempDir(), "CODERAG_EMBED_PROVIDER=static")
		in, err := cmd.StdinPipe()
		if err != nil {
			tb.Fatal(err)
		}
		// A pipe of our own: Wait must not close it while the editor reads.
		out, w, err := os.Pipe()
		if err != nil {
			tb.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = w, os.Stderr
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		return process{out, in}, cmd.Wait
	}
}

// TestRealRepositories opens repositories in the language server, asks, and
// re-reads every line that was cited.
func TestRealRepositories(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes real repositories")
	}
	binary := os.Getenv(programVariable)
	asked := questions(t)
	for name, dir := range repositories(t) {
		t.Run(name, func(t *testing.T) {
			e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Dial: dial(binary)})
			cov := e.Sync(wire.SyncParams{}).Coverage
			for deadline := time.Now().Add(time.Minute); cov.Stale && time.Now().Before(deadline); {
				cov = e.Sync(wire.SyncParams{}).Coverage // the watcher's first look comes at any time
			}
			if cov.Indexed == 0 || cov.Pending != 0 || cov.Stale || cov.Indexed != cov.Total {
				t.Fatalf("after sync: %+v", cov)
			}
			right := 0
			for _, q := range asked[name] {
				res := ask(t, e, q.Query)
				checkAnswer(t, dir, q.Query, res)
				var cited []string
				for _, c := range res.Citations[:min(3, len(res.Citations))] {
					cited = append(cited, c.Path)
				}
				if slices.ContainsFunc(cited, func(p string) bool { return slices.Contains(q.Files, p) }) {
					right++
				} else {
					t.Logf("%s %q: want one of %v, cited %v", q.ID, q.Query, q.Files, cited)
				}
			}
			share := float64(right) / float64(len(asked[name]))
			t.Logf("right file among the first three citations: %d of %d", right, len(asked[name]))
			if share < 0.8 {
				t.Errorf("only %.0f %% of the answers cite a right file first", 100*share)
			}
			work(t, e, dir, asked[name][0].Query)
			if err := e.Shutdown(); err != nil {
				t.Errorf("shutdown: %v", err)
			}
		})
	}
}

func ask(t *testing.T, e *lsptest.Editor, query string) wire.AskResult {
	t.Helper()
	var res wire.AskResult
	e.MustCall("coderag/ask", wire.AskParams{SearchParams: wire.SearchParams{Query: query}}, &res)
	return res
}

// checkAnswer compares every citation with the file on disk.
func checkAnswer(t *testing.T, dir, query string, res wire.AskResult) {
	t.Helper()
	if res.NoAnswer {
		if len(res.Citations) != 0 {
			t.Errorf("%q: no answer, but %d citations", query, len(res.Citations))
		}
		return
	}
	if len(res.Citations) == 0 {
		t.Errorf("%q: an answer without a citation", query)
	}
	for _, c := range res.Citations {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(c.Path)))
		if err != nil {
			t.Errorf("%q cites %s: %v", query, c.Path, err)
			continue
		}
		checkCitation(t, c, string(raw))
		if !strings.Contains(res.Answer, fmt.Sprintf("[%s:%d-%d]", c.Path, c.StartLine, c.EndLine)) {
			t.Errorf("%q: the answer does not mention its citation %s", query, c.ID)
		}
	}
}

// checkCitation compares a citation with a file's text. The lines are taken
// apart here, not by the code under test.
func checkCitation(t *testing.T, c wire.Citation, content string) {
	t.Helper()
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\r", "\n"), "\n")
	if c.StartLine < 1 || c.EndLine < c.StartLine || c.EndLine > len(lines) {
		t.Errorf("%s has %d lines", c.ID, len(lines))
		return
	}
	if want := strings.Join(lines[c.StartLine-1:c.EndLine], "\n"); c.Text != want {
		t.Errorf("%s is not the text of those lines:\n%q\nwant\n%q", c.ID, c.Text, want)
	}
	if c.SHA256 != text.HexHash(c.Text) {
		t.Errorf("%s: sha256 is not the text's", c.ID)
	}
	if c.Range != (wire.Range{Start: wire.Position{Line: c.StartLine - 1}, End: wire.Position{Line: c.EndLine}}) {
		t.Errorf("%s: range %+v", c.ID, c.Range)
	}
}

// work does what people do after an answer: hover, edit without saving, insert
// what was cited.
func work(t *testing.T, e *lsptest.Editor, dir, query string) {
	t.Helper()
	res := ask(t, e, query)
	if len(res.Citations) == 0 {
		t.Fatalf("%q has no citation to work with", query)
	}
	// Hover over the definition of a cited symbol.
	hovered := false
	for _, c := range res.Citations {
		name := c.Symbol[strings.LastIndexAny(c.Symbol, ".:")+1:]
		at := strings.Index(c.Text, name)
		if name == "" || at < 0 {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(c.Path))
		e.OpenFile(path)
		whole := e.Text(path)
		offset := strings.Index(whole, c.Text) + at
		var hover struct {
			Contents struct{ Value string }
		}
		e.MustCall("textDocument/hover", map[string]any{
			"textDocument": map[string]any{"uri": lsptest.URI(path)}, "position": e.Position(path, offset),
		}, &hover)
		e.Close(path)
		if strings.Contains(hover.Contents.Value, name) {
			hovered = true
			break
		}
		t.Logf("hover over %s in %s says %q", name, c.ID, hover.Contents.Value)
	}
	if !hovered {
		t.Error("no hover explains a cited symbol")
	}

	// Text that was never saved is found and cited as it stands.
	path := filepath.Join(dir, filepath.FromSlash(res.Citations[0].Path))
	e.OpenFile(path)
	words := strings.Join([]string{"blor", "ptix wim", "zelic"}, "") // in no file, this one included
	e.Edit(path, 0, 0, "first unsaved line about "+words+"\nsecond unsaved line\n\n")
	dirty := ask(t, e, words)
	if len(dirty.Citations) == 0 || dirty.Citations[0].Path != res.Citations[0].Path || !strings.Contains(dirty.Citations[0].Text, words) {
		t.Errorf("the unsaved line is not cited: %+v", dirty.Citations)
	}
	for _, c := range dirty.Citations {
		content := ""
		if c.Path == res.Citations[0].Path {
			content = e.Text(path)
		} else if raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(c.Path))); err == nil {
			content = string(raw)
		}
		checkCitation(t, c, content)
	}

	// What was found goes into the document, below the cursor.
	before := e.Text(path)
	var actions []struct {
		Title string                 `json:"title"`
		Kind  string                 `json:"kind,omitempty"`
		Edit  *lsptest.WorkspaceEdit `json:"edit,omitempty"`
		Data  json.RawMessage        `json:"data,omitempty"`
	}
	zero := e.Position(path, 0)
	e.MustCall("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": lsptest.URI(path)}, "range": text.Range{Start: zero, End: zero},
		"context": map[string]any{"diagnostics": []any{}},
	}, &actions)
	inserted := false
	for _, a := range actions {
		if !strings.HasPrefix(a.Title, "Insert cited snippet") {
			continue
		}
		if a.Edit == nil {
			e.MustCall("codeAction/resolve", a, &a)
		}
		if err := e.Apply(*a.Edit); err != nil {
			t.Fatalf("%s: %v", a.Title, err)
		}
		inserted = true
		break
	}
	if !inserted {
		t.Fatalf("no action inserts a cited snippet: %+v", actions)
	}
	after := e.Text(path)
	if len(after) <= len(before) || !slices.ContainsFunc(strings.Split(after, "\n"), func(line string) bool {
		_, ok := snippet.Parse(strings.TrimSuffix(line, "\r"))
		return ok
	}) {
		t.Errorf("the inserted text has no citation line")
	}
	e.Close(path)
}
