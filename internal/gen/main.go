// Command gen writes what is documentation in one place and code in another:
// the settings' page, the README's table of them, the editors' settings and the
// reference of the wire. Its test fails where a file is not what the code says.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

//go:generate go run . -root ../..

func main() {
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write brings every generated file up to date and says which changed.
func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, files[name]) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
		fmt.Println("wrote", name)
	}
	return nil
}

// generate returns every generated file by its slash path from root. Files that
// are generated only between markers are read from there.
func generate(root string) (map[string][]byte, error) {
	wire, err := wirePage(root)
	if err != nil {
		return nil, err
	}
	schema, err := vscodeSettings()
	if err != nil {
		return nil, err
	}
	luaTypes, err := luaWire(root)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"editors/neovim/lua/coderag/settings.lua": []byte(luaSettings()),
		"editors/neovim/lua/coderag/wire.lua":     []byte(luaTypes),
		"docs/settings.md":                        []byte(settingsPage()),
		"docs/wire.md":                            []byte(wire),
		"editors/vscode/settings.generated.json":  schema,
	}
	for name, part := range map[string]struct{ begin, end, text string }{
		"README.md":                      {"<!-- settings: generated, see internal/gen -->\n", "<!-- /settings -->\n", settingsTable()},
		"editors/neovim/doc/coderag.txt": {">>> settings (generated)\n", "<<< settings\n", vimSettings()},
	} {
		old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		text, err := between(name, old, part.begin, part.end, part.text)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// between replaces what stands between two marker lines.
func between(name string, old []byte, begin, end, text string) ([]byte, error) {
	head, rest, ok := bytes.Cut(old, []byte(begin))
	if !ok {
		return nil, fmt.Errorf("%s lacks the line %q", name, begin)
	}
	_, tail, ok := bytes.Cut(rest, []byte(end))
	if !ok {
		return nil, fmt.Errorf("%s lacks the line %q", name, end)
	}
	return bytes.Join([][]byte{head, []byte(begin), []byte(text), []byte(end), tail}, nil), nil
}
