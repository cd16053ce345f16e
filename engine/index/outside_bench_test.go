package index_test

import (
	"context"
	"testing"

	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/mem"
)

// BenchmarkOutside makes 100 files ready that a search found elsewhere: files of
// this repository, of 8 kB on average.
func BenchmarkOutside(b *testing.B) {
	m, err := static.New()
	if err != nil {
		b.Fatal(err)
	}
	ix, err := index.Open(b.Context(), index.Options{
		Roots: []file.Root{{Name: "w", Dir: ".."}}, CacheDir: b.TempDir(), Inline: m, PathWeight: -1,
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) { return new(mem.Space).Open(ctx, dir, "") },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer ix.Close()
	if err := ix.Sync(b.Context(), true, false); err != nil {
		b.Fatal(err)
	}
	var files []index.OutsideFile
	all, bytes, chunks := 0, 0, 0
	err = index.Export(b.Context(), ix, nil, func(d sharedindex.Document) error {
		if all++; all%4 == 0 && len(files) < 100 {
			files = append(files, outsideFile(d, ix, "o@1:"+d.Record.Path))
			bytes, chunks = bytes+len(d.Text), chunks+len(d.Record.File.Chunks)
		}
		return nil
	})
	if err != nil || len(files) < 100 {
		b.Fatalf("%d files, %v", len(files), err)
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		if _, err := ix.Outside(b.Context(), files); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(chunks), "chunks")
}
