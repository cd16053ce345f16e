package watcher

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// bench is a watched directory with helpers.
type bench struct {
	*testing.T
	root string
	w    *Watcher
}

func watch(t *testing.T, root string, change func(*Options)) *bench {
	t.Helper()
	return watchOn(t, root, change, fake{})
}

// fake is what a test has changed of the system.
type fake struct {
	wrap   func(system) system
	open   func() (system, error)
	remote func(dir string) bool
}

// watchOn watches with another system.
func watchOn(t *testing.T, root string, change func(*Options), f fake) *bench {
	t.Helper()
	opts := Options{Roots: []string{root}, Debounce: 20 * time.Millisecond, MaxDelay: 100 * time.Millisecond, PollInterval: 20 * time.Millisecond}
	if change != nil {
		change(&opts)
	}
	if f.open == nil {
		f.open = openSystem
	}
	if f.remote == nil {
		f.remote = remote
	}
	w, err := start(context.Background(), opts, func() (system, error) {
		sys, err := f.open()
		if err == nil && f.wrap != nil {
			sys = f.wrap(sys)
		}
		return sys, err
	}, f.remote)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{T: t, root: root, w: w}
	if first := b.next(); !first.Rescan || first.Cause != "start" {
		t.Fatalf("first batch = %+v, want a rescan of cause start", first)
	}
	return b
}

func (b *bench) path(rel string) string { return filepath.Join(b.root, filepath.FromSlash(rel)) }

func (b *bench) write(rel, content string) {
	b.Helper()
	writeFile(b.T, b.path(rel), content)
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) next() Batch {
	b.Helper()
	select {
	case batch, ok := <-b.w.Batches():
		if !ok {
			b.Fatal("batches closed")
		}
		return batch
	case <-time.After(patience):
		b.Fatal("no batch came")
	}
	panic("unreachable")
}

// until collects batches until every path was reported.
func (b *bench) until(rels ...string) (seen []string) {
	b.Helper()
	missing := map[string]bool{}
	for _, rel := range rels {
		missing[b.path(rel)] = true
	}
	deadline := time.After(patience)
	for len(missing) > 0 {
		select {
		case batch := <-b.w.Batches():
			for _, p := range batch.Paths {
				delete(missing, p)
				seen = append(seen, p)
			}
		case <-deadline:
			b.Fatalf("never reported: %v; reported: %v", missing, seen)
		}
	}
	return seen
}

// untilRescan collects batches until one calls for a rescan.
func (b *bench) untilRescan(cause string) {
	b.Helper()
	deadline := time.After(patience)
	for {
		select {
		case batch := <-b.w.Batches():
			if batch.Rescan && batch.Cause == cause {
				return
			}
		case <-deadline:
			b.Fatalf("no rescan of cause %s", cause)
		}
	}
}

func TestWriteCreateDelete(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "sub/a.go"), "1")
	b := watch(t, dir, nil)
	b.write("sub/a.go", "2")
	b.until("sub/a.go")
	b.write("sub/b.go", "1")
	b.until("sub/b.go")
	b.must(os.Remove(b.path("sub/a.go")))
	b.until("sub/a.go")
}

func TestNewDirectoriesAreWatchedAndTheirFilesReported(t *testing.T) {
	b := watch(t, t.TempDir(), nil)
	b.write("one/two/three/four/a.go", "1")
	b.write("one/two/b.go", "1")
	b.until("one/two/three/four/a.go", "one/two/b.go")
	b.write("one/two/three/four/a.go", "22")
	b.until("one/two/three/four/a.go")
	b.write("one/two/three/c.go", "1")
	b.until("one/two/three/c.go")
}

func TestDirectoryMove(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "old/deep/a.go"), "1")
	b := watch(t, dir, nil)
	b.must(os.Rename(b.path("old"), b.path("new")))
	b.until("old", "new/deep/a.go")
	// Its watches follow: changes are reported under the new name.
	b.write("new/deep/a.go", "22")
	seen := b.until("new/deep/a.go")
	b.write("new/deep/b.go", "22")
	seen = append(seen, b.until("new/deep/b.go")...)
	for _, p := range seen {
		if strings.HasPrefix(p, b.path("old")+"/") {
			t.Errorf("reported %s after the move", p)
		}
	}
	// And another directory by the old name is another directory.
	b.write("old/deep/c.go", "1")
	b.until("old/deep/c.go")
	b.write("old/deep/c.go", "22")
	b.until("old/deep/c.go")
}

