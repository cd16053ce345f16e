package graph_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/graph"
	"coderag-ls/engine/text"
)

// chunked makes the graph's files of texts by path, with the real chunker.
// Files that did not change since before keep their identity.
type chunked struct {
	c     *chunk.Chunker
	texts map[string]string
	known map[string]graph.File // by path and text
}

func newChunked(t testing.TB, texts map[string]string) *chunked {
	c := chunk.New(chunk.Options{})
	t.Cleanup(c.Close)
	return &chunked{c: c, texts: texts, known: map[string]graph.File{}}
}

func (w *chunked) files() []graph.File {
	var out []graph.File
	for _, p := range slices.Sorted(maps.Keys(w.texts)) {
		content := w.texts[p]
		f, ok := w.known[p+"\x00"+content]
		if !ok {
			class, reason, _ := file.Classify(p, content)
			if reason != "" {
				continue
			}
			made := w.c.Chunk(context.Background(), chunk.Input{Path: p, Class: class, Text: text.New(content)})
			f = graph.File{
				Path: p, Language: class.Language, Test: class.Test, Minor: class.Example || class.Vendored || class.Docs && class.SourceType == file.Code,
				Symbols: made.Symbols, Imports: made.Imports, Identity: p + "\x00" + content,
			}
			w.known[p+"\x00"+content] = f
		}
		out = append(out, f)
	}
	return out
}

func (w *chunked) read(p string) (string, bool) {
	s, ok := w.texts[p]
	return s, ok
}

func (w *chunked) graph() *graph.Graph { return graph.New(w.files(), w.read) }

// readTree reads a folder's text files.
func readTree(t testing.TB, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if i, err := d.Info(); err != nil || i.Size() > 1<<20 {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil || strings.IndexByte(string(b[:min(len(b), 8000)]), 0) >= 0 {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		texts[filepath.ToSlash(rel)] = strings.ToValidUTF8(string(b), "?")
		return err
	})
	if err != nil {
		t.Skipf("no sources: %v", err)
	}
	return texts
}

func sortFiles(files []graph.File) {
	slices.SortFunc(files, func(a, b graph.File) int { return strings.Compare(a.Path, b.Path) })
}
