package vectorcache

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine/store"
)

// Put keeps vectors of a model. Those that are kept already, and those of
// another length, are left out.
func (c *Cache) Put(model string, dim int, vectors map[store.VectorKey]store.Vector) {
	if m := c.model(model, dim); m != nil && len(vectors) > 0 {
		c.put(m, vectors, false)
	}
}

// put appends vectors; with again also those that are kept in an old segment.
func (c *Cache) put(m *vectors, vs map[store.VectorKey]store.Vector, again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looked.IsZero() {
		c.refresh(m)
	}
	keys := slices.Collect(maps.Keys(vs))
	keys = slices.DeleteFunc(keys, func(k store.VectorKey) bool {
		if len(vs[k].Values) != m.dim {
			return true
		}
		s, _ := m.segmentOf(k)
		return s != nil && (!again || m.own != nil && s == m.own.segment)
	})
	if len(keys) == 0 {
		return
	}
	s := c.writable()
	if s == nil {
		return
	}
	per := c.blockBytes() / int64(keySize+m.recordSize())
	for block := range slices.Chunk(keys, int(max(1, min(per, maxBlock)))) {
		if err := c.append(m, s, block, vs); err != nil {
			c.fail(err)
			return
		}
	}
	c.mu.Lock()
	c.told = ""
	c.mu.Unlock()
}

// writable returns the slot; nil while nothing can be written.
func (c *Cache) writable() *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || time.Since(c.failed) < pause {
		return nil
	}
	if c.slot == nil {
		s, err := takeSlot(c.opts.Dir)
		if err != nil {
			c.failed = time.Now()
			c.tell(err)
			return nil
		}
		c.slot = s
	}
	return c.slot
}

// fail notes that writing failed: it is tried again later.
func (c *Cache) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = time.Now()
	c.tell(err)
}

// tell logs a failure once. The caller holds c.mu.
func (c *Cache) tell(err error) {
	if text := err.Error(); text != c.told {
		c.told = text
		c.log.Warn("vectors are not kept for other worktrees", "error", err)
	}
}

// append writes a block. The caller holds m.mu.
func (c *Cache) append(m *vectors, s *slot, keys []store.VectorKey, vs map[store.VectorKey]store.Vector) error {
	block := m.appendBlock(nil, keys, vs)
	c.survey(true)
	if m.own != nil && (m.own.size+int64(len(block)) > c.segmentBytes() || !m.own.stands()) {
		m.own.file.Close()
		m.own = nil
	}
	if m.own == nil {
		var err error
		if m.own, err = c.start(m, s, int64(len(block))); err != nil {
			return err
		}
	}
	o := m.own
	if _, err := o.file.WriteAt(block, o.size); err != nil {
		o.file.Truncate(o.size) // else what was written of it is left out by who reads
		o.file.Close()
		m.own = nil
		return fmt.Errorf("keeping %d vectors: %w", len(keys), err)
	}
	entries := make([]entry, len(keys))
	records := o.size + int64(blockHead+len(keys)*keySize+sumSize)
	for i, k := range keys {
		entries[i] = entryOf(k, records+int64(i*m.recordSize()))
	}
	o.entries, o.size, o.changed = merge(o.entries, entries), o.size+int64(len(block)), time.Now()
	c.mu.Lock()
	c.since += int64(len(block))
	c.mu.Unlock()
	return nil
}

// stands tells whether the file is where others look for it, as this process
// left it.
func (o *own) stands() bool {
	there, err := os.Stat(o.path)
	if err != nil {
		return false
	}
	mine, err := o.file.Stat()
	return err == nil && os.SameFile(there, mine) && mine.Size() == o.size
}

// segmentBytes is the size from which on a segment is not appended to.
func (c *Cache) segmentBytes() int64 { return min(max(c.opts.MaxBytes/16, 1<<10), maxSegment/2) }

// blockBytes is the most bytes that a block should have, and how much is
// written before the size of the whole is looked at again: 16 processes that
// write at once do not get over the bound before they collect.
func (c *Cache) blockBytes() int64 { return c.opts.MaxBytes / 256 }

// start goes on with the slot's last segment where it is whole and has room,
// else it begins another. The caller holds m.mu.
func (c *Cache) start(m *vectors, s *slot, room int64) (*own, error) {
	if err := os.MkdirAll(m.dir, dirMode); err != nil {
		return nil, fmt.Errorf("creating the vector cache: %w", err)
	}
	files, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, fmt.Errorf("reading the vector cache: %w", err)
	}
	last, name := uint64(0), ""
	prefix := strings.TrimSuffix(segmentName(s.number, 0), "00000000"+segmentSuffix)
	for _, e := range files {
		if n := uint64(0); isSegment(e.Name()) && strings.HasPrefix(e.Name(), prefix) {
			fmt.Sscanf(e.Name()[len(prefix):], "%08x", &n)
			last, name = n, e.Name()
		}
	}
	if name != "" {
		if o := c.proceed(m, filepath.Join(m.dir, name), room); o != nil {
			return o, nil
		}
	}
	// No two files ever have the same name, not even where the former is gone.
	path := filepath.Join(m.dir, segmentName(s.number, max(last+1, uint64(uint32(time.Now().Unix())))))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, fmt.Errorf("creating a segment of the vector cache: %w", err)
	}
	head := m.appendHead(nil)
	if _, err := f.WriteAt(head, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("writing to the vector cache: %w", err), f.Close(), os.Remove(path))
	}
	one := &segment{path: path, size: int64(len(head)), changed: time.Now()}
	m.segments = slices.Insert(m.segments, 0, one)
	return &own{one, f}, nil
}

// proceed opens a segment that a former process began; nil where there is
// something in it that is not whole, or no room.
func (c *Cache) proceed(m *vectors, path string, room int64) *own {
	info, err := os.Stat(path)
	if err != nil || info.Size()+room > c.segmentBytes() {
		return nil
	}
	i := slices.IndexFunc(m.segments, func(s *segment) bool { return s.path == path })
	if i < 0 || m.segments[i].size != info.Size() || m.segments[i].damaged {
		c.refresh(m)
		i = slices.IndexFunc(m.segments, func(s *segment) bool { return s.path == path })
	}
	if i < 0 || m.segments[i].size != info.Size() || m.segments[i].damaged || m.segments[i].size < int64(segmentHead) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, fileMode)
	if err != nil {
		return nil
	}
	return &own{m.segments[i], f}
}
