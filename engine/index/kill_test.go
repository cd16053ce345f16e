package index_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/text"
)

// The variables that make the test binary a process that indexes a folder until
// it is killed.
const (
	childRoot  = "CODERAG_TEST_CHILD_ROOT"
	childCache = "CODERAG_TEST_CHILD_CACHE"
)

// indexUntilKilled indexes a folder again and again and prints a line for every
// call of the store.
func indexUntilKilled(dir, cache string) error {
	ctx := context.Background()
	model, err := static.New()
	if err != nil {
		return err
	}
	f := &faults{before: func(method string, _ int) error {
		_, err := fmt.Println(method)
		return err
	}}
	opts := index.Options{
		Roots: []file.Root{{Name: "w", Dir: dir}}, CacheDir: cache, Inline: model, PathWeight: -1, Workers: 2, Quiet: time.Millisecond,
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) {
			s, err := bunt.Open(ctx, dir, bunt.Options{})
			return &faultyStore{Store: s, faults: f}, err
		},
	}
	for {
		ix, err := index.Open(ctx, opts)
		if err != nil {
			return err
		}
		for range 2 {
			if err := ix.Sync(ctx, true, false); err != nil {
				return err
			}
			fmt.Println("synced")
			ix.Reindex([]string{"d1", "d2"})
		}
		if err := ix.Close(); err != nil {
			return err
		}
		fmt.Println("closed")
	}
}

// TestKilled kills a process that indexes at random moments. Whatever it left,
// a start makes the index that a new one would be.
func TestKilled(t *testing.T) {
	kills, files := 10, 2000
	if testing.Short() {
		kills, files = 3, 400
	}
	seed := time.Now().UnixNano()
	if s := os.Getenv("CODERAG_TEST_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	t.Logf("CODERAG_TEST_SEED=%d", seed)
	rng := rand.New(rand.NewSource(seed))
	w := newWorkspace(t, nil)
	write := func(i int) {
		path := fmt.Sprintf("d%d/f%d.%s", i%17, i, []string{"go", "py", "md", "txt"}[i%4])
		version := rng.Intn(1000)
		w.write(path, strings.Repeat(fmt.Sprintf("package p\n\n// Do%d works on item %d.\nfunc Do%d() { run(%d) }\n\n## Part %d\n\nwords of %d\n", i, version, i, version, i, i), 1+i%9))
		w.age(path)
	}
	for i := range files {
		write(i)
	}
	killed := 0
	for round := range kills {
		at := 1 + rng.Intn(12)
		if rng.Intn(2) == 0 {
			at = 1 + rng.Intn(3*files)
		}
		lines := killAfter(t, w, at)
		killed += lines
		left := filepath.Join(t.TempDir(), "cache")
		if err := os.CopyFS(left, os.DirFS(w.cache)); err != nil {
			t.Fatal(err)
		}
		if err := sameAsFresh(t, w, left); err != nil {
			t.Fatalf("round %d, after %d calls of the store: %v", round, lines, err)
		}
		for range files / 50 {
			write(rng.Intn(files + files/10))
		}
		for range files / 100 {
			i := rng.Intn(files)
			os.Remove(w.abs(fmt.Sprintf("d%d/f%d.%s", i%17, i, []string{"go", "py", "md", "txt"}[i%4])))
		}
	}
	if killed == 0 {
		t.Error("no process came as far as the store")
	}
}

// killAfter starts a process and kills it when it has printed some lines.
func killAfter(t *testing.T, w *workspace, lines int) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRoot+"="+w.dir, childCache+"="+w.cache)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	n := 0
	for in := bufio.NewScanner(out); n < lines && in.Scan(); n++ {
	}
	if n < lines {
		t.Fatalf("the process ended by itself after %d calls", n)
	}
	return n
}

// sameAsFresh opens what a killed process left and compares it with an index
// that was never interrupted.
func sameAsFresh(t *testing.T, w *workspace, cache string) error {
	t.Helper()
	open := func(cache string) (*index.Index, error) {
		ix, err := index.Open(t.Context(), w.options(cache))
		if err != nil {
			return nil, err
		}
		sync(t, ix, true)
		return ix, nil
	}
	ix, err := open(cache)
	if err != nil {
		return err
	}
	defer closeIndex(t, ix)
	fresh, err := open(filepath.Join(filepath.Dir(cache), "fresh"))
	if err != nil {
		return err
	}
	defer closeIndex(t, fresh)
	a, b := ix.Snapshot(), fresh.Snapshot()
	got, want := content(a), content(b)
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Errorf("the index has %d lines, a fresh one %d; the first that differs is\n%s\nwant\n%s", len(got), len(want), strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	if len(got) != len(want) || a.Len() != b.Len() {
		return fmt.Errorf("the index has %d lines and %d documents, a fresh one %d and %d", len(got), a.Len(), len(want), b.Len())
	}
	if c := ix.Coverage(a); c.VectorsReady != 1 || c.Pending != 0 || c.Stale {
		return fmt.Errorf("coverage %+v", c)
	}
	for _, q := range []string{"do works on item", "run part words", "Do77"} {
		if x, y := matches(t, a, q), matches(t, b, q); !slices.Equal(x, y) {
			return fmt.Errorf("%q finds %v, in a fresh index %v", q, x, y)
		}
		x, y := near(t, w, a, q), near(t, w, b, q)
		slices.Sort(x)
		slices.Sort(y)
		if len(x) != len(y) {
			return fmt.Errorf("%q has the neighbours %v, in a fresh index %v", q, x, y)
		}
	}
	return checkLines(a)
}

// matches returns the documents that hold any word of a query, sorted.
func matches(t *testing.T, s *index.Snapshot, query string) []string {
	t.Helper()
	res, err := s.Lexical(t.Context(), lexical.Query{Terms: lexical.NewTokenizer().Query(query)}, s.Len(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, h := range res.Hits {
		d := s.Doc(h.Ref)
		all = append(all, fmt.Sprintf("%s:%d", d.File.Path, d.StartLine))
	}
	slices.Sort(all)
	return all
}

// checkLines reads every chunk again.
func checkLines(s *index.Snapshot) error {
	for _, f := range s.Files() {
		raw, err := os.ReadFile(f.Abs())
		if err != nil {
			return err
		}
		doc := text.New(string(raw))
		for _, r := range s.DocsOf(f) {
			d := s.Doc(r)
			if lines, ok := doc.Lines(d.StartLine, d.EndLine); !ok || text.Hash(lines) != d.Hash {
				return fmt.Errorf("%s:%d-%d is not what was indexed", f.Path, d.StartLine, d.EndLine)
			}
		}
	}
	return nil
}
