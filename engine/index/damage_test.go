package index_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"coderag-ls/engine/index"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/store/mem"
)

// soundIn counts what is sound in the store of an index directory, after the
// repairs of an open.
func soundIn(t *testing.T, dir string) (files, vectors int) {
	t.Helper()
	cp := t.TempDir()
	copyTree(t, dir, cp)
	s, err := bunt.Open(t.Context(), cp, bunt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var space mem.Space
	to, err := space.Open(t.Context(), cp, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := bunt.Copy(t.Context(), cp, to); err != nil {
		t.Fatal(err)
	}
	return to.Info().Files, to.Info().Vectors
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// change applies a function to a file.
func change(f func(b []byte) []byte) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, f(b), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedIndex damages everything that an index keeps. Whatever is left, a
// start makes what a new index would be; it embeds what was lost and no more;
// where something of the store was lost the user is told, where nothing was,
// never.
func TestDamagedIndex(t *testing.T) {
	files := many(80)
	for path, text := range small {
		files[path] = text
	}
	w := newWorkspace(t, files)
	w.age(names(files)...)
	closeIndex(t, w.open())
	dir := index.Dir(w.cache, w.options(w.cache).Roots[0])
	older := t.TempDir()
	copyTree(t, dir, older)
	for i := range 20 {
		path := fmt.Sprintf("later/l%d.go", i)
		w.write(path, fmt.Sprintf("package later\n\n// After%d comes %d later.\nfunc After%d() {}\n", i, i, i))
		w.age(path)
	}
	closeIndex(t, w.open())
	newer := t.TempDir()
	copyTree(t, dir, newer)
	want := w.fresh()
	wholeFiles, wholeVectors := soundIn(t, newer)

	rng := rand.New(rand.NewSource(20))
	log := func(f func(b []byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { change(f)(t, filepath.Join(dir, "index.db")) }
	}
	each := func(pattern string, f func(t *testing.T, path string)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(found) == 0 {
				t.Fatalf("%s: %v, %v", pattern, found, err)
			}
			for _, path := range found {
				f(t, path)
			}
		}
	}
	leave := func(name, content string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(part, with string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
				t.Fatal(err)
			}
			if part == "postings" {
				copyTree(t, filepath.Join(with, part), filepath.Join(dir, part))
				return
			}
			b, err := os.ReadFile(filepath.Join(with, part))
			if err != nil {
				t.Fatal(err)
			}
			leave(part, string(b))(t, dir)
		}
	}
	type variant struct {
		name   string
		damage func(t *testing.T, dir string)
	}
	flip := func(b []byte) []byte { b[rng.Intn(len(b))] ^= 1 << rng.Intn(8); return b }
	variants := []variant{
		{"untouched", func(*testing.T, string) {}},
		{"empty log", log(func([]byte) []byte { return nil })},
		{"no log", each("index.db", func(t *testing.T, path string) { os.Remove(path) })},
		{"twice the log", log(func(b []byte) []byte { return append(b, b...) })},
		{"zeros behind the log", log(func(b []byte) []byte { return append(b, make([]byte, 8192)...) })},
		{"an older log", replace("index.db", older)},
		{"an older log with its mark", func(t *testing.T, dir string) {
			replace("index.db", older)(t, dir)
			replace("index.db.mark", older)(t, dir)
		}},
		{"older postings", replace("postings", older)},
		{"an older index with newer postings", func(t *testing.T, dir string) {
			replace("index.db", older)(t, dir)
			replace("index.db.mark", older)(t, dir)
			replace("postings", newer)(t, dir)
		}},
		{"flipped postings", each("postings/*.part", change(flip))},
		{"halved postings", each("postings/*.part", change(func(b []byte) []byte { return b[:len(b)/2] }))},
		{"empty postings", each("postings/*.part", change(func([]byte) []byte { return nil }))},
		{"no postings", func(t *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, "postings")) }},
		{"a file for the postings", func(t *testing.T, dir string) {
			os.RemoveAll(filepath.Join(dir, "postings"))
			leave("postings", "in the way")(t, dir)
		}},
		{"left over postings", leave("postings/new-12345", "half")},
		{"the same postings twice", func(t *testing.T, dir string) {
			found, _ := filepath.Glob(filepath.Join(dir, "postings", "*.part"))
			b, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			leave("postings/00000000000000ff.part", string(b))(t, dir)
		}},
		{"a new log left over", leave("index.db.new", "*3\r\n$3\r\nset\r\n$1\r\n!")},
		{"a lock left over", leave("LOCK", "\npid 1 since 2020-01-01T00:00:00Z\n")},
		{"a garbled mark", leave("index.db.mark", "garbage")},
		{"everything is empty", func(t *testing.T, dir string) {
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				return os.Truncate(path, 0)
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
	}
	for i := range 6 {
		variants = append(variants,
			variant{fmt.Sprintf("cut %d", i), log(func(b []byte) []byte { return b[:rng.Intn(len(b))] })},
			variant{fmt.Sprintf("zeroed pages at the end %d", i), log(func(b []byte) []byte { clear(b[rng.Intn(len(b)/4096)*4096:]); return b })},
			variant{fmt.Sprintf("flipped %d", i), log(flip)},
			variant{fmt.Sprintf("page twice %d", i), log(func(b []byte) []byte {
				p := rng.Intn(len(b)/4096) * 4096
				return slices.Insert(b, p, bytes.Clone(b[p:p+4096])...)
			})})
	}
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			cache := t.TempDir()
			at := index.Dir(cache, w.options(cache).Roots[0])
			copyTree(t, newer, at)
			v.damage(t, at)
			nFiles, nVectors := soundIn(t, at)
			opts := w.options(cache)
			opts.Workers = 1 // two may embed the same text at once
			ix, err := index.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			sync(t, ix, true)
			s := ix.Snapshot()
			if got := content(s); !slices.Equal(got, want) {
				t.Errorf("%d lines, want %d", len(got), len(want))
			}
			if err := checkLines(s); err != nil {
				t.Error(err)
			}
			if c := ix.Coverage(s); c.VectorsReady != 1 || c.Pending != 0 || c.Stale {
				t.Errorf("coverage %+v", c)
			}
			st := ix.Status(s)
			// A store without vectors is not asked for those of the first batch: a text
			// that stands in two files may be embedded twice.
			again := int(st.Counters.Embedded) - (wholeVectors - nVectors)
			if again != 0 && (nVectors > 0 || again < 0 || again > 4) {
				t.Errorf("embedded %d, and %d were lost", st.Counters.Embedded, wholeVectors-nVectors)
			}
			lost := nFiles < wholeFiles || nVectors < wholeVectors
			same := v.name == "an older log with its mark" || v.name == "an older index with newer postings"
			if lost && !same && len(st.Notices) == 0 {
				t.Errorf("of %d files and %d vectors, %d and %d are left, and nobody told", wholeFiles, wholeVectors, nFiles, nVectors)
			}
			if !lost && len(st.Notices) != 0 && !bytes.Contains([]byte(st.Notices[0]), []byte("damaged")) {
				t.Errorf("nothing was lost, and the user is told %q", st.Notices)
			}
			closeIndex(t, ix)
			ix, err = index.Open(t.Context(), w.options(cache))
			if err != nil {
				t.Fatal(err)
			}
			defer closeIndex(t, ix)
			sync(t, ix, true)
			if st := ix.Status(ix.Snapshot()); len(st.Notices) != 0 || st.Counters.Embedded != 0 || st.Counters.Commits != 0 {
				t.Errorf("the second start: %q, %+v", st.Notices, st.Counters)
			}
			if got := content(ix.Snapshot()); !slices.Equal(got, want) {
				t.Error("the second start has something else")
			}
		})
	}
}
