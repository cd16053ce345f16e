package e2e_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// animals are what the files of a zoo are about.
func animals() []string {
	return []string{"wallaby", "numbat", "wombat", "bilby", "quoll", "dunnart", "potoroo", "bandicoot", "possum", "echidna"}
}

// zoo makes a folder of n source files, the same for the same n, with the sound
// file among them.
func zoo(tb testing.TB, n int) string {
	tb.Helper()
	dir := workspace(tb)
	for i := range n {
		write(tb, filepath.Join(dir, fmt.Sprintf("pen%02d/pen%d.go", i%37, i)), pen(i))
	}
	return dir
}

// pen is the i-th source file of a zoo.
func pen(i int) string {
	r := rand.New(rand.NewPCG(1, uint64(i)))
	all := animals()
	var b strings.Builder
	fmt.Fprintf(&b, "package pen\n\nimport \"fmt\"\n\n")
	for f := range 6 {
		animal, other := all[r.IntN(len(all))], all[r.IntN(len(all))]
		name := strings.ToUpper(animal[:1]) + animal[1:]
		fmt.Fprintf(&b, "// Feed%s%dx%d gives a %s its food before the %s wakes up.\n", name, i, f, animal, other)
		fmt.Fprintf(&b, "func Feed%s%dx%d(hours int) error {\n\tfor h := range hours {\n\t\tif h > %d {\n\t\t\treturn fmt.Errorf(\"%s %d is hungry\", h)\n\t\t}\n\t}\n\treturn nil\n}\n\n",
			name, i, f, r.IntN(24), animal, r.IntN(100))
	}
	return b.String()
}

// zooQuestions are asked of zoos.
func zooQuestions() []string {
	return []string{"Quokka", "who feeds the numbat", "wombat is hungry", "food for the echidna", "bandicoot", "possum hours error"}
}

// answers are what the command line finds in a folder.
func answers(h *home, dir string) map[string]wire.SearchResult {
	h.tb.Helper()
	all := map[string]wire.SearchResult{}
	for _, q := range zooQuestions() {
		all[q] = h.search(dir, q)
	}
	return all
}

// tolerance is how far scores may differ after a history of damage: until they
// are merged away, the statistics of words still count documents that were
// replaced.
const tolerance = 0.005

// wantSame fails unless both are the same places with the same scores, but for
// the tolerance.
func wantSame(tb testing.TB, what string, got, want map[string]wire.SearchResult) {
	tb.Helper()
	for q := range want {
		g, w := got[q].Hits, want[q].Hits
		if len(w) == 0 || len(g) != len(w) || !within(g, w) || !within(w, g) {
			tb.Errorf("%s: %q finds\n%v\nwant\n%v", what, q, places(g), places(w))
		}
	}
}

// within reports whether every hit of a is in b, unless it is only just in a.
func within(a, b []wire.Hit) bool {
	in := map[string]wire.Hit{}
	for _, h := range b {
		in[places([]wire.Hit{h})[0]] = h
	}
	for _, h := range a {
		other, ok := in[places([]wire.Hit{h})[0]]
		switch {
		case !ok && h.Score-a[len(a)-1].Score > tolerance:
			return false
		case ok && (math.Abs(h.Score-other.Score) > tolerance || h.Text != other.Text):
			return false
		}
	}
	return true
}

// indexDir is where the index of a folder is.
func indexDir(tb testing.TB, h *home, dir string) string {
	tb.Helper()
	return h.status(dir).Roots[0].Index
}

func TestBadInputCorruptStore(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 30)
	want := answers(h, dir)
	index := indexDir(t, h, dir)
	log := filepath.Join(index, "index.db")
	flip := func(at float64) func([]byte) []byte {
		return func(b []byte) []byte { b[int(at*float64(len(b)-1))] ^= 0x55; return b }
	}
	for _, damage := range []struct {
		name   string
		change func([]byte) []byte
		told   string
	}{
		{"cut in half", func(b []byte) []byte { return b[:len(b)/2] }, ""},
		{"the last byte is missing", func(b []byte) []byte { return b[:len(b)-1] }, ""},
		{"a zeroed tail", func(b []byte) []byte { clear(b[len(b)*2/3:]); return b }, "damaged"},
		{"zeros", func(b []byte) []byte { clear(b); return b }, "damaged"},
		{"empty", func([]byte) []byte { return nil }, ""},
		{"a page of another file", func([]byte) []byte { return []byte("<html>not found</html>\n") }, "damaged"},
		{"a flipped byte near the start", flip(0.001), ""},
		{"a flipped byte in the middle", flip(0.5), ""},
		{"a flipped byte near the end", flip(0.99), ""},
		{"random bytes", func(b []byte) []byte {
			r := rand.NewChaCha8([32]byte{7})
			_, err := r.Read(b)
			must(t, err)
			return b
		}, "damaged"},
		{"twice the same", func(b []byte) []byte { return append(b, b...) }, ""},
	} {
		t.Run(damage.name, func(t *testing.T) {
			sound, err := os.ReadFile(log)
			must(t, err)
			must(t, os.WriteFile(log, damage.change(bytes.Clone(sound)), 0o600))
			st := h.status(dir)
			if told := strings.Join(st.Notices, "\n"); !strings.Contains(told, damage.told) || damage.told != "" && !strings.Contains(told, log) {
				t.Errorf("the notices are %q", st.Notices)
			}
			if st.Coverage.Indexed != 31 || st.Coverage.Pending != 0 || st.Coverage.Stale {
				t.Errorf("coverage %+v", st.Coverage)
			}
			wantSame(t, damage.name, answers(h, dir), want)
			// Nothing is left to tell the next time.
			if st := h.status(dir); len(st.Notices) != 0 {
				t.Errorf("the notices stay: %q", st.Notices)
			}
		})
	}
}