func TestDirectoryMovedOutAndIn(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "pkg/a.go"), "1")
	b := watch(t, dir, nil)
	b.must(os.Rename(b.path("pkg"), filepath.Join(outside, "pkg")))
	b.until("pkg")
	b.must(os.Rename(filepath.Join(outside, "pkg"), b.path("pkg2")))
	b.until("pkg2/a.go")
	b.write("pkg2/a.go", "22")
	b.until("pkg2/a.go")
}

func TestDirectoryDeletedAndMadeAgain(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "pkg/sub/a.go"), "1")
	b := watch(t, dir, nil)
	b.must(os.RemoveAll(b.path("pkg")))
	b.write("pkg/sub/a.go", "2")
	b.until("pkg/sub/a.go")
	b.write("pkg/sub/a.go", "33")
	b.until("pkg/sub/a.go")
}

// An editor told of files that are gone before a directory that is not watched
// was looked at: nothing but what is known of it tells.
func TestKnownFilesThatAreGoneAreReported(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "quiet/notes.go"), "1")
	known := []string{filepath.Join(dir, "quiet/notes.go"), filepath.Join(dir, "quiet/told.go"), filepath.Join(dir, "new/told.go"), filepath.Join(dir, "new/sub/told.go")}
	b := watch(t, dir, func(o *Options) {
		o.Holds = func(string) (bool, bool) { return false, true }
		o.Known = func(dirs []string) []string {
			return slices.DeleteFunc(slices.Clone(known), func(path string) bool {
				return !slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
			})
		}
	})
	b.write("quiet/other.go", "1")
	seen := b.until("quiet/other.go", "quiet/told.go")
	b.write("new/other.go", "1")
	seen = append(seen, b.until("new/other.go", "new/told.go", "new/sub/told.go")...)
	if slices.Contains(seen, b.path("quiet/notes.go")) {
		t.Error("reported a file that did not change")
	}
}

func TestAtomicSave(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a.go"), "1")
	b := watch(t, dir, nil)
	// As vim does: the file becomes the backup, a new one takes its place.
	b.must(os.Rename(b.path("a.go"), b.path("a.go~")))
	b.write("a.go", "2")
	b.must(os.Remove(b.path("a.go~")))
	b.until("a.go")
	// As most others do: a new file is renamed over it.
	b.write(".a.go.tmp", "3")
	b.must(os.Rename(b.path(".a.go.tmp"), b.path("a.go")))
	b.until("a.go")
}

func TestKeep(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "node_modules/x/index.js"), "1")
	writeFile(t, filepath.Join(dir, "src/a.go"), "1")
	b := watch(t, dir, func(o *Options) {
		o.Keep = func(path string, isDir bool) bool {
			return !strings.Contains(path, "node_modules") && (isDir || filepath.Ext(path) != ".log")
		}
	})
	if n := b.w.Stats().Watches; n != 1 {
		t.Errorf("%d directories watched, want src", n)
	}
	b.write("node_modules/x/index.js", "2")
	b.write("node_modules/y/index.js", "2")
	b.write("src/a.log", "2")
	b.write("src/a.go", "2")
	for _, p := range b.until("src/a.go") {
		if p != b.path("src/a.go") {
			t.Errorf("reported %s", p)
		}
	}
}

func TestRefreshFollowsKeep(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "gen/a.go"), "1")
	writeFile(t, filepath.Join(dir, "src/a.go"), "1")
	var mu sync.Mutex
	hidden := "gen"
	b := watch(t, dir, func(o *Options) {
		o.Keep = func(path string, _ bool) bool {
			mu.Lock()
			defer mu.Unlock()
			return !strings.Contains(path, string(filepath.Separator)+hidden)
		}
	})
	mu.Lock()
	hidden = "src"
	mu.Unlock()
	b.w.Refresh()
	b.until("gen/a.go") // it was not watched: it may have changed
	b.write("src/a.go", "2")
	b.write("gen/a.go", "2")
	for _, p := range b.until("gen/a.go") {
		if strings.Contains(p, "src") {
			t.Errorf("reported %s", p)
		}
	}
}

