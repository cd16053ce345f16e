package bunt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/store/storetest"
)

// disk watches what is made durable, and fails where it is told to.
type disk struct {
	mu     sync.Mutex
	synced []string         // base names, in order
	sizes  map[string]int64 // of what was synced last
	fail   error
	news   chan struct{}
}

func newDisk() *disk { return &disk{sizes: map[string]int64{}, news: make(chan struct{}, 1)} }

func (d *disk) fsync(f *os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() {
		select {
		case d.news <- struct{}{}:
		default:
		}
	}()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	d.synced = append(d.synced, filepath.Base(f.Name()))
	if d.fail != nil && !fi.IsDir() {
		return d.fail
	}
	d.sizes[filepath.Base(f.Name())] = fi.Size()
	return f.Sync()
}

func (d *disk) set(fail error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail, d.synced = fail, nil
}

// durable returns the bytes of the log that were made durable, and what was
// synced since the last set.
func (d *disk) durable() (int64, []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sizes["index.db"], slices.Clone(d.synced)
}

// await waits for something to be synced until ok holds.
func (d *disk) await(t *testing.T, ok func(durable int64, synced []string) bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !ok(d.durable()) {
		select {
		case <-d.news:
		case <-deadline:
			t.Fatalf("still waiting; synced %v", d.synced)
		}
	}
}

