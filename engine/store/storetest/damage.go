package storetest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"coderag-ls/engine/store"
)

// testCopiedWhileBusy opens copies that were made of the files while a writer
// was at work, as a crash or a backup leaves them.
func testCopiedWhileBusy(t *testing.T, open Opener) {
	s := start(t, open)
	var writer sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		for v := 1; ; v++ {
			select {
			case <-done:
				return
			default:
			}
			if err := s.Commit(t.Context(), []store.FileRecord{Record("a", v, 20), Record("b", v, 20)}, nil); err != nil {
				t.Error(err)
			}
		}
	})
	for range 10 {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(s.dir)))
		readable(t, open, dir)
	}
	close(done)
	writer.Wait()
}

// readable opens a store that Record filled and checks that all it tells is true and
// that it can be written to.
func readable(t *testing.T, open Opener, dir string) (files, vectors int) {
	t.Helper()
	s, err := open(t.Context(), dir)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer s.Close()
	found := all(t, s)
	delete(found, "after") // of an earlier look
	for p, r := range found {
		same(t, p, r, Record(p, int(r.Size), len(r.File.Chunks)))
	}
	var keys []store.VectorKey
	for i := range 50 {
		keys = append(keys, Key(i))
	}
	got, err := s.Vectors(t.Context(), "m", keys)
	must(t, err)
	for k, v := range got {
		same(t, "vector", v, Vec(64, int(k[0])))
	}
	must(t, s.Commit(t.Context(), []store.FileRecord{Record("after", 1, 1)}, nil))
	must(t, s.Close())
	s, err = open(t.Context(), dir)
	if err != nil {
		t.Fatalf("open again: %v", err)
	}
	defer s.Close()
	again := all(t, s)
	same(t, "written afterwards", again["after"], Record("after", 1, 1))
	same(t, "files after writing", len(again), len(found)+1)
	return len(found), len(got)
}

// filled makes a directory with 20 files and 50 vectors, closed.
func filled(t *testing.T, open Opener) string {
	t.Helper()
	s := start(t, open)
	for i := range 20 {
		must(t, s.Commit(t.Context(), []store.FileRecord{Record(fmt.Sprintf("f%02d", i), i, 3)}, nil))
	}
	put := map[store.VectorKey]store.Vector{}
	for i := range 50 {
		put[Key(i)] = Vec(64, i)
	}
	must(t, s.PutVectors(t.Context(), "m", put))
	must(t, s.Close())
	return s.dir
}

// largest is the path of the largest file below dir.
func largest(t *testing.T, dir string) string {
	t.Helper()
	var path string
	var size int64
	must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fi, err := e.Info()
		if err == nil && fi.Size() >= size {
			path, size = p, fi.Size()
		}
		return err
	}))
	return path
}

// testCutAnywhere cuts the data at many places, as a crash does.
func testCutAnywhere(t *testing.T, open Opener) {
	dir := filled(t, open)
	data, err := os.ReadFile(largest(t, dir))
	must(t, err)
	rng := rand.New(rand.NewPCG(5, 6))
	last := -1
	for step := range 60 {
		at := len(data) * step / 60
		if step%2 == 1 {
			at = rng.IntN(len(data))
		}
		cp := t.TempDir()
		must(t, os.CopyFS(cp, os.DirFS(dir)))
		must(t, os.Truncate(largest(t, cp), int64(at)))
		files, _ := readable(t, open, cp)
		if step%2 == 0 {
			if files < last {
				t.Fatalf("cut at byte %d, %d files are left, and %d with less", at, files, last)
			}
			last = files
		}
	}
}

// testDamaged overwrites the data at many places: what is served is true or
// missing, and the store can be used.
func testDamaged(t *testing.T, open Opener) {
	dir := filled(t, open)
	rng := rand.New(rand.NewPCG(3, 4))
	kinds := map[string]func(b []byte) []byte{
		"zeroed tail":    func(b []byte) []byte { clear(b[len(b)-1-rng.IntN(len(b)-1):]); return b },
		"zeros appended": func(b []byte) []byte { return append(b, make([]byte, 4096)...) },
		"zeros inside":   func(b []byte) []byte { at := rng.IntN(len(b)); clear(b[at:min(len(b), at+512)]); return b },
		"flipped bit":    func(b []byte) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b },
		"flipped digit": func(b []byte) []byte {
			for {
				if i := rng.IntN(len(b)); b[i] >= '0' && b[i] <= '9' {
					b[i] = '0' + (b[i]-'0'+1+byte(rng.IntN(9)))%10
					return b
				}
			}
		},
		"piece missing": func(b []byte) []byte {
			at := rng.IntN(len(b))
			return slices.Delete(b, at, min(len(b), at+1+rng.IntN(100)))
		},
		"noise": func(b []byte) []byte {
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return b
		},
		"empty": func(b []byte) []byte { return nil },
	}
	for name, damage := range kinds {
		t.Run(name, func(t *testing.T) {
			for range 12 {
				cp := t.TempDir()
				must(t, os.CopyFS(cp, os.DirFS(dir)))
				path := largest(t, cp)
				b, err := os.ReadFile(path)
				must(t, err)
				must(t, os.WriteFile(path, damage(b), 0o600))
				readable(t, open, cp)
			}
		})
	}
}