// TestIgnoreFileChangeIsFollowed needs no call of Refresh.
func TestIgnoreFileChangeIsFollowed(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "gen/a.go"), "1")
	var mu sync.Mutex
	hide := true
	b := watch(t, dir, func(o *Options) {
		o.Keep = func(path string, _ bool) bool {
			mu.Lock()
			defer mu.Unlock()
			return !hide || filepath.Base(path) != "gen"
		}
	})
	b.write(".gitignore", "")
	b.until(".gitignore")
	mu.Lock()
	hide = false
	mu.Unlock()
	b.until("gen/a.go")
}

// limited is a system that grants a number of watches.
type limited struct {
	system
	mu   sync.Mutex
	left int
	err  error
}

func (l *limited) Add(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		return fmt.Errorf("adding %s: %w", dir, l.err)
	}
	l.left--
	return l.system.Add(dir)
}

func TestPollingWhenTheLimitIsReached(t *testing.T) {
	for _, limit := range []error{syscall.ENOSPC, syscall.EMFILE} {
		t.Run(limit.Error(), func(t *testing.T) {
			dir := t.TempDir()
			for i := range 5 {
				writeFile(t, filepath.Join(dir, fmt.Sprintf("d%d/sub/a.go", i)), "1")
			}
			b := watchOn(t, dir, nil, fake{wrap: func(s system) system { return &limited{system: s, left: 3, err: limit} }})
			s := b.w.Stats()
			if s.Watches != 3 || s.Polling != 2 || s.Notice == "" {
				t.Errorf("stats = %+v, want 3 watched, 2 polled and a notice", s)
			}
			for i := range 5 {
				b.write(fmt.Sprintf("d%d/sub/a.go", i), "22")
				b.until(fmt.Sprintf("d%d/sub/a.go", i))
				b.write(fmt.Sprintf("d%d/new/deep/b.go", i), "1")
				b.until(fmt.Sprintf("d%d/new/deep/b.go", i))
				b.write(fmt.Sprintf("d%d/new/deep/b.go", i), "22")
				b.until(fmt.Sprintf("d%d/new/deep/b.go", i))
				b.must(os.Remove(b.path(fmt.Sprintf("d%d/sub/a.go", i))))
				b.until(fmt.Sprintf("d%d/sub/a.go", i))
				b.must(os.RemoveAll(b.path(fmt.Sprintf("d%d", i))))
				b.until(fmt.Sprintf("d%d", i))
			}
			if s := b.w.Stats(); s.Polling > 0 {
				t.Errorf("%d directories polled after all were deleted", s.Polling)
			}
		})
	}
}

func TestMaxWatches(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("d%d/a.go", i)), "1")
	}
	b := watch(t, dir, func(o *Options) { o.MaxWatches = 4 })
	if s := b.w.Stats(); s.Watches != 4 || s.Cap != 4 || s.Polling != 6 || s.Notice == "" {
		t.Errorf("stats = %+v", s)
	}
	for i := range 10 {
		b.write(fmt.Sprintf("d%d/a.go", i), "22")
		b.until(fmt.Sprintf("d%d/a.go", i))
	}
}

// TestUnserved is a system without any notification.
func TestUnserved(t *testing.T) {
	b := watchOn(t, t.TempDir(), nil, fake{open: func() (system, error) { return nil, syscall.EMFILE }})
	b.write("a/b.go", "1")
	b.until("a/b.go")
}

// overflowing is a system whose queue overflows when told so.
type overflowing struct {
	system
	errs chan error
}

func (o overflowing) Errors() <-chan error { return o.errs }
func (o overflowing) Close() error {
	close(o.errs)
	return o.system.Close()
}

