package lexical_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coderag-ls/engine/lexical"
)

// corpus reads the Go files of a directory of GOROOT/src and cuts them into chunks of about
// 1,500 characters at line ends.
func corpus(tb testing.TB, dir string) (docs []lexical.Doc, bytes int64) {
	tb.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skipf("no Go toolchain: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	err = filepath.WalkDir(filepath.Join(root, dir), func(p string, e os.DirEntry, err error) error {
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

func BenchmarkReadSegment(b *testing.B) {
	docs, _ := corpus(b, os.Getenv("CORPUS"))
	bl := lexical.NewBuilder(lexical.NewTokenizer())
	for _, d := range docs {
		bl.Add(d)
	}
	data := stored(b, bl.Build())
	docs, bl = nil, nil
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := lexical.ReadSegment(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	docs, _ := corpus(b, os.Getenv("CORPUS"))
	tok := lexical.NewTokenizer()
	var parts []lexical.Part
	for len(docs) > 0 {
		bl := lexical.NewBuilder(tok)
		n := min(len(docs), 8000)
		for _, d := range docs[:n] {
			bl.Add(d)
		}
		docs = docs[n:]
		parts = append(parts, lexical.Part{Segment: bl.Build()})
	}
	for b.Loop() {
		lexical.Merge(parts)
	}
}

// BenchmarkEdit is what one edited file costs: a segment of a few chunks, and a search over
// it and the rest.
func BenchmarkEdit(b *testing.B) {
	docs, _ := corpus(b, "net/http")
	tok := lexical.NewTokenizer()
	for b.Loop() {
		bl := lexical.NewBuilder(tok)
		for _, d := range docs[:10] {
			bl.Add(d)
		}
		bl.Build()
	}
}

// BenchmarkScan is the naive way to do BenchmarkSearch's first query: a regular
// expression over the text.
func BenchmarkScan(b *testing.B) {
	docs, size := corpus(b, os.Getenv("CORPUS"))
	re := regexp.MustCompile(`(?i)http|client|follow|redirect`)
	b.SetBytes(size)
	for b.Loop() {
		n := 0
		for _, d := range docs {
			n += len(re.FindAllStringIndex(d.Body, -1))
		}
		if n == 0 {
			b.Fatal("nothing found")
		}
	}
}
