// Package storetest is the conformance suite of every store.Store.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
)

// Opener opens the store in a directory, which may hold one already.
type Opener func(ctx context.Context, dir string) (store.Store, error)

// Run runs the suite. A store on disk runs RunDurable, too.
func Run(t *testing.T, open Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"Empty":       testEmpty,
		"Files":       testFiles,
		"EveryField":  testEveryField,
		"EmptySlices": testEmptySlices,
		"Vectors":     testVectors,
		"KeepVectors": testKeepVectors,
		"Closed":      testClosed,
		"Locked":      testLocked,
		"Canceled":    testCanceled,
		"FnUsesStore": testFnUsesStore,
		"Shrink":      testShrink,
		"Walk":        testWalk,
		"Concurrent":  testConcurrent,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// RunDurable runs what holds for stores whose files can be copied, cut and
// damaged.
func RunDurable(t *testing.T, open Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"CopiedWhileBusy": testCopiedWhileBusy,
		"CutAnywhere":     testCutAnywhere,
		"Damaged":         testDamaged,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// session is a store that a test opens again and again.
type session struct {
	t    *testing.T
	open Opener
	dir  string
	store.Store
}

func start(t *testing.T, open Opener) *session {
	t.Helper()
	s := &session{t: t, open: open, dir: t.TempDir()}
	s.reopen()
	return s
}

func (s *session) reopen() {
	s.t.Helper()
	if s.Store != nil {
		if err := s.Close(); err != nil {
			s.t.Fatalf("Close: %v", err)
		}
	}
	st, err := s.open(s.t.Context(), s.dir)
	if err != nil {
		s.t.Fatalf("open: %v", err)
	}
	s.Store = st
	s.t.Cleanup(func() { st.Close() })
}

// all reads every file, and checks the order.
func all(t *testing.T, s store.Store) map[string]store.FileRecord {
	t.Helper()
	out := map[string]store.FileRecord{}
	last := ""
	err := s.Files(t.Context(), func(r store.FileRecord) error {
		if len(out) > 0 && r.Path <= last {
			return fmt.Errorf("%q comes after %q", r.Path, last)
		}
		last = r.Path
		out[r.Path] = r
		return nil
	})
	if err != nil {
		t.Fatalf("Files: %v", err)
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want)
	at := 0
	for at < min(len(g), len(w)) && g[at] == w[at] {
		at++
	}
	from := max(0, at-100)
	t.Fatalf("%s, from byte %d on:\n got %.300q\nwant %.300q", what, from, g[from:], w[from:])
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Record makes the record of a file as chunking would: version tells one state of the
// file from another.
func Record(path string, version, chunks int) store.FileRecord {
	rng := rand.New(rand.NewPCG(uint64(version), uint64(len(path))))
	r := store.FileRecord{
		Path: path, Size: int64(version), ModTime: 1_700_000_000_000_000_000 + int64(version),
		Class:        file.Class{Language: "go", SourceType: file.Code, Test: version%2 == 0},
		ChunkVersion: "1-default",
	}
	for i := range r.Hash {
		r.Hash[i] = byte(rng.Uint32())
	}
	line := 1
	for i := range chunks {
		c := chunk.Chunk{
			ID: fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()), Path: path, SourceType: file.Code,
			Kind: chunk.Method, Language: "go", Name: fmt.Sprintf("Handle%d", i), Parent: "Server", Index: i,
			StartLine: line, EndLine: line + 39, Tokens: 350,
			Summary: "handles one request and writes its reply to the connection", Layer: "api",
			Symbols: []string{fmt.Sprintf("Handle%d", i), "Server"}, Imports: []string{"net/http", "context"},
		}
		for j := range c.Hash {
			c.Hash[j] = byte(rng.Uint32())
		}
		line += 40
		r.File.Chunks = append(r.File.Chunks, c)
		r.File.Symbols = append(r.File.Symbols, chunk.Symbol{
			Name: c.Name, Kind: chunk.Method, Parent: "Server", StartLine: c.StartLine, EndLine: c.EndLine, NameLine: c.StartLine + 1,
			Signature: fmt.Sprintf("func (s *Server) Handle%d(ctx context.Context, r *Request) error", i),
			Summary:   c.Summary, DocStart: c.StartLine, DocEnd: c.StartLine, Exported: true,
		})
	}
	r.File.Imports = []chunk.Import{{Target: "net/http", Line: 3}, {Target: "context", Names: []string{"Context"}, Line: 4}}
	return r
}

// Key is the vector key number n.
func Key(n int) store.VectorKey {
	return store.VectorKey{byte(n), byte(n >> 8), byte(n >> 16), '\r', '\n', '$', 0}
}

// Vec is a vector that differs by version.
func Vec(dim, version int) store.Vector {
	v := store.Vector{Scale: float32(version) / 127, Values: make([]int8, dim)}
	for i := range v.Values {
		v.Values[i] = int8(version*31 + i*7)
	}
	return v
}

func testEmpty(t *testing.T, open Opener) {
	s := start(t, open)
	for range 2 {
		same(t, "files", len(all(t, s)), 0)
		v, err := s.Vectors(t.Context(), "m", []store.VectorKey{Key(1)})
		must(t, err)
		same(t, "vectors", len(v), 0)
		must(t, s.Commit(t.Context(), nil, []string{"not/there.go"}))
		must(t, s.PutVectors(t.Context(), "m", nil))
		must(t, s.Sync(t.Context()))
		info := s.Info()
		same(t, "counts", [3]int{info.Files, info.Vectors, info.Damaged}, [3]int{})
		same(t, "notice", info.Notice, "")
		same(t, "dir", info.Dir, s.dir)
		s.reopen()
	}
}

func testFiles(t *testing.T, open Opener) {
	s := start(t, open)
	paths := []string{"b.go", "a/b.go", "a.go", "a", "ü/日本 語.go", "with space\nand newline", "$3\r\nset\r\n", "\xff\xfe", "z"}
	want := map[string]store.FileRecord{}
	var put []store.FileRecord
	for i, p := range paths {
		put = append(put, Record(p, i, i))
		want[p] = put[i]
	}
	must(t, s.Commit(t.Context(), put, nil))
	same(t, "stored", all(t, s), want)
	s.reopen()
	same(t, "after opening again", all(t, s), want)

	changed := Record("a.go", 99, 2)
	must(t, s.Commit(t.Context(), []store.FileRecord{changed, Record("z", 7, 1)}, []string{"a", "z", "b.go"}))
	want["a.go"], want["z"] = changed, Record("z", 7, 1)
	delete(want, "a")
	delete(want, "b.go")
	same(t, "after a change", all(t, s), want)
	s.reopen()
	same(t, "after a change and opening again", all(t, s), want)
	same(t, "count", s.Info().Files, len(want))

	stop := errors.New("stop")
	n := 0
	err := s.Files(t.Context(), func(store.FileRecord) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Fatalf("Files called fn %d times and returned %v", n, err)
	}
}

// testEveryField fills all there is by reflection: a field that a store forgets shows.
func testEveryField(t *testing.T, open Opener) {
	s := start(t, open)
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string]store.FileRecord{}
	for i := range 50 {
		var r store.FileRecord
		fill(reflect.ValueOf(&r).Elem(), rng)
		r.Path = fmt.Sprintf("f%d", i)
		want[r.Path] = r
		must(t, s.Commit(t.Context(), []store.FileRecord{r}, nil))
	}
	s.reopen()
	same(t, "stored", all(t, s), want)
}

// testEmptySlices puts slices without elements, which come back as nil.
func testEmptySlices(t *testing.T, open Opener) {
	s := start(t, open)
	r := Record("a", 1, 1)
	r.File.Chunks[0].HeaderPath, r.File.Chunks[0].Truncated = []string{}, [][2]int{}
	r.File.Symbols = []chunk.Symbol{}
	r.File.Imports[0].Names = []string{}
	must(t, s.Commit(t.Context(), []store.FileRecord{r, {Path: "b", File: chunk.File{Chunks: []chunk.Chunk{}, Imports: []chunk.Import{}}}}, nil))
	want := Record("a", 1, 1)
	want.File.Symbols = nil
	same(t, "stored", all(t, s), map[string]store.FileRecord{"a": want, "b": {Path: "b"}})
}

func fill(v reflect.Value, rng *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), rng)
		}
	case reflect.Slice:
		if n := rng.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), rng)
		}
	case reflect.String:
		v.SetString([]string{"", "x", "naïve\x00\r\n", strings.Repeat("long ", 100), fmt.Sprint(rng.Uint64())}[rng.IntN(5)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 1 << 40, -1 << 62, 1<<63 - 1, -1 << 63}[rng.IntN(7)])
	case reflect.Uint8:
		v.SetUint(rng.Uint64N(256))
	default:
		panic(fmt.Sprintf("fill does not know %s", v.Type()))
	}
}

