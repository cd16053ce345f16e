package weaviate

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ledger is a map that is kept in the cluster: the manifest of a repository, the
// records of a store. It is read by id only, so that it tells what a quorum
// acknowledged even where a replica lags: a listing or a filter would ask one
// replica.
//
// It is a root, pages of what is in it by the key's hash, and logs of what
// changed since the pages were written. A writer has a log of its own, so that one that
// lost its lease without knowing cannot disturb the log of the next. Compacting
// writes the pages that changed under new ids, then the root that names them, and
// deletes what it replaced; the root remembers what, until it is.
type ledger struct {
	root   root
	values map[string]string
	// records is how many records the logs have, in the order of root.Logs.
	records []int
	// from is the log that what is not in a page yet comes from.
	from map[string]string
	// touched are the pages that are out of date for what is in the logs.
	touched map[int]bool
	// What the pages and all logs take, in bytes before they are compressed.
	pages [pages]int64
	logs  int64
}

// pages is how many pages a ledger has.
const pages = 64

// root is what a ledger is found by.
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

// change is what becomes of a key.
type change struct {
	key, value string
	gone       bool
}

// size is about what it takes before it is compressed.
func (c *change) size() int64 { return int64(len(c.key) + len(c.value) + 4) }

func newLedger() *ledger {
	return &ledger{values: map[string]string{}, from: map[string]string{}, touched: map[int]bool{}}
}

// live is what all values take, before they are compressed.
func (l *ledger) live() (n int64) {
	for k, v := range l.values {
		n += (&change{key: k, value: v}).size()
	}
	return n
}

// total is what everything takes.
func (l *ledger) total() int64 {
	t := l.logs
	for _, p := range l.pages {
		t += p
	}
	return t
}

// apply takes changes in.
func (l *ledger) apply(changes []change) {
	for _, c := range changes {
		if c.gone {
			delete(l.values, c.key)
		} else {
			l.values[c.key] = c.value
		}
	}
}

// logged takes in what a record of a log has.
func (l *ledger) logged(log string, changes []change, takes int64) {
	l.apply(changes)
	l.logs += takes
	for _, c := range changes {
		l.touched[pageOf(c.key)] = true
		l.from[c.key] = log
	}
}

