package watcher

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// tree is the directories that are kept. Only one goroutine uses it.
type tree struct {
	w     *Watcher
	dirs  map[string]*dir
	repos map[string]*repo // by work tree
	gone  map[string]bool  // roots that are not there
	watches
	listed map[string]bool // directories that were listed and not asked about since
	unsure bool            // which directories hold indexed files may have changed
}

// dir is one directory: watched by notification, or looked at.
type dir struct {
	id      fileID
	remote  bool // notification would not tell all changes
	watched bool
	// polled is true where it should be watched and cannot be.
	polled bool
	// What follows is what the last listing of a directory that is looked at
	// showed. modTime is 0 where the next look has to list it again.
	modTime int64
	files   map[string]stamp // what is kept of it, by name
	subs    map[string]bool  // directories, by name
}

func newTree(w *Watcher) *tree {
	t := &tree{w: w, dirs: map[string]*dir{}, repos: map[string]*repo{}, gone: map[string]bool{}, listed: map[string]bool{}, unsure: true}
	t.watches.init(w)
	return t
}

func (t *tree) stats() Stats {
	s := Stats{Watches: t.watching, Cap: t.most, Notice: t.notice}
	for _, d := range t.dirs {
		if d.polled {
			s.Polling++
		}
	}
	return s
}

// start visits the roots.
func (t *tree) start(ctx context.Context) {
	t.watches.open()
	for _, root := range t.w.opts.Roots {
		if workTree, git := enclosing(root); git != "" {
			t.repos[workTree] = newRepo(git)
		}
		t.enter(ctx, root, nil, false)
	}
}

// isRoot reports whether a directory is a root.
func (t *tree) isRoot(dir string) bool { return slices.Contains(t.w.opts.Roots, dir) }

// report adds a path to the batch.
func (t *tree) report(path string, b *batch) {
	if b != nil {
		b.add(path, t.repoOf(path))
	}
}

// repoOf returns the work tree that a path lies in, nil where that is none.
func (t *tree) repoOf(path string) *repo {
	if len(t.repos) == 0 {
		return nil
	}
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if r := t.repos[at]; r != nil {
			return r
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// addRepo learns of a work tree.
func (t *tree) addRepo(workTree string) {
	git := gitDir(workTree)
	if old := t.repos[workTree]; old != nil && old.dir == git {
		return
	}
	if delete(t.repos, workTree); git != "" {
		t.repos[workTree] = newRepo(git)
	}
}

// apply updates the tree by the events and adds what they mean to the batch.
func (t *tree) apply(ctx context.Context, ops map[string]fsnotify.Op, b *batch) {
	// What went goes first: a directory that was moved keeps its watch under its
	// former name otherwise.
	gone := map[string]bool{}
	for path, op := range ops {
		if t.dirs[path] != nil && (op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)) {
			gone[path] = true
		}
	}
	t.drop(gone)
	for path, op := range ops {
		if ctx.Err() != nil {
			return
		}
		t.applyOne(ctx, path, op, gone[path], b)
	}
	t.missing(b)
}

func (t *tree) applyOne(ctx context.Context, path string, op fsnotify.Op, wasDir bool, b *batch) {
	if filepath.Base(path) == ".git" {
		t.addRepo(filepath.Dir(path))
		return
	}
	if t.isRoot(path) {
		if wasDir {
			t.gone[path] = true
			b.rescan("files")
		}
		t.enterRoot(ctx, path, b)
		return
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		if wasDir || t.dirs[path] == nil {
			// Another directory by the same name, or one where a file was.
			if wasDir || op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename) {
				t.report(path, b)
			}
			t.enter(ctx, path, b, false)
			return
		}
		if op.Has(fsnotify.Chmod) && t.w.opts.Keep(path, true) {
			b.rescan("files") // it may have become readable
		}
	case wasDir:
		t.report(path, b)
	case t.w.opts.Keep(path, false):
		t.report(path, b)
		if err == nil && links(info) > 1 {
			b.rescan("files") // nobody tells of its other names
		}
	default:
		t.w.events.ignore(path)
	}
}

// enterRoot visits a root that may have come back.
func (t *tree) enterRoot(ctx context.Context, root string, b *batch) {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		t.gone[root] = true
		return
	}
	if t.gone[root] {
		delete(t.gone, root)
		b.rescan("files")
	}
	t.enter(ctx, root, b, false)
}

// enter visits a directory and those below it that are kept, of those that are
// known already only with again. Where there is a batch, the files of
// directories that were not known are added to it: they came before.
func (t *tree) enter(ctx context.Context, top string, b *batch, again bool) {
	stack := []string{top}
	for len(stack) > 0 && ctx.Err() == nil {
		path := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.dirs[path] == nil && !t.isRoot(path) && !t.w.opts.Keep(path, true) {
			continue
		}
		stack = append(stack, t.visit(path, b, again)...)
	}
}