func testVectors(t *testing.T, open Opener) {
	s := start(t, open)
	a := map[store.VectorKey]store.Vector{}
	b := map[store.VectorKey]store.Vector{}
	var keys []store.VectorKey
	for i := range 300 {
		keys = append(keys, Key(i))
		a[Key(i)] = Vec(256, i)
		if i%3 == 0 {
			b[Key(i)] = Vec(384, i+1)
		}
	}
	b[Key(3)] = store.Vector{Scale: -0.5, Values: []int8{-128, 127, 0}}
	must(t, s.PutVectors(t.Context(), "model a", a))
	must(t, s.PutVectors(t.Context(), "model b", b))
	for range 2 {
		for model, want := range map[string]map[store.VectorKey]store.Vector{"model a": a, "model b": b, "model c": {}} {
			got, err := s.Vectors(t.Context(), model, append(keys, Key(100_000)))
			must(t, err)
			same(t, model, got, want)
		}
		same(t, "count", s.Info().Vectors, len(a)+len(b))
		s.reopen()
	}
	a[Key(5)] = Vec(256, 77)
	must(t, s.PutVectors(t.Context(), "model a", map[store.VectorKey]store.Vector{Key(5): a[Key(5)]}))
	s.reopen()
	got, err := s.Vectors(t.Context(), "model a", keys)
	must(t, err)
	same(t, "after replacing", got, a)
}

