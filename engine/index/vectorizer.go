package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
)

// listPublish is how often vectors that were made become searchable while more
// are on their way.
const listPublish = 2 * time.Second

// vectorizer fills the list of the slow model in, behind everything else: what
// was edited last comes first.
type vectorizer struct {
	ix     *Index
	model  embed.Model
	signal chan struct{}

	// The path embedded last, since a file's chunks follow each other.
	lastPath   string
	lastVector store.Vector

	// tries counts how often the model failed on a text, streak how many texts
	// it failed on since the last success, and failure is what it said last.
	tries   map[store.VectorKey]int
	streak  int
	failure error

	// paths are the vectors of the paths of the batch in work, by their words, where
	// they are made together with it; pause is how long a server that is away was
	// left alone the last time.
	paths map[string]store.Vector
	pause time.Duration

	unsaved map[*root]map[store.VectorKey]store.Vector // made and not stored yet

	mu   sync.Mutex
	idle bool // the newest snapshot seen has all its vectors
	// without counts the chunks that the model failed on for good.
	without int
	done    chan struct{} // closed and replaced when a pass ends
	err     error         // what stopped it, nil while it works
	lost    error         // why chunks go without a vector, nil where none does
}

const (
	// maxTries is how often a text is given to a model that fails on it.
	maxTries = 3
	// maxStreak is how many texts in a row a model may fail on before it is
	// given up.
	maxStreak = 12
)

func newVectorizer(ix *Index) *vectorizer {
	return &vectorizer{
		ix: ix, model: ix.models[len(ix.models)-1],
		signal: make(chan struct{}, 1), done: make(chan struct{}), tries: map[store.VectorKey]int{},
	}
}

func (z *vectorizer) wake() {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.idle = false
	select { // under the lock: a pass that ends in between must see the signal
	case z.signal <- struct{}{}:
	default:
	}
}

// wait returns when everything searchable at the call has its vector, or the
// model may not work now. An error says why some of it will have none.
func (z *vectorizer) wait(ctx context.Context) error {
	z.wake()
	z.mu.Lock()
	for !z.idle && z.err == nil {
		speed, change := z.ix.gate.embedding()
		if speed == EmbedNever {
			break
		}
		done := z.done
		z.mu.Unlock()
		select {
		case <-done:
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		case <-z.ix.closed:
			return ErrClosed
		}
		z.mu.Lock()
	}
	defer z.mu.Unlock()
	if z.err != nil {
		return z.err
	}
	return z.lost
}

func (z *vectorizer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-z.signal:
		}
		err := z.pass(ctx)
		if ctx.Err() != nil {
			return
		}
		away := (*awayError)(nil)
		if errors.As(err, &away) {
			z.ended(err)
			if !z.away(ctx, err) {
				return
			}
			z.ended(nil)
			z.wake()
			continue
		}
		if err != nil {
			z.ix.tell("model", fmt.Sprintf("%s stopped: %v (answers go on with what it made so far)", z.model.Name, err))
		}
		z.ended(err)
		z.ix.changed()
		if err != nil {
			return
		}
	}
}

// ended tells those who wait that a pass has ended, and how.
func (z *vectorizer) ended(err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.err = err
	z.idle = len(z.signal) == 0
	close(z.done)
	z.done = make(chan struct{})
}

// target is a document that has no vector yet.
type target struct {
	root *root
	part *part
	doc  int32
	key  store.VectorKey
	rank rank
}

// made is a vector for a document.
type made struct {
	target
	vector store.Vector
	path   store.Vector // of the path's words
}

