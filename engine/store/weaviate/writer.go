package weaviate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

// A group of documents is written in one go: noted as being written, then its
// postings, its documents, what is left over of older postings, noted as written. So
// whoever comes after a writer that died finds every posting that may be there.
const (
	groupDocuments = 64
	groupPostings  = 1024
)

var (
	_ sharedindex.Writer  = (*writer)(nil)
	_ sharedindex.Sweeper = (*writer)(nil)
)

// writer writes a repository.
type writer struct {
	b     *Backend
	lease *lease
	shelf shelf

	mu      sync.Mutex
	idle    *sync.Cond // what busy held was let go
	busy    map[string]bool
	ledger  *ledger
	entries map[string]entry // what is in the ledger
	log     log
	head    sharedindex.Head
	closed  bool
}

// Write begins a publication. Where a publisher died, it waits until that one's
// lease has run out.
func (b *Backend) Write(ctx context.Context, repository string) (sharedindex.Writer, error) {
	w, err := b.write(ctx, repository)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (b *Backend) write(ctx context.Context, repository string) (*writer, error) {
	if err := sharedindex.CheckName(repository); err != nil {
		return nil, err
	}
	err := b.make(ctx, b.headCollection, b.stateCollection, b.documentCollection, b.postingCollection)
	if err != nil {
		return nil, err
	}
	s := b.shelf(repository)
	l, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{b: b, lease: l, shelf: s, busy: map[string]bool{}}
	w.idle = sync.NewCond(&w.mu)
	if err := w.start(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// start reads what there is of the repository.
func (w *writer) start(ctx context.Context) (err error) {
	head, there, err := w.b.head(ctx, w.shelf.name)
	if err != nil {
		return err
	}
	if !there {
		head = sharedindex.Head{Repository: w.shelf.name, Edition: w.b.edition}
	}
	w.head = head
	w.ledger, err = w.shelf.load(ctx)
	if errors.Is(err, errDamaged) {
		w.ledger, err = w.recover(ctx)
	}
	if err != nil {
		return err
	}
	if w.ledger == nil {
		w.ledger = newLedger()
	}
	w.log = log{shelf: w.shelf, writer: w.lease.token}
	w.entries = make(map[string]entry, len(w.ledger.values))
	for path, value := range w.ledger.values {
		if w.entries[path], err = decodeEntry(value); err != nil {
			return fmt.Errorf("%s: %s: %w", w.shelf.what(), path, err)
		}
	}
	if err := w.lease.check(); err != nil {
		return err
	}
	return w.shelf.sweep(ctx, w.ledger)
}

// recover makes the manifest anew where it does not hold together: of what is stored, all of it as half
// written, so that the publication writes it again or removes it. That happens where a node with a
// clock that was ahead took the root: where replicas differ afterwards, the engine takes that one for
// the latest, and its pages are gone.
func (w *writer) recover(ctx context.Context) (*ledger, error) {
	s, l := w.shelf, newLedger()
	content, there, err := s.content(ctx, s.rootID())
	if err != nil && !errors.Is(err, errDamaged) {
		return nil, err
	}
	if there {
		if l.root, err = decodeRoot(content); err != nil {
			l.root = root{}
		}
	}
	l.root.Epoch += 1 << 20 // pages that were written since this root are not to be met again
	for _, log := range l.root.Logs {
		n, err := s.replay(ctx, log, newLedger())
		if err != nil && !errors.Is(err, errDamaged) {
			return nil, err
		}
		l.records = append(l.records, n)
	}
	chunks, err := w.b.stored(ctx, s.name)
	if err != nil {
		return nil, err
	}
	for path, n := range chunks {
		e := entry{state: pending, chunks: n}
		l.values[path] = e.value()
	}
	for p := range pages {
		l.touched[p] = true
	}
	return l, s.compact(ctx, l, unlocked{})
}

// next is a generation that no reader has seen: a repository that was removed
// begins anew, so that the clock has a say as well.
func (w *writer) next() uint64 { return max(w.head.Generation+1, uint64(time.Now().UnixMicro())) }

// Begin notes the commit that is going to be written.
func (w *writer) Begin(ctx context.Context, commit string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	head := w.head
	head.Publishing, head.Generation, head.Edition = commit, w.next(), w.b.edition
	if err := w.b.putHead(ctx, head); err != nil {
		return err
	}
	w.head = head
	return nil
}

// errClosed: the writer was closed.
var errClosed = errors.New("writer is closed")

// usable returns nil while the writer may write.
func (w *writer) usable() error {
	if w.closed {
		return fmt.Errorf("writing %s: %w", w.shelf.name, errClosed)
	}
	return w.lease.check()
}

// claim waits until no other call writes the paths.
func (w *writer) claim(paths []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for slices.ContainsFunc(paths, func(p string) bool { return w.busy[p] }) {
		w.idle.Wait()
	}
	if err := w.usable(); err != nil {
		return err
	}
	for _, p := range paths {
		w.busy[p] = true
	}
	return nil
}

func (w *writer) unclaim(paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range paths {
		delete(w.busy, p)
	}
	w.idle.Broadcast()
}

// note writes changes of entries to the log and takes them into the manifest.
func (w *writer) note(ctx context.Context, paths []string, entries []entry) error {
	changes := make([]change, len(paths))
	for i, e := range entries {
		changes[i] = change{key: paths[i], gone: e.state == absent}
		if e.state != absent {
			changes[i].value = e.value()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if err := w.log.add(ctx, w.ledger, changes, unlocked{}, nil); err != nil {
		return err
	}
	for i, e := range entries {
		if e.state == absent {
			delete(w.entries, paths[i])
		} else {
			w.entries[paths[i]] = e
		}
	}
	return nil
}

// known are the paths' entries.
func (w *writer) known(paths []string) []entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]entry, len(paths))
	for i, p := range paths {
		e, ok := w.entries[p]
		if !ok {
			e.state = absent
		}
		out[i] = e
	}
	return out
}

// Put replaces documents.
func (w *writer) Put(ctx context.Context, documents []sharedindex.Document) error {
	for from := 0; from < len(documents); {
		to, postings := from, 0
		seen := map[string]bool{}
		for to < len(documents) && to-from < groupDocuments && postings < groupPostings && !seen[documents[to].Record.Path] {
			seen[documents[to].Record.Path] = true
			postings += len(documents[to].Record.File.Chunks)
			to++
		}
		if err := w.putGroup(ctx, documents[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// putGroup writes documents of different paths.
func (w *writer) putGroup(ctx context.Context, documents []sharedindex.Document) error {
	paths := make([]string, len(documents))
	var whole, postings []object
	for i := range documents {
		d := &documents[i]
		paths[i] = d.Record.Path
		o, of, err := w.b.objects(w.shelf.name, d)
		if err != nil {
			return fmt.Errorf("publishing %s: %w", d.Record.Path, err)
		}
		whole, postings = append(whole, o), append(postings, of...)
	}
	if err := w.claim(paths); err != nil {
		return err
	}
	defer w.unclaim(paths)
	before := w.known(paths)
	intents, done := make([]entry, len(paths)), make([]entry, len(paths))
	var left []string
	for i, d := range documents {
		n := len(d.Record.File.Chunks)
		for k := n; k < before[i].chunks; k++ {
			left = append(left, w.b.postingID(sharedindex.ID{Repository: w.shelf.name, Path: paths[i]}, k))
		}
		intents[i] = before[i].begun(n)
		done[i] = entry{state: stored, chunks: n, hash: d.Record.Hash, whole: n, terms: countTerms(d.Words)}
	}
	what := fmt.Sprintf("publishing %d files of %s", len(paths), w.shelf.name)
	if len(paths) == 1 {
		what = "publishing " + paths[0] + " of " + w.shelf.name
	}
	return w.steps(
		func() error { return w.note(ctx, paths, intents) },
		func() error { return w.b.put(ctx, what, w.shelf.home, postings) },
		func() error { return w.b.put(ctx, what, w.shelf.home, whole) },
		func() error { return w.b.remove(ctx, what, w.b.postings, w.shelf.home, left) },
		func() error { return w.note(ctx, paths, done) },
	)
}

// steps does one after the other, as long as the lease is held.
func (w *writer) steps(steps ...func() error) error {
	for _, step := range steps {
		w.mu.Lock()
		err := w.usable()
		w.mu.Unlock()
		if err == nil {
			err = step()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete removes documents with their postings: the documents first, as a
// posting without one finds nothing.
func (w *writer) Delete(ctx context.Context, paths []string) error {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	for group := range slices.Chunk(paths, groupDocuments) {
		if err := w.deleteGroup(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) deleteGroup(ctx context.Context, paths []string) error {
	if err := w.claim(paths); err != nil {
		return err
	}
	defer w.unclaim(paths)
	var there, whole, postings []string
	var intents, done []entry
	for i, e := range w.known(paths) {
		if e.state == absent {
			continue
		}
		d := sharedindex.ID{Repository: w.shelf.name, Path: paths[i]}
		whole = append(whole, w.b.documentID(d))
		for k := range e.chunks {
			postings = append(postings, w.b.postingID(d, k))
		}
		there = append(there, paths[i])
		intents = append(intents, e.begun(0))
		done = append(done, entry{state: absent})
	}
	if len(intents) == 0 {
		return ctx.Err()
	}
	what := fmt.Sprintf("removing %d files of %s", len(intents), w.shelf.name)
	return w.steps(
		func() error { return w.note(ctx, there, intents) },
		func() error { return w.b.remove(ctx, what, w.b.documents, w.shelf.home, whole) },
		func() error { return w.b.remove(ctx, what, w.b.postings, w.shelf.home, postings) },
		func() error { return w.note(ctx, there, done) },
	)
}

// Finish writes the manifest's pages and the head. Files, Chunks and Terms are
// counted here where the head does not say them.
func (w *writer) Finish(ctx context.Context, head sharedindex.Head) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.busy) > 0 {
		w.idle.Wait()
	}
	if err := w.usable(); err != nil {
		return err
	}
	var files, chunks int
	var terms [lexical.NumFields]uint64
	for path, e := range w.entries {
		if e.state != stored {
			return fmt.Errorf("finishing the publication of %s: %s is not written wholly: put or delete it again", w.shelf.name, path)
		}
		files++
		chunks += e.chunks
		for f, n := range e.terms {
			terms[f] += n
		}
	}
	if head.Commit == "" {
		head.Commit = w.head.Publishing
	}
	if head.Commit == "" {
		return fmt.Errorf("finishing the publication of %s: no commit is named", w.shelf.name)
	}
	if err := w.log.compact(ctx, w.ledger, unlocked{}); err != nil {
		return err
	}
	if err := w.usable(); err != nil {
		return err
	}
	head.Repository, head.Edition, head.Publishing = w.shelf.name, w.b.edition, ""
	head.Generation, head.Published = w.next(), time.Now().UTC().Truncate(time.Second)
	if head.Files == 0 && head.Chunks == 0 {
		head.Files, head.Chunks = files, chunks
	}
	if head.Terms == [lexical.NumFields]uint64{} {
		head.Terms = terms
	}
	if err := w.b.putHead(ctx, head); err != nil {
		return err
	}
	w.head = head
	return nil
}

// Sweep removes postings of a document by their numbers.
func (w *writer) Sweep(ctx context.Context, path string, ordinals []int) error {
	paths := []string{path}
	if err := w.claim(paths); err != nil {
		return err
	}
	defer w.unclaim(paths)
	ids := make([]string, len(ordinals))
	for i, k := range ordinals {
		ids[i] = w.b.postingID(sharedindex.ID{Repository: w.shelf.name, Path: path}, k)
	}
	return w.b.remove(ctx, "removing postings of "+path+" of "+w.shelf.name, w.b.postings, w.shelf.home, ids)
}

// Close gives the lease up.
func (w *writer) Close() error {
	w.mu.Lock()
	closed := w.closed
	w.closed = true
	w.mu.Unlock()
	if closed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.b.options.Timeout)
	defer cancel()
	return w.lease.release(ctx)
}

// Remove removes a repository: its head first, so that nobody reads it any more, then
// the documents, then the manifest that tells them. After an error it can be
// called again.
func (b *Backend) Remove(ctx context.Context, repository string) (err error) {
	for _, class := range []string{b.heads, b.state, b.documents, b.postings} {
		if there, err := b.present(ctx, class); err != nil {
			return err
		} else if !there {
			return fmt.Errorf("removing %s: %w", repository, sharedindex.ErrNoRepository)
		}
	}
	w, err := b.write(ctx, repository)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	w.mu.Lock()
	paths := make([]string, 0, len(w.entries))
	for p := range w.entries {
		paths = append(paths, p)
	}
	none := w.head.Generation == 0 && w.ledger.root.Epoch == 0 && len(w.ledger.root.Logs) == 0
	w.mu.Unlock()
	if none {
		return fmt.Errorf("removing %s: %w", repository, sharedindex.ErrNoRepository)
	}
	if err := b.remove(ctx, "removing the head of "+repository, b.heads, w.shelf.home, []string{b.headID(repository)}); err != nil {
		return err
	}
	if err := w.Delete(ctx, paths); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if err := w.shelf.dropParts(ctx); err != nil {
		return err
	}
	return w.shelf.drop(ctx, w.ledger)
}

// objects are the document's own object and its postings.
func (b *Backend) objects(repository string, d *sharedindex.Document) (object, []object, error) {
	at := sharedindex.ID{Repository: repository, Path: d.Record.Path}
	chunks := d.Record.File.Chunks
	if at.Path == "" {
		return object{}, nil, errors.New("it has no path")
	}
	if len(d.Words) != len(chunks) || len(d.Rows) != len(chunks) && d.Rows != nil {
		return object{}, nil, fmt.Errorf("%d chunks come with words of %d and %d vectors", len(chunks), len(d.Words), len(d.Rows))
	}
	data, err := packDocument(d)
	if err != nil {
		return object{}, nil, err
	}
	if len(data) > maxObject {
		return object{}, nil, fmt.Errorf("it takes %d bytes in the shared index, the most is %d: exclude it (index.exclude) or publish with a smaller index.maxFileBytes", len(data), maxObject)
	}
	whole := object{
		Class: b.documents, Tenant: b.options.Tenant, ID: b.documentID(at),
		Properties: map[string]any{propRepository: repository, propPath: encodePath(at.Path), propData: data},
	}
	postings := make([]object, len(chunks))
	for i := range chunks {
		props := map[string]any{
			propRepository: repository, propPath: encodePath(at.Path), propOrdinal: i, propLanguage: d.Record.Class.Language,
		}
		for f, name := range fieldProps {
			if s := joined(d.Words[i][f]); s != "" {
				props[name] = s
			}
		}
		postings[i] = object{Class: b.postings, Tenant: b.options.Tenant, ID: b.postingID(at, i), Properties: props}
		if d.Rows != nil && usableVector(d.Rows[i]) {
			postings[i].Vector = d.Rows[i]
		}
	}
	return whole, postings, nil
}

// usableVector says whether a vector has a direction.
func usableVector(v []float32) bool {
	sum := float32(0)
	for _, x := range v {
		sum += x * x
	}
	return sum > 0 && sum < 1e30
}

// countTerms counts the word terms by field, as lexical.Segment.FieldLen does:
// without the exact ones.
func countTerms(words []sharedindex.Words) (n [lexical.NumFields]uint64) {
	for i := range words {
		for f, of := range words[i] {
			for _, w := range of {
				if !strings.HasPrefix(w, "=") {
					n[f]++
				}
			}
		}
	}
	return n
}

// rawPath begins a path that is no UTF-8 or begins like that; its bytes follow as in a URL.
const rawPath = "\x01"

func encodePath(p string) string {
	if utf8.ValidString(p) && !strings.HasPrefix(p, rawPath) && strings.TrimSpace(p) == p {
		return p
	}
	return rawPath + url.PathEscape(p)
}

func decodePath(p string) (string, error) {
	raw, ok := strings.CutPrefix(p, rawPath)
	if !ok {
		return p, nil
	}
	return url.PathUnescape(raw)
}

func uvarint(v uint64) []byte { return binary.AppendUvarint(nil, v) }
