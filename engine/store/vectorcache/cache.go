// Package vectorcache keeps vectors for all indexes of a user: what was embedded in
// one worktree, branch or folder is not embedded again in another. It is a
// cache. Losing it, or failing to write to it, costs time and nothing else, so
// its methods return no errors: they are logged.
//
// The directory holds a folder per model, with segments (see segment.go) and
// claims, and the slots. A process that writes takes a slot, a locked file, and
// appends to segments of that slot's number only; it reads those of all. So any
// number of processes read and write at once without waiting for each other.
//
// The size is bounded: when there is too much, whoever writes removes the
// segments that were written to least recently. A vector that is read from the
// older half of a full cache is written again, so what is in use stays.
package vectorcache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"coderag-ls/engine/store"
)

const (
	dirMode  = 0o700
	fileMode = 0o600

	segmentSuffix = ".vec"
	// fresh is how long what other processes wrote may go unnoticed.
	fresh = 250 * time.Millisecond
	// pause is how long nothing is written after a failure.
	pause = time.Minute
)

// Options of Open.
type Options struct {
	// Dir is the cache's directory. It is made when something is written.
	Dir string
	// MaxBytes bounds the size on disk of all models together. With up to 16
	// processes that write at the same time it holds exactly.
	MaxBytes int64
	Logger   *slog.Logger
	// Fresh is how long what other processes wrote may go unnoticed; 0 for the
	// default.
	Fresh time.Duration
}

// Cache is one process's door to the shared vectors. It is safe for concurrent
// use.
type Cache struct {
	opts Options
	log  *slog.Logger

	mu     sync.Mutex // guards the fields below; taken after a model's
	models map[string]*vectors
	slot   *slot
	closed bool
	failed time.Time // when writing failed last
	told   string    // the failure that was logged last
	// half is the age from which on segments belong to the older half of what may
	// be kept, and since how much was written since that was looked at.
	half  time.Time
	since int64
	seen  bool
}

// vectors are those of one model.
type vectors struct {
	form
	dir string

	mu       sync.Mutex
	looked   time.Time
	segments []*segment // newest first
	own      *own
}

// segment is what is known of a file.
type segment struct {
	path    string
	size    int64 // as far as it was read
	changed time.Time
	damaged bool // nothing after size can be read
	entries []entry
}

// own is the segment that this process appends to.
type own struct {
	*segment
	file *os.File
}

// Open returns the cache in a directory. Nothing is read or written yet.
func Open(opts Options) *Cache {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts.Fresh = cmp.Or(opts.Fresh, fresh)
	return &Cache{opts: opts, log: opts.Logger, models: map[string]*vectors{}}
}

// Close gives the slot up. What is called afterwards finds and keeps nothing.
func (c *Cache) Close() error {
	c.mu.Lock()
	all, s := c.models, c.slot
	c.models, c.slot, c.closed = map[string]*vectors{}, nil, true
	c.mu.Unlock()
	var errs []error
	for _, m := range all {
		m.mu.Lock()
		if m.own != nil {
			errs = append(errs, m.own.file.Close())
			m.own = nil
		}
		if s != nil {
			s.unclaim(m.dir)
		}
		m.mu.Unlock()
	}
	if s != nil {
		errs = append(errs, s.release())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the vector cache: %w", err)
	}
	return nil
}

// model returns what is kept of a model; nil where nothing can be.
func (c *Cache) model(name string, dim int) *vectors {
	if dim <= 0 || dim > maxDim || !isName(name) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	m := c.models[name]
	if m == nil {
		m = &vectors{form: form{name, dim}, dir: filepath.Join(c.opts.Dir, name)}
		c.models[name] = m
	}
	if m.dim != dim {
		return nil
	}
	return m
}

// isName tells the fingerprints of models: they name folders.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// Vectors returns those vectors of a model (by fingerprint) that are kept.
func (c *Cache) Vectors(model string, dim int, keys []store.VectorKey) map[store.VectorKey]store.Vector {
	found := map[store.VectorKey]store.Vector{}
	m := c.model(model, dim)
	if m == nil || len(keys) == 0 {
		return found
	}
	m.mu.Lock()
	places, missing := m.locate(keys)
	if missing > 0 && time.Since(m.looked) >= c.opts.Fresh {
		c.refresh(m)
		places, _ = m.locate(keys)
	}
	old := c.old(m, places)
	m.mu.Unlock()
	again := map[store.VectorKey]store.Vector{}
	for s, at := range places {
		c.read(m, s, at, found)
		if old[s] {
			for _, p := range at {
				if v, ok := found[p.key]; ok {
					again[p.key] = v
				}
			}
		}
	}
	if len(again) > 0 {
		c.put(m, again, true)
	}
	return found
}

