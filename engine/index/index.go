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
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
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
	// BehindThreads embed with Behind at the same time, BehindBatch chunks are committed
	// together; 0 for defaults.
	BehindThreads, BehindBatch int
	// PathWeight replaces the models' own, where it is not negative.
	PathWeight float32
	// OpenStore opens the store of one index directory.
	OpenStore func(ctx context.Context, dir string) (store.Store, error)
	Logger    *slog.Logger
	Progress  func(wire.Progress)
	Changed   func()
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
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

	snapshot atomic.Pointer[Snapshot]
	publish  sync.Mutex // held while a new snapshot is made
	seq      atomic.Uint64

	mu          sync.Mutex // guards the fields below
	notices     []string
	last        wire.LastBatch
	watches     int
	watchCap    int
	watchNotice string
	batch       int // files of the running batch, for progress

	compacting sync.Mutex // held by the one compaction
	saving     sync.Mutex // held by the one save

	unsaved chan struct{} // a part is not on disk yet, or memory could be released
	worked  atomic.Int64  // files that were indexed or loaded since memory was last released

	scans    *scanner
	vectors  *vectorizer
	counters struct{ batches, embedded, cacheHits, commits atomic.Int64 }
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// Open opens the stores, publishes what they hold and starts bringing it up to
// date. It does not wait for the scan.
func Open(ctx context.Context, opts Options) (*Index, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts = opts.withDefaults()
	ix := &Index{opts: opts, log: opts.Logger, queue: newQueue(), chunker: chunk.New(opts.Chunks), tok: lexical.NewTokenizer(), unsaved: make(chan struct{}, 1), version: opts.Chunks.Digest()}
	ix.snapshot.Store(emptySnapshot())
	for _, e := range []embed.Embedder{opts.Inline, opts.Behind} {
		if e != nil {
			ix.models = append(ix.models, ix.weighted(e.Model()))
		}
	}
	for _, r := range opts.Roots {
		if err := ix.openRoot(ctx, r); err != nil {
			return nil, errors.Join(err, ix.closeStores())
		}
	}
	if err := ix.load(ctx); err != nil {
		return nil, errors.Join(err, ix.closeStores())
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ix.cancel = cancel
	ix.scans = newScanner(ix)
	ix.wg.Go(func() { ix.scans.run(run) })
	ix.wg.Go(func() { ix.saver(run) })
	for range opts.Workers {
		ix.wg.Go(func() { ix.work(run) })
	}
	if opts.Behind != nil {
		ix.vectors = newVectorizer(ix)
		ix.vectors.wake() // for what was restored without vectors
		ix.wg.Go(func() { ix.vectors.run(run) })
	}
	ix.scans.request("open")
	return ix, nil
}

func (ix *Index) weighted(m embed.Model) embed.Model {
	if ix.opts.PathWeight >= 0 {
		m.PathWeight = ix.opts.PathWeight
	}
	return m
}

func (ix *Index) openRoot(ctx context.Context, r file.Root) error {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return fmt.Errorf("resolving workspace folder %s: %w", r.Dir, err)
	}
	r.Dir = filepath.Clean(dir)
	if err := checkRoot(r.Dir); err != nil {
		return err
	}
	one := &root{Root: r, dir: Dir(ix.opts.CacheDir, r), known: map[string]known{}}
	if len(ix.opts.Roots) > 1 {
		one.prefix = r.Name + "/"
	}
	if err := os.MkdirAll(one.dir, 0o700); err != nil {
		return fmt.Errorf("creating index directory %s: %w", one.dir, err)
	}
	if one.rules, err = file.NewRules(r, ix.opts.Files); err != nil {
		return fmt.Errorf("reading ignore rules of %s: %w", r.Dir, err)
	}
	one.store, err = ix.opts.OpenStore(ctx, one.dir)
	if err != nil {
		return fmt.Errorf("opening the index of %s: %w", r.Dir, err)
	}
	info := one.store.Info()
	one.empty = info.Vectors == 0
	if info.Notice != "" {
		ix.notice(info.Notice)
	}
	ix.roots = append(ix.roots, one)
	return nil
}