func TestOverflowCallsForARescan(t *testing.T) {
	errs := make(chan error)
	b := watchOn(t, t.TempDir(), nil, fake{wrap: func(s system) system { return overflowing{s, errs} }})
	errs <- fsnotify.ErrEventOverflow
	b.untilRescan("overflow")
}

func TestSlowReaderLosesNothing(t *testing.T) {
	b := watch(t, t.TempDir(), nil)
	var want []string
	for i := range 300 {
		want = append(want, fmt.Sprintf("d%d/f%d.go", i%7, i))
		b.write(want[i], "1")
	}
	// Nobody has read a batch so far.
	b.until(want...)
}

func TestManyChangesAreOneRescan(t *testing.T) {
	b := watch(t, t.TempDir(), nil)
	for i := range 2 * manyPaths {
		b.write(fmt.Sprintf("d%d/f%d.go", i%10, i), "1")
	}
	b.untilRescan("files")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestGitCheckoutIsARescan(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for i := range 20 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("pkg/f%d.go", i)), "1")
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	git(t, dir, "checkout", "-qb", "two")
	for i := range 20 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("pkg/f%d.go", i)), "22")
	}
	git(t, dir, "commit", "-qam", "two")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", linked, "main")

	keep := func(o *Options) {
		o.Keep = func(path string, _ bool) bool { return filepath.Base(path) != ".git" }
	}
	for _, tree := range []string{dir, linked, filepath.Join(dir, "pkg")} {
		b := watch(t, tree, keep)
		if tree == linked {
			git(t, tree, "checkout", "-q", "--detach", "two")
		} else {
			git(t, tree, "checkout", "-q", "--detach", "main")
		}
		b.untilRescan("git")
		if n := b.w.Stats().Watches; n > 3 {
			t.Errorf("%d directories watched: .git was descended into", n)
		}
		git(t, tree, "checkout", "-q", "--detach", "two")
	}
}

func TestRootThatGoesAndComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	writeFile(t, filepath.Join(dir, "a.go"), "1")
	b := watch(t, dir, nil)
	b.must(os.RemoveAll(dir))
	b.untilRescan("files")
	b.write("sub/b.go", "1")
	b.untilRescan("files")
	b.write("sub/b.go", "22")
	b.until("sub/b.go")
}

func TestSymlinksAreNotFollowed(t *testing.T) {
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "a.go"), "1")
	dir := t.TempDir()
	b := watch(t, dir, nil)
	b.must(os.Symlink(outside, b.path("link")))
	b.must(os.Symlink(dir, b.path("loop")))
	b.until("link", "loop")
	if n := b.w.Stats().Watches; n != 0 {
		t.Errorf("%d directories watched, want none", n)
	}
}

func TestOddNames(t *testing.T) {
	b := watch(t, t.TempDir(), nil)
	names := []string{"a b/c d.go", "100%/x%20y.go", "日本/🎉.go", "new\nline/a.go"}
	for _, n := range names {
		b.write(n, "1")
	}
	b.until(names...)
}

func TestEmptyDirectoryIsWatched(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := watch(t, dir, nil)
	b.write("empty/a.go", "1")
	b.until("empty/a.go")
}

func TestSeveralRoots(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	b := watch(t, one, func(o *Options) { o.Roots = append(o.Roots, two) })
	writeFile(t, filepath.Join(two, "a.go"), "1")
	for {
		if batch := b.next(); slices.Contains(batch.Paths, filepath.Join(two, "a.go")) {
			break
		}
	}
}

func TestBadRoots(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	writeFile(t, file, "")
	for _, root := range []string{"relative", file, filepath.Join(file, "x"), "/does/not/exist"} {
		if w, err := New(t.Context(), Options{Roots: []string{root}}); err == nil {
			t.Errorf("New(%s) = nil error", root)
			_ = w.Close()
		} else if !strings.Contains(err.Error(), root) {
			t.Errorf("error %q does not name %s", err, root)
		}
	}
}

func TestContextEndsTheWatcher(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := New(ctx, Options{Roots: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	deadline := time.After(patience)
	for open := true; open; {
		select {
		case _, open = <-w.Batches():
		case <-deadline:
			t.Fatal("the channel was not closed")
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
