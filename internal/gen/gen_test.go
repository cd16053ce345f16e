package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/config"
)

const root = "../.."

// TestFresh fails where a generated file is not what the code says.
func TestFresh(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date (%v): run `make generate`", name, err)
		}
	}
}

// TestWrite generates into a copy and checks that nothing is left to do.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, from := range []string{"engine/wire", "lsp"} {
		if err := os.CopyFS(filepath.Join(dir, from), os.DirFS(filepath.Join(root, from))); err != nil {
			t.Fatal(err)
		}
	}
	readme := "# Title\n<!-- settings: generated, see internal/gen -->\nold\n<!-- /settings -->\nrest\n"
	help := "head\n>>> settings (generated)\nold\n<<< settings\ntail\n"
	for name, text := range map[string]string{"README.md": readme, "editors/neovim/doc/coderag.txt": help} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	if !strings.HasPrefix(text, "# Title\n") || !strings.HasSuffix(text, "<!-- /settings -->\nrest\n") || strings.Contains(text, "\nold\n") {
		t.Errorf("README: %s", text)
	}
	for _, d := range config.Table() {
		if !strings.Contains(text, "`"+d.Name+"`") || !strings.Contains(text, "`"+d.Env+"`") {
			t.Errorf("README lacks %s", d.Name)
		}
	}
	again, err := generate(dir)
	if err != nil || !bytes.Equal(again["README.md"], got) {
		t.Errorf("a second run changes the README (%v)", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("no markers"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(dir); err == nil || !strings.Contains(err.Error(), "README.md lacks") {
		t.Errorf("without markers: %v", err)
	}
}

// TestVSCodeSettings reads the schema back: VS Code checks values by it.
func TestVSCodeSettings(t *testing.T) {
	data, err := vscodeSettings()
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]struct {
		Type    string
		Default any
		Minimum *float64
		Scope   string
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	if len(schema) != len(config.Table()) {
		t.Errorf("%d properties for %d settings", len(schema), len(config.Table()))
	}
	if p := schema["coderag.search.topK"]; p.Type != "integer" || p.Default != 20.0 || p.Minimum == nil || *p.Minimum != 10 || p.Scope != "window" {
		t.Errorf("coderag.search.topK: %+v", p)
	}
	if p := schema["coderag.embed.libraryPath"]; p.Scope != "machine" {
		t.Errorf("coderag.embed.libraryPath: %+v", p)
	}
	if p := schema["coderag.index.exclude"]; p.Type != "array" {
		t.Errorf("coderag.index.exclude: %+v", p)
	}
}

func TestVimSettingsFitTheWidth(t *testing.T) {
	for line := range strings.Lines(vimSettings()) {
		if len(strings.TrimSuffix(line, "\n")) > vimWidth {
			t.Errorf("too wide: %q", line)
		}
	}
}