func TestBadInputCorruptFilesBesideTheStore(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 30)
	want := answers(h, dir)
	index := indexDir(t, h, dir)
	must(t, filepath.WalkDir(index, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "index.db" {
			return err
		}
		return os.WriteFile(path, []byte("\x00garbage\xff"), 0o600)
	}))
	must(t, os.WriteFile(filepath.Join(index, "index.db.new"), []byte("left over"), 0o600))
	must(t, os.WriteFile(filepath.Join(index, "stranger"), []byte("not ours"), 0o600))
	wantSame(t, "garbage beside the store", answers(h, dir), want)
	if _, err := os.Stat(filepath.Join(index, "stranger")); err != nil {
		t.Errorf("a file that is not ours is gone: %v", err)
	}
}

// A folder where a file belongs is named, and the server lives.
func TestBadInputStoreIsAFolder(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 3)
	log := filepath.Join(indexDir(t, h, dir), "index.db")
	must(t, os.Remove(log))
	must(t, os.MkdirAll(filepath.Join(log, "x"), 0o755))
	h.run("search", "--root", dir, "Quokka").wants(1, log)
	e := h.edit(dir)
	if err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "Quokka"}, nil); err == nil || !strings.Contains(err.Error(), log) {
		t.Errorf("search says %v", err)
	}
	must(t, os.RemoveAll(log))
	awaitSearch(t, e)
}

// awaitSearch asks until the server could open the index: it tries again by
// itself, at most every other second.
func awaitSearch(t *testing.T, e *lsptest.Editor) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		err := e.Call(lsp.MethodSync, wire.SyncParams{}, nil)
		if err == nil {
			wantFound(t, hits(t, e, "Quokka"), "zoo.go", "func Quokka")
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the index is not opened again: %v", err)
		}
	}
}

func TestBadInputStoreOfANewerSchema(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 3)
	index := indexDir(t, h, dir)
	log := filepath.Join(index, "index.db")
	value := "12345"
	sum := crc32.Checksum([]byte("!"+value), crc32.MakeTable(crc32.Castagnoli))
	value = string(binary.LittleEndian.AppendUint32(nil, sum)) + value
	newer := fmt.Sprintf("*3\r\n$3\r\nset\r\n$1\r\n!\r\n$%d\r\n%s\r\n", len(value), value)
	must(t, os.WriteFile(log, []byte(newer), 0o600))
	h.run("search", "--root", dir, "Quokka").wants(1, index, "newer version", "12345", "delete the directory")
	e := h.edit(dir)
	if err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "Quokka"}, nil); err == nil || !strings.Contains(err.Error(), "newer version") || !strings.Contains(err.Error(), index) {
		t.Errorf("search says %v", err)
	}
	awaitMessage(e, "newer version", index)
	if st := state(t, e); !strings.Contains(strings.Join(st.Notices, "\n"), "newer version") {
		t.Errorf("the notices are %q", st.Notices)
	}
	if raw, err := os.ReadFile(log); err != nil || string(raw) != newer {
		t.Errorf("the newer store was touched: %q, %v", clip(string(raw), 100), err)
	}
	must(t, os.RemoveAll(index)) // as the message says
	awaitSearch(t, e)
}