// appendChanges encodes changes: their number, and by change what its key has in
// common with the one before, the rest of the key, and, unless it is
// gone, the value with its length and one in front of it.
func appendChanges(dst []byte, changes []change) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(changes)))
	last := ""
	for i := range changes {
		c := &changes[i]
		dst = appendShared(dst, last, c.key)
		last = c.key
		if c.gone {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(c.value))+1)
		dst = append(dst, c.value...)
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
		c := change{key: r.shared(last)}
		last = c.key
		if n := r.uint(); n == 0 {
			c.gone = true
		} else {
			c.value = string(r.take(n - 1))
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

func pageOf(key string) int { return partOf(key, pages) }

// shelf is where the ledger of a name lies, and its lease: a repository in an
// edition, or a store.
type shelf struct {
	*engine
	scope, name string // the edition's suffix, or that of stores
	home        uint32
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
func (s shelf) load(ctx context.Context) (*ledger, error) {
	for attempt := 0; ; attempt++ {
		l, again, err := s.loadOnce(ctx)
		if err != nil || !again {
			return l, err
		}
		if attempt == 10 {
			return nil, fmt.Errorf("%s: parts of it are missing: %w", s.what(), errDamaged)
		}
	}
}

func (s shelf) loadOnce(ctx context.Context) (l *ledger, again bool, err error) {
	content, there, err := s.content(ctx, s.rootID())
	if err != nil || !there {
		return nil, false, err
	}
	l = newLedger()
	if l.root, err = decodeRoot(content); err != nil {
		return nil, false, fmt.Errorf("%s: %w", s.what(), err)
	}
	var parts [pages][]change
	var missing [pages]bool
	err = each(ctx, parallel, pages, func(ctx context.Context, i int) error {
		epoch := l.root.Pages[i]
		if epoch == 0 {
			return nil
		}
		var err error
		parts[i], l.pages[i], missing[i], err = s.changes(ctx, s.pageID(i, epoch))
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if slices.Contains(missing[:], true) {
		return nil, true, nil
	}
	for _, p := range parts {
		l.apply(p)
	}
	for _, log := range l.root.Logs {
		n, err := s.replay(ctx, log, l)
		if err != nil {
			return nil, false, err
		}
		l.records = append(l.records, n)
	}
	if len(l.root.Logs) > 0 {
		// A publication that ended in the meantime took the logs away.
		content, _, err := s.content(ctx, s.rootID())
		if err != nil {
			return nil, false, err
		}
		now, err := decodeRoot(content)
		if err != nil || now.Epoch != l.root.Epoch {
			return nil, true, nil
		}
	}
	return l, false, nil
}

// changes reads a page or a record of a log.
func (s shelf) changes(ctx context.Context, id string) (c []change, takes int64, missing bool, err error) {
	content, there, err := s.content(ctx, id)
	if err != nil || !there {
		return nil, 0, !there, err
	}
	r := reader{b: content}
	b := r.block()
	if r.done() == nil {
		c, err = decodeChanges(b)
	} else {
		err = errDamaged
	}
	if err != nil {
		return nil, 0, false, fmt.Errorf("%s: object %s: %w", s.what(), id, err)
	}
	return c, int64(len(b)), false, nil
}

// replay reads a log, several records at once, up to the first that is not there.
func (s shelf) replay(ctx context.Context, log string, l *ledger) (records int, err error) {
	for {
		var parts [parallel][]change
		var sizes [parallel]int64
		var missing [parallel]bool
		// Most logs that are read are short.
		n := min(1+records, parallel)
		err := each(ctx, n, n, func(ctx context.Context, i int) error {
			var err error
			parts[i], sizes[i], missing[i], err = s.changes(ctx, s.recordID(log, records+i))
			return err
		})
		if err != nil {
			return 0, err
		}
		for i := range n {
			if missing[i] {
				return records + i, nil
			}
			l.logged(log, parts[i], sizes[i])
		}
		records += n
	}
}

// changesObject is an object of changes.
func (s shelf) changesObject(id string, changes []change) (object, int64, error) {
	raw := appendChanges(nil, changes)
	content, err := appendBlock(nil, raw)
	if err != nil {
		return object{}, 0, fmt.Errorf("writing the manifest of %s: %w", s.name, err)
	}
	return s.object(id, content), int64(len(raw)), nil
}

// log is the end of a log that changes are written to.
type log struct {
	shelf
	writer string // distinguishes the writer's logs from all others
	name   string // "" before the log is begun
}

// add writes changes and takes them into l, with readers locked out; before, which
// may be nil, is called then as well. One writes at a time.
func (g *log) add(ctx context.Context, l *ledger, changes []change, readers sync.Locker, before func([]change)) error {
	if g.name == "" {
		name := fmt.Sprintf("%s.%d", g.writer, l.root.Epoch)
		next := l.root
		next.Logs = append(slices.Clone(next.Logs), name)
		if err := g.putRoot(ctx, &next); err != nil {
			return err
		}
		readers.Lock()
		l.root, l.records, g.name = next, append(l.records, 0), name
		readers.Unlock()
	}
	last := len(l.records) - 1
	o, takes, err := g.changesObject(g.recordID(g.name, l.records[last]), changes)
	if err != nil {
		return err
	}
	if err := g.write(ctx, o); err != nil {
		return err
	}
	readers.Lock()
	defer readers.Unlock()
	if before != nil {
		before(changes)
	}
	l.records[last]++
	l.logged(g.name, changes, takes)
	return nil
}

// compact compacts the ledger; what comes then is written to a new log.
func (g *log) compact(ctx context.Context, l *ledger, readers sync.Locker) error {
	epoch := l.root.Epoch
	err := g.shelf.compact(ctx, l, readers)
	if l.root.Epoch != epoch {
		g.name = ""
	}
	return err
}

// putRoot writes the root.
func (s shelf) putRoot(ctx context.Context, r *root) error {
	return s.write(ctx, s.object(s.rootID(), appendRoot(nil, r)))
}

// compact writes the pages on which something changed, the root, and deletes
// what they replace. After an error the old root holds still, or the new one.
func (s shelf) compact(ctx context.Context, l *ledger, readers sync.Locker) error {
	next := root{Pages: l.root.Pages, Epoch: l.root.Epoch + 1, Garbage: slices.Clone(l.root.Garbage)}
	by := map[int][]change{}
	for key, value := range l.values {
		if p := pageOf(key); l.touched[p] {
			by[p] = append(by[p], change{key: key, value: value})
		}
	}
	var objects []object
	sizes := l.pages
	for _, p := range slices.Sorted(maps.Keys(l.touched)) {
		if old := l.root.Pages[p]; old != 0 {
			next.Garbage = append(next.Garbage, s.pageID(p, old))
		}
		next.Pages[p], sizes[p] = 0, 0
		if len(by[p]) == 0 {
			continue
		}
		slices.SortFunc(by[p], func(a, b change) int { return strings.Compare(a.key, b.key) })
		next.Pages[p] = next.Epoch
		o, takes, err := s.changesObject(s.pageID(p, next.Epoch), by[p])
		if err != nil {
			return err
		}
		sizes[p] = takes
		objects = append(objects, o)
	}
	for i, log := range l.root.Logs {
		for n := range l.records[i] {
			next.Garbage = append(next.Garbage, s.recordID(log, n))
		}
	}
	if err := s.write(ctx, objects...); err != nil {
		return err
	}
	if err := s.putRoot(ctx, &next); err != nil {
		return err
	}
	readers.Lock()
	l.root, l.records, l.pages, l.logs = next, nil, sizes, 0
	clear(l.touched)
	clear(l.from)
	readers.Unlock()
	return s.sweep(ctx, l)
}

// sweep deletes what the root says is garbage. The next publication does it
// where this one does not get to.
func (s shelf) sweep(ctx context.Context, l *ledger) error {
	if len(l.root.Garbage) == 0 {
		return nil
	}
	if err := s.remove(ctx, "sweeping the manifest of "+s.name, s.state, s.home, l.root.Garbage); err != nil {
		return err
	}
	l.root.Garbage = nil
	return s.putRoot(ctx, &l.root)
}

// drop deletes a manifest whose documents are gone.
func (s shelf) drop(ctx context.Context, l *ledger) error {
	ids := slices.Clone(l.root.Garbage)
	for p, epoch := range l.root.Pages {
		if epoch != 0 {
			ids = append(ids, s.pageID(p, epoch))
		}
	}
	for i, log := range l.root.Logs {
		for n := range l.records[i] {
			ids = append(ids, s.recordID(log, n))
		}
	}
	if err := s.remove(ctx, "removing the manifest of "+s.name, s.state, s.home, ids); err != nil {
		return err
	}
	return s.remove(ctx, "removing the manifest of "+s.name, s.state, s.home, []string{s.rootID()})
}

// unlocked is for a ledger that nobody else reads.
type unlocked struct{}

func (unlocked) Lock()   {}
func (unlocked) Unlock() {}