// pass gives every document of the snapshot a vector; it begins again when
// files change meanwhile, so that they come first.
func (z *vectorizer) pass(ctx context.Context) error {
	for r := range z.unsaved {
		z.put(ctx, r, nil)
	}
	defer z.ix.claim(z.model, nil)
	size := cmp.Or(z.ix.opts.BehindBatch, 32)
	for {
		snap, order := z.ix.Snapshot(), z.ix.focus.version.Load()
		targets, without := z.missing(snap)
		z.setLost(without)
		if len(targets) == 0 {
			return nil
		}
		var ready []made
		var later []target // what another process embeds now
		failed := false
		published := time.Now()
		files := map[*File]*text.Document{}
		for len(targets)+len(later) > 0 {
			if again, err := z.admit(ctx, func() {
				z.publish(ready)
				ready, published = nil, time.Now()
			}); err != nil {
				return err
			} else if again {
				break
			}
			n := min(size, len(targets))
			batch, others, failures, err := z.embed(ctx, append(later, targets[:n]...), files, n > 0)
			ready = append(ready, batch...)
			if err != nil {
				z.publish(ready)
				return err
			}
			failed = failed || failures
			targets, later = targets[n:], others
			if time.Since(published) > listPublish {
				z.publish(ready)
				ready, published = nil, time.Now()
				clear(files)
				z.ix.changed()
			}
			if now := z.ix.Snapshot(); now != snap && !slices.Equal(now.parts, snap.parts) {
				break // what changed goes first
			}
			if z.ix.focus.version.Load() != order {
				break // what was opened goes first
			}
		}
		z.publish(ready)
		if len(targets) == 0 && !failed && slices.Equal(z.ix.Snapshot().parts, snap.parts) {
			return nil
		}
	}
}

// admit returns when the model may work, or with again when files changed while
// it waited for that. before is called where the model may not work now.
func (z *vectorizer) admit(ctx context.Context, before func()) (again bool, err error) {
	for {
		speed, change := z.ix.gate.embedding()
		if speed != EmbedNever {
			return false, ctx.Err()
		}
		before()
		z.ix.changed()
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-z.signal:
			return true, nil
		case <-change:
		}
	}
}

// setLost notes how many chunks the model failed on for good.
func (z *vectorizer) setLost(n int) {
	z.mu.Lock()
	z.lost, z.without = nil, n
	if n > 0 {
		z.lost = fmt.Errorf("%s failed on %d chunks: %w", z.model.Name, n, z.failure)
	}
	lost := z.lost
	z.mu.Unlock()
	if lost != nil {
		z.ix.tell("model", lost.Error()+" (they are found without it)")
	} else {
		z.ix.settled("model")
	}
}

// missing lists the live documents without a vector: those of open files first,
// then those edited last.
// without counts those that the model failed on too often.
func (z *vectorizer) missing(snap *Snapshot) (targets []target, without int) {
	byDir := map[string]*root{}
	for _, r := range z.ix.roots {
		byDir[r.Dir] = r
	}
	ranks := map[*File]rank{}
	for i, p := range snap.parts {
		if len(p.files) > 0 && p.files[0].file.Provisional {
			continue
		}
		list := listOf(snap.lists[i], z.model.Fingerprint)
		unsent := map[*File]bool{}
		for _, f := range p.files {
			unsent[f.file] = z.ix.isUnsent(f.file)
		}
		for d := range p.docs {
			if snap.live[i][d>>6]>>(d&63)&1 == 0 {
				continue
			}
			if list != nil {
				if _, ok := list.row(int32(d)); ok {
					continue
				}
			}
			doc := &p.docs[d]
			if unsent[doc.File] {
				continue
			}
			key := vectorKey(&doc.Chunk)
			if z.tries[key] >= maxTries {
				without++
				continue
			}
			r := byDir[doc.File.Root.Dir]
			at, ok := ranks[doc.File]
			if !ok {
				at.prio, at.edited = z.ix.focus.of(spot{r, doc.File.Rel}, doc.File.ModTime)
				ranks[doc.File] = at
			}
			targets = append(targets, target{r, p, int32(d), key, at})
		}
	}
	slices.SortStableFunc(targets, func(a, b target) int {
		return a.rank.compare(b.rank)
	})
	return targets, without
}

func listOf(lists []List, fingerprint string) *List {
	for i := range lists {
		if lists[i].Model.Fingerprint == fingerprint {
			return &lists[i]
		}
	}
	return nil
}

