package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coderag-ls/engine/file"
)

// Server is what a slow model on a server can beside embedding, and what it is
// not given.
type Server struct {
	// EmbedAll embeds many texts that are in no hurry. refused says for each text
	// why there is no vector of it alone. An error means that there are no vectors
	// now: the server is asked again later.
	EmbedAll func(ctx context.Context, texts []string) (vectors [][]float32, refused []error, err error)
	// Unsent reports whether a file's text and path never go there; nil where
	// all do. rel is its path in the root.
	Unsent func(r file.Root, rel string) bool
}

// awayError is a server that makes no vectors now.
type awayError struct{ err error }

func (e *awayError) Error() string { return e.err.Error() }

func (e *awayError) Unwrap() error { return e.err }

// isUnsent reports whether a file is not given to the slow model.
func (ix *Index) isUnsent(f *File) bool {
	return ix.opts.Server != nil && ix.opts.Server.Unsent != nil && ix.opts.Server.Unsent(f.Root, f.Rel)
}

// Unsent reports whether the text of a file (absolute) is not given to a model on
// a server: it is not of the workspace, left out of the index, or named by the
// settings.
func (ix *Index) Unsent(path string) bool {
	r, rel, ok := ix.locate(path)
	return !ok || r.rulesNow().Ignored(rel) || r.foreign(rel) ||
		ix.opts.Server != nil && ix.opts.Server.Unsent != nil && ix.opts.Server.Unsent(r.Root, rel)
}

// unsentDocs counts the live documents of a snapshot that the slow model is not
// given and has no vector of.
func (ix *Index) unsentDocs(s *Snapshot) int {
	if ix.opts.Server == nil || ix.opts.Server.Unsent == nil {
		return 0
	}
	if known := ix.unsentIn.Load(); known != nil && known.snap == s {
		return known.docs
	}
	model := ix.models[len(ix.models)-1]
	n := 0
	unsent := map[*File]bool{}
	for i, p := range s.parts {
		list := listOf(s.lists[i], model.Fingerprint)
		for d := range p.docs {
			if !s.isLive(i, d) {
				continue
			}
			f := p.docs[d].File
			is, ok := unsent[f]
			if !ok {
				is = ix.isUnsent(f)
				unsent[f] = is
			}
			if is && (list == nil || !list.has(int32(d))) {
				n++
			}
		}
	}
	ix.unsentIn.Store(&unsentCount{s, n})
	return n
}

// has reports whether a document has a vector.
func (l *List) has(doc int32) bool {
	_, ok := l.row(doc)
	return ok
}

// unsentCount is what was counted in a snapshot.
type unsentCount struct {
	snap *Snapshot
	docs int
}

// awayNotice is the key of the notice that the server is not asked.
const awayNotice = "server"

// away tells that the server makes no vectors, and returns when it is to be
// asked again, or false where ctx ends first.
func (z *vectorizer) away(ctx context.Context, err error) bool {
	z.ix.tell(awayNotice, fmt.Sprintf("%s makes no vectors: %v (answers go on without it; it is asked again by itself)", z.model.Name, err))
	z.ix.changed()
	z.pause = min(max(2*z.pause, z.ix.opts.Retry), maxRetry)
	timer := time.NewTimer(z.pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// back tells that the server makes vectors.
func (z *vectorizer) back() {
	z.pause = 0
	z.ix.settled(awayNotice)
}

// Away names the model whose server makes no vectors now, and says why; nil
// where there is none.
func (ix *Index) Away() (model string, why error) {
	if ix.vectors == nil {
		return "", nil
	}
	ix.vectors.mu.Lock()
	defer ix.vectors.mu.Unlock()
	if away := (*awayError)(nil); errors.As(ix.vectors.err, &away) {
		return ix.vectors.model.Name, away
	}
	return "", nil
}

// batch embeds texts on the server.
func (z *vectorizer) batch(ctx context.Context, texts []string) ([][]float32, []error, error) {
	var t turn
	z.ix.gate.yield(ctx, &t)
	z.ix.relieve()
	vectors, refused, err := z.ix.opts.Server.EmbedAll(ctx, texts)
	if err == nil && (len(vectors) != len(texts) || len(refused) != len(texts)) {
		err = errors.New("it did not make one vector of each text")
	}
	if err != nil {
		return nil, nil, &awayError{err}
	}
	for i, v := range vectors {
		if refused[i] == nil && len(v) != z.model.Dim {
			return nil, nil, &awayError{fmt.Errorf("it made a vector of %d values, want %d", len(v), z.model.Dim)}
		}
	}
	z.back()
	z.ix.meter.add(amount{embeds: len(texts)})
	return vectors, refused, nil
}
