package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// tree is what is watched. Only one goroutine uses it.
type tree struct {
	w       *Watcher
	watched map[string]bool     // directories, by notification
	gits    map[string]bool     // git's directories, by notification
	polled  map[string]snapshot // directories, by listing
	gone    map[string]bool     // roots that are not there
	notice  string
}

func newTree(w *Watcher) *tree {
	return &tree{
		w: w, watched: map[string]bool{}, gits: map[string]bool{},
		polled: map[string]snapshot{}, gone: map[string]bool{},
	}
}

func (t *tree) stats() Stats {
	return Stats{
		Watches: len(t.watched) + len(t.gits), Cap: t.w.opts.MaxWatches,
		Polling: len(t.polled), Notice: t.notice,
	}
}

// start watches the roots.
func (t *tree) start(ctx context.Context) {
	for _, root := range t.w.opts.Roots {
		t.addGit(enclosingGitDir(root))
		t.addTree(ctx, root, nil)
	}
}

// isRoot reports whether a directory is a root.
func (t *tree) isRoot(dir string) bool {
	for _, root := range t.w.opts.Roots {
		if dir == root {
			return true
		}
	}
	return false
}

// apply updates the tree by the events and adds what they mean to the batch.
func (t *tree) apply(ctx context.Context, ops map[string]fsnotify.Op, b *batch) {
	// What went goes first: a directory that was moved keeps its watches under
	// its former name otherwise.
	gone := map[string]bool{}
	for path, op := range ops {
		if op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename) {
			if _, polled := t.polled[path]; polled || t.watched[path] || t.gits[path] {
				gone[path] = true
			}
		}
	}
	if len(gone) > 0 {
		t.drop(gone)
	}
	for path, op := range ops {
		if ctx.Err() != nil {
			return
		}
		t.applyOne(ctx, path, op, gone[path], b)
	}
}

func (t *tree) applyOne(ctx context.Context, path string, op fsnotify.Op, wasDir bool, b *batch) {
	dir, base := filepath.Split(path)
	if dir = filepath.Clean(dir); t.gits[dir] {
		if movesBranch(base) {
			b.rescan("git")
		}
		return
	}
	if base == ".git" {
		t.addGit(gitDir(dir))
		return
	}
	if t.isRoot(path) {
		if wasDir {
			b.rescan("files")
		}
		t.addRoot(ctx, path, b)
		return
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		if wasDir {
			b.add(path) // another directory by the same name
		}
		if op.Has(fsnotify.Chmod) && t.w.opts.Keep(path, true) {
			b.rescan("files") // it may have become readable
		}
		if _, polled := t.polled[path]; !polled && !t.watched[path] {
			t.addTree(ctx, path, b)
		}
	case wasDir:
		b.add(path)
	case t.w.opts.Keep(path, false):
		b.add(path)
	}
}

// addRoot watches a root that may have come back.
func (t *tree) addRoot(ctx context.Context, root string, b *batch) {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		t.gone[root] = true
		return
	}
	if t.gone[root] {
		delete(t.gone, root)
		b.rescan("files")
	}
	t.addTree(ctx, root, b)
}

// addTree watches a directory and those below it that are kept. Where there is
// a batch, the files of directories that were not watched before are added to
// it: they came before their directory was watched. A directory is watched
// before it is listed, so nothing is missed in between.
func (t *tree) addTree(ctx context.Context, top string, b *batch) {
	stack := []string{top}
	for len(stack) > 0 && ctx.Err() == nil {
		dir := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !t.isRoot(dir) && !t.w.opts.Keep(dir, true) {
			continue
		}
		_, polled := t.polled[dir]
		fresh := !polled && !t.watched[dir]
		if !t.add(dir) {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.w.opts.Logger.Debug("listing a directory", "error", err)
			}
			continue
		}
		if _, polled = t.polled[dir]; polled && fresh {
			t.polled[dir] = take(entries)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case e.Name() == ".git":
				t.addGit(gitDir(dir))
			case e.IsDir():
				stack = append(stack, path)
			case fresh && b != nil && t.w.opts.Keep(path, false):
				b.add(path)
			}
		}
	}
}

// add watches one directory, by notification where that can be had. It is false
// where there is no such directory.
func (t *tree) add(dir string) bool {
	if t.watched[dir] {
		return true
	}
	err := error(syscall.ENOSPC)
	if len(t.watched)+len(t.gits) < t.w.opts.MaxWatches {
		err = t.w.sys.Add(dir)
	}
	switch {
	case err == nil:
		t.watched[dir] = true
		delete(t.polled, dir)
		return true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		if t.notice == "" {
			t.notice = fmt.Sprintf("%d directories are watched, which is as many as can be; the rest is looked at every %v. %s",
				len(t.watched), t.w.opts.PollInterval, raiseLimit)
		}
	default:
		t.w.opts.Logger.Debug("watching a directory", "dir", dir, "error", err)
	}
	if _, ok := t.polled[dir]; !ok {
		t.polled[dir] = nil
	}
	return true
}

// addGit watches git's directory, not what is below it.
func (t *tree) addGit(dir string) {
	if dir == "" || t.gits[dir] {
		return
	}
	if err := t.w.sys.Add(dir); err != nil {
		t.w.opts.Logger.Debug("watching git's directory", "dir", dir, "error", err)
		return
	}
	t.gits[dir] = true
}

// drop forgets directories and all below them.
func (t *tree) drop(gone map[string]bool) {
	under := func(dir string) bool {
		for {
			if gone[dir] {
				return true
			}
			up := filepath.Dir(dir)
			if up == dir {
				return false
			}
			dir = up
		}
	}
	for _, set := range [...]map[string]bool{t.watched, t.gits} {
		for dir := range set {
			if under(dir) {
				t.forget(dir)
				delete(set, dir)
			}
		}
	}
	for dir := range t.polled {
		if under(dir) {
			delete(t.polled, dir)
		}
	}
}

// forget ends a notification.
func (t *tree) forget(dir string) {
	err := t.w.sys.Remove(dir)
	// The system has forgotten what was deleted.
	if err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) && !errors.Is(err, syscall.EINVAL) {
		t.w.opts.Logger.Debug("ending a watch", "dir", dir, "error", err)
	}
}

// resync asks Keep about every directory, watches those that are kept now and
// forgets those that are not or are gone.
func (t *tree) resync(ctx context.Context, b *batch) {
	gone := map[string]bool{}
	check := func(dir string) {
		if t.isRoot(dir) {
			return
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !t.w.opts.Keep(dir, true) {
			gone[dir] = true
		}
	}
	for dir := range t.watched {
		check(dir)
	}
	for dir := range t.polled {
		check(dir)
	}
	if len(gone) > 0 {
		t.drop(gone)
	}
	for _, root := range t.w.opts.Roots {
		t.addRoot(ctx, root, b)
	}
}