// visit makes a directory known and returns the directories in it that are to be
// visited, too.
func (t *tree) visit(path string, b *batch, again bool) []string {
	d := t.dirs[path]
	if d != nil && !again {
		return nil
	}
	if d != nil {
		l, err := t.list(path)
		if err != nil {
			return nil // looks and events tell
		}
		return l.dirs(path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil
	}
	d = &dir{id: idOf(info)}
	d.remote = t.isRemote(path, d.id)
	t.dirs[path] = d
	if up := t.dirs[filepath.Dir(path)]; up != nil && !up.watched && up.subs != nil {
		up.subs[filepath.Base(path)] = true
	}
	l, err := t.list(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(t.dirs, path)
		return nil
	case err != nil:
		t.w.opts.Logger.Debug("listing a directory", "error", err)
		return nil // it is looked at: it may become readable
	}
	if b != nil { // at the start a scan follows
		t.listed[path] = true
	}
	for name := range l.files {
		t.report(filepath.Join(path, name), b)
	}
	d.take(l)
	return append(l.dirs(path), t.settle(path, d, b)...)
}

// settle has a directory watched that is to be. It returns directories that came
// meanwhile.
func (t *tree) settle(path string, d *dir, b *batch) (more []string) {
	d.polled = false
	if !t.wanted(path, d) {
		return nil
	}
	if d.remote || !t.watch(path, d) {
		d.polled = true
		return nil
	}
	// What came before the watch was there nobody told of.
	before := *d
	if info, err := os.Lstat(path); err == nil && d.modTime != 0 && info.ModTime().UnixNano() == d.modTime && !t.changedFiles(path, d) {
		d.files, d.subs = nil, nil
		return nil
	}
	l, err := t.list(path)
	if err != nil {
		d.files, d.subs = nil, nil
		return nil
	}
	t.listed[path] = b != nil
	for name, s := range l.files {
		if before.files[name] != s {
			t.report(filepath.Join(path, name), b)
		}
	}
	for name := range before.files {
		if _, still := l.files[name]; !still {
			t.report(filepath.Join(path, name), b)
		}
	}
	for name := range before.subs {
		if sub := filepath.Join(path, name); !l.subs[name] && t.dirs[sub] != nil {
			t.drop(map[string]bool{sub: true})
			t.report(sub, b)
		}
	}
	for name := range l.subs {
		if t.dirs[filepath.Join(path, name)] == nil {
			more = append(more, filepath.Join(path, name))
		}
	}
	d.files, d.subs = nil, nil
	return more
}

// wanted reports whether a directory is to be watched.
func (t *tree) wanted(path string, d *dir) bool {
	if holds, known := t.w.opts.Holds(path); known {
		return holds
	}
	if d.watched {
		return true
	}
	for _, s := range d.files {
		if s.size > 0 && s.mode.IsRegular() {
			return true
		}
	}
	return false
}

// isRemote reports whether notification serves a directory. A file system is
// asked once, where it begins.
func (t *tree) isRemote(path string, id fileID) bool {
	if up := t.dirs[filepath.Dir(path)]; up != nil && id.known() && up.id.device == id.device && !t.isRoot(path) {
		return up.remote
	}
	return t.w.remote(path)
}

// drop forgets directories and all below them.
func (t *tree) drop(gone map[string]bool) {
	if len(gone) == 0 {
		return
	}
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
	for path, d := range t.dirs {
		if under(path) {
			t.unwatch(path, d)
			delete(t.dirs, path)
		}
	}
	for workTree := range t.repos {
		if under(workTree) {
			delete(t.repos, workTree)
		}
	}
}

// resync asks Keep about every directory, visits those that are kept now and
// forgets those that are not or are gone.
func (t *tree) resync(ctx context.Context, b *batch) {
	t.unsure = true
	t.w.events.heed()
	gone := map[string]bool{}
	for path := range t.dirs {
		if t.isRoot(path) {
			continue
		}
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || !t.w.opts.Keep(path, true) {
			gone[path] = true
		}
	}
	t.drop(gone)
	for _, root := range t.w.opts.Roots {
		t.enterRoot(ctx, root, b)
		t.enter(ctx, root, b, true)
	}
	t.missing(b)
}

// suspect adds every work tree to the batch: anything may have changed.
func (t *tree) suspect(b *batch) {
	for workTree := range t.repos {
		b.of(t.repos[workTree])
	}
}
