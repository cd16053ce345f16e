package index_test

import (
	"fmt"
	"iter"
	"maps"
	"os"
	gosync "sync"
	"testing"

	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

func keysOf[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// published are the hashes of files in a shared index.
type published struct {
	mu    gosync.Mutex
	files map[string]file.Hash
	away  bool
}

func (p *published) covered(_ file.Root, rel string, hash file.Hash) (covered, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.files[rel]
	return ok && h == hash && !p.away, !p.away
}

func (p *published) put(path, content string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[path] = text.Hash(content)
}

// TestCovered: what the shared index holds is not indexed, and counted; what
// differs from it is, at once; a restart costs nothing.
func TestCovered(t *testing.T) {
	const n = 20
	files := map[string]string{}
	p := &published{files: map[string]file.Hash{}}
	for i := range n {
		path := fmt.Sprintf("pkg/f%d.go", i)
		files[path] = fmt.Sprintf("package pkg\n\n// Settle%d settles.\nfunc Settle%d() {}\n", i, i)
		if i > 0 {
			p.put(path, files[path])
		}
	}
	w := newWorkspace(t, files)
	reads := map[string]int{}
	var mu gosync.Mutex
	open := func(covered func(file.Root, string, file.Hash) (bool, bool)) *index.Index {
		t.Helper()
		clear(reads)
		opts := w.options(w.cache)
		opts.Covered = covered
		opts.Read = func(path string, most int64) (file.Content, error) {
			mu.Lock()
			reads[path]++
			mu.Unlock()
			return file.Read(path, most)
		}
		ix, err := index.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		sync(t, ix, true)
		return ix
	}
	check := func(ix *index.Index, local int) wire.Status {
		t.Helper()
		s := ix.Snapshot()
		st := ix.Status(s)
		if c := st.Coverage; s.FileCount() != local || c.Shared != n-local || c.Total != n || c.Indexed != n || len(c.Skipped) != 0 {
			t.Errorf("%d files here, coverage %+v", s.FileCount(), c)
		}
		if st.State != wire.StateReady || len(st.SkippedFiles) != 0 || st.Roots[0].Indexed != n || st.Roots[0].Total != n || len(ix.Covered()) != n-local {
			t.Errorf("state %s, left out %v, root %+v", st.State, st.SkippedFiles, st.Roots[0])
		}
		return st
	}
	ix := open(p.covered)
	check(ix, 1)
	if h, ok := ix.Covers("pkg/f3.go"); !ok || h != text.Hash(files["pkg/f3.go"]) {
		t.Errorf("f3: %v, %v", h, ok)
	}
	if _, ok := ix.Covers("pkg/f0.go"); ok {
		t.Error("f0 is said to be covered")
	}
	if embedded := ix.Status(ix.Snapshot()).Counters.Embedded; embedded != int64(ix.Snapshot().Len()) {
		t.Errorf("%d chunks were embedded of %d", embedded, ix.Snapshot().Len())
	}

	// An edit on disk, and one in a buffer.
	w.write("pkg/f1.go", "package pkg\n\nfunc Quarrel() {}\n")
	ix.Touch("change", []string{w.abs("pkg/f1.go")}, false)
	sync(t, ix, false)
	check(ix, 2)
	if len(ix.Snapshot().Definitions("Quarrel")) != 1 {
		t.Error("an edit of a covered file is not searchable")
	}
	view := ix.NewView()
	view.Apply([]file.Change{{Path: w.abs("pkg/f2.go"), Kind: file.Opened, Text: "package pkg\n\nfunc Unsaved() {}\n"}})
	if s, err := view.Snapshot(t.Context()); err != nil || len(s.Definitions("Unsaved")) != 1 {
		t.Errorf("a buffer of a covered file is not searchable: %v", err)
	}
	view.Close()
	check(ix, 2)
	// Back to what is published.
	w.write("pkg/f1.go", files["pkg/f1.go"])
	ix.Touch("change", []string{w.abs("pkg/f1.go")}, false)
	sync(t, ix, false)
	check(ix, 1)

	// A change that no event tells of is noticed by whoever reads the file.
	w.write("pkg/f9.go", "package pkg\n\nfunc Unnoticed() {}\n")
	view = ix.NewView()
	if _, ok := view.Text(w.abs("pkg/f9.go")); !ok {
		t.Error("a covered file cannot be read")
	}
	view.Close()
	sync(t, ix, false)
	check(ix, 2)
	w.write("pkg/f9.go", files["pkg/f9.go"])
	ix.Touch("change", []string{w.abs("pkg/f9.go")}, false)
	sync(t, ix, false)
	check(ix, 1)

	// Another commit is published.
	mu.Lock()
	clear(reads)
	mu.Unlock()
	p.put("pkg/f0.go", files["pkg/f0.go"])
	p.put("pkg/f4.go", "another text")
	p.mu.Lock()
	delete(p.files, "pkg/f5.go")
	p.mu.Unlock()
	if n := ix.Recheck(); n != 3 {
		t.Errorf("%d files are looked at again", n)
	}
	sync(t, ix, false)
	check(ix, 2)
	s := ix.Snapshot()
	if s.File("pkg/f0.go") != nil || s.File("pkg/f4.go") == nil || s.File("pkg/f5.go") == nil {
		t.Errorf("indexed %q", content(s))
	}
	mu.Lock()
	if len(reads) != 3 {
		t.Errorf("read %v", reads)
	}
	mu.Unlock()
	if n := ix.Recheck(); n != 0 {
		t.Errorf("%d files are looked at though nothing changed", n)
	}
	sync(t, ix, true)
	closeIndex(t, ix)

	// A restart reads what was written just before, at most, and indexes nothing.
	ix = open(p.covered)
	check(ix, 2)
	if c := ix.Status(ix.Snapshot()).Counters; c.Embedded != 0 {
		t.Errorf("a restart embeds: %+v", c)
	}
	closeIndex(t, ix)

	// Nor does one while the shared index is away; what changes is indexed.
	p.away = true
	ix = open(p.covered)
	if n := ix.Recheck(); n != 0 {
		t.Errorf("%d files are looked at while nobody knows", n)
	}
	check(ix, 2)
	w.write("pkg/f8.go", "package pkg\n\nfunc Offline() {}\n")
	ix.Touch("change", []string{w.abs("pkg/f8.go")}, false)
	sync(t, ix, false)
	check(ix, 3)
	w.write("pkg/f8.go", files["pkg/f8.go"])
	ix.Touch("change", []string{w.abs("pkg/f8.go")}, false)
	sync(t, ix, false)
	check(ix, 3) // nobody says that it is what is published
	p.away = false
	ix.Recheck()
	sync(t, ix, false)
	check(ix, 2)

	// A file that is deleted is not covered.
	if err := os.Remove(w.abs("pkg/f7.go")); err != nil {
		t.Fatal(err)
	}
	ix.Touch("change", []string{w.abs("pkg/f7.go")}, false)
	sync(t, ix, false)
	if _, ok := ix.Covers("pkg/f7.go"); ok {
		t.Error("a deleted file is covered")
	}
	closeIndex(t, ix)

	// Without the shared index all of it is indexed.
	ix = open(nil)
	if s := ix.Snapshot(); s.FileCount() != n-1 || ix.Coverage(s).Shared != 0 {
		t.Errorf("%d files of %d, %+v", s.FileCount(), n-1, ix.Coverage(s))
	}
	closeIndex(t, ix)
}

// TestCoveredWhilePublishing: where the answer changes while files are looked
// at, the last one holds.
func TestCoveredWhilePublishing(t *testing.T) {
	const n = 60
	files := map[string]string{}
	p := &published{files: map[string]file.Hash{}}
	for i := range n {
		path := fmt.Sprintf("f%d.go", i)
		files[path] = fmt.Sprintf("package f\n\nfunc F%d() {}\n", i)
	}
	w := newWorkspace(t, files)
	opts := w.options(w.cache)
	opts.Covered = p.covered
	ix, err := index.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex(t, ix)
	for i := range n { // against the first scan
		path := fmt.Sprintf("f%d.go", i)
		p.put(path, files[path])
		ix.Recheck()
	}
	sync(t, ix, true)
	if s := ix.Snapshot(); s.FileCount() != 0 || len(ix.Covered()) != n {
		t.Errorf("%d files indexed, %d covered", s.FileCount(), len(ix.Covered()))
	}
}
