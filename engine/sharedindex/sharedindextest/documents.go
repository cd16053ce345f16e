package sharedindextest

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
)

// dim is the length of the vectors.
const dim = 32

// Edition returns one of several editions of documents that Document makes.
func Edition(n int) sharedindex.Edition {
	return sharedindex.Edition{
		ChunkVersion: "7.0123456789abcdef", Tokenizer: lexical.TokenizerVersion,
		Model: embed.Model{Name: fmt.Sprintf("test-%d", n), Dim: dim, Fingerprint: fmt.Sprintf("%016x", n+1), PathWeight: 0.5},
	}
}

// Count is what a publisher counts of documents.
func Count(documents ...sharedindex.Document) sharedindex.Statistics {
	st := sharedindex.Statistics{DF: map[string]int{}}
	for i := range documents {
		for _, words := range documents[i].Words {
			for f, n := range lexical.Lengths(words) {
				st.Terms[f] += n
			}
			once := map[string]bool{}
			for _, of := range words {
				for _, t := range of {
					once[t] = true
				}
			}
			for t := range once {
				st.DF[t]++
			}
		}
	}
	return st
}

// linesPerChunk are the lines of each chunk of a Document.
const linesPerChunk = 3

// Document makes a document of so many chunks. All of it says which path, version
// and chunk it is of; equal arguments give equal documents.
func Document(path string, version, chunks int) sharedindex.Document {
	var b strings.Builder
	for i := range chunks {
		fmt.Fprintf(&b, "func F%d() { // %s\n\treturn settleAccounts(%q, %d)\n}\n", i, mark(path, version, i), path, version)
	}
	content := b.String()
	doc := text.New(content)
	class := file.Class{Language: "go", SourceType: file.Code, Test: strings.HasSuffix(path, "_test.go")}
	if strings.HasSuffix(path, ".md") {
		class = file.Class{Language: "markdown", SourceType: file.Markdown, Docs: true}
	}
	out := sharedindex.Document{
		Text: content, Commit: fmt.Sprintf("commit-%d", version),
		Record: store.FileRecord{
			Path: path, Hash: text.Hash(content), Size: int64(len(content)), Class: class, ChunkVersion: Edition(0).ChunkVersion,
		},
	}
	words := lexical.NewBuilder(lexical.NewTokenizer())
	for i := range chunks {
		start, end := i*linesPerChunk+1, (i+1)*linesPerChunk
		lines, _ := doc.Lines(start, end)
		c := chunk.Chunk{
			ID: fmt.Sprintf("%x", sha256.Sum256([]byte(lines)))[:32], Path: path, SourceType: class.SourceType, Kind: chunk.Function, Language: class.Language,
			Name: fmt.Sprintf("F%d", i), HeaderPath: []string{"T \"quoted\"", "Ünicode"}, Index: i, StartLine: start, EndLine: end, Tokens: len(lines) / 4,
			Summary: fmt.Sprintf("version %d", version), Symbols: []string{fmt.Sprintf("F%d", i)}, Hash: sha256.Sum256([]byte(lines)), EmbedHash: sha256.Sum256([]byte("e" + lines)),
		}
		out.Record.File.Chunks = append(out.Record.File.Chunks, c)
		out.Record.File.Symbols = append(out.Record.File.Symbols, chunk.Symbol{
			Name: c.Name, Kind: chunk.Function, StartLine: start, EndLine: end, NameLine: start, Signature: fmt.Sprintf("func %s()", c.Name), Exported: true,
		})
		out.Vectors = append(out.Vectors, vector(path, version, i))
		out.Rows = append(out.Rows, Row(path, version, i))
		out.Words = append(out.Words, words.Terms(lexical.Doc{Body: lines, Name: "settle", Defs: c.Symbols, Summary: c.Summary}))
	}
	if chunks > 0 {
		out.Record.File.Imports = []chunk.Import{{Target: "fmt", Names: []string{"Println"}, Line: 1}}
	}
	return out
}

// mark is a word that only one chunk of one version of a path has.
func mark(path string, version, i int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s|%d|%d", path, version, i))
	// Letters and digits that the tokenizer keeps together as an identifier.
	return fmt.Sprintf("mark_%x", h[:8])
}

// Mark is the term of that word.
func Mark(path string, version, i int) lexical.Term {
	return lexical.Term{Text: lexical.Exact(mark(path, version, i)), Weight: 1}
}

func random(path string, version, i int) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", path, version, i))))
}

func vector(path string, version, i int) store.Vector {
	r := random(path, version, i)
	v := store.Vector{Scale: 0.25 + float32(version), Values: make([]int8, dim)}
	for j := range v.Values {
		v.Values[j] = int8(r.IntN(255) - 127)
	}
	return v
}

// Row is the unit vector that only one chunk of one version of a path has: others are at
// nearly right angles to it.
func Row(path string, version, i int) []float32 {
	r := random(path, version, i)
	row := make([]float32, dim)
	var sum float64
	for j := range row {
		row[j] = float32(r.NormFloat64())
		sum += float64(row[j]) * float64(row[j])
	}
	for j := range row {
		row[j] /= float32(math.Sqrt(sum))
	}
	return row
}
