package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

const (
	// partDocs is how many documents a part is sealed at: big enough that a
	// search visits few parts, small enough that the first is there soon.
	partDocs = 8192
	// firstSeal, wordSeal and laterSeal are how long a worker may hold finished
	// files back: while little is searchable, while there are files without words,
	// and afterwards.
	firstSeal = 200 * time.Millisecond
	wordSeal  = 1 * time.Second
	laterSeal = 5 * time.Second
)

// worker turns queued files into parts.
type worker struct {
	ix      *Index
	root    *root
	b       *builder
	items   []*item
	records []store.FileRecord
	removed []string                         // root-relative paths that leave the store
	hidden  []string                         // workspace paths that leave the snapshot
	partial []string                         // root-relative paths of which vectors could not be made
	vectors map[store.VectorKey]store.Vector // of the inline model, to be stored
	started time.Time
	glance  bool   // the part holds words only
	urgent  bool   // the user waits for what is in the part
	checks  uint64 // Index.rechecks when the first file was looked at
}

// work takes files until ctx ends, with glanceFirst after the glances.
func (ix *Index) work(ctx context.Context, glanceFirst bool) {
	w := &worker{ix: ix}
	var t turn
	for ctx.Err() == nil {
		held, change := ix.gate.indexing()
		rest, leave, most := ix.gate.rest(&t)
		it, ok := ix.queue.pop(glanceFirst, held || rest)
		if !ok {
			w.idle(ctx, held, rest, change, leave, most)
			continue
		}
		if w.root != nil && (w.root != it.root || w.glance != it.glance || w.urgent && !it.urgent()) {
			w.seal(ctx)
		}
		if it.prio == prioTouched && ix.gate.Memory() >= HoldIndexing && w.unknown(it) {
			ix.queue.postpone(it) // what is known already needs no more memory than it has
			continue
		}
		w.take(ctx, it)
		if ctx.Err() != nil {
			return
		}
		if w.full() {
			w.seal(ctx)
		}
	}
}

// idle publishes what was made and waits until there may be something to do.
// Where files wait and may not be worked on for a moment, what was made is kept
// a moment longer, unless the user waits for it.
func (w *worker) idle(ctx context.Context, held, rest bool, change, leave <-chan struct{}, most time.Duration) {
	waits := (held || rest) && w.ix.queue.anyBackground()
	if !waits || held || w.urgent || w.b != nil && w.full() {
		w.seal(ctx)
	}
	var timeout <-chan time.Time
	switch {
	case !waits:
		change, leave = nil, nil // whatever comes is told
	case rest:
		timer := time.NewTimer(most)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
	case <-w.ix.queue.ready:
	case <-change:
	case <-leave:
	case <-timeout:
	}
}

// unknown reports whether nothing is indexed of a file.
func (w *worker) unknown(it *item) bool {
	it.root.mu.Lock()
	defer it.root.mu.Unlock()
	_, have := it.root.known.get(it.rel)
	return !have
}

func (w *worker) full() bool {
	limit := laterSeal
	switch {
	case w.ix.Snapshot().Len() < partDocs:
		limit = firstSeal
	case w.ix.queue.pending() > 0:
		limit = wordSeal
	}
	return len(w.b.docs) >= partDocs || time.Since(w.started) > limit
}

// take looks at one file.
func (w *worker) take(ctx context.Context, it *item) {
	if w.b == nil {
		w.root, w.glance, w.started, w.checks = it.root, it.glance, time.Now(), w.ix.rechecks.Load()
		models := w.ix.inlineModels()
		if it.glance {
			models = nil
		}
		w.b = newBuilder(w.ix.tok, models)
		w.vectors = map[store.VectorKey]store.Vector{}
	}
	w.items = append(w.items, it)
	w.urgent = w.urgent || it.urgent()
	w.ix.relieve()
	look := w.look
	if it.glance {
		look = w.glanceAt
	}
	chunks := len(w.b.docs)
	if err := look(ctx, it); err != nil && ctx.Err() == nil {
		path := it.root.workspacePath(it.rel)
		w.ix.log.Error("indexing", "path", path, "error", err)
		w.ix.failed(fmt.Sprintf("indexing %s: %v", path, err))
	}
	if !it.glance {
		w.ix.meter.add(amount{files: 1, chunks: len(w.b.docs) - chunks})
	}
}

