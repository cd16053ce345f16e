package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/wire"
)

// many returns a workspace of so many files that it is not believed to be empty
// all at once.
func many(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("p%d/f%d.go", i%7, i)] = fmt.Sprintf("package p\n\n// Do%d does item %d.\nfunc Do%d() {}\n", i, i, i)
	}
	return files
}

// until polls a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("still waiting: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// unmount leaves an empty folder where the workspace was, as an unmounted
// volume does; mount puts it back.
func (w *workspace) unmount() (mount func()) {
	w.t.Helper()
	aside := w.dir + "-aside"
	if err := os.Rename(w.dir, aside); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if err := os.Remove(w.dir); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Rename(aside, w.dir); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestVolumeIsNotMounted(t *testing.T) {
	files := many(150)
	w := newWorkspace(t, files)
	w.age(names(files)...)
	told := make(chan string, 100)
	opts := w.options(w.cache)
	opts.Notice = func(text string) { told <- text }
	ix, err := index.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	sync(t, ix, false)
	want := content(ix.Snapshot())
	mount := w.unmount()
	var gone []string
	for path := range files {
		gone = append(gone, w.abs(path))
	}
	away := func(ix *index.Index) {
		t.Helper()
		st := ix.Status(ix.Snapshot())
		if !strings.Contains(st.Roots[0].Error, "is empty, though 150 are indexed") || !st.Coverage.Stale {
			t.Errorf("while it is away: %+v %+v", st.Roots[0], st.Coverage)
		}
		if got := content(ix.Snapshot()); !slices.Equal(got, want) {
			t.Errorf("while it is away:\n%s", strings.Join(got, "\n"))
		}
	}
	// Whoever tells of it: events, a scan, a start.
	ix.Touch("test", gone, false)
	sync(t, ix, false)
	away(ix)
	if text := <-told; !strings.Contains(text, w.dir) || !strings.Contains(text, "mount it") || !strings.Contains(text, "reindex") {
		t.Errorf("the user is told %q", text)
	}
	sync(t, ix, true)
	away(ix)
	closeIndex(t, ix)
	ix = w.open()
	away(ix)

	// It comes back without anybody telling.
	mount()
	until(t, "the folder is scanned again", func() bool { return ix.Status(ix.Snapshot()).Roots[0].Error == "" })
	sync(t, ix, false)
	if st := ix.Status(ix.Snapshot()); st.Coverage.Stale || len(st.Notices) != 0 || st.Counters.Embedded != 0 || st.Counters.Commits != 0 {
		t.Errorf("after it came back: %+v %q %+v", st.Coverage, st.Notices, st.Counters)
	}
	if got := content(ix.Snapshot()); !slices.Equal(got, want) {
		t.Errorf("after it came back:\n%s", strings.Join(got, "\n"))
	}
	closeIndex(t, ix)
}

// That everything was deleted is believed where it is confirmed, and from then
// on.
func TestEmptiedFolderIsConfirmed(t *testing.T) {
	files := many(120)
	w := newWorkspace(t, files)
	ix := w.open()
	w.unmount()
	sync(t, ix, true)
	if ix.Snapshot().FileCount() != 120 {
		t.Fatalf("%d files are left", ix.Snapshot().FileCount())
	}
	ix.Reindex([]string{"p1"}) // of a part only
	sync(t, ix, false)
	if ix.Snapshot().FileCount() != 120 {
		t.Errorf("%d files are left", ix.Snapshot().FileCount())
	}
	ix.Reindex(nil)
	sync(t, ix, false)
	if st := ix.Status(ix.Snapshot()); ix.Snapshot().FileCount() != 0 || st.Roots[0].Error != "" || st.Coverage.Stale {
		t.Errorf("%d files are left, %+v", ix.Snapshot().FileCount(), st.Roots[0])
	}
	closeIndex(t, ix)
	ix = w.open()
	defer closeIndex(t, ix)
	if st := ix.Status(ix.Snapshot()); st.Roots[0].Error != "" || len(st.Notices) != 0 {
		t.Errorf("after a restart: %+v %q", st.Roots[0], st.Notices)
	}
}

// A folder that holds anything is as it is.
func TestFilesAreDeletedButNotTheFolder(t *testing.T) {
	w := newWorkspace(t, many(120))
	w.write(".git/HEAD", "ref: refs/heads/main\n")
	ix := w.open()
	defer closeIndex(t, ix)
	for i := range 7 {
		if err := os.RemoveAll(w.abs(fmt.Sprintf("p%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	sync(t, ix, true)
	if n := ix.Snapshot().FileCount(); n != 0 || ix.Status(ix.Snapshot()).Roots[0].Error != "" {
		t.Errorf("%d files are left: %+v", n, ix.Status(ix.Snapshot()).Roots[0])
	}
}

// roots are several folders of one workspace.
func (w *workspace) roots(dirs ...string) index.Options {
	opts := w.options(w.cache)
	opts.Roots = nil
	for i, dir := range dirs {
		opts.Roots = append(opts.Roots, file.Root{Name: fmt.Sprintf("r%d", i), Dir: dir})
	}
	return opts
}

func TestOneFolderReachedTwice(t *testing.T) {
	w := newWorkspace(t, small)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	want := w.fresh()
	ix, err := index.Open(t.Context(), w.roots(w.dir, link))
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex(t, ix)
	sync(t, ix, false)
	if got := content(ix.Snapshot()); !slices.Equal(got, want) {
		t.Errorf("indexed:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if st := ix.Status(ix.Snapshot()); len(st.Roots) != 1 {
		t.Errorf("roots %+v", st.Roots)
	}
	// What is told of by the other path is the same.
	w.write("new.go", "package x\n\nfunc Fresh() {}\n")
	ix.Touch("test", []string{filepath.Join(link, "new.go")}, false)
	sync(t, ix, false)
	if len(ix.Snapshot().Definitions("Fresh")) != 1 {
		t.Error("a change told of by the link is not seen")
	}
	v := ix.NewView()
	v.Apply([]file.Change{{Kind: file.Opened, Path: filepath.Join(link, "new.go"), Text: "package x\n\nfunc Unsaved() {}\n"}})
	s, err := v.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Definitions("Unsaved")) != 1 || len(s.Definitions("Fresh")) != 0 {
		t.Error("a buffer opened by the link does not stand in front of its file")
	}
	for _, path := range []string{w.abs("new.go"), filepath.Join(link, "new.go")} {
		if text, _ := v.Text(path); !strings.Contains(text, "Unsaved") {
			t.Errorf("%s is %q", path, text)
		}
	}
	v.Apply([]file.Change{{Kind: file.Closed, Path: filepath.Join(link, "new.go")}})
	if text, _ := v.Text(w.abs("new.go")); !strings.Contains(text, "Fresh") {
		t.Errorf("after closing it is %q", text)
	}
}

// A folder in another one may be named by a link.
func TestFolderInFolderReachedByLink(t *testing.T) {
	w := newWorkspace(t, small)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.abs("auth"), link); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(t.Context(), w.roots(w.dir, link))
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex(t, ix)
	sync(t, ix, false)
	s := ix.Snapshot()
	if s.File("r0/auth/token.py") != nil || s.File("r1/token.py") == nil || s.File("r0/server/http.go") == nil {
		t.Errorf("indexed:\n%s", strings.Join(content(s), "\n"))
	}
	w.write("auth/token.py", "def renamed(): pass\n")
	ix.Touch("test", []string{w.abs("auth/token.py")}, false)
	sync(t, ix, false)
	if f := ix.Snapshot().Definitions("renamed"); len(f) != 1 || f[0].File.Path != "r1/token.py" {
		t.Errorf("after a change: %v", f)
	}
}

// A missing folder does not keep the others from being asked about, and is
// scanned when it comes.
func TestOneFolderOfTwoComesBack(t *testing.T) {
	w, other := newWorkspace(t, small), newWorkspace(t, map[string]string{"o.go": "package o\n\nfunc Other() {}\n"})
	ix, err := index.Open(t.Context(), w.roots(w.dir, other.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex(t, ix)
	sync(t, ix, false)
	aside := other.dir + "-aside"
	if err := os.Rename(other.dir, aside); err != nil {
		t.Fatal(err)
	}
	sync(t, ix, true)
	failed := func(st wire.Status) bool {
		return slices.ContainsFunc(st.Roots, func(r wire.RootStatus) bool { return r.Error != "" })
	}
	if st := ix.Status(ix.Snapshot()); !failed(st) || len(ix.Snapshot().Definitions("Other")) != 1 {
		t.Errorf("while it is gone: %+v", st.Roots)
	}
	if err := os.Rename(aside, other.dir); err != nil {
		t.Fatal(err)
	}
	other.write("o.go", "package o\n\nfunc Later() {}\n")
	until(t, "the folder is scanned again", func() bool { return !failed(ix.Status(ix.Snapshot())) })
	sync(t, ix, false)
	if len(ix.Snapshot().Definitions("Later")) != 1 {
		t.Error("what changed meanwhile is not seen")
	}
}
