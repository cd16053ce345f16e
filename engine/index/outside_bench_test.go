package index_test

import (
	"context"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/mem"
)

// outsideFiles are 100 files of this repository, of 5 kB on average, with the index that they
// come from.
func outsideFiles(b *testing.B) (ix *index.Index, files []index.OutsideFile, bytes, chunks int) {
	b.Helper()
	m, err := static.New()
	if err != nil {
		b.Fatal(err)
	}
	ix, err = index.Open(b.Context(), index.Options{
		Roots: []file.Root{{Name: "w", Dir: ".."}}, CacheDir: b.TempDir(), Inline: m, PathWeight: -1,
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) { return new(mem.Space).Open(ctx, dir, "") },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := ix.Close(); err != nil {
			b.Error(err)
		}
	})
	if err := ix.Sync(b.Context(), true, false); err != nil {
		b.Fatal(err)
	}
	all := 0
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
	return ix, files, bytes, chunks
}

// BenchmarkOutside makes files ready that a search found elsewhere.
func BenchmarkOutside(b *testing.B) {
	ix, files, bytes, chunks := outsideFiles(b)
	b.SetBytes(int64(bytes))
	for b.Loop() {
		if _, err := ix.Outside(b.Context(), files); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(chunks), "chunks")
}

// BenchmarkBeside puts them beside the local ones and searches all by words and by
// vector.
func BenchmarkBeside(b *testing.B) {
	ix, files, _, _ := outsideFiles(b)
	outside, err := ix.Outside(b.Context(), files)
	if err != nil {
		b.Fatal(err)
	}
	q := lexical.Query{Terms: ix.Tokenizer().Query("how are postings of small parts merged into one segment while searches run")}
	vectors, err := ix.Embedders()[0].Embed(b.Context(), []string{"how are postings merged"})
	if err != nil {
		b.Fatal(err)
	}
	embed.Normalize(vectors[0])
	for _, beside := range []bool{false, true} {
		b.Run(map[bool]string{false: "local", true: "beside"}[beside], func(b *testing.B) {
			for b.Loop() {
				s := ix.Snapshot()
				if beside {
					s = s.Beside(outside, &lexical.Background{Docs: 1 << 20, Terms: [lexical.NumFields]uint64{1 << 26, 1 << 24, 1 << 21, 1 << 22, 1 << 21, 1 << 22}})
				}
				if _, err := s.Lexical(b.Context(), q, 400, nil); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Vectors(b.Context(), ix.Models()[0].Fingerprint, vectors[0], 200, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