// look reads a file and adds what it makes of it to the builder.
func (w *worker) look(ctx context.Context, it *item) error {
	r, rel := it.root, it.rel
	r.mu.Lock()
	before, have := r.known.get(rel)
	rules := r.rules
	r.mu.Unlock()
	if r.foreign(rel) || rules.Ignored(rel) {
		w.remove(rel)
		return nil
	}
	abs := r.abs(rel)
	content, err := w.ix.readFile(ctx, abs)
	var skip *file.SkipError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if r.away() != nil {
			w.ix.rescan() // tells what is wrong
			return nil    // not the same as deleted
		}
		w.remove(rel)
		return nil
	case isDir(abs):
		w.remove(rel) // a folder stands where a file was: the scan knows what is in it
		w.ix.rescan()
		return nil
	case errors.As(err, &skip):
		if skip.Reason == file.SkipUnreadable && have && !before.leftOut() {
			before.unreadable = skip.Detail // not the same as deleted: what is known stays
			before.modTime = 0              // the next scan looks again
			r.mu.Lock()
			r.known.put(rel, before)
			r.mu.Unlock()
			return nil
		}
		w.skip(rel, content, skip.Reason, skip.Detail)
		return nil
	case err != nil:
		return err
	}
	version := w.ix.chunkVersion()
	covered := w.ix.covered(r, rel, content.Hash, before)
	if have && covered == before.covered() && !it.force && before.hash == content.Hash && before.chunkVersion == version && !r.isUnwritten(rel) {
		if w.restat(rel, content, before) {
			return nil
		}
	}
	if covered {
		w.skip(rel, content, file.SkipShared, "")
		return nil
	}
	class, reason, detail := file.Classify(rel, content.Text)
	if reason != "" {
		w.skip(rel, content, reason, detail)
		return nil
	}
	doc := text.New(content.Text)
	chunked := w.ix.chunker.Chunk(ctx, chunk.Input{Path: rel, Class: class, Text: doc})
	if err := ctx.Err(); err != nil {
		return err
	}
	rec := store.FileRecord{
		Path: rel, Hash: content.Hash, Size: content.Size, ModTime: stamp(content.ModTime),
		Class: class, ChunkVersion: version, File: chunked,
	}
	f := w.ix.newFile(ctx, r, &rec)
	f.ModTime = content.ModTime.UnixNano()
	vectors, whole, err := w.ix.inlineVectors(ctx, r, chunked.Chunks, doc, w.vectors)
	if err != nil {
		return fmt.Errorf("embedding %s: %w", f.Path, err)
	}
	if !whole {
		w.partial = append(w.partial, rel)
	}
	w.records = append(w.records, rec)
	w.b.add(f, chunked.Chunks, doc, vectors)
	return nil
}

// restat keeps what is indexed of a file whose text did not change. It is false
// where the snapshot does not hold the file.
func (w *worker) restat(rel string, content file.Content, before known) bool {
	rec := store.FileRecord{
		Path: rel, Hash: before.hash, Size: content.Size, ModTime: stamp(content.ModTime),
		ChunkVersion: before.chunkVersion, Skip: before.skip, SkipDetail: before.skipDetail,
	}
	if before.skip == "" {
		snap := w.ix.Snapshot()
		f := snap.File(w.root.workspacePath(rel))
		if f == nil || f.Provisional || f.Hash != before.hash {
			return false
		}
		rec.Class = f.Class
		rec.File = chunk.File{Symbols: f.Symbols, Imports: f.Imports}
		for _, ref := range snap.DocsOf(f) {
			rec.File.Chunks = append(rec.File.Chunks, snap.Doc(ref).Chunk)
		}
	}
	w.records = append(w.records, rec)
	return true
}

// coarse is the resolution of the clocks that file systems stamp files with, at
// worst (FAT).
const coarse = 2 * time.Second

