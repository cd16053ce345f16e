package weaviate

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

// A manifest tells a repository's documents. It is read by id only, so that it
// tells what a quorum acknowledged even where a replica lags: a listing or a
// filter would ask one replica.
//
// It is a root, pages of entries by the path's hash, and logs of what changed
// since the pages were written. A writer has a log of its own, so that one that
// lost its lease without knowing cannot disturb the log of the next. At the end of a
// publication the pages that changed are written under new ids, then the root that
// names them, and what it replaced is deleted; the root remembers what, until
// it is.
type manifest struct {
	root    root
	entries map[string]entry
	// records is how many records the logs have, in the order of root.Logs.
	records []int
	// touched are the pages that are out of date for what is in the logs.
	touched map[int]bool
}

// pages is how many pages a manifest has.
const pages = 64

// root is what a manifest is found by.
type root struct {
	// Pages are by page the epoch that it was written in, 0 where it is empty.
	Pages [pages]uint64
	// Epoch is the latest epoch.
	Epoch uint64
	// Logs are the writers whose logs come on top of the pages, the oldest first.
	Logs []string
	// Garbage are ids that are to be deleted.
	Garbage []string
}

// state says what is known of a document.
type state byte

const (
	// stored: the document is there with its postings.
	stored state = iota
	// pending: some of the document and of its postings up to chunks may be there.
	pending
	// absent: nothing of it is there.
	absent
)

// entry is a document in a manifest.
type entry struct {
	state  state
	hash   file.Hash
	chunks int // postings, or the most that there may be
	terms  [lexical.NumFields]uint64
}

// change is an entry in a log or a page.
type change struct {
	path string
	entry
}

// appendChanges encodes changes: their number, and by change what its path has in
// common with the one before, the rest of the path, the state, and, unless it is
// absent, the hash where it is stored, the chunks and the terms.
func appendChanges(dst []byte, changes []change) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(changes)))
	last := ""
	for i := range changes {
		c := &changes[i]
		shared := 0
		for shared < min(len(last), len(c.path)) && last[shared] == c.path[shared] {
			shared++
		}
		dst = binary.AppendUvarint(dst, uint64(shared))
		dst = appendString(dst, c.path[shared:])
		dst = append(dst, byte(c.state))
		last = c.path
		if c.state == absent {
			continue
		}
		dst = append(dst, c.hash[:]...)
		dst = binary.AppendUvarint(dst, uint64(c.chunks))
		for _, n := range c.terms {
			dst = binary.AppendUvarint(dst, n)
		}
	}
	return dst
}

// decodeChanges reads what appendChanges wrote.
func decodeChanges(b []byte) ([]change, error) {
	r := reader{b: b}
	n := r.count(3)
	changes := make([]change, 0, min(n, 1<<16))
	last := ""
	for range n {
		shared, rest := r.uint(), r.string()
		kind := r.take(1)
		if r.bad || shared > uint64(len(last)) || state(kind[0]) > absent {
			return nil, errDamaged
		}
		c := change{path: last[:shared] + rest}
		c.state = state(kind[0])
		last = c.path
		if c.state != absent {
			copy(c.hash[:], r.take(uint64(len(c.hash))))
			c.chunks = int(min(r.uint(), 1<<31-1))
			for f := range c.terms {
				c.terms[f] = r.uint()
			}
		}
		if r.bad {
			return nil, errDamaged
		}
		changes = append(changes, c)
	}
	return changes, r.done()
}

func appendRoot(dst []byte, r *root) []byte {
	dst = binary.AppendUvarint(dst, r.Epoch)
	for _, p := range r.Pages {
		dst = binary.AppendUvarint(dst, p)
	}
	for _, list := range [][]string{r.Logs, r.Garbage} {
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, s := range list {
			dst = appendString(dst, s)
		}
	}
	return dst
}

func decodeRoot(b []byte) (root, error) {
	in := reader{b: b}
	r := root{Epoch: in.uint()}
	for i := range r.Pages {
		r.Pages[i] = in.uint()
	}
	for _, list := range []*[]string{&r.Logs, &r.Garbage} {
		for range in.count(1) {
			*list = append(*list, in.string())
		}
	}
	return r, in.done()
}

func pageOf(path string) int {
	h := fnv.New32a()
	h.Write([]byte(path))
	return int(h.Sum32() % pages)
}