// embed returns the vectors of a batch: stored ones, else new ones. Documents
// whose file changed since are left out: the next pass has their successors.
// others are those that another process embeds just now, where that matters:
// with yield. failed says that the model failed on some, an error that it is
// given up.
func (z *vectorizer) embed(ctx context.Context, batch []target, files map[*File]*text.Document, yield bool) (all []made, others []target, failed bool, err error) {
	asks := map[*root][]store.VectorKey{}
	for _, t := range batch {
		asks[t.root] = append(asks[t.root], t.key)
	}
	have := map[store.VectorKey]store.Vector{}
	for r, keys := range asks {
		stored, err := z.ix.storedVectors(ctx, r, z.model, keys)
		if err != nil {
			return nil, nil, false, err
		}
		for k, v := range stored {
			have[k] = v
		}
	}
	fresh := z.shared(batch, have)
	z.ix.counters.cacheHits.Add(int64(len(have)))
	var wanted []target
	var keys []store.VectorKey
	asked := map[store.VectorKey]bool{}
	for _, t := range batch {
		if _, ok := have[t.key]; ok || asked[t.key] {
			continue
		}
		doc := &t.part.docs[t.doc]
		body, ok := files[doc.File]
		if !ok {
			if content, err := z.ix.readFile(ctx, doc.File.Abs()); err == nil && content.Hash == doc.File.Hash {
				body = text.New(content.Text)
			}
			files[doc.File] = body
		}
		if body != nil {
			asked[t.key] = true
			wanted, keys = append(wanted, t), append(keys, t.key)
		}
	}
	if taken := z.ix.claim(z.model, keys); yield && len(taken) > 0 {
		wanted = slices.DeleteFunc(wanted, func(t target) bool { return taken[t.key] })
		for _, t := range batch {
			if taken[t.key] {
				others = append(others, t)
			}
		}
	}
	texts := make([]string, len(wanted))
	for i, t := range wanted {
		doc := &t.part.docs[t.doc]
		texts[i] = chunk.Embeddable(doc.Chunk, files[doc.File])
	}
	words, err := z.pathsOf(ctx, batch, have, asked)
	if err != nil {
		return nil, nil, false, err
	}
	vectors, errs, err := z.vectors(ctx, append(texts, words...))
	if ctx.Err() != nil {
		return nil, nil, false, ctx.Err()
	}
	if err != nil {
		return nil, nil, false, err
	}
	z.keepPaths(words, vectors[len(texts):], errs[len(texts):])
	news := map[store.VectorKey]store.Vector{}
	for i, t := range wanted {
		failed = !z.worked(t.key, errs[i]) || failed
		if errs[i] != nil {
			continue
		}
		scale, values := embed.Quantize(vectors[i])
		v := store.Vector{Scale: scale, Values: values}
		have[t.key], news[t.key] = v, v
	}
	for _, t := range batch {
		if v, ok := news[t.key]; ok {
			fresh.add(t.root, t.key, v)
		}
	}
	z.ix.counters.embedded.Add(int64(len(news)))
	z.ix.share(z.model, news)
	for r, vs := range fresh {
		z.put(ctx, r, vs)
	}
	for _, t := range batch {
		v, ok := have[t.key]
		if !ok {
			continue
		}
		path, err := z.path(ctx, t.root, t.part.docs[t.doc].File.Rel)
		if ctx.Err() != nil {
			return nil, nil, false, ctx.Err()
		}
		if away := (*awayError)(nil); errors.As(err, &away) {
			return all, nil, false, err
		}
		if err != nil {
			z.worked(t.key, err)
			failed = true
			continue
		}
		all = append(all, made{t, v, path})
	}
	if z.streak >= maxStreak {
		return all, others, true, z.failure
	}
	return all, others, failed, nil
}

// perRoot are vectors to be stored.
type perRoot map[*root]map[store.VectorKey]store.Vector

func (p perRoot) add(r *root, key store.VectorKey, v store.Vector) {
	if p[r] == nil {
		p[r] = map[store.VectorKey]store.Vector{}
	}
	p[r][key] = v
}