func testKeepVectors(t *testing.T, open Opener) {
	s := start(t, open)
	all := map[store.VectorKey]store.Vector{}
	var keys []store.VectorKey
	for i := range 100 {
		all[Key(i)] = Vec(32, i)
		keys = append(keys, Key(i))
	}
	must(t, s.PutVectors(t.Context(), "old", all))
	must(t, s.PutVectors(t.Context(), "new", all))
	asked := 0
	n, err := s.KeepVectors(t.Context(), func(model string, key store.VectorKey) bool {
		asked++
		return model == "new" && key[0]%2 == 0
	})
	must(t, err)
	same(t, "asked and removed", [2]int{asked, n}, [2]int{200, 150})
	for range 2 {
		old, err := s.Vectors(t.Context(), "old", keys)
		must(t, err)
		fresh, err := s.Vectors(t.Context(), "new", keys)
		must(t, err)
		same(t, "left", [3]int{len(old), len(fresh), s.Info().Vectors}, [3]int{0, 50, 50})
		s.reopen()
	}
	must(t, s.PutVectors(t.Context(), "old", all))
	s.reopen()
	old, err := s.Vectors(t.Context(), "old", keys)
	must(t, err)
	same(t, "put again", old, all)
}

func testClosed(t *testing.T, open Opener) {
	s := start(t, open)
	ctx := t.Context()
	must(t, s.Close())
	for name, err := range map[string]error{
		"Files":      s.Files(ctx, func(store.FileRecord) error { return nil }),
		"Commit":     s.Commit(ctx, []store.FileRecord{Record("a", 1, 1)}, nil),
		"PutVectors": s.PutVectors(ctx, "m", map[store.VectorKey]store.Vector{Key(1): Vec(3, 1)}),
		"Sync":       s.Sync(ctx),
		"Shrink":     s.Shrink(ctx),
		"Close":      s.Close(),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if _, err := s.Vectors(ctx, "m", nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Vectors after Close: %v", err)
	}
	if _, err := s.KeepVectors(ctx, nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("KeepVectors after Close: %v", err)
	}
	same(t, "Info after Close", s.Info(), store.Info{Dir: s.dir})
}

func testLocked(t *testing.T, open Opener) {
	s := start(t, open)
	if other, err := s.open(t.Context(), s.dir); !errors.Is(err, store.ErrLocked) {
		if err == nil {
			other.Close()
		}
		t.Fatalf("the second open returned %v", err)
	}
	must(t, s.Commit(t.Context(), []store.FileRecord{Record("a", 1, 1)}, nil))
	s.reopen()
	same(t, "files", len(all(t, s)), 1)
}

func testCanceled(t *testing.T, open Opener) {
	s := start(t, open)
	must(t, s.Commit(t.Context(), []store.FileRecord{Record("a", 1, 1)}, nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, vectorsErr := s.Vectors(ctx, "m", []store.VectorKey{Key(1)})
	_, keepErr := s.KeepVectors(ctx, func(string, store.VectorKey) bool { return true })
	for name, err := range map[string]error{
		"Files":       s.Files(ctx, func(store.FileRecord) error { return nil }),
		"Commit":      s.Commit(ctx, []store.FileRecord{Record("a", 2, 1)}, nil),
		"PutVectors":  s.PutVectors(ctx, "m", map[store.VectorKey]store.Vector{Key(1): Vec(3, 1)}),
		"Sync":        s.Sync(ctx),
		"Shrink":      s.Shrink(ctx),
		"Vectors":     vectorsErr,
		"KeepVectors": keepErr,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	same(t, "files", all(t, s), map[string]store.FileRecord{"a": Record("a", 1, 1)})
}

func testFnUsesStore(t *testing.T, open Opener) {
	s := start(t, open)
	must(t, s.Commit(t.Context(), []store.FileRecord{Record("a", 1, 1), Record("b", 1, 1)}, nil))
	seen := 0
	must(t, s.Files(t.Context(), func(r store.FileRecord) error {
		seen++
		return s.Commit(t.Context(), []store.FileRecord{Record("c/"+r.Path, 2, 1)}, []string{r.Path})
	}))
	same(t, "seen", seen, 2)
	same(t, "files", slices.Sorted(maps.Keys(all(t, s))), []string{"c/a", "c/b"})
}

func testShrink(t *testing.T, open Opener) {
	s := start(t, open)
	want := map[string]store.FileRecord{}
	for v := range 20 {
		var put []store.FileRecord
		for i := range 20 {
			r := Record(fmt.Sprintf("f%02d.go", i), v, 3)
			put, want[r.Path] = append(put, r), r
		}
		must(t, s.Commit(t.Context(), put, nil))
	}
	must(t, s.PutVectors(t.Context(), "m", map[store.VectorKey]store.Vector{Key(1): Vec(64, 1)}))
	before := s.Info()
	must(t, s.Shrink(t.Context()))
	after := s.Info()
	if after.Bytes > before.Bytes-before.Garbage/2 || after.Garbage > after.Bytes/4 {
		t.Fatalf("Shrink went from %+v to %+v", before, after)
	}
	for range 2 {
		same(t, "files", all(t, s), want)
		v, err := s.Vectors(t.Context(), "m", []store.VectorKey{Key(1)})
		must(t, err)
		same(t, "vectors", v, map[store.VectorKey]store.Vector{Key(1): Vec(64, 1)})
		r := Record("new.go", s.Info().Files, 1)
		want[r.Path] = r
		must(t, s.Commit(t.Context(), []store.FileRecord{r}, nil))
		s.reopen()
	}
	same(t, "files", all(t, s), want)
}

// testWalk does random operations and compares with maps.
func testWalk(t *testing.T, open Opener) {
	s := start(t, open)
	rng := rand.New(rand.NewPCG(7, 11))
	files := map[string]store.FileRecord{}
	vectors := map[string]map[store.VectorKey]store.Vector{"m0": {}, "m1": {}}
	path := func() string { return fmt.Sprintf("d%d/f%d.go", rng.IntN(3), rng.IntN(12)) }
	for step := range 600 {
		switch op := rng.IntN(20); {
		case op < 8:
			puts, gone := map[string]store.FileRecord{}, []string{}
			for range rng.IntN(4) {
				r := Record(path(), step, rng.IntN(5))
				puts[r.Path] = r
			}
			for range rng.IntN(3) {
				gone = append(gone, path())
			}
			must(t, s.Commit(t.Context(), slices.Collect(maps.Values(puts)), gone))
			for _, p := range gone {
				delete(files, p)
			}
			maps.Copy(files, puts)
		case op < 14:
			model := fmt.Sprintf("m%d", rng.IntN(2))
			put := map[store.VectorKey]store.Vector{}
			for range rng.IntN(10) {
				put[Key(rng.IntN(60))] = Vec(1+rng.IntN(40), step)
			}
			must(t, s.PutVectors(t.Context(), model, put))
			maps.Copy(vectors[model], put)
		case op == 14:
			bit := byte(rng.IntN(2))
			keep := func(model string, k store.VectorKey) bool { return model == "m0" || k[0]&1 == bit }
			n, err := s.KeepVectors(t.Context(), keep)
			must(t, err)
			for model, m := range vectors {
				maps.DeleteFunc(m, func(k store.VectorKey, _ store.Vector) bool {
					if !keep(model, k) {
						n--
						return true
					}
					return false
				})
			}
			same(t, "removed too many by", n, 0)
		case op == 15:
			s.reopen()
		case op == 16 && step%5 == 0:
			must(t, s.Shrink(t.Context()))
		case op == 17:
			must(t, s.Sync(t.Context()))
		}
		if step%20 == 0 {
			same(t, "files", all(t, s), files)
			for model, m := range vectors {
				got, err := s.Vectors(t.Context(), model, slices.Collect(maps.Keys(m)))
				must(t, err)
				same(t, model, got, m)
			}
			info := s.Info()
			same(t, "counts", [2]int{info.Files, info.Vectors}, [2]int{len(files), len(vectors["m0"]) + len(vectors["m1"])})
		}
	}
}

// testConcurrent is for the race detector, and checks that readers see whole
// records.
func testConcurrent(t *testing.T, open Opener) {
	s := start(t, open)
	var readers, writers sync.WaitGroup
	done := make(chan struct{})
	for w := range 3 {
		writers.Go(func() {
			for v := range 40 {
				var put []store.FileRecord
				for i := range 4 {
					put = append(put, Record(fmt.Sprintf("w%d/%d.go", w, i), v, 2))
				}
				if err := s.Commit(t.Context(), put, []string{fmt.Sprintf("w%d/%d.go", w, v%4+4)}); err != nil {
					t.Error(err)
				}
				if err := s.PutVectors(t.Context(), "m", map[store.VectorKey]store.Vector{Key(v): Vec(64, v)}); err != nil {
					t.Error(err)
				}
				if v%20 == 19 {
					if err := s.Shrink(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				err := s.Files(t.Context(), func(r store.FileRecord) error {
					if want := Record(r.Path, int(r.Size), 2); !reflect.DeepEqual(r, want) {
						return fmt.Errorf("%s is neither old nor new", r.Path)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				got, err := s.Vectors(t.Context(), "m", []store.VectorKey{Key(3)})
				if err != nil {
					t.Error(err)
				}
				if v, ok := got[Key(3)]; ok && !reflect.DeepEqual(v, Vec(64, 3)) {
					t.Errorf("vector is %v", v)
				}
				if err := s.Sync(t.Context()); err != nil {
					t.Error(err)
				}
				s.Info()
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	same(t, "files", len(all(t, s)), 12)
}
