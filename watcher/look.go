package watcher

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// stamp tells two states of a file apart as far as its stat does.
type stamp struct {
	size    int64
	modTime int64 // ns
	mode    fs.FileMode
	id      fileID
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), modTime: info.ModTime().UnixNano(), mode: info.Mode(), id: idOf(info)}
}

// listing is what is in a directory.
type listing struct {
	modTime int64 // of the directory; 0 where it may change again unseen
	files   map[string]stamp
	subs    map[string]bool
}

// coarse is the resolution of the clocks that file systems stamp directories
// with, at worst (FAT).
const coarse = 2 * time.Second

// list lists a directory. What Keep does not keep is left out of its files.
func (t *tree) list(path string) (listing, error) {
	l := listing{files: map[string]stamp{}, subs: map[string]bool{}}
	// The time is taken before: what comes in between is seen twice.
	info, err := os.Stat(path)
	if err != nil {
		return l, err
	}
	if time.Since(info.ModTime()) > coarse {
		l.modTime = info.ModTime().UnixNano()
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return l, err
	}
	for _, e := range entries {
		at := filepath.Join(path, e.Name())
		switch {
		case e.Name() == ".git":
			t.addRepo(path)
		case e.IsDir():
			l.subs[e.Name()] = true
		case t.w.opts.Keep(at, false):
			if info, err := e.Info(); err == nil {
				l.files[e.Name()] = stampOf(info)
			}
		}
	}
	return l, nil
}

func (l listing) dirs(path string) []string {
	all := make([]string, 0, len(l.subs))
	for name := range l.subs {
		all = append(all, filepath.Join(path, name))
	}
	return all
}

func (d *dir) take(l listing) { d.modTime, d.files, d.subs = l.modTime, l.files, l.subs }

// changedFiles reports whether a file that the last listing showed looks
// otherwise now.
func (t *tree) changedFiles(path string, d *dir) bool {
	for name, was := range d.files {
		info, err := os.Lstat(filepath.Join(path, name))
		if err != nil || stampOf(info) != was {
			return true
		}
	}
	return false
}

// look looks at the directories that are not watched, adds what differs to the
// batch, and looks for roots that were gone; at those that are polled only when
// their time has come or with all. Then directories whose place has changed are
// watched, or no longer. It returns how long it took, but for the polling.
func (t *tree) look(ctx context.Context, b *batch, all bool) time.Duration {
	start := time.Now()
	poll := all || !start.Before(t.nextPoll)
	begun, since := b.first, t.lastLook
	if poll {
		since = t.lastPoll
	}
	gone := map[string]bool{}
	var come []string
	var polled []string
	for path, d := range t.dirs {
		switch {
		case ctx.Err() != nil:
			return 0
		case d.watched:
		case d.polled || d.remote:
			polled = append(polled, path)
		default:
			come = append(come, t.lookAt(path, d, gone, b)...)
		}
	}
	took := time.Since(start)
	if poll {
		begin := time.Now()
		for _, path := range polled {
			if ctx.Err() != nil {
				return 0
			}
			come = append(come, t.lookAt(path, t.dirs[path], gone, b)...)
		}
		t.lastPoll = start
		t.nextPoll = time.Now().Add(max(t.w.opts.PollInterval, 20*time.Since(begin)))
	}
	t.drop(gone)
	for root := range t.gone {
		t.enterRoot(ctx, root, b)
	}
	for _, path := range come {
		t.enter(ctx, path, b, false)
	}
	t.retry()
	if t.unsure {
		t.unsure = false
		sure := t.place(ctx, b)
		t.unsure = t.unsure || !sure
		t.relieved()
	}
	// What is found by looking happened at any time since the last look.
	if begun.IsZero() && !b.first.IsZero() && !since.IsZero() {
		b.first = since
	}
	t.missing(b)
	t.lastLook = start
	return took
}

// lookAt looks at one directory and returns those that came in it; those that
// went are added to gone.
func (t *tree) lookAt(path string, d *dir, gone map[string]bool, b *batch) (come []string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && !info.IsDir():
		if t.isRoot(path) {
			t.gone[path] = true
			b.rescan("files")
		} else {
			t.report(path, b)
		}
		gone[path] = true
		return nil
	case err != nil:
		return nil // unreadable is not gone
	case idOf(info) != d.id:
		gone[path] = true // another directory by the same name
		t.report(path, b)
		return []string{path}
	}
	if d.modTime != 0 && d.modTime == info.ModTime().UnixNano() && !d.remote {
		for name, was := range d.files {
			now := stamp{}
			at := filepath.Join(path, name)
			if info, err := os.Lstat(at); err == nil {
				now = stampOf(info)
			}
			if now == was {
				continue
			}
			t.report(at, b)
			t.unsure = true
			d.files[name] = now
			if now == (stamp{}) {
				delete(d.files, name)
				d.modTime = 0
			}
		}
		return nil
	}
	l, err := t.list(path)
	if err != nil {
		return nil
	}
	t.listed[path] = true
	for name, now := range l.files {
		if d.files[name] != now {
			t.report(filepath.Join(path, name), b)
			t.unsure = true
		}
	}
	for name := range d.files {
		if _, still := l.files[name]; !still {
			t.report(filepath.Join(path, name), b)
		}
	}
	for name := range d.subs {
		if at := filepath.Join(path, name); !l.subs[name] && t.dirs[at] != nil {
			gone[at] = true
			t.report(at, b)
		}
	}
	for name := range l.subs {
		if at := filepath.Join(path, name); t.dirs[at] == nil {
			come = append(come, at)
		}
	}
	d.take(l)
	return come
}

// missing reports the files that are known in the directories that were listed
// and are not there: a file that the editor told of may have come and gone while
// nobody looked at its directory.
func (t *tree) missing(b *batch) {
	if len(t.listed) == 0 || b == nil {
		return
	}
	for _, path := range t.w.opts.Known(slices.Collect(maps.Keys(t.listed))) {
		if dir := filepath.Dir(path); t.dirs[dir] != nil && !t.listed[dir] {
			continue // its events or the next look tell
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			t.report(path, b)
		}
	}
	clear(t.listed)
}

// place watches the directories that hold indexed files now, and gives the
// watches of those back that do not. It reports whether that is sure.
func (t *tree) place(ctx context.Context, b *batch) bool {
	sure := true
	var come []string
	var up []string
	for path, d := range t.dirs {
		_, known := t.w.opts.Holds(path)
		sure = sure && known
		switch want := t.wanted(path, d); {
		case want == d.watched:
			d.polled = d.polled && want
		case want:
			up = append(up, path)
		default:
			t.unwatch(path, d)
			if l, err := t.list(path); err == nil {
				t.listed[path] = true
				d.take(l)
				if l.modTime == 0 { // something came or went just now
					t.report(path, b)
				}
				for name, s := range l.files { // what was told last was not heard
					if time.Since(time.Unix(0, s.modTime)) < coarse {
						t.report(filepath.Join(path, name), b)
					}
				}
				come = append(come, l.dirs(path)...)
			}
		}
	}
	for _, path := range up { // with the watches that came free
		if d := t.dirs[path]; d != nil {
			come = append(come, t.settle(path, d, b)...)
		}
	}
	for _, path := range come {
		t.enter(ctx, path, b, false)
	}
	return sure
}