// shelf is where the manifest of a name lies: a repository in an edition, or a
// store.
type shelf struct {
	*engine
	scope, name string // the edition's suffix, or that of stores
	home        uint32
}

func (b *Backend) shelf(repository string) shelf {
	return shelf{b.engine, b.suffix, repository, home(repository)}
}

func (s shelf) rootID() string { return id("manifest", s.scope, s.name) }

func (s shelf) pageID(page int, epoch uint64) string {
	return id("page", s.scope, s.name, strconv.Itoa(page), strconv.FormatUint(epoch, 10))
}

func (s shelf) recordID(log string, n int) string {
	return id("log", s.scope, s.name, log, strconv.Itoa(n))
}

func (s shelf) what() string { return "reading the manifest of " + s.name }

// content reads the content of an object of the state collection.
func (s shelf) content(ctx context.Context, id string) (content []byte, there bool, err error) {
	var o packed
	if there, err = s.get(ctx, s.what(), s.state, id, s.home, &o); err != nil || !there {
		return nil, false, err
	}
	if content, err = unseal(o.Data); err != nil {
		return nil, false, fmt.Errorf("%s: object %s: %w", s.what(), id, err)
	}
	return content, true, nil
}

// write writes one object of the state collection.
func (s shelf) write(ctx context.Context, objects ...object) error {
	return s.put(ctx, "writing the manifest of "+s.name, s.home, objects)
}

func (s shelf) object(id string, content []byte) object {
	return object{Class: s.state, Tenant: s.options.Tenant, ID: id, Properties: map[string]any{propRepository: s.name, propData: seal(content)}}
}

// load reads a manifest. One that is not there is nil. A page or a log that went
// while it was read was replaced: it is read again.
func (s shelf) load(ctx context.Context) (*manifest, error) {
	for attempt := 0; ; attempt++ {
		m, again, err := s.loadOnce(ctx)
		if err != nil || !again {
			return m, err
		}
		if attempt == 10 {
			return nil, fmt.Errorf("%s: parts of it are missing: %w", s.what(), errDamaged)
		}
	}
}