// old returns those of the segments that are in the older half of what may be
// kept. The caller holds m.mu.
func (c *Cache) old(m *vectors, places map[*segment][]place) map[*segment]bool {
	if len(places) == 0 {
		return nil
	}
	half := c.survey(false)
	all := map[*segment]bool{}
	for s := range places {
		if s.changed.Before(half) && (m.own == nil || m.own.segment != s) {
			all[s] = true
		}
	}
	return all
}

// place is where a vector is.
type place struct {
	key    store.VectorKey
	offset int64
}

// locate finds the segments that hold keys and counts the keys that none does.
// The caller holds m.mu.
func (m *vectors) locate(keys []store.VectorKey) (places map[*segment][]place, missing int) {
	places = map[*segment][]place{}
	for _, k := range keys {
		if s, offset := m.segmentOf(k); s != nil {
			places[s] = append(places[s], place{k, offset})
		} else {
			missing++
		}
	}
	return places, missing
}

func (m *vectors) segmentOf(k store.VectorKey) (*segment, int64) {
	for _, s := range m.segments {
		if offset, ok := find(s.entries, k); ok {
			return s, offset
		}
	}
	return nil, 0
}

// read adds the vectors at some places of a segment. What cannot be read is
// forgotten, so that it is made again.
func (c *Cache) read(m *vectors, s *segment, at []place, found map[store.VectorKey]store.Vector) {
	f, err := os.Open(s.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.log.Warn("reading kept vectors", "error", err)
		}
		m.forget(s, nil)
		return
	}
	defer f.Close()
	b := make([]byte, m.recordSize())
	var bad []place
	for _, p := range at {
		err := read(f, b, p.offset)
		var v store.Vector
		if err == nil {
			v, err = m.record(b, p.key)
		}
		if err != nil {
			bad = append(bad, p)
			continue
		}
		found[p.key] = v
	}
	if len(bad) > 0 {
		c.log.Warn("vectors in the cache are damaged: they are made again", "file", s.path, "vectors", len(bad))
		m.forget(s, bad)
	}
}

// forget takes places out of what is known of a segment, the whole segment where
// bad is nil.
func (m *vectors) forget(s *segment, bad []place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if bad == nil {
		m.segments = slices.DeleteFunc(slices.Clone(m.segments), func(o *segment) bool { return o == s })
		return
	}
	s.entries = slices.Clone(s.entries)
	for _, p := range bad {
		if i, ok := slices.BinarySearch(s.entries, entryOf(p.key, p.offset)); ok {
			s.entries = slices.Delete(s.entries, i, i+1)
		}
	}
}

// refresh reads what other processes wrote. The caller holds m.mu.
func (c *Cache) refresh(m *vectors) {
	m.looked = time.Now()
	files, err := os.ReadDir(m.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.log.Warn("reading the vector cache", "error", err)
		}
		m.segments, m.looked = nil, time.Now()
		return
	}
	known := make(map[string]*segment, len(m.segments))
	for _, s := range m.segments {
		known[s.path] = s
	}
	var now []*segment
	for _, e := range files {
		info, err := e.Info()
		if err != nil || !isSegment(e.Name()) || !info.Mode().IsRegular() {
			continue
		}
		path := filepath.Join(m.dir, e.Name())
		s := known[path]
		if s == nil || info.Size() < s.size {
			s = &segment{path: path}
		}
		now = append(now, s)
		s.changed = info.ModTime()
		if !s.damaged && info.Size() > s.size && (m.own == nil || m.own.segment != s) {
			c.extend(m, s, info.Size())
		}
	}
	slices.SortFunc(now, func(a, b *segment) int { return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(b.path, a.path)) })
	m.segments = now
}

// extend reads a segment from where it was read last.
func (c *Cache) extend(m *vectors, s *segment, size int64) {
	f, err := os.Open(s.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.log.Warn("reading kept vectors", "error", err)
		}
		return
	}
	defer f.Close()
	entries, at, err := m.walk(f, s.size, size)
	s.entries, s.size = merge(s.entries, entries), at
	if err != nil {
		s.damaged = errors.Is(err, errDamaged)
		c.log.Warn("part of the vector cache cannot be read: it is made again", "file", s.path, "from", at, "of", size, "error", err)
	}
}

// isSegment tells the names of segments, "<slot>-<number>.vec" in hexadecimal.
func isSegment(name string) bool {
	var slot, n uint64
	_, err := fmt.Sscanf(name, "%02x-%08x"+segmentSuffix, &slot, &n)
	return err == nil && name == segmentName(int(slot), n)
}

func segmentName(slot int, n uint64) string {
	return fmt.Sprintf("%02x-%08x%s", slot, n, segmentSuffix)
}
