package static

import (
	"context"
	"crypto/sha256"
	_ "embed" // the model file
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"coderag-ls/engine/embed"
)

//go:embed code-256.cesm
var code256 string

// pathWeight is how much of the path's vector belongs in a chunk's. File-level
// NDCG@10 over 473 questions on 24 repositories (a file's best chunk, mean of
// its best three) and, below, 179 commits on 9 (best chunk):
//
//	weight  0           2           2.83        4           6           8
//	        .703 .725   -           .827 .842   .838 .846   .843 .846   .837 .836
//	        .537        .614        .643        .641        .633        -
//
// Path words counted 16 times among the chunk's own words reach .832 .852 and
// .644, but then a renamed file needs its chunks embedded again.
const pathWeight = 4

// Model is a table of piece vectors. It is safe for concurrent use.
type Model struct {
	info   embed.Model
	table  *table
	pool   sync.Pool // of *scratch
	closed atomic.Bool
}

var _ embed.Embedder = (*Model)(nil)

// New returns the model in the binary. It parses it each time, which takes
// about 10 ms: keep it.
func New() (*Model, error) { return load("code-256", code256) }

// Load reads another model file. name is what Model calls it and what errors
// name.
func Load(name string, r io.Reader) (*Model, error) {
	var data strings.Builder
	n, err := io.Copy(&data, io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading embedding model %s: %w", name, err)
	}
	if n > maxFileBytes {
		return nil, fmt.Errorf("embedding model %s: more than %d bytes", name, maxFileBytes)
	}
	return load(name, data.String())
}

func load(name, data string) (*Model, error) {
	t, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("embedding model %s: %w", name, err)
	}
	m := &Model{table: t}
	m.info = embed.Model{Name: name, Dim: t.dim, Fingerprint: fingerprint(data), PathWeight: pathWeight}
	m.pool.New = func() any { return newScratch(t) }
	return m, nil
}

// fingerprint is the start of the SHA-256 of the file's SHA-256 and what the
// code adds to it.
func fingerprint(data string) string {
	h := sha256.New()
	var buf [32 << 10]byte
	for len(data) > 0 {
		n := copy(buf[:], data)
		h.Write(buf[:n])
		data = data[n:]
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%x tokenizer %d", h.Sum(nil), tokenizerVersion))
	return hex.EncodeToString(sum[:8])
}

// Model implements embed.Embedder.
func (m *Model) Model() embed.Model { return m.info }

// Embed implements embed.Embedder.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	dim := m.info.Dim
	all := make([]float32, 0, len(texts)*dim)
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if m.closed.Load() {
			return nil, fmt.Errorf("embedding model %s: %w", m.info.Name, errClosed)
		}
		all = m.Append(all, text)
		vectors[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return vectors, nil
}

var errClosed = errors.New("used after it was closed")

// Close implements embed.Embedder.
func (m *Model) Close() error {
	m.closed.Store(true)
	return nil
}

// Append appends the text's vector, Model().Dim values, not normalised, to
// dst. It allocates nothing but what dst needs to grow.
func (m *Model) Append(dst []float32, text string) []float32 {
	s := m.pool.Get().(*scratch)
	defer m.pool.Put(s)
	for at := 0; at < len(text); {
		s.ids, at = m.table.appendIDs(s.ids[:0], text, at, idBatch)
		s.count()
	}
	return s.sum(dst, m.table)
}

// Tokenize appends the numbers of the text's pieces to ids, in order and with
// repetitions.
func (m *Model) Tokenize(ids []int32, text string) []int32 {
	ids, _ = m.table.appendIDs(ids, text, 0, int(^uint(0)>>1))
	return ids
}