// shared adds what other indexes have to have, and returns what of it the roots
// do not store.
func (z *vectorizer) shared(batch []target, have map[store.VectorKey]store.Vector) perRoot {
	keys := make([]store.VectorKey, len(batch))
	for i, t := range batch {
		keys[i] = t.key
	}
	found := z.ix.sharedVectors(z.model, keys, have)
	fresh := perRoot{}
	for _, t := range batch {
		if v, ok := found[t.key]; ok {
			have[t.key] = v
			fresh.add(t.root, t.key, v)
		}
	}
	return fresh
}

// worked notes whether the model made a vector of a text, and returns it.
func (z *vectorizer) worked(key store.VectorKey, err error) bool {
	if err == nil {
		z.streak = 0
		return true
	}
	z.tries[key]++
	z.streak++
	z.failure = err
	z.ix.log.Debug("embedding", "model", z.model.Name, "error", err)
	return false
}

// maxUnsaved bounds the vectors that wait for a store that can be written to.
const maxUnsaved = 1 << 16

// put stores vectors, with those that could not be stored before. Where that
// fails they are searchable all the same, and stored later, or made again by the
// next start.
func (z *vectorizer) put(ctx context.Context, r *root, vectors map[store.VectorKey]store.Vector) {
	key := "write vectors " + r.Dir
	if waiting := z.unsaved[r]; len(waiting) > 0 {
		maps.Copy(waiting, vectors)
		vectors = waiting
		delete(z.unsaved, r)
	}
	switch err := r.store.PutVectors(ctx, z.model.Fingerprint, vectors); {
	case err == nil:
		z.ix.settled(key)
	case ctx.Err() == nil:
		z.ix.tell(key, fmt.Sprintf("cannot write vectors of %s: %v (answers go on from memory)", r.Dir, err))
		if len(vectors) <= maxUnsaved {
			if z.unsaved == nil {
				z.unsaved = map[*root]map[store.VectorKey]store.Vector{}
			}
			z.unsaved[r] = vectors
		}
		z.ix.retryLater()
	}
}

// path returns the vector of a path's words: the last one's, a stored one, or
// a new one.
func (z *vectorizer) path(ctx context.Context, r *root, rel string) (store.Vector, error) {
	words := embed.PathText(rel)
	if z.lastPath == words {
		return z.lastVector, nil
	}
	key := pathKey(rel)
	stored, err := z.ix.storedVectors(ctx, r, z.model, []store.VectorKey{key})
	if err != nil {
		return store.Vector{}, err
	}
	v, ok := stored[key]
	if !ok {
		if v, ok = z.ix.sharedVectors(z.model, []store.VectorKey{key}, nil)[key]; ok {
			z.put(ctx, r, map[store.VectorKey]store.Vector{key: v})
		}
	}
	if !ok {
		if v, ok = z.paths[words]; !ok {
			made, errs, err := z.vectors(ctx, []string{words})
			if err = errors.Join(append(errs, err)...); err != nil {
				return store.Vector{}, err
			}
			v.Scale, v.Values = embed.Quantize(made[0])
		}
		one := map[store.VectorKey]store.Vector{key: v}
		z.ix.share(z.model, one)
		z.put(ctx, r, one)
	}
	z.lastPath, z.lastVector = words, v
	return z.lastVector, nil
}

// pathKey names the vector of a path's words.
func pathKey(rel string) store.VectorKey {
	return sha256.Sum256([]byte("path\x00" + embed.PathText(rel)))
}

func dequantise(v store.Vector) []float32 {
	values := make([]float32, len(v.Values))
	for i, q := range v.Values {
		values[i] = float32(q) * v.Scale
	}
	return values
}