// Where nothing can be written, questions are answered from memory, and the user
// is told what is wrong and what to do. The next start tries again.
func TestBadInputReadOnlyCacheDirectory(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 3)
	h.as = nobody(t, h.cache, filepath.Dir(h.config), dir)
	must(t, os.Chmod(h.cache, 0o555))
	t.Cleanup(func() { must(t, os.Chmod(h.cache, 0o755)) })
	says := []string{h.cache, "permission denied", "--cache-dir", "index.cacheDir", "made again at each start"}
	h.run("search", "--root", dir, "Quokka").wants(0, append(says, "zoo.go")...)
	h.run("ask", "--root", dir, "what does Quokka count?").wants(0, "zoo.go:")
	h.run("search", "--root", dir, "--search.hybrid=false", "nothingofthatkind").wants(3)
	h.run("index", "--root", dir).wants(1, "is not kept", h.cache) // it has no other purpose
	h.run("doctor", "--root", dir).wants(1, h.cache, "in memory", "index.cacheDir")
	e := h.edit(dir)
	wantQuokka(t, e, "")
	awaitMessage(e, says...)
	st := state(t, e)
	if !containsAll(strings.Join(st.Notices, "\n"), says) || len(st.Notices) != 1 || !st.Roots[0].Memory || st.StoreBytes != 0 {
		t.Errorf("the notices are %q, %+v", st.Notices, st.Roots)
	}
	must(t, os.Chmod(h.cache, 0o755))
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}

	// One that could be written once and no longer can: it is read.
	st = h.status(dir)
	if len(st.Notices) != 0 || st.Roots[0].Memory {
		t.Errorf("now that it can be written to: %q, %+v", st.Notices, st.Roots)
	}
	index := st.Roots[0].Index
	must(t, filepath.WalkDir(index, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, map[bool]os.FileMode{true: 0o555, false: 0o444}[d.IsDir()])
	}))
	t.Cleanup(func() {
		must(t, filepath.WalkDir(index, func(path string, d os.DirEntry, err error) error {
			must(t, os.Chmod(path, 0o755))
			return err
		}))
	})
	h.run("search", "--root", dir, "Quokka").wants(0, index, "permission denied", "--cache-dir", "zoo.go")
	e = h.edit(dir)
	wantQuokka(t, e, "")
	if st := state(t, e); st.Counters.Embedded != 0 || !st.Roots[0].Memory {
		t.Errorf("an index that can be read was made again: %+v, %+v", st.Counters, st.Roots)
	}
	if err := e.Shutdown(); err != nil {
		t.Errorf("shutdown: %v", err)
	}

	// A file where the cache directory should be.
	h.run("search", "--root", dir, "--cache-dir", filepath.Join(dir, "zoo.go"), "Quokka").wants(0, filepath.Join(dir, "zoo.go"), "not a directory", "zoo.go:")
	// No place at all.
	h.env = []string{"HOME=", "CODERAG_INDEX_CACHE_DIR="}
	h.run("search", "--root", dir, "Quokka").wants(0, "cache directory", "index.cacheDir", "zoo.go:")
}

func TestBadInputFullDisk(t *testing.T) {
	dir := zoo(t, 400)
	fresh := newHome(t)
	want := answers(fresh, dir)
	for _, kilobytes := range []int{0, 4, 64, 512} {
		t.Run(fmt.Sprintf("%d KB left", kilobytes), func(t *testing.T) {
			h := newHome(t)
			smallDisk(t, h.cache, 1<<20)
			fill(t, filepath.Join(h.cache, "filling"), kilobytes<<10)
			e := h.edit(dir)
			err := e.Call(lsp.MethodSync, wire.SyncParams{}, nil)
			told := ""
			if err != nil {
				told = err.Error()
			} else {
				// What cannot be written is answered from memory.
				wantQuokka(t, e, "")
				st := state(t, e)
				told = h.server.stderr.String() // no longer a notice where smaller writes succeeded since
				if st.Coverage.Indexed != 401 || st.Coverage.Pending != 0 {
					t.Errorf("coverage %+v", st.Coverage)
				}
			}
			if !strings.Contains(told, "no space left") || !strings.Contains(told, "make room") {
				t.Errorf("the user is told %q", told)
			}
			// With room again, everything is as on any other disk.
			must(t, os.Remove(filepath.Join(h.cache, "filling")))
			enlarge(t, h.cache, 64<<20)
			if err == nil {
				if err := e.Shutdown(); err != nil {
					t.Logf("shutdown: %v", err)
				}
				<-h.server.ended
			} else {
				awaitSearch(t, e)
				if err := e.Shutdown(); err != nil {
					t.Errorf("shutdown: %v", err)
				}
				<-h.server.ended
			}
			wantSame(t, "after there was room", answers(h, dir), want)
		})
	}
}

// fill writes to a file until so many bytes are left on its disk.
func fill(tb testing.TB, path string, left int) {
	tb.Helper()
	f, err := os.Create(path)
	must(tb, err)
	defer f.Close()
	page := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(page)
	}
	size, err := f.Seek(0, 2)
	must(tb, err)
	must(tb, f.Truncate(max(0, size-int64(left))))
}

// Killed at any moment while it indexes, the next start gives the answers of a
// fresh index.
func TestBadInputKilledWhileIndexing(t *testing.T) {
	const files = 1200
	dir := zoo(t, files)
	want := answers(newHome(t), dir)
	for _, share := range []float64{0, 0.1, 0.5, 0.9} {
		t.Run(fmt.Sprintf("at %.0f %%", 100*share), func(t *testing.T) {
			h := newHome(t)
			e := h.edit(dir)
			for {
				c := state(t, e).Coverage
				if float64(c.Indexed) >= share*files || c.Indexed > 0 && c.Pending == 0 && !c.Stale {
					t.Logf("killed with %d files indexed, %d pending", c.Indexed, c.Pending)
					break
				}
			}
			h.server.kill(t)
			st := h.status(dir)
			if st.Coverage.Indexed != files+1 || st.Coverage.Pending != 0 || len(st.Notices) != 0 {
				t.Errorf("after a restart: %+v, notices %q", st.Coverage, st.Notices)
			}
			wantSame(t, "after a restart", answers(h, dir), want)
		})
	}
}
