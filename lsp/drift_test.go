package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// drifting is a session on the real engine in which citations drift. With full,
// changes are sent as whole texts.
type drifting struct {
	*lsptest.Editor
	t    testing.TB
	dir  string
	full bool
}

func startDrifting(t testing.TB, c lsptest.Config, full bool, files ...string) *drifting {
	t.Helper()
	dir := folder(t, files...)
	if c.Folders == nil {
		c.Folders = []string{dir}
	}
	c.Server = engineServer(t, t.TempDir())
	d := &drifting{t: t, dir: dir, full: full}
	d.Editor = lsptest.Start(t, c)
	t.Cleanup(func() {
		if err := d.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	d.Sync(wire.SyncParams{Scan: true})
	return d
}

// in is the path of a file.
func (d *drifting) in(name string) string { return filepath.Join(d.dir, name) }

// replace replaces the first occurrence of old in an open document.
func (d *drifting) replace(name, old, replacement string) {
	d.t.Helper()
	if !d.full {
		d.Replace(d.in(name), old, replacement)
		return
	}
	before := d.Text(d.in(name))
	after := strings.Replace(before, old, replacement, 1)
	if after == before {
		d.t.Fatalf("%s does not hold %q", name, old)
	}
	d.SetText(d.in(name), after)
}

// said are the codes and messages of a document's diagnostics as things stand.
func (d *drifting) said(name string) []string {
	d.t.Helper()
	d.Sync(wire.SyncParams{})
	all := []string{}
	content := d.Text(d.in(name))
	for _, one := range d.Diagnostics(d.in(name)) {
		if one.Severity != 3 || one.Source != "coderag" {
			d.t.Errorf("severity %d, source %q", one.Severity, one.Source)
		}
		doc := text.New(content)
		start, err1 := doc.Offset(one.Range.Start, d.Encoding)
		end, err2 := doc.Offset(one.Range.End, d.Encoding)
		if err1 != nil || err2 != nil || one.Range.Start.Line != one.Range.End.Line {
			d.t.Fatalf("range %v: %v, %v", one.Range, err1, err2)
		}
		line := doc.Line(one.Range.Start.Line + 1)
		if got := content[start:end]; got != strings.TrimSpace(line) || !strings.Contains(got, " sha256:") {
			d.t.Errorf("the range holds %q of %q", got, line)
		}
		all = append(all, strings.TrimPrefix(one.Code, "citation-")+": "+one.Message)
	}
	return all
}

// fixes are the actions on the first line of a document that holds a text.
func (d *drifting) fixes(name, on string) []action {
	d.t.Helper()
	at := strings.Index(d.Text(d.in(name)), on)
	if at < 0 {
		d.t.Fatalf("%s does not hold %q", name, on)
	}
	return actionsAt(d.t, d.Editor, d.in(name), at, at, nil)
}

// fix applies the action whose title starts so.
func (d *drifting) fix(name, on, title string) {
	d.t.Helper()
	all := d.fixes(name, on)
	i := slices.IndexFunc(all, func(a action) bool { return strings.HasPrefix(a.Title, title) })
	if i < 0 {
		d.t.Fatalf("no action %q among %q", title, titles(all))
	}
	choose(d.t, d.Editor, all[i])
}

// fixAll applies what is offered for the whole file, which may be nothing.
func (d *drifting) fixAll(name string, trigger int) {
	d.t.Helper()
	context := map[string]any{"only": []string{"source.fixAll"}, "diagnostics": []any{}, "triggerKind": trigger}
	for _, a := range actionsAt(d.t, d.Editor, d.in(name), 0, 0, context) {
		if a.Kind != "source.fixAll.coderag" {
			d.t.Errorf("kind %q", a.Kind)
		}
		choose(d.t, d.Editor, a)
	}
}

func (d *drifting) want(name string, want ...string) {
	d.t.Helper()
	if got := d.said(name); !slices.Equal(got, append([]string{}, want...)) {
		d.t.Errorf("%s: %q, want %q", name, got, want)
	}
}

// becomes waits until a document has the diagnostics: the server asks the client
// for changed settings before it obeys them.
func (d *drifting) becomes(name string, want ...string) {
	d.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !slices.Equal(d.said(name), append([]string{}, want...)); {
		time.Sleep(5 * time.Millisecond)
	}
	d.want(name, want...)
}

func (d *drifting) insert(name, below, citation string) {
	d.t.Helper()
	at := wire.Position(d.Find(d.in(name), below))
	p := lsp.InsertParams{Document: wire.Document{URI: lsptest.URI(d.in(name)), Range: &wire.Range{Start: at, End: at}}, Citation: citation}
	var r lsp.InsertResult
	d.MustCall("workspace/executeCommand", map[string]any{"command": lsp.CommandInsert, "arguments": []any{p}}, &r)
	if !r.Applied {
		d.t.Fatalf("%+v", r)
	}
}

const driftSource = "package a\r\n\r\n// 𝛂 doubles 日本.\r\nfunc double(n int) int {\r\n\tif n == 0 {\r\n\t\treturn 0\r\n\t}\r\n\treturn 2 * n\r\n}\r\n"

// The clients that ask and those that are told, those that resolve actions and
// those that do not, full and incremental changes, three encodings.
func driftModes(t *testing.T, run func(t *testing.T, c lsptest.Config, full bool)) {
	for _, client := range []string{lsptest.VSCode, lsptest.Neovim, lsptest.Emacs} {
		for _, full := range []bool{false, true} {
			c := lsptest.Config{Client: client}
			if client == lsptest.Emacs {
				c.Encodings = []text.Encoding{text.UTF32}
			}
			t.Run(fmt.Sprintf("%s/full=%v", client, full), func(t *testing.T) { run(t, c, full) })
		}
	}
}

func TestDrift(t *testing.T) {
	driftModes(t, func(t *testing.T, c lsptest.Config, full bool) {
		client := c.Client
		d := startDrifting(t, c, full,
			"src/é.go", driftSource, "use.js", "// 𝛂\r\nfunction use() {\r\n  // 𝛂\r\n  here()\r\n}\r\n")
		if d.Pulls() != (client == lsptest.VSCode) {
			t.Errorf("pulls: %v", d.Pulls())
		}
		d.OpenFile(d.in("use.js"))
		d.insert("use.js", "here()", "src/é.go:3-9")
		d.want("use.js")
		inserted := d.Text(d.in("use.js"))

		// Moved within the file, in a buffer.
		d.OpenFile(d.in("src/é.go"))
		d.replace("src/é.go", "package a\r\n", "package a\r\n\r\nimport \"fmt\"\r\n")
		d.want("use.js", "moved: the cited lines have moved to src/é.go:5-11")
		if one := d.Diagnostics(d.in("use.js"))[0]; client == lsptest.Emacs {
			if one.RelatedInformation != nil || one.Data != nil {
				t.Errorf("more than the client takes: %+v", one)
			}
		} else if len(one.RelatedInformation) != 1 || one.RelatedInformation[0].Location.URI != lsptest.URI(d.in("src/é.go")) ||
			one.RelatedInformation[0].Location.Range.Start.Line != 4 || !strings.Contains(string(one.Data), `"now":"src/é.go:5-11"`) {
			t.Errorf("%+v, %s", one, one.Data)
		}
		fixes := d.fixes("use.js", "src/é.go:3-9")
		if want := []string{"Update range: src/é.go:5-11"}; !slices.Equal(titles(fixes), want) {
			t.Fatalf("titles %q", titles(fixes))
		}
		if direct := fixes[0].Edit != nil; direct != (client == lsptest.Emacs) || fixes[0].Kind != "quickfix" {
			t.Errorf("%+v", fixes[0])
		}
		d.fix("use.js", "src/é.go:3-9", "Update range")
		if want := strings.Replace(inserted, "src/é.go:3-9", "src/é.go:5-11", 1); d.Text(d.in("use.js")) != want {
			t.Errorf("got %q, want %q", d.Text(d.in("use.js")), want)
		}
		d.want("use.js")

		// What was pasted is the user's to edit.
		d.replace("use.js", "return 2 * n", "return n + n")
		d.want("use.js")
		d.replace("use.js", "return n + n", "return 2 * n")

		// Changed: a line more, and the last one another.
		d.replace("src/é.go", "\treturn 2 * n\r\n", "\tfmt.Println(n)\r\n\treturn n << 1\r\n")
		d.want("use.js", "changed: the cited lines have changed")
		want := []string{"Update snippet: src/é.go:5-12", "Update citation only: src/é.go:5-12", "Unlink citation"}
		if got := titles(d.fixes("use.js", "src/é.go:5-11")); !slices.Equal(got, want) {
			t.Fatalf("titles %q", got)
		}
		d.fix("use.js", "src/é.go:5-11", "Update snippet")
		sha := text.HexHash("// 𝛂 doubles 日本.\nfunc double(n int) int {\n\tif n == 0 {\n\t\treturn 0\n\t}\n\tfmt.Println(n)\n\treturn n << 1\n}")[:8]
		if got, want := d.Text(d.in("use.js")), "// 𝛂\r\nfunction use() {\r\n  // 𝛂\r\n  here()\r\n  // src/é.go:5-12 sha256:"+sha+
			"\r\n  // 𝛂 doubles 日本.\r\n  func double(n int) int {\r\n    if n == 0 {\r\n      return 0\r\n    }\r\n    fmt.Println(n)\r\n    return n << 1\r\n  }\r\n}\r\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		d.want("use.js")

		// Edited by the user, then changed: the citation is all that is touched
		// by "Update citation only" and by what mends all.
		d.replace("use.js", "return n << 1", "return n << 1 // mine")
		d.replace("src/é.go", "n == 0", "n <= 0")
		d.want("use.js", "changed: the cited lines have changed")
		mine := d.Text(d.in("use.js"))
		d.fix("use.js", "src/é.go:5-12", "Update citation only")
		if got := d.Text(d.in("use.js")); len(got) != len(mine) || got[strings.Index(got, "// 𝛂 doubles"):] != mine[strings.Index(mine, "// 𝛂 doubles"):] {
			t.Errorf("got %q", got)
		}
		d.want("use.js")
		d.replace("src/é.go", "n <= 0", "n < 0")
		d.want("use.js", "changed: the cited lines have changed")
		mine = d.Text(d.in("use.js"))
		d.fixAll("use.js", 1)
		if got := d.Text(d.in("use.js")); got == mine || !strings.Contains(got, "n <= 0") && !strings.Contains(got, "// mine") {
			t.Errorf("got %q", got)
		}
		d.want("use.js")

		// The buffer goes, the disk's lines are others.
		d.Close(d.in("src/é.go"))
		d.want("use.js", "changed: the cited lines have changed")
		d.fix("use.js", "src/é.go:5-12", "Unlink")
		if got := d.Text(d.in("use.js")); strings.Contains(got, "sha256") || !strings.Contains(got, "here()\r\n  // 𝛂 doubles") {
			t.Errorf("got %q", got)
		}
		d.want("use.js")
	})
}

// Lines that the user took out of what was pasted do not make what stands below
// part of it.
func TestDriftLeavesCodeBelow(t *testing.T) {
	d := startDrifting(t, lsptest.Config{Client: lsptest.Neovim}, false,
		"a.go", "package a\n\nfunc f() {\n\tfirst()\n\tsecond()\n\tthird()\n}\n", "b.go", "package b\n\nfunc g() {\n\tbefore()\n\tmine()\n\tand(mine)\n}\n")
	d.OpenFile(d.in("b.go"))
	d.insert("b.go", "before()", "a.go:4-6")
	d.want("b.go")
	d.replace("b.go", "\tthird()\n", "")
	write(t, d.in("a.go"), "package a\n\nfunc f() {\n\tfirst()\n\tsecond(2)\n\tthird()\n}\n")
	d.Changed(d.in("a.go"))
	d.want("b.go", "changed: the cited lines have changed")
	d.fix("b.go", "a.go:4-6", "Update snippet: a.go:4-6")
	if got := d.Text(d.in("b.go")); !strings.HasSuffix(got, "\n\tfirst()\n\tsecond(2)\n\tthird()\n\tmine()\n\tand(mine)\n}\n") {
		t.Errorf("got %q", got)
	}
	d.want("b.go")
}

// Renamed and deleted files, with nothing but the disk changing.
func TestDriftOnDisk(t *testing.T) {
	driftModes(t, func(t *testing.T, c lsptest.Config, full bool) {
		body := "def backoff(tries):\n    for wait in range(tries):\n        sleep(2 ** wait)\n"
		d := startDrifting(t, c, full, "lib/retry.py", "import time\n\n"+body, "notes.md", "# Notes\n\nsee\n")
		d.OpenFile(d.in("notes.md"))
		d.insert("notes.md", "see", "lib/retry.py:3-5")
		d.want("notes.md")
		if !strings.Contains(d.Text(d.in("notes.md")), "-->\n```python\ndef backoff") {
			t.Fatalf("got %q", d.Text(d.in("notes.md")))
		}
		move := func(from, to string) {
			if err := os.MkdirAll(filepath.Dir(d.in(to)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(d.in(from), d.in(to)); err != nil {
				t.Fatal(err)
			}
			d.Changed(d.in(from), d.in(to))
		}
		move("lib/retry.py", "core/net/again.py") // another name and folder
		d.want("notes.md", "moved: the cited lines have moved to core/net/again.py:3-5")
		d.fix("notes.md", "lib/retry.py", "Update range: core/net/again.py:3-5")
		d.want("notes.md")

		// The function goes to another file, changed lines around it.
		write(t, d.in("core/net/again.py"), "import time\n\ndef other():\n    pass\n")
		write(t, d.in("core/sleepy.py"), "import time\nimport os\n\n"+body+"\ndef third():\n    pass\n")
		d.Changed(d.in("core/net/again.py"), d.in("core/sleepy.py"))
		d.want("notes.md", "moved: the cited lines have moved to core/sleepy.py:4-6")
		d.fixAll("notes.md", 1)
		d.want("notes.md")

		// Changed on disk: the fence goes with the lines.
		write(t, d.in("core/sleepy.py"), "import time\nimport os\n\n"+strings.Replace(body, "2 ** wait)", "3 ** wait)\n        log(`wait`, '```')", 1))
		d.Changed(d.in("core/sleepy.py"))
		d.want("notes.md", "changed: the cited lines have changed")
		d.fix("notes.md", "core/sleepy.py", "Update snippet: core/sleepy.py:4-7")
		if got := d.Text(d.in("notes.md")); !strings.HasSuffix(got, "-->\n````python\ndef backoff(tries):\n    for wait in range(tries):\n        sleep(3 ** wait)\n        log(`wait`, '```')\n````\n") {
			t.Errorf("got %q", got)
		}
		d.want("notes.md")

		if err := os.Remove(d.in("core/sleepy.py")); err != nil {
			t.Fatal(err)
		}
		d.Changed(d.in("core/sleepy.py"))
		d.want("notes.md", "gone: the cited source is gone: core/sleepy.py")
		d.fix("notes.md", "core/sleepy.py", "Unlink")
		d.want("notes.md")
		if got := d.Text(d.in("notes.md")); !strings.HasPrefix(got, "# Notes\n\nsee\n````python\n") {
			t.Errorf("got %q", got)
		}
	})
}

// cited is a citation line of lines that hold a text, as if it stood on line 1.
func citedAs(path, lines string) string {
	return fmt.Sprintf("%s:1-%d sha256:%s", path, 1+strings.Count(lines, "\n"), text.HexHash(lines)[:8])
}

// Files that are not the workspace's are not read, whatever is cited: the hashes
// fit, and nothing tells so.
func TestDriftReadsNothingElse(t *testing.T) {
	outside := folder(t, "secret.txt", "top secret\n")
	var doc strings.Builder
	names := []string{
		"../../../../../../../../../../" + strings.TrimPrefix(filepath.ToSlash(outside), "/") + "/secret.txt",
		filepath.ToSlash(outside) + "/secret.txt", "link.txt", "linked/secret.txt", ".env", "ignored.txt", ".git/config", "src/../plain.txt", "./plain.txt",
		"src//../plain.txt", "C:/windows/win.ini", `src\a.txt`, "", "src",
	}
	for _, name := range names {
		fmt.Fprintf(&doc, "// %s\n", citedAs(name, "top secret"))
	}
	fmt.Fprintf(&doc, "// plain.txt:1-999999999 sha256:%s\n// plain.txt:999999998-999999999 sha256:%s\n// %s\n",
		text.HexHash("x")[:8], text.HexHash("x")[:8], citedAs("plain.txt", "top secret"))
	d := startDrifting(t, lsptest.Config{Client: lsptest.Neovim}, false, "a.go", "package a\n", ".env", "top secret\n", "ignored.txt", "top secret\n",
		".gitignore", "ignored.txt\n", ".git/config", "top secret\n", "plain.txt", "top secret\n", "src/a.txt", "x\n")
	for link, target := range map[string]string{"link.txt": outside + "/secret.txt", "linked": outside} {
		if err := os.Symlink(target, d.in(link)); err != nil {
			t.Skipf("no symlinks here: %v", err)
		}
	}
	d.Sync(wire.SyncParams{Scan: true})
	d.Open(d.in("a.go"), "go", doc.String())
	said := d.said("a.go")
	// Windows paths and the empty one are no citations of files here; "src" is
	// a folder.
	unknown := 0
	for _, s := range said {
		if strings.HasPrefix(s, "unknown: unknown path: ") {
			unknown++
		}
	}
	if changed := slices.DeleteFunc(slices.Clone(said), func(s string) bool { return strings.HasPrefix(s, "unknown: ") }); !slices.Equal(changed, []string{
		"gone: the cited source is gone: C:/windows/win.ini", `gone: the cited source is gone: src\a.txt`,
		"changed: the cited lines have changed", "changed: the cited lines have changed",
	}) {
		t.Errorf("said %q", changed)
	}
	if unknown != len(names)-3 {
		t.Errorf("%d unknown paths of %d: %q", unknown, len(names), said)
	}
}

// The setting turns it off and on.
func TestDriftSetting(t *testing.T) {
	for _, client := range []string{lsptest.VSCode, lsptest.Neovim} {
		d := startDrifting(t, lsptest.Config{Client: client, Settings: map[string]any{"lsp": map[string]any{"citationDrift": false}}}, false,
			"a.txt", "one\n", "b.go", "package b\n\n// "+citedAs("a.txt", "other")+"\n")
		d.OpenFile(d.in("b.go"))
		d.want("b.go")
		if fixes := d.fixes("b.go", "sha256"); len(fixes) != 0 {
			t.Errorf("%q", titles(fixes))
		}
		set := func(on bool) {
			d.SetSettings(map[string]any{"lsp": map[string]any{"citationDrift": on}})
			d.Notify("workspace/didChangeConfiguration", map[string]any{"settings": nil})
		}
		set(true)
		d.becomes("b.go", "changed: the cited lines have changed")
		set(false)
		d.becomes("b.go")
	}
}

// A client that is told hears of changes by itself, in time.
func TestDriftIsPublished(t *testing.T) {
	d := startDrifting(t, lsptest.Config{Client: lsptest.Neovim}, false, "a.txt", "one\ntwo\n", "b.go", "package b\n\n// "+citedAs("a.txt", "one")+"\n")
	published := func(holds string) func(json.RawMessage) bool {
		return func(p json.RawMessage) bool { return strings.Contains(string(p), holds) }
	}
	d.OpenFile(d.in("b.go"))
	write(t, d.in("a.txt"), "zero\none\ntwo\n")
	d.Changed(d.in("a.txt"))
	d.Await("textDocument/publishDiagnostics", published("moved to a.txt:2-2"))
	before := len(d.Received("textDocument/publishDiagnostics"))
	d.Close(d.in("b.go"))
	d.Sync(wire.SyncParams{})
	all := d.Received("textDocument/publishDiagnostics")
	if len(all) != before+1 || !strings.Contains(string(all[before]), `"diagnostics":[]`) {
		t.Errorf("after the document was closed: %s", all[before:])
	}
	// Nothing more is said of a document that is not open.
	write(t, d.in("a.txt"), "gone\n")
	d.Changed(d.in("a.txt"))
	d.Sync(wire.SyncParams{Scan: true})
	if now := d.Received("textDocument/publishDiagnostics"); len(now) != len(all) {
		t.Errorf("%s", now[len(all):])
	}
}

// A client that asks is asked to ask again when a cited file changes on disk,
// once, and never for what it has.
func TestDriftIsRefreshed(t *testing.T) {
	const refresh = "workspace/diagnostic/refresh"
	d := startDrifting(t, lsptest.Config{Client: lsptest.VSCode}, false, "a.txt", "one\ntwo\n", "b.go", "package b\n\n// "+citedAs("a.txt", "one")+"\n")
	d.OpenFile(d.in("b.go"))
	d.want("b.go")
	d.Sync(wire.SyncParams{Scan: true})
	if all := d.Received(refresh); len(all) != 0 {
		t.Errorf("asked without a reason %d times", len(all))
	}
	write(t, d.in("a.txt"), "zero\none\ntwo\n")
	d.Changed(d.in("a.txt"))
	d.Await(refresh, nil)
	d.Sync(wire.SyncParams{Scan: true})
	d.Sync(wire.SyncParams{Scan: true})
	if all := d.Received(refresh); len(all) != 1 {
		t.Errorf("asked %d times for one change", len(all))
	}
	var report struct{ Kind, ResultID string }
	params := map[string]any{"textDocument": map[string]any{"uri": lsptest.URI(d.in("b.go"))}}
	d.MustCall("textDocument/diagnostic", params, &report)
	params["previousResultId"] = report.ResultID
	d.MustCall("textDocument/diagnostic", params, &report)
	if report.Kind != "unchanged" {
		t.Errorf("%+v", report)
	}
	if len(d.Received("textDocument/publishDiagnostics")) != 0 {
		t.Error("a client that asks was told")
	}
}

// Editors that mend on their own, as on save, put numbers right and nothing
// else.
func TestDriftFixedOnSave(t *testing.T) {
	doc := "package b\n\n// " + citedAs("a.txt", "one line") + "\n// " + citedAs("b.txt", "another") + "\nanother\n"
	for _, client := range []string{lsptest.VSCode, lsptest.Emacs} {
		d := startDrifting(t, lsptest.Config{Client: client}, false, "a.txt", "new\none line\n", "b.txt", "yet another\n", "b.go", doc)
		d.OpenFile(d.in("b.go"))
		d.want("b.go", "moved: the cited lines have moved to a.txt:2-2", "changed: the cited lines have changed")
		d.fixAll("b.go", 2)
		if got, want := d.Text(d.in("b.go")), strings.Replace(doc, "a.txt:1-1", "a.txt:2-2", 1); got != want {
			t.Errorf("got %q", got)
		}
		d.fixAll("b.go", 1)
		if got := d.Text(d.in("b.go")); !strings.HasSuffix(got, "// "+citedAs("b.txt", "yet another")+"\nyet another\n") {
			t.Errorf("got %q", got)
		}
		d.want("b.go")
	}
}

// A client without action literals gets commands.
func TestDriftCommands(t *testing.T) {
	d := startDrifting(t, lsptest.Config{Capabilities: json.RawMessage(`{"workspace": {"applyEdit": true}}`)}, false,
		"a.txt", "zero\none\n", "b.go", "package b\n\n// "+citedAs("a.txt", "one")+"\n")
	d.OpenFile(d.in("b.go"))
	d.want("b.go", "moved: the cited lines have moved to a.txt:2-2")
	fixes := d.fixes("b.go", "sha256")
	if len(fixes) != 1 || fixes[0].Command != lsp.CommandMend {
		t.Fatalf("%+v", fixes)
	}
	run := func(arguments ...any) (lsp.InsertResult, error) {
		var r lsp.InsertResult
		err := d.Call("workspace/executeCommand", map[string]any{"command": lsp.CommandMend, "arguments": arguments}, &r)
		return r, err
	}
	if r, err := run(fixes[0].Arguments[0]); err != nil || !r.Applied {
		t.Fatalf("%+v, %v", r, err)
	}
	d.want("b.go")
	if _, err := run(fixes[0].Arguments[0]); err == nil {
		t.Error("a citation that holds was mended")
	}
	all := lsp.MendParams{Document: wire.Document{URI: lsptest.URI(d.in("b.go"))}, Mend: lsp.MendAll}
	if r, err := run(all); err != nil || r.Applied || r.FailureReason == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := run(lsp.MendParams{Document: wire.Document{URI: "file:///none"}, Mend: lsp.MendAll}); code(err) != invalidParams {
		t.Errorf("%v", err)
	}
}

// With several folders paths are prefixed, and what was written with one of
// them open alone is understood, as is the other way round.
func TestDriftFolders(t *testing.T) {
	root := t.TempDir()
	one, two := filepath.Join(root, "one"), filepath.Join(root, "two")
	write(t, filepath.Join(one, "a.txt"), "zero\nthe one line\n")
	write(t, filepath.Join(two, "a.txt"), "the two line\n")
	doc := "package b\n\n// " + citedAs("one/a.txt", "the one line") + "\n// " + citedAs("two/a.txt", "the two line") + "\n// " + citedAs("a.txt", "the two line") + "\n"
	write(t, filepath.Join(two, "b.go"), doc)
	d := startDrifting(t, lsptest.Config{Client: lsptest.Neovim, Folders: []string{one, two}}, false)
	d.dir = two
	d.OpenFile(d.in("b.go"))
	d.want("b.go", "moved: the cited lines have moved to one/a.txt:2-2")
	d.fixAll("b.go", 1)
	if got := d.Text(d.in("b.go")); !strings.Contains(got, "// one/a.txt:2-2 sha256:") {
		t.Errorf("got %q", got)
	}
	d.want("b.go")

	alone := startDrifting(t, lsptest.Config{Client: lsptest.Neovim, Folders: []string{two}}, false)
	alone.dir = two
	alone.OpenFile(alone.in("b.go"))
	alone.want("b.go", "gone: the cited source is gone: one/a.txt")
}

// A check that is under way when its document is edited is given up, and the
// next one is of the new text.
func TestDriftIsCancelled(t *testing.T) {
	dir := folder(t, "a.txt", "one\n", "b.go", "// "+citedAs("a.txt", "other")+"\n")
	e, w := start(t, lsptest.Neovim, dir)
	e.MustCall(lsp.MethodStatus, nil, nil)
	held, cancelled := make(chan struct{}, 1), make(chan struct{}, 1)
	w.SetBefore(func(ctx context.Context, method string) error {
		if method != "citations" {
			return nil
		}
		w.SetBefore(nil)
		held <- struct{}{}
		<-ctx.Done()
		cancelled <- struct{}{}
		return ctx.Err()
	})
	e.OpenFile(dir + "/b.go")
	<-held
	e.Edit(dir+"/b.go", 0, 0, "\n\n")
	<-cancelled
	got := e.Await("textDocument/publishDiagnostics", nil)
	if !strings.Contains(string(got), `"start":{"line":2,`) {
		t.Errorf("published %s", got)
	}
}

// Many citations, most of them adrift.
func TestDriftOfMany(t *testing.T) {
	var source, doc strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&source, "func f%d() {\n\treturn %d\n}\n\n", i, i)
		fmt.Fprintf(&doc, "// a.txt:%d-%d sha256:%s\n", 4*i+1, 4*i+3, text.HexHash(fmt.Sprintf("func f%d() {\n\treturn %d\n}", i, i))[:8])
	}
	d := startDrifting(t, lsptest.Config{Client: lsptest.Neovim}, false, "a.txt", source.String(), "b.go", doc.String())
	d.OpenFile(d.in("b.go"))
	d.OpenFile(d.in("a.txt"))
	d.want("b.go")
	d.Edit(d.in("a.txt"), 0, 0, "\n")
	d.replace("a.txt", "return 500", "return 5000")
	if said := d.said("b.go"); len(said) != 1000 || !strings.HasPrefix(said[500], "changed") || said[501] != "moved: the cited lines have moved to a.txt:2006-2008" {
		t.Fatalf("%d: %q", len(said), said)
	}
	d.fixAll("b.go", 1)
	d.want("b.go")
}
