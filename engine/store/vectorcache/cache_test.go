package vectorcache_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/vectorcache"
)

const (
	model = "0123456789abcdef"
	dim   = 64
	big   = 64 << 20
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(child(role))
	}
	os.Exit(m.Run())
}

// key and vector are those of number n: what is read for a key can be checked.
func key(n int) store.VectorKey { return sha256.Sum256(fmt.Append(nil, n)) }

func vector(k store.VectorKey) store.Vector {
	v := store.Vector{Scale: 1 / float32(1+k[0]), Values: make([]int8, dim)}
	for i := range v.Values {
		v.Values[i] = int8(k[i%len(k)]) + int8(i)
	}
	return v
}

func keys(from, to int) (all []store.VectorKey) {
	for n := from; n < to; n++ {
		all = append(all, key(n))
	}
	return all
}

func put(c *vectorcache.Cache, keys []store.VectorKey) {
	vs := map[store.VectorKey]store.Vector{}
	for _, k := range keys {
		vs[k] = vector(k)
	}
	c.Put(model, dim, vs)
}

// held returns how many of the keys are found; a wrong vector is an error.
func held(t testing.TB, c *vectorcache.Cache, keys []store.VectorKey) int {
	t.Helper()
	found := c.Vectors(model, dim, keys)
	for k, v := range found {
		if want := vector(k); v.Scale != want.Scale || !slices.Equal(v.Values, want.Values) {
			t.Fatalf("wrong vector of %x: %v", k[:4], v)
		}
	}
	return len(found)
}