// stamp is the modification time to remember of a file just read, in Unix
// nanoseconds: 0, which no scan agrees with, where the file may change again
// without its time changing.
func stamp(modified time.Time) int64 {
	if time.Since(modified) < coarse {
		return 0
	}
	return modified.UnixNano()
}

func (w *worker) skip(rel string, content file.Content, reason file.SkipReason, detail string) {
	modified := stamp(content.ModTime)
	if reason == file.SkipUnreadable {
		modified = 0 // its mode may change without its time: the next scan looks again
	}
	w.records = append(w.records, store.FileRecord{
		Path: rel, Hash: content.Hash, Size: content.Size, ModTime: modified,
		ChunkVersion: w.ix.chunkVersion(), Skip: reason, SkipDetail: detail,
	})
	w.hidden = append(w.hidden, w.root.workspacePath(rel))
}

func (w *worker) remove(rel string) {
	w.removed = append(w.removed, rel)
	w.hidden = append(w.hidden, w.root.workspacePath(rel))
}

// seal commits what was made, publishes it and calls the files done.
func (w *worker) seal(ctx context.Context) {
	if w.b == nil {
		return
	}
	defer func() { *w = worker{ix: w.ix} }()
	if ctx.Err() != nil {
		return // the next start does it again
	}
	ix, r := w.ix, w.root
	err := w.commit(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		// What is not stored is still searchable; the next scan or start tries again.
		ix.tell("write "+r.Dir, fmt.Sprintf("cannot write the index of %s: %v (answers go on from memory)", r.Dir, err))
	}
	if r.unwritten(w.records, w.removed, err != nil) == 0 && err == nil {
		ix.settled("write " + r.Dir)
	} else {
		ix.retryLater()
	}
	var added []*part
	var lists [][]List
	if len(w.b.files) > 0 {
		p, l := w.b.build()
		added, lists = []*part{p}, [][]List{l}
	}
	ix.replace(added, lists, w.hidden, w.glance)
	r.mu.Lock()
	for _, rec := range w.records {
		k := knownOf(&rec)
		if err != nil {
			k.modTime = 0
		}
		r.known.put(rec.Path, k)
		r.looked(rec.Path)
	}
	for _, rel := range w.removed {
		r.known.remove(rel)
		if r.rules.Ignored(rel) {
			delete(r.unseen, rel) // the scan says why it is left out
		} else {
			r.looked(rel)
		}
	}
	for _, rel := range w.partial { // the next scan has it made again
		if k, have := r.known.get(rel); have {
			k.chunkVersion = ""
			r.known.put(rel, k)
		}
	}
	r.mu.Unlock()
	if ix.rechecks.Load() != w.checks { // while these were looked at
		ix.recheck(r, func(yield func(string) bool) {
			for i := range w.records {
				if !yield(w.records[i].Path) {
					return
				}
			}
		})
	}
	ix.worked.Add(int64(len(w.items)))
	ix.queue.finish(w.items)
	ix.progress()
	ix.compact()
	ix.wakeSaver()
	if ix.vectors != nil {
		ix.vectors.wake()
	}
	ix.changed()
}

// commit stores what was made. Files without their vectors are worth storing,
// too: the next start makes the vectors.
func (w *worker) commit(ctx context.Context) error {
	var errs []error
	if len(w.vectors) > 0 {
		errs = append(errs, w.root.store.PutVectors(ctx, w.ix.models[0].Fingerprint, w.vectors))
		w.ix.share(w.ix.models[0], w.vectors)
	}
	if len(w.records)+len(w.removed) > 0 {
		w.ix.counters.commits.Add(1)
		errs = append(errs, w.root.store.Commit(ctx, w.records, w.removed))
	}
	return errors.Join(errs...)
}

// rescan has a worker's doubt looked into by a scan.
func (ix *Index) rescan() {
	ix.folders.Add(1)
	ix.scans.request("folder")
}

// newFile makes the snapshot's file of a record.
func (ix *Index) newFile(ctx context.Context, r *root, rec *store.FileRecord) *File {
	f := &File{
		Path: r.workspacePath(rec.Path), Rel: rec.Path, Root: r.Root, Class: rec.Class, Hash: rec.Hash,
		Size: rec.Size, ModTime: rec.ModTime, Symbols: rec.File.Symbols, Imports: rec.File.Imports,
	}
	f.PathVectors = ix.pathVectors(ctx, rec.Path)
	return f
}

