package watcher

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// snapshot is what a listing showed of a directory, by name; nil where it could
// not be listed.
type snapshot map[string]stamp

// stamp tells two states of a file apart as far as its stat does.
type stamp struct {
	size    int64
	modTime int64 // ns
	mode    fs.FileMode
}

func take(entries []os.DirEntry) snapshot {
	s := make(snapshot, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // gone
		}
		if info.IsDir() {
			// Its own changes are seen in it.
			s[e.Name()] = stamp{mode: fs.ModeDir}
			continue
		}
		s[e.Name()] = stamp{size: info.Size(), modTime: info.ModTime().UnixNano(), mode: info.Mode()}
	}
	return s
}

// poll lists the directories that are not watched by notification, adds what
// differs to the batch, and looks for roots that were gone. It returns how long
// it took.
func (t *tree) poll(ctx context.Context, b *batch) time.Duration {
	start := time.Now()
	for root := range t.gone {
		t.addRoot(ctx, root, b)
	}
	gone := map[string]bool{}
	dirs := make([]string, 0, len(t.polled))
	for dir := range t.polled {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			break
		}
		t.pollDir(ctx, dir, gone, b)
	}
	if len(gone) > 0 {
		t.drop(gone)
	}
	return time.Since(start)
}

func (t *tree) pollDir(ctx context.Context, dir string, gone map[string]bool, b *batch) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if t.isRoot(dir) {
			t.gone[dir] = true
			b.rescan("files")
		}
		gone[dir] = true
		return
	}
	if err != nil {
		return // unreadable is not gone
	}
	before, now := t.polled[dir], take(entries)
	t.polled[dir] = now
	for name, s := range now {
		was, had := before[name]
		if had && was == s || name == ".git" {
			continue
		}
		path := filepath.Join(dir, name)
		if s.mode.IsDir() {
			t.addTree(ctx, path, b)
		} else if t.w.opts.Keep(path, false) {
			b.add(path)
		}
	}
	for name, was := range before {
		if s, still := now[name]; still && s.mode.IsDir() == was.mode.IsDir() {
			continue
		}
		path := filepath.Join(dir, name)
		if was.mode.IsDir() {
			gone[path] = true
		}
		if t.w.opts.Keep(path, was.mode.IsDir()) {
			b.add(path)
		}
	}
}
