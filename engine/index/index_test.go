package index_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childRoot); dir != "" {
		fmt.Fprintln(os.Stderr, indexUntilKilled(dir, os.Getenv(childCache)))
		os.Exit(1)
	}
	// buntdb notices that it was closed at its next tick, up to a second later.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// workspace is a folder of real files and where its index is kept.
type workspace struct {
	t     *testing.T
	dir   string
	cache string
	model *static.Model
}

func newWorkspace(t *testing.T, files map[string]string) *workspace {
	t.Helper()
	m, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{t: t, dir: t.TempDir(), cache: t.TempDir(), model: m}
	for path, content := range files {
		w.write(path, content)
	}
	return w
}

func (w *workspace) abs(path string) string { return filepath.Join(w.dir, filepath.FromSlash(path)) }

func (w *workspace) write(path, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.abs(path)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.abs(path), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) options(cache string) index.Options {
	return index.Options{
		Roots: []file.Root{{Name: "w", Dir: w.dir}}, CacheDir: cache, Inline: w.model, PathWeight: -1, Workers: 2,
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) {
			return bunt.Open(ctx, dir, bunt.Options{})
		},
	}
}

// open opens the index and waits until it is up to date.
func (w *workspace) open() *index.Index {
	w.t.Helper()
	ix, err := index.Open(w.t.Context(), w.options(w.cache))
	if err != nil {
		w.t.Fatal(err)
	}
	sync(w.t, ix, false)
	return ix
}

func sync(t *testing.T, ix *index.Index, scan bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := ix.Sync(ctx, scan, false); err != nil {
		t.Fatalf("sync: %v", err)
	}
}

