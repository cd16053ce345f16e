// Package index keeps the searchable index of a workspace: it compares the
// workspace with the store, chunks and embeds what changed, commits file by
// file and publishes immutable snapshots.
//
// A scan or an event puts paths into a queue, most urgent first. Workers take
// them, read, chunk, tokenise and embed, and seal what they made into a part:
// the store is committed first, then the snapshot that holds the part is
// published, then the paths count as done. Old text stays searchable until the
// new one is.
package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/host"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
	"coderag-ls/engine/wire"
)

// Options are what an index is opened with.
type Options struct {
	Roots []file.Root
	// CacheDir holds the index directories.
	CacheDir string
	Files    file.Options
	Chunks   chunk.Options
	// Workers chunk files at the same time; 0 for the number of processors.
	Workers int
	// Inline embeds with the files, before they are searchable; it must be
	// fast. Behind fills in afterwards. Either may be nil.
	Inline, Behind embed.Embedder
	// Server is set where Behind is a model on a server.
	Server *Server
	// BehindThreads embed with Behind at the same time, BehindBatch chunks are committed
	// together; 0 for defaults.
	BehindThreads, BehindBatch int
	// PathWeight replaces the models' own, where it is not negative.
	PathWeight float32
	// Quiet is how long nothing must have happened before postings are written
	// and stores are tidied; 0 for the default.
	Quiet time.Duration
	// Retry is after how long what could not be written is tried again the
	// first time; 0 for the default.
	Retry time.Duration
	// Read reads a file's text; nil for file.Read.
	Read func(path string, maxBytes int64) (file.Content, error)
	// OpenStore opens the store of one index directory.
	OpenStore func(ctx context.Context, dir string) (store.Store, error)
	// VectorCache keeps vectors for all indexes; nil for none.
	VectorCache VectorCache
	// LowPriority has workers run on threads that the system does less for.
	LowPriority bool
	// Covered says that the shared index holds a file with that hash, so that the file need
	// not be indexed here. Where that is not known, as it is not while nobody answers, what was known
	// before holds. It is called by workers, often, and must not block. nil
	// for never. When it comes to say otherwise, call Recheck.
	Covered func(root file.Root, rel string, hash file.Hash) (covered, known bool)
	// NoGit does not ask git which files were edited last.
	NoGit bool
	// Relieve is called between files; it may block until memory is free. May be
	// nil.
	Relieve func()
	// Gate tells background work when it may go on; nil for one that is open.
	Gate     *Gate
	Logger   *slog.Logger
	Progress func(wire.Progress)
	Changed  func()
	// Notice is called with the first notice of each kind.
	Notice func(text string)
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Retry <= 0 {
		o.Retry = defaultRetry
	}
	if o.Read == nil {
		o.Read = file.Read
	}
	if o.Gate == nil {
		o.Gate = NewGate(0)
	}
	if o.Files.MaxBytes <= 0 {
		o.Files.MaxBytes = file.DefaultMaxBytes
	}
	return o
}

// Index is the live index of a workspace. Its methods are safe for concurrent
// use.
type Index struct {
	opts    Options
	log     *slog.Logger
	chunker *chunk.Chunker
	tok     *lexical.Tokenizer
	roots   []*root
	models  []embed.Model // of the lists, the inline one first
	version string        // of chunking: another one chunks every file again
	queue   *queue
	gate    *Gate
	focus   *focus
	meter   meter

	recent recentVectors // of buffers

	builders sync.Pool     // of *lexical.Builder, without documents
	rechecks atomic.Uint64 // times that Covered was said to have changed

	snapshot atomic.Pointer[Snapshot]
	publish  sync.Mutex // held while a new snapshot is made
	seq      atomic.Uint64

	mu          sync.Mutex // guards the fields below
	notices     []notice
	lastError   *wire.LastError
	noticed     map[string]bool // the kinds that Options.Notice was told of
	last        wire.LastBatch
	lastScan    uint64 // the scan that tells how many files last is about, 0 where that is known
	watches     int
	watchCap    int
	watchNotice string
	batch       int // files of the running batch, for progress

	compacting sync.Mutex // held by the one compaction
	saving     sync.Mutex // held by the one save

	unsentIn  atomic.Pointer[unsentCount]
	told      atomic.Int64  // how many notices there are
	folders   atomic.Int64  // scans that workers asked for
	unwritten chan struct{} // something could not be written
	texts     *reader       // for requests
	unsaved   chan struct{} // a part is not on disk yet, or memory could be released
	worked    atomic.Int64  // files that were indexed or loaded since memory was last released

	scans    *scanner
	vectors  *vectorizer
	ruled    atomic.Uint64 // times that a root's rules were made again
	counters struct{ batches, embedded, cacheHits, commits atomic.Int64 }
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	closing  sync.Once
	closed   chan struct{} // closed when Close begins
	closeErr error
}

