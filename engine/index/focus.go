package index

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"coderag-ls/engine/recent"
)

// focus knows which files the user looks at and worked on last: they come
// first, in the queue and with the slow model.
type focus struct {
	version atomic.Int64 // changes with all below
	told    atomic.Int64 // how often git told something

	mu     sync.Mutex // guards the fields below
	open   map[spot]int
	edited map[*root]map[string]time.Time // as git tells
	asked  map[*root]time.Time            // when git was asked last
}

// spot is a file of a root.
type spot struct {
	root *root
	rel  string
}

// gitAgain is how long what git told is good for.
const gitAgain = 10 * time.Minute

func newFocus() *focus {
	return &focus{open: map[spot]int{}, edited: map[*root]map[string]time.Time{}, asked: map[*root]time.Time{}}
}

// opened notes that an editor opened a file (by is 1) or closed it (-1).
func (f *focus) opened(at spot, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[at] += by; f.open[at] <= 0 {
		delete(f.open, at)
	}
	f.version.Add(1)
}

// isOpen reports whether an editor holds the file.
func (f *focus) isOpen(at spot) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open[at] > 0
}

// of returns the priority of a file that nothing but a scan found, and when it
// was edited last, in Unix nanoseconds.
func (f *focus) of(at spot, modified int64) (prio int, edited int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[at] > 0 {
		return prioOpen, modified
	}
	if when, ok := f.edited[at.root][at.rel]; ok {
		// A checkout gives all files a new time: the commit's counts.
		return prioRecent, when.UnixNano()
	}
	return prioScan, modified
}

// lastEdited is when git says that a file was edited last; told is false where
// git said nothing of the root.
func (f *focus) lastEdited(at spot) (when time.Time, told bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	files, told := f.edited[at.root]
	return files[at.rel], told
}

// Edited is when a file of a snapshot was worked on last: as git tells, else by
// its time on disk. It is zero where git knows of later work on hundreds of
// others only.
func (ix *Index) Edited(f *File) time.Time {
	if f.Open {
		return time.Now()
	}
	r := ix.rootOf(f)
	if r == nil {
		return time.Time{}
	}
	// A checkout gives all files a new time: the commit's counts.
	if when, told := ix.focus.lastEdited(spot{r, f.Rel}); told {
		return when
	}
	return time.Unix(0, f.ModTime)
}

// EditedVersion changes whenever Edited may tell something else of a file that
// has not changed.
func (ix *Index) EditedVersion() int64 { return ix.focus.told.Load() }

// rootOf is the root of a file of a snapshot, nil where it is gone.
func (ix *Index) rootOf(f *File) *root {
	for _, r := range ix.roots {
		if r.Root == f.Root {
			return r
		}
	}
	return nil
}

// due reports whether git is to be asked about a root, and notes that it is.
func (f *focus) due(r *root) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.asked[r]) < gitAgain {
		return false
	}
	f.asked[r] = time.Now()
	return true
}

// rank is the place of a document in the order of the slow model.
type rank struct {
	prio   int
	edited int64
}

func (a rank) compare(b rank) int {
	return cmp.Or(cmp.Compare(a.prio, b.prio), cmp.Compare(b.edited, a.edited))
}

// opened tells that an editor opened a file, or closed it with by -1: what
// waits of it comes first.
func (ix *Index) opened(r *root, rel string, by int) {
	if r == nil {
		return
	}
	ix.focus.opened(spot{r, rel}, by)
	if by > 0 {
		ix.queue.raise(r, rel)
	}
}

// askGit orders what waits of a root by when it was edited, where git knows.
func (ix *Index) askGit(ctx context.Context, r *root) {
	if ix.opts.NoGit || !ix.focus.due(r) {
		return
	}
	ix.wg.Go(func() {
		files, err := recent.Files(ctx, r.Dir)
		if err != nil && ctx.Err() == nil {
			ix.log.Debug("files are not ordered by git", "root", r.Dir, "error", err)
		}
		if len(files) == 0 || ctx.Err() != nil {
			return
		}
		ix.focus.mu.Lock()
		ix.focus.edited[r] = files
		ix.focus.mu.Unlock()
		ix.focus.told.Add(1)
		ix.focus.version.Add(1)
		ix.queue.reorder(r, ix.focus)
		ix.log.Debug("files are ordered by git", "root", r.Dir, "known", len(files))
	})
}
