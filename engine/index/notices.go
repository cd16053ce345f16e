package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/store"
	"coderag-ls/engine/wire"
)

// notice is something that the user should know.
type notice struct{ key, text string }

// tell has a notice shown until settled is called with its key; another text
// of the same key takes its place.
func (ix *Index) tell(key, text string) {
	if ix.note(key, text) && ix.opts.Notice != nil {
		ix.opts.Notice(text)
	}
}

// note is tell without telling at once; first says whether that is to be done.
func (ix *Index) note(key, text string) (first bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	i := slices.IndexFunc(ix.notices, func(n notice) bool { return n.key == key })
	switch {
	case i < 0:
		ix.notices = append(ix.notices, notice{key, text})
	case ix.notices[i].text == text:
		return false
	default:
		ix.notices[i].text = text
	}
	ix.told.Store(int64(len(ix.notices)))
	ix.log.Warn(text)
	ix.lastError = &wire.LastError{Message: text, At: time.Now().Format(time.RFC3339)}
	first = !ix.noticed[key]
	if ix.noticed == nil {
		ix.noticed = map[string]bool{}
	}
	ix.noticed[key] = true
	return first
}

// failed notes what went wrong, for the status.
func (ix *Index) failed(text string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.lastError = &wire.LastError{Message: text, At: time.Now().Format(time.RFC3339)}
}

// settled takes a notice back. It costs nothing where there is none.
func (ix *Index) settled(key string) {
	if ix.told.Load() == 0 {
		return
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.notices = slices.DeleteFunc(ix.notices, func(n notice) bool { return n.key == key })
	ix.told.Store(int64(len(ix.notices)))
}

// embedOne returns the vector of a text. What is no vector of the model is an
// error.
func embedOne(ctx context.Context, e embed.Embedder, text string) ([]float32, error) {
	v, err := e.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	if dim := e.Model().Dim; len(v) != 1 || len(v[0]) != dim {
		got := 0
		if len(v) > 0 {
			got = len(v[0])
		}
		return nil, fmt.Errorf("%s made %d vectors of %d values for one text, want one of %d", e.Model().Name, len(v), got, dim)
	}
	return v[0], nil
}

// storedVectors returns what a root's store has of a model. A store that cannot
// be read has nothing: vectors are made again, and the user is told.
func (ix *Index) storedVectors(ctx context.Context, r *root, m embed.Model, keys []store.VectorKey) (map[store.VectorKey]store.Vector, error) {
	key := "read " + r.Dir
	have, err := r.store.Vectors(ctx, m.Fingerprint, keys)
	switch {
	case err == nil:
		ix.settled(key)
	case ctx.Err() != nil, errors.Is(err, store.ErrClosed):
		return nil, err
	default:
		ix.tell(key, fmt.Sprintf("cannot read stored vectors of %s: %v (they are made again)", r.Dir, err))
		return map[store.VectorKey]store.Vector{}, nil
	}
	for k, v := range have {
		if len(v.Values) != m.Dim {
			delete(have, k)
		}
	}
	return have, nil
}