// Close stops the work, keeps the postings for the next start and closes the
// stores.
func (ix *Index) Close() error {
	ix.cancel()
	ix.wg.Wait()
	err := ix.savePostings()
	ix.chunker.Close()
	return errors.Join(err, ix.closeStores())
}

func (ix *Index) closeStores() error {
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

// Touch tells that paths (absolute) may have changed; rescan tells that
// anything may have. The look itself happens in the background.
func (ix *Index) Touch(cause string, paths []string, rescan bool) {
	ix.counters.batches.Add(1)
	ix.mu.Lock()
	ix.last = wire.LastBatch{Files: len(paths), Cause: cause}
	ix.mu.Unlock()
	var items []*item
	for _, abs := range paths {
		for _, r := range ix.roots {
			rel, ok := r.rel(abs)
			if !ok {
				continue
			}
			if rel == "." || file.IsIgnoreFile(rel) {
				rescan = true
				continue
			}
			info, err := os.Lstat(abs)
			isFile, dir := err == nil && !info.IsDir(), err == nil && info.IsDir()
			rescan = rescan || dir
			inWork := ix.queue.inWork(r) // before known is read: what is sealed in between is in one of the two
			r.mu.Lock()
			_, have := r.known[rel]
			ignored := r.rules.Ignored(rel)
			// A path that is gone may have been a directory; below one that
			// stands now, size and time may be those of other files.
			below := func(k string) {
				if strings.HasPrefix(k, rel+"/") {
					items = append(items, &item{root: r, rel: k, prio: prioTouched})
				}
			}
			if !isFile && (dir || !have) {
				for k := range r.known {
					below(k)
				}
				for _, k := range inWork {
					below(k)
				}
			}
			r.mu.Unlock()
			if have || !ignored && !dir {
				items = append(items, &item{root: r, rel: rel, prio: prioTouched, recent: time.Now().UnixNano()})
			}
		}
	}
	ix.queue.push(items...)
	if rescan {
		ix.scans.request(cause)
	}
}

// missed has a file looked at that is indexed and could not be read: it is gone,
// or its mode changed, which no scan sees.
func (ix *Index) missed(abs string) {
	for _, r := range ix.roots {
		if rel, ok := r.rel(abs); ok {
			r.mu.Lock()
			k, have := r.known[rel]
			r.mu.Unlock()
			if have && k.skip == "" {
				ix.queue.push(&item{root: r, rel: rel, prio: prioTouched})
			}
		}
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
	if err := ix.scans.wait(ctx); err != nil {
		return err
	}
	if err := ix.queue.wait(ctx); err != nil {
		return err
	}
	if vectors && ix.vectors != nil {
		return ix.vectors.wait(ctx)
	}
	return nil
}

// Scanned waits for the scans requested so far.
func (ix *Index) Scanned(ctx context.Context) error { return ix.scans.wait(ctx) }

// Reindex chunks the paths (relative to the workspace) again, all where there
// are none.
func (ix *Index) Reindex(paths []string) {
	var items []*item
	for _, r := range ix.roots {
		r.mu.Lock()
		for rel, k := range r.known {
			if len(paths) == 0 || matchesAny(r.workspacePath(rel), paths) {
				items = append(items, &item{root: r, rel: rel, prio: prioScan, recent: k.modTime, force: true})
			}
		}
		r.mu.Unlock()
	}
	ix.queue.push(items...)
	ix.scans.request("reindex")
}

func matchesAny(path string, of []string) bool {
	for _, p := range of {
		p = strings.TrimSuffix(filepath.ToSlash(p), "/")
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// chunkVersion is what a file must have been chunked with to be kept.
func (ix *Index) chunkVersion() string { return ix.version }

func (ix *Index) notice(text string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, n := range ix.notices {
		if n == text {
			return
		}
	}
	ix.notices = append(ix.notices, text)
	ix.log.Warn(text)
}

func (ix *Index) changed() {
	if ix.opts.Changed != nil {
		ix.opts.Changed()
	}
}