func closeIndex(t *testing.T, ix *index.Index) {
	t.Helper()
	if err := ix.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// content renders everything that a snapshot says, so that two can be
// compared.
func content(s *index.Snapshot) []string {
	var lines []string
	for _, f := range s.Files() {
		lines = append(lines, fmt.Sprintf("%s %x %v", f.Path, f.Hash[:4], f.Class))
		for _, r := range s.DocsOf(f) {
			d := s.Doc(r)
			lines = append(lines, fmt.Sprintf("  %s %d-%d %s %s", d.ID, d.StartLine, d.EndLine, d.Kind, d.Name))
		}
		for _, sym := range f.Symbols {
			lines = append(lines, fmt.Sprintf("  %s %s %d", sym.Kind, sym.Name, sym.NameLine))
		}
	}
	return lines
}

// find returns the paths of the best lexical hits.
func find(t *testing.T, s *index.Snapshot, query string) []string {
	t.Helper()
	res, err := s.Lexical(t.Context(), lexical.Query{Terms: lexical.NewTokenizer().Query(query)}, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, h := range res.Hits {
		paths = append(paths, s.Doc(h.Ref).File.Path)
	}
	return paths
}

// near returns the paths of the nearest documents in the embedded model's list.
func near(t *testing.T, w *workspace, s *index.Snapshot, query string) []string {
	t.Helper()
	vs, err := w.model.Embed(t.Context(), []string{query})
	if err != nil {
		t.Fatal(err)
	}
	embed.Normalize(vs[0])
	hits, err := s.Vectors(t.Context(), w.model.Model().Fingerprint, vs[0], 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, h := range hits {
		paths = append(paths, s.Doc(h.Ref).File.Path)
	}
	return paths
}

var small = map[string]string{
	"go.mod":         "module example\n",
	"py/__init__.py": "",
	"server/http.go": "// Package server serves.\npackage server\n\n// ListenAndRetry opens the port and retries on failure.\nfunc ListenAndRetry(port int) error {\n\treturn dial(port)\n}\n\nfunc dial(port int) error { return nil }\n",
	"auth/token.py":  "\"\"\"Tokens.\"\"\"\n\n\ndef validate_token(token):\n    \"\"\"Check the signature of a token.\"\"\"\n    return token.signature == sign(token)\n",
	"README.md":      "# Example\n\nIntro words here.\n\n## Install\n\nRun the installer script to install.\n\n## Usage\n\nCall the thing.\n",
	"bin/blob.dat":   "\x00\x01\x02",
	".gitignore":     "ignored/\n",
	"ignored/x.go":   "package x\n\nfunc Hidden() {}\n",
}

func TestIndexFindsWhatTheFilesSay(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	s := ix.Snapshot()
	if got := find(t, s, "retry opening the port"); len(got) == 0 || got[0] != "server/http.go" {
		t.Errorf("words: got %v", got)
	}
	if got := near(t, w, s, "verify signature of tokens"); len(got) == 0 || got[0] != "auth/token.py" {
		t.Errorf("vectors: got %v", got)
	}
	defs := s.Definitions("ListenAndRetry")
	if len(defs) != 1 || defs[0].File.Path != "server/http.go" || defs[0].Symbol.NameLine != 5 {
		t.Errorf("definitions of ListenAndRetry: %+v", defs)
	}
	if got := s.DefinitionsFold("validate_token"); len(got) != 1 {
		t.Errorf("folded definitions: %+v", got)
	}
	if refs := s.Identifier("dial", 10); len(refs) == 0 || s.Doc(refs[0]).File.Path != "server/http.go" {
		t.Errorf("identifier dial: %v", refs)
	}
	if s.File("ignored/x.go") != nil || s.File("bin/blob.dat") != nil {
		t.Error("ignored or binary file indexed")
	}
	c := ix.Coverage(s)
	if c.Pending != 0 || c.Stale || c.Indexed != c.Total || c.VectorsReady != 1 {
		t.Errorf("coverage %+v", c)
	}
	if c.Skipped["binary"] != 1 {
		t.Errorf("skips %v", c.Skipped)
	}
}

// TestChunksAreTheLines re-reads every chunk from disk.
func TestChunksAreTheLines(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	if err := checkLines(ix.Snapshot()); err != nil {
		t.Error(err)
	}
}

func TestChangesAreSeen(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)

	w.write("server/http.go", "package server\n\nfunc Renamed() {}\n")
	w.write("new/cache.go", "package new\n\n// Evict drops the oldest entries.\nfunc Evict() {}\n")
	ix.Touch("test", []string{w.abs("server/http.go"), w.abs("new/cache.go")}, false)
	sync(t, ix, false)
	s := ix.Snapshot()
	if len(s.Definitions("ListenAndRetry")) != 0 || len(s.Definitions("Renamed")) != 1 || len(s.Definitions("Evict")) != 1 {
		t.Error("edited and new files are not what is searched")
	}

	if err := os.RemoveAll(w.abs("server")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.abs("new"), w.abs("moved")); err != nil {
		t.Fatal(err)
	}
	ix.Touch("test", []string{w.abs("server"), w.abs("new"), w.abs("moved")}, false)
	sync(t, ix, false)
	s = ix.Snapshot()
	if s.File("server/http.go") != nil || s.File("new/cache.go") != nil || s.File("moved/cache.go") == nil {
		t.Errorf("after removing and moving folders: %v", content(s))
	}
	if got := find(t, s, "renamed"); len(got) != 0 {
		t.Errorf("removed text is still found in %v", got)
	}
}

func TestIgnoreFileChangeAppliesAtOnce(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	w.write(".gitignore", "auth/\n")
	ix.Touch("test", []string{w.abs(".gitignore")}, false)
	sync(t, ix, false)
	s := ix.Snapshot()
	if s.File("auth/token.py") != nil || s.File("ignored/x.go") == nil {
		t.Errorf("ignore rules are stale: %v", content(s))
	}
}

func TestRestartMakesNothingAgain(t *testing.T) {
	w := newWorkspace(t, small)
	hourAgo := time.Now().Add(-time.Hour)
	for path := range small {
		if err := os.Chtimes(w.abs(path), hourAgo, hourAgo); err != nil {
			t.Fatal(err)
		}
	}
	ix := w.open()
	before := content(ix.Snapshot())
	if ix.Status(ix.Snapshot()).Counters.Embedded == 0 {
		t.Fatal("nothing was embedded")
	}
	closeIndex(t, ix)
	ix = w.open()
	defer closeIndex(t, ix)
	if after := content(ix.Snapshot()); !slices.Equal(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
	c := ix.Status(ix.Snapshot()).Counters
	if c.Embedded != 0 || c.Commits != 0 {
		t.Errorf("after a restart: %+v", c)
	}
	if got := near(t, w, ix.Snapshot(), "verify signature of tokens"); len(got) == 0 || got[0] != "auth/token.py" {
		t.Errorf("vectors: got %v", got)
	}
}

func TestMovedFileEmbedsNothing(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	before := ix.Status(ix.Snapshot()).Counters.Embedded
	if err := os.Rename(w.abs("auth/token.py"), w.abs("server/login.py")); err != nil {
		t.Fatal(err)
	}
	sync(t, ix, true)
	if ix.Snapshot().File("server/login.py") == nil {
		t.Fatal("moved file is missing")
	}
	if after := ix.Status(ix.Snapshot()).Counters.Embedded; after != before {
		t.Errorf("embedded %d chunks again", after-before)
	}
}

func TestDamagedPostingsAreMadeAgain(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	want := content(ix.Snapshot())
	closeIndex(t, ix)
	parts, err := filepath.Glob(filepath.Join(w.cache, "*", "*", "postings", "*.part"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("no postings were kept: %v %v", parts, err)
	}
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { b[len(b)/3] ^= 0x40; return b },
		func([]byte) []byte { return nil },
	} {
		parts, _ = filepath.Glob(filepath.Join(w.cache, "*", "*", "postings", "*.part"))
		for _, p := range parts {
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ix = w.open()
		if got := content(ix.Snapshot()); !slices.Equal(got, want) {
			t.Errorf("after damage:\n%s", strings.Join(got, "\n"))
		}
		closeIndex(t, ix)
	}
}

func TestUnreadableIsNotDeleted(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	if err := os.Chmod(w.abs("auth"), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(w.abs("auth"), 0o755)
	sync(t, ix, true)
	if ix.Snapshot().File("auth/token.py") == nil {
		t.Error("a file in an unreadable folder was forgotten")
	}
}

func TestBuffersStandInFront(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	v := ix.NewView()
	snapshot := func() *index.Snapshot {
		t.Helper()
		s, err := v.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	path := w.abs("server/http.go")
	v.Apply([]file.Change{{Path: path, Kind: file.Opened, Text: "package server\n\nfunc OnlyInTheEditor() {}\n", Version: 1}})
	s := snapshot()
	if len(s.Definitions("OnlyInTheEditor")) != 1 || len(s.Definitions("ListenAndRetry")) != 0 {
		t.Error("the buffer is not what is searched")
	}
	if !s.File("server/http.go").Open {
		t.Error("the file is not marked open")
	}
	if got := near(t, w, s, "only in the editor"); len(got) == 0 || got[0] != "server/http.go" {
		t.Errorf("vectors of the buffer: %v", got)
	}
	if txt, ok := v.Text(path); !ok || !strings.Contains(txt, "OnlyInTheEditor") {
		t.Errorf("text of the buffer: %q %v", txt, ok)
	}
	if len(ix.Snapshot().Definitions("OnlyInTheEditor")) != 0 {
		t.Error("another view sees the buffer")
	}
	v.Apply([]file.Change{
		{Path: path, Kind: file.Closed},
		{Path: w.abs("fresh.go"), Kind: file.Opened, Text: "package x\n\nfunc NeverSaved() {}\n"},
		{Path: w.abs("ignored/y.go"), Kind: file.Opened, Text: "package x\n\nfunc Ignored() {}\n"},
	})
	sync(t, ix, false)
	s = snapshot()
	if len(s.Definitions("ListenAndRetry")) != 1 || len(s.Definitions("NeverSaved")) != 1 || len(s.Definitions("Ignored")) != 0 {
		t.Error("closing, a new file or an ignored buffer is not seen right")
	}
	if again := snapshot(); again != s {
		t.Error("an unchanged view made a new snapshot")
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	w := newWorkspace(t, small)
	ix := w.open()
	defer closeIndex(t, ix)
	if _, err := index.Open(t.Context(), w.options(w.cache)); err == nil || !strings.Contains(err.Error(), w.dir) {
		t.Errorf("second open: %v", err)
	}
}

func TestBadRoots(t *testing.T) {
	w := newWorkspace(t, small)
	for _, dir := range []string{w.abs("nowhere"), w.abs("README.md")} {
		opts := w.options(w.cache)
		opts.Roots[0].Dir = dir
		if _, err := index.Open(t.Context(), opts); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestWalk changes a workspace at random and compares the index with one built
// from scratch.
func TestWalk(t *testing.T) {
	seed := time.Now().UnixNano()
	if s := os.Getenv("CODERAG_TEST_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	t.Logf("CODERAG_TEST_SEED=%d", seed)
	rng := rand.New(rand.NewSource(seed))
	w := newWorkspace(t, small)
	ix := w.open()
	defer func() { closeIndex(t, ix) }()
	names := func() []string {
		var all []string
		filepath.WalkDir(w.dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all = append(all, p)
			}
			return nil
		})
		return all
	}
	steps := 120
	if testing.Short() {
		steps = 30
	}
	for step := range steps {
		var touched []string
		for range 1 + rng.Intn(4) {
			all := names()
			op := rng.Intn(6)
			if len(all) == 0 {
				op = 0
			}
			switch op {
			case 0, 1, 2:
				p := fmt.Sprintf("d%d/f%d.%s", rng.Intn(4), rng.Intn(6), []string{"go", "py", "md", "txt"}[rng.Intn(4)])
				w.write(p, fmt.Sprintf("package p\n\n// Do%d works on item %d.\nfunc Do%d() { run(%d) }\n\n## Part %d\n\nwords\n", step, rng.Intn(9), rng.Intn(50), step, step))
				touched = append(touched, w.abs(p))
			case 3:
				p := all[rng.Intn(len(all))]
				os.Remove(p)
				touched = append(touched, p)
			case 4:
				p := all[rng.Intn(len(all))]
				to := filepath.Join(w.dir, fmt.Sprintf("d%d", rng.Intn(4)), filepath.Base(p))
				os.MkdirAll(filepath.Dir(to), 0o755)
				if os.Rename(p, to) == nil {
					touched = append(touched, p, to)
				}
			case 5:
				d := w.abs(fmt.Sprintf("d%d", rng.Intn(4)))
				to := w.abs(fmt.Sprintf("e%d", rng.Intn(3)))
				os.RemoveAll(to)
				os.Rename(d, to)
				touched = append(touched, d, to)
			}
		}
		ix.Touch("walk", touched, false)
		if step%20 == 7 {
			closeIndex(t, ix)
			ix = w.open()
		}
		if step%10 != 9 {
			continue
		}
		sync(t, ix, false)
		fresh, err := index.Open(t.Context(), w.options(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		sync(t, fresh, false)
		a, b := ix.Snapshot(), fresh.Snapshot()
		if x, y := content(a), content(b); !slices.Equal(x, y) {
			t.Fatalf("step %d: the live index differs from a fresh one\nlive:\n%s\nfresh:\n%s", step, strings.Join(x, "\n"), strings.Join(y, "\n"))
		}
		if a.Len() != b.Len() {
			t.Fatalf("step %d: %d live documents, fresh %d", step, a.Len(), b.Len())
		}
		for _, q := range []string{"do works on item", "run part words", fmt.Sprintf("Do%d", step)} {
			x, y := near(t, w, a, q), near(t, w, b, q)
			slices.Sort(x)
			slices.Sort(y)
			if len(x) != len(y) {
				t.Fatalf("step %d: %q finds %v, fresh %v", step, q, x, y)
			}
		}
		closeIndex(t, fresh)
	}
}

func TestPlanTellsWhatIndexingDoes(t *testing.T) {
	w := newWorkspace(t, small)
	plan, err := index.Plan(t.Context(), w.options(w.cache))
	if err != nil {
		t.Fatal(err)
	}
	ix := w.open()
	defer closeIndex(t, ix)
	s := ix.Snapshot()
	if plan.Files != s.FileCount() || plan.Chunks != s.Len() {
		t.Errorf("plan %+v, index has %d files and %d chunks", plan, s.FileCount(), s.Len())
	}
	if plan.Skipped["binary"] != 1 {
		t.Errorf("plan skips %v", plan.Skipped)
	}
}
