package vectorcache_test

import (
	"os"
	"path/filepath"
	"testing"

	"coderag-ls/engine/store/vectorcache"
)

// FuzzSegment: whatever a segment holds, what is read from it are vectors of
// their keys; a process that goes on writing has what it wrote.
func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	c := vectorcache.Open(vectorcache.Options{Dir: dir, MaxBytes: big})
	put(c, keys(0, 3))
	put(c, keys(3, 40))
	c.Close()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.vec"))
	if err != nil || len(names) != 1 {
		f.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(whole[:12])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(names[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, _ := open(t, dir, big)
		held(t, c, keys(0, 50))
		put(c, keys(0, 50))
		if n := held(t, c, keys(0, 50)); n != 50 {
			t.Errorf("%d of 50 are found", n)
		}
		c.Close()
		again, _ := open(t, dir, big)
		if n := held(t, again, keys(0, 50)); n != 50 {
			t.Errorf("a restart finds %d of 50", n)
		}
		again.Close()
		for _, name := range segments(t, dir) {
			os.Remove(name)
		}
	})
}