func (d *disk) open(t *testing.T, dir string) *bunt.Store {
	t.Helper()
	s, err := bunt.Open(t.Context(), dir, bunt.Options{Fsync: d.fsync})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func commit(t *testing.T, s store.Store, i int) {
	t.Helper()
	must(t, s.Commit(t.Context(), []store.FileRecord{storetest.Record(fmt.Sprintf("f%03d.go", i), i, 3)}, nil))
}

// What was acknowledged becomes durable by itself, and at once where that is
// asked for; so do the directories that name it.
func TestWhatIsDurable(t *testing.T) {
	d := newDisk()
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := d.open(t, dir)
	if _, synced := d.durable(); runtime.GOOS != "windows" && !slices.Contains(synced, "a") {
		t.Errorf("the new folders are not durable: %v", synced)
	}
	for i := range 5 {
		commit(t, s, i)
	}
	want := s.Info().Bytes
	d.await(t, func(durable int64, _ []string) bool { return durable == want })
	commit(t, s, 5)
	must(t, s.Sync(t.Context()))
	if durable, _ := d.durable(); durable != s.Info().Bytes {
		t.Errorf("after Sync %d bytes of %d are durable", durable, s.Info().Bytes)
	}
	d.set(nil)
	must(t, s.Shrink(t.Context()))
	_, synced := d.durable()
	at := slices.Index(synced, "index.db.new")
	if runtime.GOOS != "windows" && (at < 0 || !slices.Contains(synced[at:], filepath.Base(dir))) {
		t.Errorf("Shrink synced %v, want the new file and then the folder", synced)
	}
	commit(t, s, 6)
	must(t, s.Close())
	if durable, _ := d.durable(); durable == 0 {
		t.Error("Close synced nothing")
	}
}

// A disk that once failed to keep what was written may have dropped it without
// telling again: it is written anew.
func TestFailedSync(t *testing.T) {
	d := newDisk()
	dir := t.TempDir()
	s := d.open(t, dir)
	bad := errors.New("the disk gave up")
	d.set(bad)
	commit(t, s, 1)
	d.await(t, func(_ int64, synced []string) bool { return len(synced) > 0 })
	if err := s.Sync(t.Context()); !errors.Is(err, bad) {
		t.Errorf("Sync says %v", err)
	}
	d.set(nil)
	must(t, s.Sync(t.Context()))
	if _, synced := d.durable(); !slices.Contains(synced, "index.db.new") {
		t.Errorf("the log was not written anew: %v", synced)
	}
	d.set(nil)
	must(t, s.Sync(t.Context()))
	if _, synced := d.durable(); slices.Contains(synced, "index.db.new") {
		t.Error("it is written anew again and again")
	}
	must(t, s.Close())
	if got := paths(t, mustOpen(t, dir)); !slices.Equal(got, []string{"f001.go"}) {
		t.Errorf("files %v", got)
	}
}

// state is what a store serves.
type state struct {
	files   map[string]store.FileRecord
	vectors map[store.VectorKey]store.Vector
}

func stateOf(t *testing.T, s store.Store) state {
	t.Helper()
	st := state{files: map[string]store.FileRecord{}}
	must(t, s.Files(t.Context(), func(r store.FileRecord) error { st.files[r.Path] = r; return nil }))
	var keys []store.VectorKey
	for i := range 100 {
		keys = append(keys, storetest.Key(i))
	}
	var err error
	st.vectors, err = s.Vectors(t.Context(), "m", keys)
	must(t, err)
	return st
}

// history fills a store with files that are replaced, removed and stored again.
func history(t *testing.T, dir string) (log []byte, older []byte, now state) {
	t.Helper()
	s := mustOpen(t, dir)
	for v := range 40 {
		var put []store.FileRecord
		for i := range 4 {
			put = append(put, storetest.Record(fmt.Sprintf("f%02d", (v*3+i*5)%20), v, 2))
		}
		must(t, s.Commit(t.Context(), put, []string{fmt.Sprintf("f%02d", (v*7+1)%20)}))
		must(t, s.PutVectors(t.Context(), "m", map[store.VectorKey]store.Vector{storetest.Key(v): storetest.Vec(64, v)}))
		if v == 25 {
			must(t, s.Sync(t.Context()))
			var err error
			older, err = os.ReadFile(filepath.Join(dir, "index.db"))
			must(t, err)
		}
	}
	now = stateOf(t, s)
	must(t, s.Close())
	log, err := os.ReadFile(filepath.Join(dir, "index.db"))
	must(t, err)
	return log, older, now
}

// boundaries are where records of a log begin.
func boundaries(log []byte) []int {
	var at []int
	for i := 0; i < len(log); {
		at = append(at, i)
		next := len(log)
		for _, begin := range []string{"\r\n*3\r\n$3\r\nset\r\n", "\r\n*2\r\n$3\r\ndel\r\n"} {
			if n := strings.Index(string(log[i+1:]), begin); n >= 0 {
				next = min(next, i+1+n+2)
			}
		}
		i = next
	}
	return at
}

// TestDamageIsTold does to a log what failing disks and people do. Whatever is
// served was stored once; where something is missing, or is not the newest, the
// user is told; where the log is as it was, never.
func TestDamageIsTold(t *testing.T) {
	dir := t.TempDir()
	log, older, now := history(t, dir)
	at := boundaries(log)
	rng := rand.New(rand.NewPCG(11, 12))
	type variant struct {
		name string
		log  []byte
	}
	variants := []variant{{"untouched", log}, {"an older one", older}, {"empty", nil}, {"twice", append(slices.Clone(log), log...)}}
	for i, b := range at {
		if i%5 == 0 {
			variants = append(variants, variant{fmt.Sprintf("cut at record %d", i), log[:b]})
		}
	}
	add := func(name string, n int, change func(b []byte) []byte) {
		for i := range n {
			variants = append(variants, variant{fmt.Sprintf("%s %d", name, i), change(slices.Clone(log))})
		}
	}
	add("cut anywhere", 40, func(b []byte) []byte { return b[:rng.IntN(len(b))] })
	add("zeroed pages at the end", 8, func(b []byte) []byte { clear(b[(1+rng.IntN(len(b)/4096))*4096:]); return b })
	add("zeroed page", 8, func(b []byte) []byte { p := rng.IntN(len(b)/4096) * 4096; clear(b[p : p+4096]); return b })
	add("zeros appended", 3, func(b []byte) []byte { return append(b, make([]byte, 4096*(1+rng.IntN(3)))...) })
	add("flipped byte", 120, func(b []byte) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b })
	add("records twice", 12, func(b []byte) []byte {
		i := rng.IntN(len(at) - 2)
		j := i + 1 + rng.IntN(min(10, len(at)-i-1))
		k := at[rng.IntN(len(at))]
		return slices.Insert(b, k, log[at[i]:at[j]]...)
	})
	add("records in another order", 12, func(b []byte) []byte {
		i := 1 + rng.IntN(len(at)-12)
		j := i + 1 + rng.IntN(10)
		return slices.Concat(b[:at[i]], b[at[j]:], b[at[i]:at[j]])
	})
	add("page twice", 6, func(b []byte) []byte {
		p := rng.IntN(len(b)/4096) * 4096
		return slices.Insert(b, p, log[p:p+4096]...)
	})
	told := 0
	for _, v := range variants {
		cp := t.TempDir()
		must(t, os.CopyFS(cp, os.DirFS(dir)))
		must(t, os.WriteFile(filepath.Join(cp, "index.db"), v.log, 0o600))
		s := mustOpen(t, cp)
		info := s.Info()
		got := stateOf(t, s)
		lost := len(got.vectors) < len(now.vectors) || len(got.files) != len(now.files)
		for path, r := range got.files {
			if !reflect.DeepEqual(r, storetest.Record(path, int(r.Size), 2)) {
				t.Fatalf("%s: %s was never stored like that", v.name, path)
			}
			lost = lost || !reflect.DeepEqual(r, now.files[path])
		}
		for k, x := range got.vectors {
			if !reflect.DeepEqual(x, storetest.Vec(64, int(k[0]))) {
				t.Fatalf("%s: a vector was never stored like that", v.name)
			}
		}
		said := info.Notice != "" || info.Damaged > 0
		if lost && !said {
			t.Errorf("%s: something is lost and nobody told", v.name)
		}
		if said {
			told++
		}
		if said && (v.name == "untouched" || strings.HasPrefix(v.name, "zeros appended")) {
			t.Errorf("%s: nothing is lost, and the user is told %q", v.name, info.Notice)
		}
		must(t, s.Close())
		s = mustOpen(t, cp)
		if info := s.Info(); info.Notice != "" {
			t.Errorf("%s: told again: %q", v.name, info.Notice)
		}
		if again := stateOf(t, s); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: the second time something else is served", v.name)
		}
		must(t, s.Close())
	}
	if told < len(variants)/3 {
		t.Errorf("of %d variants %d were told", len(variants), told)
	}
}