// open opens a cache that sees at once what others write.
func open(t testing.TB, dir string, maxBytes int64) (*vectorcache.Cache, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	c := vectorcache.Open(vectorcache.Options{Dir: dir, MaxBytes: maxBytes, Fresh: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	t.Cleanup(func() { c.Close() })
	return c, &log
}

func size(t testing.TB, dir string) int64 {
	t.Helper()
	n, err := vectorcache.Size(dir)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func segments(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.vec"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestWhatOneWritesOthersRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vectors")
	a, _ := open(t, dir, big)
	b, logged := open(t, dir, big)
	if n := held(t, b, keys(0, 10)); n != 0 {
		t.Errorf("an empty cache holds %d", n)
	}
	put(a, keys(0, 3000))
	put(b, keys(3000, 3010))
	put(b, keys(0, 20)) // which a wrote
	for name, c := range map[string]*vectorcache.Cache{"a": a, "b": b} {
		if n := held(t, c, keys(0, 3020)); n != 3010 {
			t.Errorf("%s holds %d", name, n)
		}
	}
	for name, found := range map[string]map[store.VectorKey]store.Vector{
		"another model":     a.Vectors("fedcba9876543210", dim, keys(0, 10)),
		"another dimension": a.Vectors(model, dim+1, keys(0, 10)),
		"no name":           a.Vectors("../"+model, dim, keys(0, 10)),
	} {
		if len(found) > 0 {
			t.Errorf("%s: found %d", name, len(found))
		}
	}
	want := size(t, dir)
	put(a, keys(0, 3010))
	if n := size(t, dir); n != want {
		t.Errorf("what is kept was written again: %d bytes, now %d", want, n)
	}
	if logged.Len() > 0 {
		t.Errorf("logged %s", logged)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRestartsGoOn: processes that follow each other fill the same segment.
func TestRestartsGoOn(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		c, logged := open(t, dir, big)
		if n := held(t, c, keys(0, 1000)); n != i*10 {
			t.Errorf("start %d finds %d", i, n)
		}
		put(c, keys(i*10, i*10+10))
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		put(c, keys(500, 510))
		if n := held(t, c, keys(0, 10)); n != 0 {
			t.Errorf("a closed cache finds %d", n)
		}
		if logged.Len() > 0 {
			t.Errorf("logged %s", logged)
		}
	}
	if names := segments(t, dir); len(names) != 1 {
		t.Errorf("segments %v", names)
	}
}

// TestDamage cuts and flips a segment at many places. What is found is right,
// what lies before the damage is found, and what is missing can be kept again.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	c, _ := open(t, dir, big)
	for i := range 20 {
		put(c, keys(i*10, i*10+10))
	}
	c.Close()
	path := segments(t, dir)[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(1))
	for i := range 300 {
		data := bytes.Clone(whole)
		at := rng.Intn(len(data))
		if i < len(whole)/200 {
			at = i * 200
		}
		what := []string{"cut", "flipped", "zeroed tail", "garbage tail"}[i%4]
		switch what {
		case "cut":
			data = data[:at]
		case "flipped":
			data[at] ^= 1 << rng.Intn(8)
		case "zeroed tail":
			clear(data[at:])
		case "garbage tail":
			rng.Read(data[at:])
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, logged := open(t, dir, big)
		n := held(t, c, keys(0, 200))
		const head = 12
		block := (len(whole) - head) / 20
		if least := (at - head) / block * 10; n < least || n == 200 && !bytes.Equal(data, whole) {
			t.Errorf("%s at %d of %d: found %d, want at least %d, not all", what, at, len(whole), n, least)
		}
		if what == "flipped" && n < 190 && logged.Len() == 0 {
			t.Errorf("%s at %d: %d found, and nothing is logged", what, at, n)
		}
		put(c, keys(0, 200))
		if n := held(t, c, keys(0, 200)); n != 200 {
			t.Errorf("%s at %d: after keeping all again %d are found", what, at, n)
		}
		c.Close()
		again, _ := open(t, dir, big)
		if n := held(t, again, keys(0, 200)); n != 200 {
			t.Errorf("%s at %d: a restart finds %d", what, at, n)
		}
		again.Close()
		for _, name := range segments(t, dir) {
			os.Remove(name)
		}
	}
}

// TestBound fills a cache many times over. It never grows beyond its bound, and
// what is used all the time is found to the end.
func TestBound(t *testing.T) {
	dir := t.TempDir()
	const bound = 1 << 20
	c, logged := open(t, dir, bound)
	hot := keys(1_000_000, 1_000_100)
	put(c, hot)
	for i := range 400 {
		put(c, keys(i*100, i*100+100))
		if n := size(t, dir); n > bound {
			t.Fatalf("%d bytes, more than %d", n, bound)
		}
		if n := held(t, c, hot); n != len(hot) {
			t.Fatalf("after %d rounds %d of what is used are found", i, n)
		}
	}
	if n := held(t, c, keys(0, 1000)); n != 0 {
		t.Errorf("%d of the oldest are there", n)
	}
	if n := held(t, c, keys(39_000, 40_000)); n != 1000 {
		t.Errorf("%d of the newest are there", n)
	}
	if n := size(t, dir); n < bound/2 {
		t.Errorf("%d bytes only", n)
	}
	if logged.Len() > 0 {
		t.Errorf("logged %s", logged)
	}
	c.Close()
	// A smaller bound holds as soon as something is written.
	c, _ = open(t, dir, bound/4)
	put(c, keys(50_000, 50_010))
	if n := size(t, dir); n > bound/4 {
		t.Errorf("%d bytes after the bound was lowered to %d", n, bound/4)
	}
	if freed, err := vectorcache.Collect(dir, bound/8); err != nil || freed == 0 || size(t, dir) > bound/8 {
		t.Errorf("collecting freed %d: %v, %d left", freed, err, size(t, dir))
	}
	if n := held(t, c, keys(50_000, 50_010)); n != 10 {
		t.Errorf("of the last written %d are found", n)
	}
}

func TestRemovedInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vectors")
	a, _ := open(t, dir, big)
	b, _ := open(t, dir, big)
	put(a, keys(0, 100))
	put(b, keys(100, 200))
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if freed, err := vectorcache.Remove(dir); err != nil || freed == 0 || size(t, dir) != 0 {
		t.Errorf("freed %d: %v", freed, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error(err)
	}
	if n := held(t, a, keys(0, 200)) + held(t, b, keys(0, 200)); n != 0 {
		t.Errorf("%d are found afterwards", n)
	}
	put(a, keys(0, 100))
	put(b, keys(100, 200))
	other, _ := open(t, dir, big)
	put(other, keys(200, 300))
	for name, c := range map[string]*vectorcache.Cache{"a": a, "b": b, "other": other} {
		if n := held(t, c, keys(0, 300)); n != 300 {
			t.Errorf("%s holds %d", name, n)
		}
	}
	for _, c := range []*vectorcache.Cache{a, b, other} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	os.Remove(filepath.Join(dir, "notes.txt"))
	if _, err := vectorcache.Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}

// TestUnwritable: where nothing can be written, nothing is kept, and that is
// said once.
func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, logged := open(t, filepath.Join(file, "vectors"), big)
	for range 3 {
		put(c, keys(0, 10))
		if n := held(t, c, keys(0, 10)); n != 0 {
			t.Errorf("found %d", n)
		}
		if taken := c.Claim(model, dim, keys(0, 10)); len(taken) != 0 {
			t.Errorf("claimed by others: %d", len(taken))
		}
	}
	if n := strings.Count(logged.String(), "are not kept"); n != 1 {
		t.Errorf("said %d times:\n%s", n, logged)
	}
}

func TestClaims(t *testing.T) {
	dir := t.TempDir()
	a, _ := open(t, dir, big)
	b, _ := open(t, dir, big)
	if taken := a.Claim(model, dim, keys(0, 10)); len(taken) != 0 {
		t.Errorf("taken: %v", taken)
	}
	time.Sleep(2 * time.Nanosecond)
	if taken := b.Claim(model, dim, keys(5, 15)); len(taken) != 5 || !taken[key(9)] || taken[key(10)] {
		t.Errorf("b may not have %d", len(taken))
	}
	if taken := a.Claim(model, dim, keys(0, 10)); len(taken) != 5 { // b claimed before this
		t.Errorf("a may not have %d", len(taken))
	}
	b.Claim(model, dim, nil)
	if taken := a.Claim(model, dim, keys(0, 10)); len(taken) != 0 {
		t.Errorf("a may not have %d, but b gave up", len(taken))
	}
	// What nobody can read is no claim.
	stale := binary.LittleEndian.AppendUint64(make([]byte, 4), uint64(time.Now().UnixNano()))
	if err := os.WriteFile(filepath.Join(dir, model, "07.claim"), append(stale, make([]byte, 320)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if taken := b.Claim(model, dim, []store.VectorKey{{}}); len(taken) != 0 {
		t.Errorf("taken by nobody: %d", len(taken))
	}
}

func TestConcurrentUse(t *testing.T) {
	c, _ := open(t, t.TempDir(), 1<<20)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 60 {
				put(c, keys(g*1000+i*10, g*1000+i*10+10))
				c.Claim(model, dim, keys(i, i+3))
				for k, v := range c.Vectors(model, dim, keys(g*500, g*500+300)) {
					if v.Scale != vector(k).Scale {
						t.Errorf("wrong vector of %x", k[:4])
					}
				}
			}
		})
	}
	wg.Wait()
}