// Open opens the stores, publishes what they hold and starts bringing it up to
// date. It does not wait for the scan.
func Open(ctx context.Context, opts Options) (*Index, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts = opts.withDefaults()
	closed := make(chan struct{})
	ix := &Index{
		opts: opts, log: opts.Logger, closed: closed, queue: newQueue(closed, opts.Workers), chunker: chunk.New(opts.Chunks),
		tok: lexical.NewTokenizer(), unsaved: make(chan struct{}, 1), unwritten: make(chan struct{}, 1), version: opts.Chunks.Digest(),
	}
	ix.gate, ix.focus, ix.queue.gate = opts.Gate, newFocus(), opts.Gate
	ix.texts = newReader(opts.Read, opts.Files.MaxBytes, func(late bool) {
		if late {
			ix.tell("slow", "a file takes more than "+patience.String()+" to read: what cannot be read in time is not shown, and not cited")
		} else {
			ix.settled("slow")
		}
		ix.changed()
	})
	ix.snapshot.Store(emptySnapshot())
	for _, e := range []embed.Embedder{opts.Inline, opts.Behind} {
		if e != nil {
			ix.models = append(ix.models, ix.weighted(e.Model()))
		}
	}
	for _, r := range opts.Roots {
		if err := ix.openRoot(ctx, r); err != nil {
			return nil, errors.Join(err, ix.release())
		}
	}
	ix.nest()
	if err := ix.load(ctx); err != nil {
		return nil, errors.Join(err, ix.release())
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ix.cancel = cancel
	for _, r := range ix.roots {
		ix.askGit(run, r)
	}
	ix.scans = newScanner(ix)
	ix.wg.Go(func() { ix.scans.run(run) })
	ix.wg.Go(func() { ix.saver(run) })
	ix.wg.Go(func() { ix.retry(run) })
	ix.wg.Go(func() { ix.lookForAway(run) })
	for i := range opts.Workers {
		ix.inBackground(&ix.wg, func() { ix.work(run, i%2 == 0) })
	}
	if opts.Behind != nil {
		ix.vectors = newVectorizer(ix)
		ix.vectors.wake() // for what was restored without vectors
		ix.wg.Go(func() { ix.vectors.run(run) })
	}
	ix.scans.request("open")
	return ix, nil
}

// inBackground runs f until it ends, on a thread that the system does less for
// where that is wanted.
func (ix *Index) inBackground(wg *sync.WaitGroup, f func()) {
	wg.Go(func() {
		if ix.opts.LowPriority {
			host.InBackground(f)
		} else {
			f()
		}
	})
}

// relieve waits until memory is free, as far as that can be.
func (ix *Index) relieve() {
	if ix.opts.Relieve != nil {
		ix.opts.Relieve()
	}
}

func (ix *Index) weighted(m embed.Model) embed.Model {
	if ix.opts.PathWeight >= 0 {
		m.PathWeight = ix.opts.PathWeight
	}
	return m
}

func (ix *Index) openRoot(ctx context.Context, r file.Root) error {
	r, err := absolute(r)
	if err != nil {
		return err
	}
	for _, other := range ix.roots {
		switch {
		case other.Dir == r.Dir:
			return fmt.Errorf("workspace folder %s is given twice", r.Dir)
		case other.Name == r.Name:
			return fmt.Errorf("workspace folders %s and %s have the same name %q", other.Dir, r.Dir, r.Name)
		case sameDir(other.Dir, r.Dir):
			// One of them is a link to the other, or both to a third.
			other.aliases = append(other.aliases, r.Dir)
			ix.log.Info("a folder is reached in two ways and indexed once", "folder", other.Dir, "also", r.Dir)
			return nil
		}
	}
	one := &root{Root: r, real: r.Dir, dir: Dir(ix.opts.CacheDir, r), known: newManifest()}
	if real, err := filepath.EvalSymlinks(r.Dir); err == nil {
		one.real = real
	}
	if distinct(ix.opts.Roots) > 1 {
		one.prefix = r.Name + "/"
	}
	if one.rules, err = file.NewRules(r, ix.opts.files(r)); err != nil {
		return fmt.Errorf("reading ignore rules of %s: %w", r.Dir, err)
	}
	one.store, err = ix.opts.OpenStore(ctx, one.dir)
	if err != nil {
		return fmt.Errorf("opening the index of %s: %w", r.Dir, err)
	}
	info := one.store.Info()
	one.empty, one.memory = info.Vectors == 0, info.Memory
	if info.Notice != "" {
		ix.tell("open "+r.Dir, info.Notice)
	}
	ix.roots = append(ix.roots, one)
	return nil
}

// ErrClosed is what a wait ends with when the index closes.
var ErrClosed = errors.New("the index is closed")

// Close stops the work, keeps the postings for the next start and closes the
// stores. Whoever waits gets ErrClosed. Only the first call does anything.
func (ix *Index) Close() error {
	ix.closing.Do(func() {
		close(ix.closed)
		ix.cancel()
		ix.wg.Wait()
		ix.closeErr = errors.Join(ix.savePostings(), ix.release())
	})
	return ix.closeErr
}

// release gives up what Open took.
func (ix *Index) release() error {
	ix.chunker.Close()
	var errs []error
	for _, r := range ix.roots {
		if r.store != nil {
			errs = append(errs, r.store.Close())
		}
	}
	return errors.Join(errs...)
}

// Snapshot returns the newest published state.
func (ix *Index) Snapshot() *Snapshot { return ix.snapshot.Load() }

// CauseCheck is the cause of a rescan that nothing calls for but time: it is
// no batch of changes.
const CauseCheck = "check"

// Touch tells that paths (absolute) may have changed; rescan tells that
// anything may have. The look itself happens in the background.
func (ix *Index) Touch(cause string, paths []string, rescan bool) {
	if cause != CauseCheck || len(paths) > 0 {
		ix.counters.batches.Add(1)
		ix.mu.Lock()
		ix.last, ix.lastScan = wire.LastBatch{Files: len(paths), Cause: cause}, 0
		ix.mu.Unlock()
	}
	byRoot := map[*root][]string{}
	for _, abs := range append(paths[:len(paths):len(paths)], linked(paths)...) {
		r, rel, ok := ix.locate(abs)
		switch {
		case !ok:
		case rel == "." || file.IsIgnoreFile(rel):
			rescan = true
		default:
			byRoot[r] = append(byRoot[r], rel)
		}
	}
	var items []*item
	for r, rels := range byRoot {
		more, dirs := ix.touched(r, rels)
		items, rescan = append(items, more...), rescan || dirs
	}
	ix.queue.push(items...)
	if !rescan {
		return
	}
	ticket := ix.scans.request(cause)
	if cause != CauseCheck {
		ix.mu.Lock()
		ix.lastScan = ticket
		ix.mu.Unlock()
	}
}

// linked returns what links among the paths lead to: who writes to a link changes
// that.
func linked(paths []string) []string {
	var targets []string
	for _, abs := range paths {
		if info, err := os.Lstat(abs); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if target, err := filepath.EvalSymlinks(abs); err == nil && !isDir(target) {
			targets = append(targets, target)
		}
	}
	return targets
}

// touched returns what to look at where paths of a root may have changed. dirs
// is true where one of them is a directory.
func (ix *Index) touched(r *root, rels []string) (items []*item, dirs bool) {
	rules := r.rulesNow()
	now := time.Now().UnixNano()
	inWork := ix.queue.inWork(r) // before known is read: what is sealed in between is in one of the two
	type found struct{ file, dir, ignored bool }
	looks := make([]found, len(rels))
	for i, rel := range rels {
		info, err := os.Lstat(r.abs(rel))
		looks[i] = found{file: err == nil && !info.IsDir(), dir: err == nil && info.IsDir(), ignored: rules.Ignored(rel)}
		dirs = dirs || looks[i].dir
	}
	// A path that is gone may have been a directory; below one that stands now,
	// size and time may be those of other files.
	tops := map[string]bool{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, rel := range rels {
		_, have := r.known.get(rel)
		if !looks[i].file && (looks[i].dir || !have) {
			tops[rel] = true
			dirs = dirs || r.hadDir(rel) // the ignore files in it are gone, too
		}
		if have || !looks[i].ignored && !looks[i].dir {
			it := item{root: r, rel: rel, prio: prioTouched, recent: now}
			if ix.focus.isOpen(spot{r, rel}) {
				it.prio = prioOpen
			}
			items = append(items, &it)
		}
	}
	below := r.known.under(tops)
	for _, rel := range inWork {
		if inAny(rel, tops) {
			below = append(below, rel)
		}
	}
	for _, rel := range below {
		items = append(items, &item{root: r, rel: rel, prio: prioTouched})
	}
	return items, dirs
}

// missed has a file looked at that is indexed and could not be read: it is gone,
// or its mode changed, which no scan sees.
func (ix *Index) missed(abs string) {
	ix.doubt(abs, func(known) bool { return true })
}

// seen has a file looked at whose text is not what is indexed, though its time
// and size may say so.
func (ix *Index) seen(abs string, hash file.Hash) {
	ix.doubt(abs, func(k known) bool { return k.hash != hash })
}

// doubt has an indexed file looked at where what is known of it is doubtful.
func (ix *Index) doubt(abs string, doubtful func(known) bool) {
	r, rel, ok := ix.locate(abs)
	if !ok {
		return
	}
	r.mu.Lock()
	k, have := r.known.get(rel)
	r.mu.Unlock()
	if have && !k.leftOut() && doubtful(k) {
		ix.queue.push(&item{root: r, rel: rel, prio: prioTouched})
	}
}

func isDir(abs string) bool {
	info, err := os.Lstat(abs)
	return err == nil && info.IsDir()
}

// Sync waits until every change told before it is searchable; with scan the
// disk is compared first, with vectors it also waits for them.
func (ix *Index) Sync(ctx context.Context, scan, vectors bool) error {
	if scan {
		ix.scans.request("sync")
	}
	for again := true; again; {
		before := ix.folders.Load()
		if err := ix.scans.wait(ctx); err != nil {
			return err
		}
		if err := ix.queue.wait(ctx); err != nil {
			return err
		}
		again = ix.folders.Load() != before
	}
	if vectors && ix.vectors != nil {
		return ix.vectors.wait(ctx)
	}
	return nil
}

// Scanned waits for the scans requested so far.
func (ix *Index) Scanned(ctx context.Context) error { return ix.scans.wait(ctx) }

// Reindex chunks the paths (relative to the workspace) again, all where there
// are none. That also confirms that a folder that is empty all at once is to be
// taken as that.
func (ix *Index) Reindex(paths []string) {
	var items []*item
	for _, r := range ix.roots {
		r.mu.Lock()
		r.accepted = r.accepted || len(paths) == 0
		for rel, k := range r.known.files {
			if len(paths) == 0 || matchesAny(r.workspacePath(rel), paths) {
				it := item{root: r, rel: rel, force: true}
				it.prio, it.recent = ix.focus.of(spot{r, rel}, k.modTime)
				items = append(items, &it)
			}
		}
		r.mu.Unlock()
	}
	ix.queue.push(items...)
	ix.scans.request("reindex")
}

func matchesAny(rel string, of []string) bool {
	for _, p := range of {
		p = path.Clean(filepath.ToSlash(p))
		if p == "." || rel == p || strings.HasPrefix(rel, p+"/") {
			return true
		}
	}
	return false
}

// chunkVersion is what a file must have been chunked with to be kept.
func (ix *Index) chunkVersion() string { return ix.version }

func (ix *Index) changed() {
	if ix.opts.Changed != nil {
		ix.opts.Changed()
	}
}
