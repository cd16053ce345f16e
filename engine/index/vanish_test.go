package index_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/index"
)

// What is wrong with a folder is told for as long as it is.
func TestFolderGoesAndComesBack(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	want := content(ix.Snapshot())
	aside := w.dir + "-aside"
	if err := os.Rename(w.dir, aside); err != nil {
		t.Fatal(err)
	}
	sync(t, ix, true)
	st := ix.Status(ix.Snapshot())
	if st.Roots[0].Error == "" || !st.Coverage.Stale || !slices.ContainsFunc(st.Notices, func(n string) bool { return strings.Contains(n, w.dir) }) {
		t.Errorf("while it is gone: %+v %+v %q", st.Roots[0], st.Coverage, st.Notices)
	}
	if err := os.Rename(aside, w.dir); err != nil {
		t.Fatal(err)
	}
	sync(t, ix, true)
	st = ix.Status(ix.Snapshot())
	if st.Roots[0].Error != "" || st.Coverage.Stale || len(st.Notices) != 0 {
		t.Errorf("after it came back: %+v %+v %q", st.Roots[0], st.Coverage, st.Notices)
	}
	if got := content(ix.Snapshot()); !slices.Equal(got, want) {
		t.Errorf("after it came back:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What is told to be left out is there, though nobody told that it went.
func TestLeftOutFilesThatAreGoneAreNotTold(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	before := ix.Status(ix.Snapshot())
	for _, rel := range []string{"seen.png", "told.go"} { // left out by a scan for its name, by a worker for its content
		if err := os.WriteFile(w.abs(rel), []byte("\x89PNG\x00\x00"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sync(t, ix, true)
	if st := ix.Status(ix.Snapshot()); len(st.SkippedFiles) != len(before.SkippedFiles)+2 {
		t.Fatalf("left out: %+v, want two more than %+v", st.SkippedFiles, before.SkippedFiles)
	}
	for _, rel := range []string{"seen.png", "told.go"} {
		if err := os.Remove(w.abs(rel)); err != nil {
			t.Fatal(err)
		}
	}
	ix.Status(ix.Snapshot())
	sync(t, ix, false)
	st := ix.Status(ix.Snapshot())
	if !slices.Equal(st.SkippedFiles, before.SkippedFiles) || !maps.Equal(st.Coverage.Skipped, before.Coverage.Skipped) || st.Coverage.Total != before.Coverage.Total {
		t.Errorf("left out: %+v %+v\nwant %+v %+v", st.SkippedFiles, st.Coverage, before.SkippedFiles, before.Coverage)
	}
}

// A file whose mode was changed is looked at when it is asked for: no scan sees
// that, since its time and size are as before.
func TestUnreadableFileIsTold(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	path := w.abs("auth/token.py")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(path, 0o644)
	if _, ok := ix.NewView().Text(path); ok {
		t.Fatal("it was read")
	}
	sync(t, ix, false)
	st := ix.Status(ix.Snapshot())
	if ix.Snapshot().File("auth/token.py") == nil || st.Coverage.Skipped["unreadable"] != 1 {
		t.Errorf("skipped %v", st.Coverage.Skipped)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	sync(t, ix, true)
	if st := ix.Status(ix.Snapshot()); st.Coverage.Skipped["unreadable"] != 0 {
		t.Errorf("skipped %v after it could be read again", st.Coverage.Skipped)
	}
}

// Whatever is told of a folder's files while it is away, none of them is taken
// as deleted.
func TestEventsOfFolderThatIsGone(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	want := content(ix.Snapshot())
	aside := w.dir + "-aside"
	if err := os.Rename(w.dir, aside); err != nil {
		t.Fatal(err)
	}
	ix.Touch("test", []string{w.abs("server/http.go"), w.abs("auth"), w.abs("README.md"), w.dir}, false)
	if _, ok := ix.NewView().Text(w.abs("go.mod")); ok {
		t.Error("a file of a folder that is gone was read")
	}
	sync(t, ix, false)
	if got := content(ix.Snapshot()); !slices.Equal(got, want) {
		t.Errorf("while it is gone:\n%s", strings.Join(got, "\n"))
	}
	if st := ix.Status(ix.Snapshot()); st.Roots[0].Error == "" || !st.Coverage.Stale {
		t.Errorf("while it is gone: %+v %+v", st.Roots[0], st.Coverage)
	}
	if err := os.Rename(aside, w.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.abs("README.md")); err != nil {
		t.Fatal(err)
	}
	ix.Touch("test", nil, true)
	sync(t, ix, false)
	if s := ix.Snapshot(); s.File("README.md") != nil || s.File("server/http.go") == nil {
		t.Errorf("after it came back:\n%s", strings.Join(content(s), "\n"))
	}
}

// Many folders and files that go at once are all gone, and nothing else is.
func TestManyDeletions(t *testing.T) {
	files := map[string]string{"keep/k.go": "package keep\n", "go.mod": "module m\n"}
	for i := range 300 {
		files[fmt.Sprintf("a%d/b/f.go", i)] = "package f\n"
		files[fmt.Sprintf("a%dx/f.go", i)] = "package f\n" // begins like a folder that goes
	}
	w := newWorkspace(t, files)
	ix := w.open()
	defer closeIndex(t, ix)
	var gone []string
	for i := range 300 {
		if err := os.RemoveAll(w.abs(fmt.Sprintf("a%d", i))); err != nil {
			t.Fatal(err)
		}
		gone = append(gone, w.abs(fmt.Sprintf("a%d", i)))
	}
	for i := range 100 {
		gone = append(gone, w.abs(fmt.Sprintf("a%d/b/f.go", i)), w.abs(fmt.Sprintf("never%d/was", i)))
	}
	ix.Touch("test", gone, false)
	sync(t, ix, false)
	if got := content(ix.Snapshot()); !slices.Equal(got, w.fresh()) || ix.Snapshot().FileCount() != 302 {
		t.Errorf("%d files are left:\n%s", ix.Snapshot().FileCount(), strings.Join(got, "\n"))
	}
}

// In a large new workspace files are searchable by their words first. One that
// is deleted meanwhile must not stay.
func TestDeletedWhileFirstIndexed(t *testing.T) {
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("p%d/f%d.txt", i%40, i)] = fmt.Sprintf("words of file %d\n", i)
	}
	w := newWorkspace(t, files)
	ix, err := index.Open(t.Context(), w.options(w.cache))
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex(t, ix)
	if err := ix.Scanned(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 2000; i += 7 {
		path := w.abs(fmt.Sprintf("p%d/f%d.txt", i%40, i))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		ix.Touch("test", []string{path}, false)
	}
	sync(t, ix, false)
	s := ix.Snapshot()
	if c := ix.Coverage(s); c.Pending != 0 || c.Stale {
		t.Errorf("coverage %+v", c)
	}
	if got := content(s); !slices.Equal(got, w.fresh()) {
		t.Errorf("%d files, want %d", s.FileCount(), len(files)-286)
	}
	for _, f := range s.Files() {
		if f.Provisional {
			t.Errorf("%s is still provisional", f.Path)
		}
	}
}

// Files whose names differ in case only are different files.
func TestNamesThatDifferInCase(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a/Code.go": "package a\n\nfunc Upper() {}\n"})
	w.write("a/code.go", "package a\n\nfunc Lower() {}\n")
	if b, err := os.ReadFile(w.abs("a/Code.go")); err != nil || !strings.Contains(string(b), "Upper") {
		t.Skip("this file system does not tell them apart")
	}
	ix := w.open()
	defer closeIndex(t, ix)
	s := ix.Snapshot()
	if len(s.Definitions("Upper")) != 1 || len(s.Definitions("Lower")) != 1 {
		t.Errorf("index:\n%s", strings.Join(content(s), "\n"))
	}
	if err := os.Remove(w.abs("a/code.go")); err != nil {
		t.Fatal(err)
	}
	ix.Touch("test", []string{w.abs("a/code.go")}, false)
	sync(t, ix, false)
	if s := ix.Snapshot(); s.File("a/Code.go") == nil || s.File("a/code.go") != nil {
		t.Errorf("index:\n%s", strings.Join(content(s), "\n"))
	}
}

// A folder may be given by a symlink or relative to the working directory.
func TestUnusualRoots(t *testing.T) {
	w := newWorkspace(t, small)
	want := w.fresh()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(w.dir))
	for _, dir := range []string{link, filepath.Base(w.dir), "./" + filepath.Base(w.dir) + "/."} {
		opts := w.options(t.TempDir())
		opts.Roots[0].Dir = dir
		ix, err := index.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		sync(t, ix, false)
		if got := content(ix.Snapshot()); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s", dir, strings.Join(got, "\n"))
		}
		abs, ok := ix.Resolve("server/http.go")
		if !ok {
			t.Errorf("%s: not resolved", dir)
		}
		write := filepath.Join(filepath.Dir(filepath.Dir(abs)), "server", "http.go")
		if err := os.WriteFile(write, []byte("package server\n\nfunc Renamed() {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		ix.Touch("test", []string{write}, false)
		sync(t, ix, false)
		if len(ix.Snapshot().Definitions("Renamed")) != 1 {
			t.Errorf("%s: a change is not seen", dir)
		}
		closeIndex(t, ix)
		w.write("server/http.go", small["server/http.go"])
		plan, err := index.Plan(t.Context(), opts)
		if err != nil || plan.Files == 0 {
			t.Errorf("plan of %s: %+v %v", dir, plan, err)
		}
	}
}

// A cache directory may have any name.
func TestCacheDirectoryOfAnyName(t *testing.T) {
	w := newWorkspace(t, small)
	w.age(names(small)...)
	w.cache = filepath.Join(t.TempDir(), "ca[che*?")
	closeIndex(t, w.open())
	ix := w.open()
	defer closeIndex(t, ix)
	if c := ix.Status(ix.Snapshot()).Counters; c.Commits != 0 || c.Embedded != 0 {
		t.Errorf("after a restart: %+v", c)
	}
}
