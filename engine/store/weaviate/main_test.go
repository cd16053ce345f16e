package weaviate_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/sharedindextest"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/weaviate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const dim = 8

// cluster are the options for the engine that the tests are given. Each
// test has a tenant, or is skipped.
func cluster(t testing.TB) weaviate.Options {
	t.Helper()
	endpoints := os.Getenv("CODERAG_SHARED_ENDPOINTS")
	if endpoints == "" {
		t.Skip("CODERAG_SHARED_ENDPOINTS names no Weaviate (comma-separated base URLs): what needs one is not tested")
	}
	return weaviate.Options{
		Endpoints: strings.Split(endpoints, ","),
		APIKey:    os.Getenv("CODERAG_SHARED_API_KEY"),
		Tenant:    fmt.Sprintf("test-%x", rand.Uint64()),
		Edition:   edition("model-a"),
		Timeout:   30 * time.Second,
		Prefix:    "Coderagtest",
	}
}

func edition(fingerprint string) sharedindex.Edition {
	return sharedindex.Edition{ChunkVersion: "1-default", Tokenizer: lexical.TokenizerVersion, Model: embed.Model{Name: "test", Dim: dim, Fingerprint: fingerprint}}
}

func open(t testing.TB, o weaviate.Options) *weaviate.Backend {
	t.Helper()
	b, err := weaviate.Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// document makes a document of several chunks; every chunk has the words, and one of
// its own, and a vector of its own.
func document(path string, version, chunks int, words ...string) sharedindex.Document {
	d := sharedindex.Document{Text: fmt.Sprintf("version %d of %s\n%s\n", version, path, strings.Repeat("line\n", chunks*10)), Commit: fmt.Sprintf("c%d", version)}
	d.Record = store.FileRecord{
		Path: path, Size: int64(len(d.Text)), Hash: file.Hash(sha256.Sum256([]byte(d.Text))),
		Class: file.Class{Language: "go", SourceType: file.Code}, ChunkVersion: "1-default",
	}
	for i := range chunks {
		d.Record.File.Chunks = append(d.Record.File.Chunks, chunk.Chunk{
			ID: fmt.Sprintf("%032x", i), Path: path, SourceType: file.Code, Kind: chunk.Function, Language: "go",
			Name: fmt.Sprintf("F%d", i), Index: i, StartLine: 1 + i*10, EndLine: 10 + i*10, Tokens: 20,
		})
		var w sharedindex.Words
		w[lexical.Body] = append([]string{fmt.Sprintf("own%dx%d", version, i)}, words...)
		w[lexical.Name] = []string{"file"}
		d.Words = append(d.Words, w)
		d.Rows = append(d.Rows, unit(version*1000+i))
		d.Vectors = append(d.Vectors, store.Vector{Scale: 0.5, Values: []int8{int8(version), int8(i), -128, 127}})
	}
	return d
}

// unit is unit vector number n.
func unit(n int) []float32 {
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	v := make([]float32, dim)
	sum := 0.0
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func publish(t testing.TB, b *weaviate.Backend, repository, commit string, documents ...sharedindex.Document) {
	t.Helper()
	w, err := b.Write(t.Context(), repository)
	must(t, err)
	must(t, w.Begin(t.Context(), commit))
	must(t, w.Put(t.Context(), documents))
	must(t, w.Count(t.Context(), sharedindextest.Count(documents...).DF))
	must(t, w.Finish(t.Context(), sharedindex.Head{Commit: commit}))
	must(t, w.Close())
}

func entries(t testing.TB, b *weaviate.Backend, repository string) map[string]sharedindex.Entry {
	t.Helper()
	out := map[string]sharedindex.Entry{}
	must(t, b.Manifest(t.Context(), repository, func(e sharedindex.Entry) error {
		if _, twice := out[e.Path]; twice {
			return fmt.Errorf("%s comes twice", e.Path)
		}
		out[e.Path] = e
		return nil
	}))
	return out
}
