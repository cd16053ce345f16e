package lexical_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"coderag-ls/engine/lexical"
)

// corpus reads the Go files of a directory of GOROOT/src and cuts them into chunks of about
// 1,500 characters at line ends.
func corpus(tb testing.TB, dir string) (docs []lexical.Doc, bytes int64) {
	tb.Helper()
	root := filepath.Join(runtime.GOROOT(), "src")
	err := filepath.WalkDir(filepath.Join(root, dir), func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(p) != ".go" {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		docs = append(docs, chunks(string(b), filepath.ToSlash(rel))...)
		bytes += int64(len(b))
		return nil
	})
	if err != nil {
		tb.Skipf("no Go sources: %v", err)
	}
	return docs, bytes
}

func chunks(text, path string) (docs []lexical.Doc) {
	for len(text) > 0 {
		n := min(len(text), 1500)
		if n < len(text) {
			if i := strings.LastIndexByte(text[:n], '\n'); i > 0 {
				n = i + 1
			}
		}
		d := lexical.Doc{Body: text[:n], Name: filepath.Base(path), Path: filepath.Dir(path)}
		at := 0
		for line := range strings.Lines(d.Body) {
			trimmed := strings.TrimLeft(line, " \t")
			if strings.HasPrefix(trimmed, "//") {
				d.Comments = append(d.Comments, lexical.Span{Start: at, End: at + len(line)})
			} else if name, ok := strings.CutPrefix(line, "func "); ok {
				d.Defs = append(d.Defs, strings.Split(name, "(")[0])
			}
			at += len(line)
		}
		docs = append(docs, d)
		text = text[n:]
	}
	return docs
}

func BenchmarkBuild(b *testing.B) {
	docs, size := corpus(b, os.Getenv("CORPUS"))
	b.SetBytes(size)
	for b.Loop() {
		bl := lexical.NewBuilder(lexical.NewTokenizer())
		for _, d := range docs {
			bl.Add(d)
		}
		held := bl.Size()
		s := bl.Build()
		b.ReportMetric(float64(held)/1e6, "builder-MB")
		b.ReportMetric(float64(s.Bytes())/float64(len(docs)), "B/doc")
		b.ReportMetric(float64(s.NumTerms()), "terms")
		b.ReportMetric(float64(len(docs)), "docs")
	}
}

func BenchmarkSearch(b *testing.B) {
	docs, _ := corpus(b, os.Getenv("CORPUS"))
	tok := lexical.NewTokenizer()
	bl := lexical.NewBuilder(tok)
	for _, d := range docs {
		bl.Add(d)
	}
	parts := []lexical.Part{{Segment: bl.Build()}}
	var se lexical.Searcher
	for _, text := range []string{
		"where does the http client follow redirects",
		"how are timers stopped when a read deadline of a network connection is reset before the buffer has been written completely",
		"ServeHTTP", "return error nil value string type",
	} {
		q := lexical.Query{Terms: tok.Query(text)}
		b.Run(strings.ReplaceAll(text, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				r, err := se.Search(context.Background(), parts, q, 50)
				if err != nil || len(r.Hits) == 0 {
					b.Fatal(err, len(r.Hits))
				}
				b.ReportMetric(float64(r.Stats.Candidates), "candidates")
			}
		})
	}
}
