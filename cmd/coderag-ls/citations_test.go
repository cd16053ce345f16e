package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// TestCitations: what drifts is listed, and fails a check.
func TestCitations(t *testing.T) {
	c := newCLI(t)
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(c.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	none := c.run("citations", "--check")
	none.want(t, exitOK, "0 citations in 4 files, all as they were cited.", "")

	sha := func(lines string) string { return " sha256:" + text.HexHash(lines)[:8] }
	put("src/a.go", "package src\n\nfunc moved() {}\n\nfunc held() {}\n")
	put("docs/one.md", "<!-- src/a.go:5-5"+sha("func held() {}")+" -->\n<!-- src/a.go:1-1"+sha("func moved() {}")+" -->\n")
	put("docs/two.md", "<!-- src/a.go:1-1"+sha("package other")+" -->\n<!-- src/none.go:1-2"+sha("x\ny")+" -->\n<!-- ../../etc/passwd:1-2"+sha("x")+" -->\n")
	put("docs/ignored.md", "<!-- src/a.go:1-1"+sha("package other")+" -->\n")
	put(".gitignore", "ignored.md\n")

	r := c.run("citations", "--check")
	r.want(t, exitError, "docs/one.md:2-2  src/a.go:1-1  moved to src/a.go:3-3\n", "")
	r.want(t, exitError, "docs/two.md:1-1  src/a.go:1-1  changed\n", "")
	r.want(t, exitError, "docs/two.md:2-2  src/none.go:1-2  gone\n", "")
	r.want(t, exitError, "docs/two.md:3-3  ../../etc/passwd:1-2  unknown path\n", "")
	r.want(t, exitError, "4 of 5 citations no longer hold, in 2 of 8 files.\n", "")
	if strings.Contains(r.out, "held") || strings.Contains(r.out, "ignored") {
		t.Errorf("got\n%s", r.out)
	}
	c.run("citations").want(t, exitOK, "no longer hold", "")
	c.run("citations", "--check", filepath.Join(c.dir, "src")).want(t, exitOK, "0 citations in 1 file,", "")
	c.run("citations", "--all", filepath.Join(c.dir, "docs", "one.md")).want(t, exitOK, "docs/one.md:1-1  src/a.go:5-5  exact\n", "")
	c.run("citations", filepath.Join(c.dir, "none")).want(t, exitUsage, "", "none")
	c.run("citations", t.TempDir()).want(t, exitUsage, "", "not in the workspace")

	report := decode[wire.CitationsReport](t, c.run("citations", "--json").out)
	if report.Scanned != 8 || report.Checked != 5 || report.Drifted != 4 || len(report.Files) != 2 {
		t.Fatalf("%+v", report)
	}
	moved := report.Files[0].Citations[0]
	if report.Files[0].Path != "docs/one.md" || moved.Line != 2 || moved.State != wire.CitationMoved || moved.Now == nil || moved.Now.ID != "src/a.go:3-3" || moved.Now.Text != "func moved() {}" {
		t.Errorf("%+v", moved)
	}
	if changed := report.Files[1].Citations[0]; changed.Now == nil || changed.Now.Text != "package src" {
		data, _ := json.Marshal(changed)
		t.Errorf("%s", data)
	}
}
