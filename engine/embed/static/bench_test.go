package static_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/embed/static"
)

// chunks cuts some of Go's standard library into pieces of about 1,500 bytes
// at line ends.
func chunks(b *testing.B) []string {
	b.Helper()
	var out []string
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("no Go sources to measure with: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src", "net")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rest := string(data)
		for len(rest) > 1500 {
			cut := strings.LastIndexByte(rest[:1500], '\n') + 1
			if cut == 0 {
				cut = 1500
			}
			out = append(out, rest[:cut])
			rest = rest[cut:]
		}
		out = append(out, rest)
		return nil
	})
	if err != nil || len(out) == 0 {
		b.Skipf("no Go sources to measure with: %v", err)
	}
	return out
}

// BenchmarkEmbed embeds source code on one core.
func BenchmarkEmbed(b *testing.B) {
	texts := chunks(b)
	m := model(b)
	dst := make([]float32, 0, m.Model().Dim)
	bytes, n := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		text := texts[n%len(texts)]
		dst = m.Append(dst[:0], text)
		bytes += len(text)
		n++
	}
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(float64(n)/seconds, "chunks/s")
	b.ReportMetric(float64(bytes)/1e6/seconds, "MB/s")
}

// BenchmarkTokenize cuts source code into pieces.
func BenchmarkTokenize(b *testing.B) {
	texts := chunks(b)
	m := model(b)
	var ids []int32
	bytes, n, pieces := 0, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		text := texts[n%len(texts)]
		ids = m.Tokenize(ids[:0], text)
		bytes += len(text)
		pieces += len(ids)
		n++
	}
	b.ReportMetric(float64(bytes)/1e6/b.Elapsed().Seconds(), "MB/s")
	b.ReportMetric(float64(pieces)/float64(n), "pieces/chunk")
}

// BenchmarkEmbedQuery embeds a question through the interface.
func BenchmarkEmbedQuery(b *testing.B) {
	m := model(b)
	texts := []string{"where are http redirects followed and the cookies kept"}
	for b.Loop() {
		if _, err := m.Embed(context.Background(), texts); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNew loads the model.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := static.New(); err != nil {
			b.Fatal(err)
		}
	}
}