func (s shelf) loadOnce(ctx context.Context) (m *manifest, again bool, err error) {
	content, there, err := s.content(ctx, s.rootID())
	if err != nil || !there {
		return nil, false, err
	}
	m = &manifest{entries: map[string]entry{}, touched: map[int]bool{}}
	if m.root, err = decodeRoot(content); err != nil {
		return nil, false, fmt.Errorf("%s: %w", s.what(), err)
	}
	var parts [pages][]change
	var missing [pages]bool
	err = each(ctx, parallel, pages, func(ctx context.Context, i int) error {
		epoch := m.root.Pages[i]
		if epoch == 0 {
			return nil
		}
		var err error
		parts[i], missing[i], err = s.changes(ctx, s.pageID(i, epoch))
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if slices.Contains(missing[:], true) {
		return nil, true, nil
	}
	for _, p := range parts {
		m.apply(p)
	}
	for _, log := range m.root.Logs {
		n, err := s.replay(ctx, log, m)
		if err != nil {
			return nil, false, err
		}
		m.records = append(m.records, n)
	}
	if len(m.root.Logs) > 0 {
		// A publication that ended in the meantime took the logs away.
		content, _, err := s.content(ctx, s.rootID())
		if err != nil {
			return nil, false, err
		}
		now, err := decodeRoot(content)
		if err != nil || now.Epoch != m.root.Epoch {
			return nil, true, nil
		}
	}
	return m, false, nil
}

// changes reads a page or a record of a log.
func (s shelf) changes(ctx context.Context, id string) (c []change, missing bool, err error) {
	content, there, err := s.content(ctx, id)
	if err != nil || !there {
		return nil, !there, err
	}
	r := reader{b: content}
	b := r.block()
	if r.done() == nil {
		c, err = decodeChanges(b)
	} else {
		err = errDamaged
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: object %s: %w", s.what(), id, err)
	}
	return c, false, nil
}

// replay reads a log, several records at once, up to the first that is not there.
func (s shelf) replay(ctx context.Context, log string, m *manifest) (records int, err error) {
	for {
		var parts [parallel][]change
		var missing [parallel]bool
		// Most logs that are read are short.
		n := min(1+records, parallel)
		err := each(ctx, n, n, func(ctx context.Context, i int) error {
			var err error
			parts[i], missing[i], err = s.changes(ctx, s.recordID(log, records+i))
			return err
		})
		if err != nil {
			return 0, err
		}
		for i := range n {
			if missing[i] {
				return records + i, nil
			}
			m.apply(parts[i])
			for _, c := range parts[i] {
				m.touched[pageOf(c.path)] = true
			}
		}
		records += n
	}
}

// apply takes changes in.
func (m *manifest) apply(changes []change) {
	for _, c := range changes {
		if c.state == absent {
			delete(m.entries, c.path)
		} else {
			m.entries[c.path] = c.entry
		}
	}
}

// changesObject is an object of changes.
func (s shelf) changesObject(id string, changes []change) (object, error) {
	content, err := appendBlock(nil, appendChanges(nil, changes))
	if err != nil {
		return object{}, fmt.Errorf("writing the manifest of %s: %w", s.name, err)
	}
	return s.object(id, content), nil
}

// putRoot writes the root.
func (s shelf) putRoot(ctx context.Context, r *root) error {
	return s.write(ctx, s.object(s.rootID(), appendRoot(nil, r)))
}

// compact writes the pages on which something changed, the root, and deletes
// what they replace. After an error the old root holds still, or the new one.
func (s shelf) compact(ctx context.Context, m *manifest) error {
	next := root{Pages: m.root.Pages, Epoch: m.root.Epoch + 1, Garbage: slices.Clone(m.root.Garbage)}
	by := map[int][]change{}
	for path, e := range m.entries {
		if p := pageOf(path); m.touched[p] {
			by[p] = append(by[p], change{path, e})
		}
	}
	var objects []object
	for _, p := range slices.Sorted(maps.Keys(m.touched)) {
		if old := m.root.Pages[p]; old != 0 {
			next.Garbage = append(next.Garbage, s.pageID(p, old))
		}
		next.Pages[p] = 0
		if len(by[p]) == 0 {
			continue
		}
		slices.SortFunc(by[p], func(a, b change) int {
			if a.path < b.path {
				return -1
			}
			return 1
		})
		next.Pages[p] = next.Epoch
		o, err := s.changesObject(s.pageID(p, next.Epoch), by[p])
		if err != nil {
			return err
		}
		objects = append(objects, o)
	}
	for i, log := range m.root.Logs {
		for n := range m.records[i] {
			next.Garbage = append(next.Garbage, s.recordID(log, n))
		}
	}
	if err := s.write(ctx, objects...); err != nil {
		return err
	}
	if err := s.putRoot(ctx, &next); err != nil {
		return err
	}
	m.root, m.records = next, nil
	clear(m.touched)
	return s.sweep(ctx, m)
}

// sweep deletes what the root says is garbage. The next publication does it
// where this one does not get to.
func (s shelf) sweep(ctx context.Context, m *manifest) error {
	if len(m.root.Garbage) == 0 {
		return nil
	}
	if err := s.remove(ctx, "sweeping the manifest of "+s.name, s.state, s.home, m.root.Garbage); err != nil {
		return err
	}
	m.root.Garbage = nil
	return s.putRoot(ctx, &m.root)
}

// drop deletes a manifest whose documents are gone.
func (s shelf) drop(ctx context.Context, m *manifest) error {
	ids := slices.Clone(m.root.Garbage)
	for p, epoch := range m.root.Pages {
		if epoch != 0 {
			ids = append(ids, s.pageID(p, epoch))
		}
	}
	for i, log := range m.root.Logs {
		for n := range m.records[i] {
			ids = append(ids, s.recordID(log, n))
		}
	}
	if err := s.remove(ctx, "removing the manifest of "+s.name, s.state, s.home, ids); err != nil {
		return err
	}
	return s.remove(ctx, "removing the manifest of "+s.name, s.state, s.home, []string{s.rootID()})
}

// Manifest calls fn with every document of a repository. One that is being
// written, or was when a publisher died, has no hash.
func (b *Backend) Manifest(ctx context.Context, repository string, fn func(sharedindex.Entry) error) error {
	m, err := b.shelf(repository).load(ctx)
	if err != nil || m == nil {
		return err
	}
	for path, e := range m.entries {
		if err := fn(sharedindex.Entry{Path: path, Hash: e.hash, Chunks: e.chunks}); err != nil {
			return err
		}
	}
	return nil
}
