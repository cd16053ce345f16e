package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coderag-ls/engine/memory"
	"coderag-ls/engine/store"
)

const (
	// defaultQuiet is how long nothing may have happened before the index is
	// tidied.
	defaultQuiet = 3 * time.Second
	// spareVectors is how many vectors more than twice those in use a store may
	// hold, so that going back to another branch embeds nothing.
	spareVectors = 20_000
	// spareShared is that where other indexes keep what this one loses.
	spareShared = 1_000
	// minGarbage is from how many bytes on that are of no use, and make up half
	// of it, a store is written anew.
	minGarbage = 32 << 20
	// maxDelta is from how many changed paths on the file table is made anew.
	maxDelta = 256
)

func (ix *Index) wakeSaver() {
	select {
	case ix.unsaved <- struct{}{}:
	default:
	}
}

// saver keeps the postings on disk up to date whenever work pauses, so that a
// kill costs little, and tidies up.
func (ix *Index) saver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ix.unsaved:
		}
		for quiet := false; !quiet; {
			select {
			case <-ctx.Done():
				return
			case <-ix.unsaved:
			case <-time.After(ix.opts.Quiet):
				quiet = ix.queue.len() == 0
			}
		}
		if err := ix.savePostings(); err != nil {
			ix.tell("postings", fmt.Sprintf("cannot keep the index's postings (the next start is slower): %v", err))
			ix.retryLater()
		} else {
			ix.settled("postings")
		}
		ix.foldFiles()
		for _, r := range ix.roots {
			ix.syncStore(ctx, r)
			ix.tidyStore(ctx, r)
		}
		if ix.worked.Load() >= manyNew {
			ix.worked.Store(0)
			memory.Release()
		}
	}
}

// foldFiles makes the file table anew where each change would copy much.
func (ix *Index) foldFiles() {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	now := ix.Snapshot()
	if len(now.files.delta) <= maxDelta {
		return
	}
	next := *now
	next.files = now.files.fold()
	next.Seq = ix.seq.Add(1)
	ix.snapshot.Store(finish(&next))
}

// syncStore makes what was committed durable, and tells where the disk fails.
func (ix *Index) syncStore(ctx context.Context, r *root) {
	key := "sync " + r.Dir
	if err := r.store.Sync(ctx); err == nil {
		ix.settled(key)
	} else if ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		ix.retryLater()
		ix.tell(key, fmt.Sprintf("the disk does not keep the index of %s: %v (answers go on from memory)", r.Dir, err))
	}
}

// tidyStore removes vectors that nothing has used for long, and gives the disk
// back what a store has no use for.
func (ix *Index) tidyStore(ctx context.Context, r *root) {
	key := "tidy " + r.Dir
	if err := ix.tidy(ctx, r); err == nil {
		ix.settled(key)
	} else if ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		ix.retryLater()
		ix.tell(key, fmt.Sprintf("cannot tidy up the index of %s: %v", r.Dir, err))
	}
}

func (ix *Index) tidy(ctx context.Context, r *root) error {
	info := r.store.Info()
	spare, times := spareVectors, 2
	if ix.opts.VectorCache != nil {
		spare, times = spareShared, 1
	}
	if info.Vectors > spare {
		if used := ix.usedVectors(r); info.Vectors > times*used.count()+spare {
			if err := ix.handOver(ctx, r, used); err != nil {
				return err
			}
			n, err := r.store.KeepVectors(ctx, used.has)
			if err != nil {
				return err
			}
			ix.log.Info("removed unused vectors", "root", r.Dir, "count", n)
			info = r.store.Info()
		}
	}
	if info.Garbage < minGarbage || info.Garbage*2 < info.Bytes {
		return nil
	}
	return r.store.Shrink(ctx)
}

// vectorSet holds the keys of vectors, by the fingerprint of their model.
type vectorSet map[string]map[store.VectorKey]bool

func (s vectorSet) has(model string, key store.VectorKey) bool { return s[model][key] }

func (s vectorSet) count() int {
	n := 0
	for _, keys := range s {
		n += len(keys)
	}
	return n
}

// usedVectors returns the vectors that the files of a root have now.
func (ix *Index) usedVectors(r *root) vectorSet {
	contents, paths := map[store.VectorKey]bool{}, map[store.VectorKey]bool{}
	snap := ix.Snapshot()
	for i, p := range snap.parts {
		if p.files[0].file.Root.Dir != r.Dir {
			continue
		}
		for d := range p.docs {
			if snap.isLive(i, d) {
				contents[vectorKey(&p.docs[d].Chunk)] = true
				paths[pathKey(p.docs[d].File.Rel)] = true
			}
		}
	}
	used := vectorSet{}
	for _, m := range ix.inlineModels() {
		used[m.Fingerprint] = contents
	}
	if ix.opts.Behind != nil {
		for k := range contents {
			paths[k] = true
		}
		used[ix.opts.Behind.Model().Fingerprint] = paths
	}
	return used
}
