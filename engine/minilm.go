package engine

import (
	"context"
	"errors"
	"sync"

	"coderag-ls/engine/embed"
)

// errUnloaded is why MiniLM makes no vectors for a while.
var errUnloaded = errors.New("it is unloaded because memory is short (index.memoryLimit)")

// unloadable is a model that can be unloaded while memory is short. It is the
// model that it holds all the while.
type unloadable struct {
	model embed.Model
	open  func(ctx context.Context) (embed.Embedder, error)

	mu     sync.RWMutex   // held for reading while vectors are made
	inner  embed.Embedder // nil while unloaded
	closed bool
}

func newUnloadable(e embed.Embedder, open func(context.Context) (embed.Embedder, error)) *unloadable {
	return &unloadable{model: e.Model(), open: open, inner: e}
}

// Model implements embed.Embedder.
func (u *unloadable) Model() embed.Model { return u.model }

// Embed implements embed.Embedder.
func (u *unloadable) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if u.inner == nil {
		return nil, errUnloaded
	}
	return u.inner.Embed(ctx, texts)
}

// unload frees the model once the texts in work are done.
func (u *unloadable) unload() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.inner == nil {
		return nil
	}
	err := u.inner.Close()
	u.inner = nil
	return err
}

// load opens the model again.
func (u *unloadable) load(ctx context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.inner != nil || u.closed {
		return nil
	}
	e, err := u.open(ctx)
	if err == nil && e.Model().Fingerprint != u.model.Fingerprint {
		err = errors.Join(errors.New("it was replaced by another version; start again to use it"), e.Close())
	}
	if err != nil {
		return err
	}
	u.inner = e
	return nil
}

// Close implements embed.Embedder.
func (u *unloadable) Close() error {
	err := u.unload()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	return err
}