// pathsOf returns the words of a batch's paths that must be embedded, where that
// is better done together with the batch than one by one.
func (z *vectorizer) pathsOf(ctx context.Context, batch []target, have map[store.VectorKey]store.Vector, asked map[store.VectorKey]bool) (words []string, err error) {
	if z.ix.opts.Server == nil {
		return nil, nil
	}
	clear(z.paths)
	seen := map[string]bool{}
	for _, t := range batch {
		rel := t.part.docs[t.doc].File.Rel
		text, key := embed.PathText(rel), pathKey(rel)
		if _, ok := have[t.key]; !ok && !asked[t.key] || seen[text] || text == z.lastPath {
			continue
		}
		seen[text] = true
		stored, err := z.ix.storedVectors(ctx, t.root, z.model, []store.VectorKey{key})
		if err != nil {
			return nil, err
		}
		_, ok := stored[key]
		if !ok {
			_, ok = z.ix.sharedVectors(z.model, []store.VectorKey{key}, nil)[key]
		}
		if !ok {
			words = append(words, text)
		}
	}
	return words, nil
}

// keepPaths keeps the vectors of paths' words until they are asked for.
func (z *vectorizer) keepPaths(words []string, vectors [][]float32, errs []error) {
	if len(words) > 0 && z.paths == nil {
		z.paths = map[string]store.Vector{}
	}
	for i, w := range words {
		if errs[i] == nil {
			scale, values := embed.Quantize(vectors[i])
			z.paths[w] = store.Vector{Scale: scale, Values: values}
		}
	}
}

// vectors embeds texts on several goroutines, each with a share of them, and
// rests between two while requests run; on a server all at once. There is an
// error per text, and one where the server makes no vectors now.
func (z *vectorizer) vectors(ctx context.Context, texts []string) ([][]float32, []error, error) {
	if len(texts) == 0 {
		return nil, nil, nil
	}
	if z.ix.opts.Server != nil {
		return z.batch(ctx, texts)
	}
	threads := z.ix.opts.BehindThreads
	if threads <= 0 {
		threads = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if speed, _ := z.ix.gate.embedding(); speed == EmbedSlowly {
		threads = 1
	}
	threads = min(threads, len(texts))
	out := make([][]float32, len(texts))
	errs := make([]error, len(texts))
	var wg sync.WaitGroup
	for w := range threads {
		z.ix.inBackground(&wg, func() {
			var t turn
			for i := w; i < len(texts); i += threads {
				z.ix.gate.yield(ctx, &t)
				z.ix.relieve()
				out[i], errs[i] = embedOne(ctx, z.ix.opts.Behind, texts[i])
				z.ix.meter.add(amount{embeds: 1})
			}
		})
	}
	wg.Wait()
	return out, errs, nil
}

// publish adds vectors to the lists of the parts that still stand.
func (z *vectorizer) publish(ready []made) {
	if len(ready) == 0 {
		return
	}
	byPart := map[*part][]made{}
	for _, m := range ready {
		byPart[m.part] = append(byPart[m.part], m)
	}
	ix := z.ix
	ix.publish.Lock()
	defer ix.publish.Unlock()
	next := *ix.Snapshot()
	next.lists = slices.Clone(next.lists)
	for i, p := range next.parts {
		if news := byPart[p]; len(news) > 0 {
			lists := slices.DeleteFunc(slices.Clone(next.lists[i]), func(l List) bool { return l.Model.Fingerprint == z.model.Fingerprint })
			next.lists[i] = append(lists, z.extend(listOf(next.lists[i], z.model.Fingerprint), p, news))
		}
	}
	next.Seq = ix.seq.Add(1)
	ix.snapshot.Store(&next)
}

// extend merges new rows into a list, in document order.
func (z *vectorizer) extend(old *List, p *part, news []made) List {
	slices.SortFunc(news, func(a, b made) int { return cmp.Compare(a.doc, b.doc) })
	l := newListBuilder(z.model, len(news))
	n := 0
	upTo := func(doc int32) {
		for ; n < len(news) && news[n].doc < doc; n++ {
			l.addBehind(news[n].doc, news[n].vector, news[n].path)
		}
	}
	if old != nil {
		for r := range old.Matrix.Len() {
			d := int32(r)
			if old.Docs != nil {
				d = old.Docs[r]
			}
			upTo(d)
			l.copy(d, d, old)
		}
	}
	upTo(int32(len(p.docs)))
	return l.list(len(p.docs))
}
