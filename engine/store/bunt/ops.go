package bunt

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"

	"github.com/tidwall/buntdb"

	"coderag-ls/engine/store"
)

// pair is a record to be written.
type pair struct{ key, value string }

// batch is the number of keys that are looked up under one lock.
const batch = 4096

// Files calls fn for every stored file in path order.
func (s *Store) Files(ctx context.Context, fn func(store.FileRecord) error) error {
	var found []pair
	err := s.use(ctx, func(db *buntdb.DB) error {
		return db.View(func(tx *buntdb.Tx) error {
			return tx.AscendRange("", filePrefix, next(filePrefix), func(key, value string) bool {
				found = append(found, pair{key, value})
				return true
			})
		})
	})
	if err != nil {
		return err
	}
	for i, p := range found {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !sound(p.key, p.value) {
			s.spoil(p.key)
			continue
		}
		r, err := decodeRecord(p.key[len(filePrefix):], p.value)
		if err != nil {
			s.spoil(p.key)
			continue
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

// next is the least string after all that begin with prefix.
func next(prefix string) string {
	b := []byte(prefix)
	b[len(b)-1]++
	return string(b)
}

// Commit replaces records and removes the paths in gone.
func (s *Store) Commit(ctx context.Context, put []store.FileRecord, gone []string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var e encoder
	kept := make(map[string]struct{}, len(put))
	for i := range put {
		kept[put[i].Path] = struct{}{}
	}
	w := s.writer(ctx)
	for i := range put {
		key := filePrefix + put[i].Path
		if err := w.set(key, e.record(key, &put[i])); err != nil {
			return fmt.Errorf("storing %s: %w", put[i].Path, err)
		}
	}
	for _, path := range gone {
		if _, both := kept[path]; both {
			continue
		}
		if err := w.delete(filePrefix + path); err != nil {
			return fmt.Errorf("removing %s from the index: %w", path, err)
		}
	}
	if err := w.flush(); err != nil {
		return fmt.Errorf("storing %d files: %w", len(put)+len(gone), err)
	}
	return nil
}

// writer gathers changes into transactions of a bounded size.
type writer struct {
	s     *Store
	ctx   context.Context
	sets  []pair
	dels  []string
	bytes int
	// removed counts the keys that were there.
	removed int
}

func (s *Store) writer(ctx context.Context) *writer { return &writer{s: s, ctx: ctx} }

func (w *writer) set(key, value string) error {
	w.sets = append(w.sets, pair{key, value})
	w.bytes += len(key) + len(value)
	return w.spill()
}

func (w *writer) delete(key string) error {
	w.dels = append(w.dels, key)
	w.bytes += len(key)
	return w.spill()
}

func (w *writer) spill() error {
	if w.bytes < maxUpdate {
		return nil
	}
	return w.flush()
}

// flush writes one transaction.
func (w *writer) flush() error {
	s := w.s
	var files, vectors, removed int
	var live int64
	count := func(key string, by int) {
		switch key[:1] {
		case filePrefix:
			files += by
		case vecPrefix:
			vectors += by
		}
	}
	err := s.use(w.ctx, func(db *buntdb.DB) error {
		return s.update(db, func(tx *buntdb.Tx) error {
			for _, p := range w.sets {
				old, err := tx.Get(p.key)
				if err == nil && old == p.value {
					continue
				}
				if _, _, err := tx.Set(p.key, p.value, nil); err != nil {
					return err
				}
				live += recordSize(p.key, p.value)
				if err == nil {
					live -= recordSize(p.key, old)
				} else {
					count(p.key, 1)
				}
			}
			for _, key := range w.dels {
				old, err := tx.Delete(key)
				if err == buntdb.ErrNotFound {
					continue
				} else if err != nil {
					return err
				}
				live -= recordSize(key, old)
				count(key, -1)
				removed++
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	s.stats.Lock()
	s.files, s.vectors, s.live = s.files+files, s.vectors+vectors, s.live+live
	for _, p := range w.sets {
		delete(s.damaged, p.key)
	}
	for _, key := range w.dels {
		delete(s.damaged, key)
	}
	s.stats.Unlock()
	w.removed += removed
	w.sets, w.dels, w.bytes = w.sets[:0], w.dels[:0], 0
	return nil
}

// modelID is the place of a model's records.
func modelID(model string) string {
	h := sha256.Sum256([]byte(model))
	return string(h[:8])
}

// Vectors returns the stored vectors of a model for the keys.
func (s *Store) Vectors(ctx context.Context, model string, keys []store.VectorKey) (map[store.VectorKey]store.Vector, error) {
	out := make(map[store.VectorKey]store.Vector, len(keys))
	prefix := vecPrefix + modelID(model)
	var found []pair
	for part := range slices.Chunk(keys, batch) {
		found = found[:0]
		size := 0
		err := s.use(ctx, func(db *buntdb.DB) error {
			return db.View(func(tx *buntdb.Tx) error {
				for _, k := range part {
					key := prefix + string(k[:])
					if value, err := tx.Get(key); err == nil {
						found = append(found, pair{key, value})
						size += max(0, len(value)-sumSize-scaleSize)
					}
				}
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
		room := make([]int8, size)
		for _, p := range found {
			if !sound(p.key, p.value) {
				s.spoil(p.key)
				continue
			}
			var v store.Vector
			var ok bool
			if v, room, ok = decodeVector(p.value, room); !ok {
				s.spoil(p.key)
				continue
			}
			out[store.VectorKey([]byte(p.key[len(prefix):]))] = v
		}
	}
	if len(keys) == 0 {
		return out, s.use(ctx, func(*buntdb.DB) error { return nil })
	}
	return out, nil
}

// PutVectors stores vectors of a model.
func (s *Store) PutVectors(ctx context.Context, model string, vectors map[store.VectorKey]store.Vector) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	w := s.writer(ctx)
	id := modelID(model)
	s.stats.Lock()
	known := s.models[model]
	s.stats.Unlock()
	if !known && len(vectors) > 0 {
		key := modelChar + id
		w.set(key, seal(key, append(make([]byte, sumSize), model...)))
		if err := w.flush(); err != nil {
			return fmt.Errorf("storing the model's name: %w", err)
		}
		s.stats.Lock()
		s.models[model] = true
		s.stats.Unlock()
	}
	var buf []byte
	for k, v := range vectors {
		key := vecPrefix + id + string(k[:])
		if err := w.set(key, appendVector(buf, key, v)); err != nil {
			return fmt.Errorf("storing %d vectors: %w", len(vectors), err)
		}
	}
	if err := w.flush(); err != nil {
		return fmt.Errorf("storing %d vectors: %w", len(vectors), err)
	}
	return nil
}

// KeepVectors removes the vectors for which keep is false.
func (s *Store) KeepVectors(ctx context.Context, keep func(model string, key store.VectorKey) bool) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	models := map[string]string{} // by model ID
	var keys []string
	err := s.use(ctx, func(db *buntdb.DB) error {
		return db.View(func(tx *buntdb.Tx) error {
			err := tx.AscendRange("", modelChar, next(modelChar), func(key, value string) bool {
				if sound(key, value) {
					models[key[len(modelChar):]] = value[sumSize:]
				}
				return true
			})
			if err != nil {
				return err
			}
			return tx.AscendRange("", vecPrefix, next(vecPrefix), func(key, _ string) bool {
				keys = append(keys, key)
				return true
			})
		})
	})
	if err != nil {
		return 0, err
	}
	w := s.writer(ctx)
	const head = len(vecPrefix) + 8
	used := map[string]bool{}
	for _, key := range keys {
		// A vector of a model without a name is of no use to anybody.
		if len(key) == head+len(store.VectorKey{}) {
			id := key[len(vecPrefix):head]
			if model, ok := models[id]; ok && keep(model, store.VectorKey([]byte(key[head:]))) {
				used[id] = true
				continue
			}
		}
		if err := w.delete(key); err != nil {
			return w.removed, fmt.Errorf("removing vectors: %w", err)
		}
	}
	err = w.flush()
	removed := w.removed
	if err == nil {
		for id, model := range models {
			if !used[id] {
				w.delete(modelChar + id)
				s.stats.Lock()
				delete(s.models, model)
				s.stats.Unlock()
			}
		}
		err = w.flush()
	}
	if err != nil {
		return removed, fmt.Errorf("removing vectors: %w", err)
	}
	return removed, nil
}

// Shrink writes the log anew without what was replaced or removed. buntdb's own
// does not sync the new file before it takes the old one's place.
func (s *Store) Shrink(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.rewrite(ctx)
}

// rewrite is Shrink for a caller that holds writing.
func (s *Store) rewrite(ctx context.Context) error {
	fresh := s.path(newFile)
	err := s.use(ctx, func(db *buntdb.DB) error { return s.save(db, fresh) })
	if err != nil {
		os.Remove(fresh)
		return fmt.Errorf("shrinking index %s: %w", s.dir, full(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.state(); err != nil {
		return err
	}
	// What is marked is not what the new log begins with.
	if err := os.Remove(s.path(markFile)); err == nil {
		if err := s.syncDir(); err != nil {
			return fmt.Errorf("shrinking index %s: %w", s.dir, err)
		}
	}
	if err := s.db.Close(); err != nil {
		return s.fail(err)
	}
	s.log.Close()
	moved := os.Rename(fresh, s.path(dbFile)) // else the old log goes on
	s.forgetSum()
	if err := s.load(false); err != nil {
		return s.fail(err)
	}
	if moved != nil {
		return fmt.Errorf("shrinking index %s: %w", s.dir, moved)
	}
	if err := s.syncDir(); err != nil {
		return fmt.Errorf("shrinking index %s: %w", s.dir, err)
	}
	s.lost.Store(nil)
	if fi, err := s.log.Stat(); err == nil {
		s.writeMark(fi.Size(), false)
	}
	return nil
}

// fail marks the store as unusable: it is neither open nor closed.
func (s *Store) fail(err error) error {
	err = fmt.Errorf("shrinking index %s: %w", s.dir, err)
	s.stats.Lock()
	defer s.stats.Unlock()
	s.broken = err
	return err
}

// save writes the database to a new log and syncs it.
func (s *Store) save(db *buntdb.DB, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := db.Save(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := s.opts.Fsync(f); err != nil {
		return err
	}
	return f.Close()
}