// pathVectors embeds the words of a path with the inline model. The slow
// model's are made with its chunks' vectors.
func (ix *Index) pathVectors(ctx context.Context, rel string) map[string][]float32 {
	if ix.opts.Inline == nil {
		return nil
	}
	v, err := embedOne(ctx, ix.opts.Inline, embed.PathText(rel))
	if err != nil {
		ix.log.Debug("embedding a path", "path", rel, "error", err)
		return nil
	}
	return map[string][]float32{ix.models[0].Fingerprint: v}
}

func (ix *Index) embedders() []embed.Embedder {
	var all []embed.Embedder
	for _, e := range []embed.Embedder{ix.opts.Inline, ix.opts.Behind} {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

func (ix *Index) inlineModels() []embed.Model {
	if ix.opts.Inline == nil {
		return nil
	}
	return ix.models[:1]
}

// inlineVectors returns the content vectors of the inline model, from the store
// or another index where they have them. Those that must be stored are added to fresh. whole is
// false where the model failed on some, which is told; an error means that
// work ends.
func (ix *Index) inlineVectors(ctx context.Context, r *root, chunks []chunk.Chunk, doc *text.Document, fresh map[store.VectorKey]store.Vector) (vectors [][]store.Vector, whole bool, err error) {
	if ix.opts.Inline == nil {
		return nil, true, nil
	}
	m := ix.models[0]
	keys := make([]store.VectorKey, len(chunks))
	for i := range chunks {
		keys[i] = vectorKey(&chunks[i])
	}
	have := map[store.VectorKey]store.Vector{}
	if !r.empty || ix.queue.hasDrained() {
		if have, err = ix.storedVectors(ctx, r, m, keys); err != nil {
			return nil, false, err
		}
	}
	elsewhere := ix.recent.get(keys, have)
	maps.Copy(elsewhere, ix.sharedVectors(m, keys, have, elsewhere))
	maps.Copy(fresh, elsewhere)
	ix.counters.cacheHits.Add(int64(len(have) + len(elsewhere)))
	n := 0
	var failed error
	for i, k := range keys {
		if _, ok := have[k]; ok {
			continue
		}
		if _, ok := fresh[k]; ok {
			continue
		}
		v, err := embedOne(ctx, ix.opts.Inline, chunk.Embeddable(chunks[i], doc))
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if err != nil {
			failed = err
			continue
		}
		scale, values := embed.Quantize(v)
		fresh[k] = store.Vector{Scale: scale, Values: values}
		n++
	}
	ix.counters.embedded.Add(int64(n))
	if failed != nil {
		ix.tell("embed", fmt.Sprintf("%s failed: %v (what it failed on is found by its words only)", m.Name, failed))
	} else if n > 0 {
		ix.settled("embed")
	}
	row := make([]store.Vector, len(chunks))
	for i, k := range keys {
		v, ok := have[k]
		if !ok {
			v = fresh[k]
		}
		row[i] = v
	}
	return [][]store.Vector{row}, failed == nil, nil
}

// replace publishes a snapshot with the added parts and without the gone
// paths; with onlyNew the parts add files but replace none.
func (ix *Index) replace(added []*part, lists [][]List, gone []string, onlyNew bool) {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	next := ix.Snapshot().with(added, lists, gone, onlyNew)
	next.Seq = ix.seq.Add(1)
	next.sealed++
	ix.snapshot.Store(next)
}

func (ix *Index) startBatch(files int) {
	ix.mu.Lock()
	ix.batch = files
	ix.mu.Unlock()
	ix.progress()
}

func (ix *Index) progress() {
	if ix.opts.Progress == nil {
		return
	}
	ix.mu.Lock()
	total := ix.batch
	pending := ix.queue.len()
	ix.batch = max(total, pending)
	if pending == 0 {
		ix.batch = 0
	}
	total = max(total, pending)
	ix.opts.Progress(wire.Progress{Stage: "index", Done: total - pending, Total: total})
	ix.mu.Unlock()
}
