package chunk_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/chunk/treesitter"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

// goroot is where the Go installation stands that runs the tests.
func goroot(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skipf("no go command: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// goSources reads the Go files under the folders of GOROOT/src; it skips where
// there are none.
func goSources(tb testing.TB, folders ...string) (paths, texts []string) {
	tb.Helper()
	for _, folder := range folders {
		root := filepath.Join(goroot(tb), "src", folder)
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") {
				return err
			}
			b, err := os.ReadFile(p)
			paths, texts = append(paths, filepath.ToSlash(p)), append(texts, string(b))
			return err
		})
		if err != nil {
			tb.Skipf("no Go sources: %v", err)
		}
	}
	return paths, texts
}

func total(texts []string) (n int64) {
	for _, t := range texts {
		n += int64(len(t))
	}
	return n
}

// BenchmarkParseOnly is the cost that BenchmarkChunk is measured against.
func BenchmarkParseOnly(b *testing.B) {
	_, texts := goSources(b, "net/http", "encoding", "go/types")
	p := treesitter.NewGrammars().NewParser()
	defer p.Close()
	b.SetBytes(total(texts))
	for b.Loop() {
		for _, t := range texts {
			if err := p.ParseOnly("go", t); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	paths, texts := goSources(b, "net/http", "encoding", "go/types")
	c := chunk.New(chunk.Options{})
	defer c.Close()
	b.SetBytes(total(texts))
	b.ReportAllocs()
	for b.Loop() {
		chunks := 0
		for i, t := range texts {
			f := c.Chunk(context.Background(), chunk.Input{Path: paths[i], Class: file.Class{Language: "go", SourceType: file.Code}, Text: text.New(t)})
			chunks += len(f.Chunks)
		}
		b.ReportMetric(float64(chunks), "chunks")
	}
}