// A byte that is flipped in what was replaced long ago costs nothing; but it
// may have been in a name, and what it was of be lost.
func TestDamageInWhatWasReplaced(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	must(t, s.Commit(t.Context(), []store.FileRecord{storetest.Record("a", 1, 2)}, nil))
	old := s.Info().Bytes
	must(t, s.Commit(t.Context(), []store.FileRecord{storetest.Record("a", 2, 2)}, nil))
	must(t, s.Close())
	path := filepath.Join(dir, "index.db")
	b, err := os.ReadFile(path)
	must(t, err)
	b[old-20] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	s = mustOpen(t, dir)
	if info := s.Info(); !strings.Contains(info.Notice, "damaged") || info.Damaged != 0 || info.Files != 1 {
		t.Errorf("%+v", info)
	}
}

// Files that stand beside the log may be anything.
func TestDamageBesideTheLog(t *testing.T) {
	dir := t.TempDir()
	_, _, now := history(t, dir)
	for _, name := range []string{"index.db.mark", "index.db.new", "LOCK"} {
		for _, content := range []string{"", "garbage", "000000000000ffff 00000000 closed 00000000\n"} {
			cp := t.TempDir()
			must(t, os.CopyFS(cp, os.DirFS(dir)))
			must(t, os.WriteFile(filepath.Join(cp, name), []byte(content), 0o600))
			s := mustOpen(t, cp)
			if info := s.Info(); info.Notice != "" || info.Damaged != 0 {
				t.Errorf("%s with %q: %+v", name, content, info)
			}
			if got := stateOf(t, s); !reflect.DeepEqual(got, now) {
				t.Errorf("%s with %q: something is lost", name, content)
			}
		}
	}
}

// A store whose log is gone says so, once.
func TestLogIsGone(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	must(t, os.Remove(filepath.Join(dir, "index.db")))
	s := mustOpen(t, dir)
	if info := s.Info(); info.Files != 0 || !strings.Contains(info.Notice, "0 of ") {
		t.Errorf("%+v", info)
	}
	must(t, s.Close())
	if info := mustOpen(t, dir).Info(); info.Notice != "" {
		t.Errorf("told again: %q", info.Notice)
	}
}

// A copy of a store that cannot be written to has what is sound in it.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	log, _, now := history(t, dir)
	s := mustOpen(t, t.TempDir())
	must(t, bunt.Copy(t.Context(), dir, s))
	if got := stateOf(t, s); !reflect.DeepEqual(got, now) {
		t.Error("the copy differs")
	}
	must(t, os.WriteFile(filepath.Join(dir, "index.db"), log[:len(log)-7], 0o600))
	s = mustOpen(t, t.TempDir())
	must(t, bunt.Copy(t.Context(), dir, s))
	if got := stateOf(t, s); len(got.files) == 0 || len(got.vectors) == 0 {
		t.Error("of a log that is cut short nothing is copied")
	}
	must(t, bunt.Copy(t.Context(), t.TempDir(), s))
	must(t, bunt.Copy(t.Context(), filepath.Join(dir, "not", "there"), s))
}
