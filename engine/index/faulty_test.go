package index_test

import (
	"context"
	gosync "sync"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/index"
	"coderag-ls/engine/store"
)

// faults decides what goes wrong: before is called with the name of a method
// and how often it was called, and its error is returned in the method's stead.
type faults struct {
	mu     gosync.Mutex
	calls  map[string]int
	before func(method string, call int) error
}

func (f *faults) check(method string) error {
	f.mu.Lock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[method]++
	before, n := f.before, f.calls[method]
	f.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(method, n)
}

// set changes what goes wrong from now on.
func (f *faults) set(before func(method string, call int) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = before
}

func (f *faults) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// faultyStore is a real store that fails where faults says so.
type faultyStore struct {
	store.Store
	*faults
	info func(store.Info) store.Info // changes what the store tells, nil for no change
}

func (s *faultyStore) Files(ctx context.Context, fn func(store.FileRecord) error) error {
	if err := s.check("Files"); err != nil {
		return err
	}
	return s.Store.Files(ctx, fn)
}

func (s *faultyStore) Commit(ctx context.Context, put []store.FileRecord, gone []string) error {
	if err := s.check("Commit"); err != nil {
		return err
	}
	return s.Store.Commit(ctx, put, gone)
}

func (s *faultyStore) Vectors(ctx context.Context, model string, keys []store.VectorKey) (map[store.VectorKey]store.Vector, error) {
	if err := s.check("Vectors"); err != nil {
		return nil, err
	}
	return s.Store.Vectors(ctx, model, keys)
}

func (s *faultyStore) PutVectors(ctx context.Context, model string, vectors map[store.VectorKey]store.Vector) error {
	if err := s.check("PutVectors"); err != nil {
		return err
	}
	return s.Store.PutVectors(ctx, model, vectors)
}

func (s *faultyStore) KeepVectors(ctx context.Context, keep func(string, store.VectorKey) bool) (int, error) {
	if err := s.check("KeepVectors"); err != nil {
		return 0, err
	}
	return s.Store.KeepVectors(ctx, keep)
}

func (s *faultyStore) Shrink(ctx context.Context) error {
	if err := s.check("Shrink"); err != nil {
		return err
	}
	return s.Store.Shrink(ctx)
}

func (s *faultyStore) Info() store.Info {
	info := s.Store.Info()
	if s.info != nil {
		info = s.info(info)
	}
	return info
}

// faultyModel is a real model that fails where before says so.
type faultyModel struct {
	embed.Embedder
	model  embed.Model
	before func(ctx context.Context, call int) error
	faults faults
	short  bool // vectors lack their last value
}

func (m *faultyModel) Model() embed.Model { return m.model }

func (m *faultyModel) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.faults.check("Embed")
	if m.before != nil {
		if err := m.before(ctx, m.faults.count("Embed")); err != nil {
			return nil, err
		}
	}
	v, err := m.Embedder.Embed(ctx, texts)
	if m.short {
		for i := range v {
			v[i] = v[i][1:]
		}
	}
	return v, err
}

// faultyInline returns the workspace's model as one that fails.
func (w *workspace) faultyInline(before func(ctx context.Context, call int) error) *faultyModel {
	return &faultyModel{Embedder: w.model, model: w.model.Model(), before: before}
}

// faultyBehind is faultyInline under the name of another model.
func (w *workspace) faultyBehind(before func(ctx context.Context, call int) error) *faultyModel {
	m := w.faultyInline(before)
	m.model.Name, m.model.Fingerprint = "slow", "510w510w510w510w"
	return m
}

// openFaulty opens the index on a store that fails as f says.
func (w *workspace) openFaulty(f *faults, change func(*index.Options)) (*index.Index, error) {
	w.t.Helper()
	opts := w.options(w.cache)
	inner := opts.OpenStore
	opts.OpenStore = func(ctx context.Context, dir string) (store.Store, error) {
		s, err := inner(ctx, dir)
		if err != nil {
			return nil, err
		}
		return &faultyStore{Store: s, faults: f}, nil
	}
	if change != nil {
		change(&opts)
	}
	return index.Open(w.t.Context(), opts)
}
