package index_test

import (
	"os"
	"slices"
	"strings"
	"testing"
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
