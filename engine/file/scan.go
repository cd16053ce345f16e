package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Listing is what a scan found, everything in order of path.
type Listing struct {
	// Entries are the files that are to be indexed.
	Entries []Entry
	// Skips are the files and directories that are not, without version
	// control directories and what lies below a skipped directory.
	Skips []Skip
	// Dirs are the directories (slash-separated from the root, "." the root
	// itself, always there) that hold an entry, directly or below: those worth
	// watching.
	Dirs []string
	// Unreadable are the directories that could not be listed, as Skips has
	// them too: nothing is known of the files below them, so none may be
	// taken as deleted.
	Unreadable []string
}

// UnderUnreadable reports whether a path lies below a directory that could not
// be listed.
func (l *Listing) UnderUnreadable(rel string) bool {
	for _, dir := range l.Unreadable {
		if dir == "." || strings.HasPrefix(rel, dir+"/") {
			return true
		}
	}
	return false
}

// Scan walks the root and returns what is in it. No file is opened but ignore
// files. A root that is gone is an error, as is a cancelled context; a directory
// that cannot be listed and an ignore file that cannot be read are Skips.
func (r *Rules) Scan(ctx context.Context) (Listing, error) {
	entries, err := listRoot(r.root.Dir)
	if err != nil {
		return Listing{}, err
	}
	s := &scan{ctx: ctx, rules: r, spare: make(chan struct{}, scanners())}
	s.found.Skips = slices.Clone(r.unread)
	s.dir(r.find("."), entries)
	s.wg.Wait()
	if err := ctx.Err(); err != nil {
		return Listing{}, fmt.Errorf("scanning %s: %w", r.root.Dir, err)
	}
	return s.listing(), nil
}

// scanners is how many directories are read at the same time beside the
// caller's. Listing waits for the kernel and, on network file systems, for the
// wire: more than there are processors, but a bounded number.
func scanners() int { return min(2*runtime.GOMAXPROCS(0), 16) }

type scan struct {
	ctx   context.Context
	rules *Rules
	spare chan struct{} // holds a token for every further goroutine
	wg    sync.WaitGroup

	mu    sync.Mutex // guards what follows
	found Listing
}

// dir adds what is in a directory and goes on below it, in another goroutine
// where one is to be had.
func (s *scan) dir(d *dir, entries []fs.DirEntry) {
	var files []Entry
	var skips []Skip
	for _, e := range entries {
		base := e.Name()
		rel := base
		if d.path != "." {
			rel = d.path + "/" + base
		}
		if e.IsDir() {
			if s.ctx.Err() != nil {
				return
			}
			select {
			case s.spare <- struct{}{}:
				s.wg.Go(func() {
					s.below(d, rel, base)
					<-s.spare
				})
			default:
				s.below(d, rel, base)
			}
			continue
		}
		if isVCS(base) {
			continue // a submodule's .git file
		}
		f, skip, ok := s.file(d, rel, base, e)
		switch {
		case ok:
			files = append(files, f)
		case skip.Reason != "":
			skips = append(skips, skip)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found.Entries = append(s.found.Entries, files...)
	s.found.Skips = append(s.found.Skips, skips...)
}

// below goes into the directory rel, which is in up.
func (s *scan) below(up *dir, rel, base string) {
	r := s.rules
	if isVCS(base) {
		return
	}
	reason, detail := r.decide(up, rel, base, true)
	if reason != "" && (up.never || !reachable(r.include, rel)) {
		s.skip(Skip{Path: rel, Reason: reason, Detail: detail, Dir: true})
		return
	}
	entries, err := os.ReadDir(r.abs(rel))
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		return // gone since its parent was listed
	}
	if err != nil {
		s.skip(Skip{Path: rel, Reason: SkipUnreadable, Detail: cause(err), Dir: true})
	}
	d, unread := r.open(up, rel, base, entries)
	for _, k := range unread {
		s.skip(k)
	}
	r.remember(d)
	if d.skip != "" {
		s.skip(Skip{Path: rel, Reason: d.skip, Detail: d.detail, Dir: true})
		if !d.forced {
			return
		}
	}
	s.dir(d, entries)
}

// file looks at an entry that is no directory. Neither a file nor a skip is one
// that has gone, or one of a directory that was skipped as a whole.
func (s *scan) file(d *dir, rel, base string, e fs.DirEntry) (Entry, Skip, bool) {
	r := s.rules
	reason, detail := r.decide(d, rel, base, false)
	if reason != "" {
		if d.skip != "" {
			return Entry{}, Skip{}, false
		}
		return Entry{}, Skip{Path: rel, Reason: reason, Detail: detail}, false
	}
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		reason, detail = r.link(r.abs(rel))
		return Entry{}, Skip{Path: rel, Reason: reason, Detail: detail}, false
	case !e.Type().IsRegular():
		return Entry{}, Skip{Path: rel, Reason: SkipNotRegular, Detail: kind(e.Type())}, false
	}
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Entry{}, Skip{}, false
	case err != nil:
		return Entry{}, Skip{Path: rel, Reason: SkipUnreadable, Detail: cause(err)}, false
	case info.Size() == 0:
		return Entry{}, Skip{Path: rel, Reason: SkipEmpty}, false
	case info.Size() > r.opts.MaxBytes:
		return Entry{}, Skip{Path: rel, Reason: SkipTooLarge, Detail: overLimit(info.Size(), r.opts.MaxBytes)}, false
	}
	return Entry{Path: rel, Size: info.Size(), ModTime: info.ModTime()}, Skip{}, true
}

func (s *scan) skip(k Skip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found.Skips = append(s.found.Skips, k)
	if k.Reason == SkipUnreadable && k.Dir {
		s.found.Unreadable = append(s.found.Unreadable, k.Path)
	}
}

// listing returns what was found, in order.
func (s *scan) listing() Listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.found
	slices.SortFunc(l.Entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(l.Skips, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
	})
	slices.Sort(l.Unreadable)
	seen := map[string]bool{".": true}
	l.Dirs = []string{"."}
	for i := range l.Entries {
		at := l.Entries[i].Path
		for {
			cut := strings.LastIndexByte(at, '/')
			if cut < 0 || seen[at[:cut]] {
				break
			}
			at = at[:cut]
			seen[at] = true
			l.Dirs = append(l.Dirs, at)
		}
	}
	slices.Sort(l.Dirs)
	return l
}

// link says why a symlink is not indexed: its target is found under its own
// path, or is none of the root's.
func (r *Rules) link(abs string) (SkipReason, string) {
	target, err := filepath.EvalSymlinks(abs)
	switch {
	case err == nil && (target == r.real || strings.HasPrefix(target, r.real+string(filepath.Separator))):
		rel, err := filepath.Rel(r.real, target)
		if err != nil {
			return SkipLinked, ""
		}
		return SkipLinked, "to " + filepath.ToSlash(rel)
	case err == nil:
		return SkipSymlink, "to " + target
	case errors.Is(err, fs.ErrNotExist):
		return SkipLinked, "to nothing"
	}
	return SkipLinked, cause(err)
}

// cause is an error without the operation and path that the reader already has.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "FIFO"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m.IsDir():
		return "directory"
	}
	return m.Type().String()
}

func overLimit(size, limit int64) string {
	return fmt.Sprintf("%d bytes, over the limit of %d (index.maxFileBytes)", size, limit)
}
