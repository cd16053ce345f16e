// Package mem keeps an index in memory, for where no directory can be written
// to: answers are as good as ever, and the next start makes the index again.
package mem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/store"
)

// Space holds the stores of a process, by directory. A store that is closed
// and opened again has what it had, as one on disk does: settings that open the
// index anew cost no more than elsewhere. The zero value is an empty space.
// Its methods are safe for concurrent use.
type Space struct {
	mu     sync.Mutex
	stores map[string]*content
}

// content is what is kept under a directory's name.
type content struct {
	open    bool
	files   map[string]store.FileRecord
	vectors map[string]map[store.VectorKey]store.Vector // by model
	count   int                                         // of vectors
}

// Open opens the store that stands for a directory, which is neither read nor
// written. notice is what Info says. It returns store.ErrLocked where the store
// is open already.
func (s *Space) Open(ctx context.Context, dir, notice string) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.stores[dir]
	if c == nil {
		c = &content{files: map[string]store.FileRecord{}, vectors: map[string]map[store.VectorKey]store.Vector{}}
		if s.stores == nil {
			s.stores = map[string]*content{}
		}
		s.stores[dir] = c
	}
	if c.open {
		return nil, fmt.Errorf("opening index %s in memory: %w", dir, store.ErrLocked)
	}
	c.open = true
	return &Store{space: s, dir: dir, notice: notice, content: c}, nil
}

// Drop forgets what is kept for a directory whose store is closed.
func (s *Space) Drop(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.stores[dir]; c != nil && !c.open {
		delete(s.stores, dir)
	}
}

// Store is a store.Store of a Space.
type Store struct {
	space  *Space
	dir    string
	notice string

	mu      sync.RWMutex
	content *content // nil after Close
}

var _ store.Store = (*Store)(nil)

// use runs fn with the content, unless the store is closed. Writers ask for
// it for themselves.
func (s *Store) use(ctx context.Context, write bool, fn func(c *content)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if write {
		s.mu.Lock()
		defer s.mu.Unlock()
	} else {
		s.mu.RLock()
		defer s.mu.RUnlock()
	}
	if s.content == nil {
		return store.ErrClosed
	}
	fn(s.content)
	return nil
}

// Files calls fn for every stored file in path order.
func (s *Store) Files(ctx context.Context, fn func(store.FileRecord) error) error {
	var all []store.FileRecord
	err := s.use(ctx, false, func(c *content) { all = slices.Collect(maps.Values(c.files)) })
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b store.FileRecord) int { return strings.Compare(a.Path, b.Path) })
	for i, r := range all {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

// Commit replaces records and removes the paths in gone. What the records
// point to must not change any more.
func (s *Store) Commit(ctx context.Context, put []store.FileRecord, gone []string) error {
	return s.use(ctx, true, func(c *content) {
		for _, path := range gone {
			delete(c.files, path)
		}
		for _, r := range put {
			c.files[r.Path] = plain(r)
		}
	})
}

// plain is a record whose empty slices are nil, as every store gives them back.
func plain(r store.FileRecord) store.FileRecord {
	r.File.Chunks = slices.Clone(r.File.Chunks)
	for i := range r.File.Chunks {
		c := &r.File.Chunks[i]
		c.HeaderPath, c.Symbols, c.Imports, c.EntryPoints = orNil(c.HeaderPath), orNil(c.Symbols), orNil(c.Imports), orNil(c.EntryPoints)
		c.Truncated = orNil(c.Truncated)
	}
	r.File.Imports = slices.Clone(r.File.Imports)
	for i := range r.File.Imports {
		r.File.Imports[i].Names = orNil(r.File.Imports[i].Names)
	}
	r.File.Chunks, r.File.Symbols, r.File.Imports = orNil(r.File.Chunks), orNil(r.File.Symbols), orNil[chunk.Import](r.File.Imports)
	return r
}

func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// Vectors returns the stored vectors of a model for the keys.
func (s *Store) Vectors(ctx context.Context, model string, keys []store.VectorKey) (map[store.VectorKey]store.Vector, error) {
	out := make(map[store.VectorKey]store.Vector, len(keys))
	err := s.use(ctx, false, func(c *content) {
		have := c.vectors[model]
		for _, k := range keys {
			if v, ok := have[k]; ok {
				out[k] = v
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PutVectors stores vectors of a model. Their values must not change any more.
func (s *Store) PutVectors(ctx context.Context, model string, vectors map[store.VectorKey]store.Vector) error {
	return s.use(ctx, true, func(c *content) {
		of := c.vectors[model]
		if of == nil {
			of = map[store.VectorKey]store.Vector{}
			c.vectors[model] = of
		}
		c.count -= len(of)
		maps.Copy(of, vectors)
		c.count += len(of)
	})
}

// KeepVectors removes the vectors for which keep is false.
func (s *Store) KeepVectors(ctx context.Context, keep func(model string, key store.VectorKey) bool) (int, error) {
	removed := 0
	err := s.use(ctx, true, func(c *content) {
		before := c.count
		c.count = 0
		for model, of := range c.vectors {
			maps.DeleteFunc(of, func(k store.VectorKey, _ store.Vector) bool { return !keep(model, k) })
			c.count += len(of)
			if len(of) == 0 {
				delete(c.vectors, model)
			}
		}
		removed = before - c.count
	})
	return removed, err
}

// Sync does nothing: nothing here is durable.
func (s *Store) Sync(ctx context.Context) error { return s.use(ctx, false, func(*content) {}) }

// Shrink does nothing: what is replaced is free at once.
func (s *Store) Shrink(ctx context.Context) error { return s.use(ctx, false, func(*content) {}) }

// Info tells size and state; nothing is on disk.
func (s *Store) Info() store.Info {
	info := store.Info{Dir: s.dir}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.content != nil {
		info.Files, info.Vectors, info.Notice, info.Memory = len(s.content.files), s.content.count, s.notice, true
	}
	return info
}

// Close gives the store up. The space keeps what is in it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.content == nil {
		return store.ErrClosed
	}
	s.space.mu.Lock()
	s.content.open = false
	s.space.mu.Unlock()
	s.content = nil
	return nil
}
