package index_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/wire"
)

// numbered returns so many small files of Go, f000.go and so on, each with its
// own words.
func numbered(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("f%03d.go", i)] = body(i)
	}
	return files
}

func body(i int) string {
	return fmt.Sprintf("package p\n\n// Number%03d counts to %d in its own way.\nfunc Number%03d() int { return %d }\n", i, i, i, i)
}

// inOrder gives files times in the order of their names: the last is the newest.
func (w *workspace) inOrder(n int) {
	w.t.Helper()
	for i := range n {
		at := time.Now().Add(time.Duration(i-n) * time.Hour)
		if err := os.Chtimes(w.abs(fmt.Sprintf("f%03d.go", i)), at, at); err != nil {
			w.t.Fatal(err)
		}
	}
}

// recorder notes in which order a model is given the texts of files.
type recorder struct {
	embed.Embedder
	model embed.Model

	mu    gosync.Mutex
	texts []string
	at    func(n int) // called with the number of texts so far
}

func (r *recorder) Model() embed.Model { return r.model }

func (r *recorder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	r.mu.Lock()
	for _, t := range texts {
		if i := strings.Index(t, "Number"); i >= 0 {
			r.texts = append(r.texts, "f"+t[i+6:i+9])
		}
	}
	n, at := len(r.texts), r.at
	r.mu.Unlock()
	if at != nil {
		at(n)
	}
	return r.Embedder.Embed(ctx, texts)
}

// order returns the files in the order they came first.
func (r *recorder) order() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var files []string
	for _, f := range r.texts {
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	return files
}

func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = nil
}

func (w *workspace) recorder(name string) *recorder {
	m := w.model.Model()
	if name != "" {
		m.Name, m.Fingerprint = name, "7ec07de77ec07de7"
	}
	return &recorder{Embedder: w.model, model: m}
}

// heard is a log that tells when a message came.
type heard struct {
	slog.Handler
	message string
	came    chan struct{}
	once    *gosync.Once
}

func listenFor(message string) heard {
	return heard{slog.DiscardHandler, message, make(chan struct{}), &gosync.Once{}}
}

func (h heard) Enabled(context.Context, slog.Level) bool { return true }

func (h heard) Handle(_ context.Context, r slog.Record) error {
	if r.Message == h.message {
		h.once.Do(func() { close(h.came) })
	}
	return nil
}

func (h heard) await(t *testing.T) {
	t.Helper()
	select {
	case <-h.came:
	case <-time.After(time.Minute):
		t.Fatalf("%q was not logged", h.message)
	}
}

func (w *workspace) openWith(change func(*index.Options)) *index.Index {
	w.t.Helper()
	opts := w.options(w.cache)
	opts.NoGit = true
	change(&opts)
	ix, err := index.Open(w.t.Context(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return ix
}

func opened(w *workspace, path string) []file.Change {
	content, err := os.ReadFile(w.abs(path))
	if err != nil {
		w.t.Fatal(err)
	}
	return []file.Change{{Path: w.abs(path), Kind: file.Opened, Text: string(content)}}
}

// history makes the workspace a repository in which all n files were committed
// long ago, and f010.go not long ago.
func (w *workspace) history(n int) {
	w.t.Helper()
	var stream strings.Builder
	commit := func() {
		stream.WriteString("commit refs/heads/trunk\ncommitter a <a@b> 1577836800 +0000\ndata 1\nx\n")
	}
	put := func(i int, content string) {
		fmt.Fprintf(&stream, "M 100644 inline f%03d.go\ndata %d\n%s\n", i, len(content), content)
	}
	commit()
	for i := range n {
		put(i, body(i))
	}
	for i := range 250 {
		commit()
		put(10, fmt.Sprint(i))
	}
	commit()
	put(10, body(10))
	for _, args := range [][]string{{"init", "-q"}, {"symbolic-ref", "HEAD", "refs/heads/trunk"}, {"fast-import", "--quiet"}, {"reset", "-q"}} {
		cmd := exec.Command("git", append([]string{"-C", w.dir}, args...)...)
		if args[0] == "fast-import" {
			cmd.Stdin = strings.NewReader(stream.String())
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

// Open files come first, then what changes, then what was edited last by git,
// then the newest; in the index and with the slow model.
func TestOrder(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const n = 60
	w := newWorkspace(t, nil)
	for i := range n {
		w.write(fmt.Sprintf("f%03d.go", i), body(i))
	}
	w.history(n)
	w.write("f020.go", body(20)+"\n// not committed\n")
	w.inOrder(n)

	gate := index.NewGate(0)
	gate.SetPaused(true)
	gate.SetEmbedding(index.EmbedNever)
	inline, slow := w.recorder(""), w.recorder("slow")
	git := listenFor("files are ordered by git")
	ix := w.openWith(func(o *index.Options) {
		o.Gate, o.Inline, o.Behind, o.Workers, o.BehindThreads, o.BehindBatch = gate, inline, slow, 1, 1, 1
		o.NoGit, o.Logger = false, slog.New(git)
	})
	defer func() { closeIndex(t, ix) }()
	view := ix.NewView()
	git.await(t)
	sync(t, ix, true)
	if got := inline.order(); len(got) != 0 {
		t.Fatalf("while paused %q were indexed", got)
	}

	// Paused or not, what is open and what changes is made searchable.
	view.Apply(opened(w, "f030.go"))
	sync(t, ix, false)
	ix.Touch("test", []string{w.abs("f005.go")}, false)
	sync(t, ix, false)
	if got, want := inline.order(), []string{"f030", "f005"}; !slices.Equal(got, want) {
		t.Errorf("while paused %q were indexed, want %q", got, want)
	}
	st := ix.Status(ix.Snapshot())
	if st.State != wire.StatePaused || !st.Paused || st.ETASeconds != nil || st.Coverage.Pending != n-2 || !st.Coverage.Stale || st.Coverage.Indexed != 2 {
		t.Errorf("while paused: %+v", st)
	}

	gate.SetPaused(false)
	sync(t, ix, false)
	got := inline.order()
	want := []string{"f030", "f005", "f020", "f010", "f059", "f058", "f057"} // f020 is not committed
	if len(got) != n || !slices.Equal(got[:len(want)], want) {
		t.Errorf("indexed %d in the order %q, want %q first", len(got), got, want)
	}
	st = ix.Status(ix.Snapshot())
	if st.State != wire.StateEmbedding || st.Queues.Embed != st.Chunks || st.ETASeconds != nil || st.Coverage.VectorsReady != 0 {
		t.Errorf("before the slow model may work: %s, %d to embed, %v s, %v ready", st.State, st.Queues.Embed, st.ETASeconds, st.Coverage.VectorsReady)
	}

	// The slow model: opening a file changes the order of what is left.
	var once gosync.Once
	slow.at = func(n int) {
		if n == 4 {
			once.Do(func() { view.Apply(opened(w, "f001.go")) })
		}
	}
	gate.SetEmbedding(index.EmbedFreely)
	if err := ix.Sync(t.Context(), false, true); err != nil {
		t.Fatal(err)
	}
	got = slow.order()
	want = []string{"f030", "f020", "f010", "f059", "f001", "f058", "f057"}
	if len(got) != n || !slices.Equal(got[:len(want)], want) {
		t.Errorf("embedded %d in the order %q, want %q first", len(got), got, want)
	}
	st = ix.Status(ix.Snapshot())
	if st.State != wire.StateReady || st.ETASeconds == nil || *st.ETASeconds != 0 || st.Coverage.VectorsReady != 1 || st.Rates.Files <= 0 || st.Rates.Chunks <= 0 || st.Rates.Embeds <= 0 {
		t.Errorf("at the end: %s, %+v, %v s", st.State, st.Rates, st.ETASeconds)
	}
	if r := st.Roots[0]; r.State != wire.StateReady || r.Indexed != n || r.Total != n || r.Pending != 0 {
		t.Errorf("the root at the end: %+v", r)
	}

	// A file that nobody looks at any more is one of many again.
	view.Close()
	gate.SetPaused(true)
	inline.reset()
	ix.Reindex(nil)
	sync(t, ix, true)
	if got := inline.order(); len(got) != 0 {
		t.Errorf("%q came first though it was closed", got)
	}
	gate.SetPaused(false)
	sync(t, ix, false)
}

// While a request runs, background work waits; what the user waits for does
// not.
func TestBackgroundRests(t *testing.T) {
	const n = 50
	w := newWorkspace(t, numbered(n))
	gate := index.NewGate(time.Hour)
	inline, slow := w.recorder(""), w.recorder("slow")
	done := gate.Request()
	ix := w.openWith(func(o *index.Options) { o.Gate, o.Inline, o.Behind = gate, inline, slow })
	defer func() { closeIndex(t, ix) }()
	if err := ix.Scanned(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"f007.go", "f031.go"} {
		ix.Touch("test", []string{w.abs(path)}, false)
		until(t, path+" is searchable", func() bool { return ix.Snapshot().File(path) != nil })
	}
	if got := inline.order(); !slices.Equal(got, []string{"f007", "f031"}) {
		t.Errorf("while a request ran %q were indexed", got)
	}
	if got := slow.order(); len(got) != 0 {
		t.Errorf("while a request ran the slow model embedded %q", got)
	}
	if st := ix.Status(ix.Snapshot()); st.State != wire.StateIndexing || st.Paused || st.Queues.Index != n-2 {
		t.Errorf("while a request runs: %s, %d to index", st.State, st.Queues.Index)
	}
	second := gate.Request()
	done()
	done() // as often as one likes
	if got := ix.Snapshot().FileCount(); got != 2 {
		t.Errorf("%d files were indexed while the second request ran", got)
	}
	second()
	sync(t, ix, false)
	if err := ix.Sync(t.Context(), false, true); err != nil {
		t.Fatal(err)
	}
	if got := ix.Snapshot().FileCount(); got != n {
		t.Errorf("%d files are indexed", got)
	}
}

// Requests without end do not keep indexing from its end.
func TestRestIsBounded(t *testing.T) {
	w := newWorkspace(t, numbered(50))
	gate := index.NewGate(time.Millisecond)
	defer gate.Request()()
	ix := w.openWith(func(o *index.Options) { o.Gate, o.Behind = gate, w.recorder("slow") })
	defer func() { closeIndex(t, ix) }()
	if err := ix.Sync(t.Context(), true, true); err != nil {
		t.Fatal(err)
	}
	if c := ix.Coverage(ix.Snapshot()); c.Indexed != 50 || c.VectorsReady != 1 || c.Stale {
		t.Errorf("%+v", c)
	}
	// Nor do they where background work is not to rest.
	gate = index.NewGate(time.Hour)
	defer gate.Request()()
	gate.SetYield(false)
	w = newWorkspace(t, numbered(50))
	other := w.openWith(func(o *index.Options) { o.Gate = gate })
	defer func() { closeIndex(t, other) }()
	sync(t, other, true)
}

// Pausing in the middle stops the work, resuming goes on with it, and a closing
// index does not wait for it.
func TestPauseInTheMiddle(t *testing.T) {
	const n = 200
	w := newWorkspace(t, numbered(n))
	gate := index.NewGate(0)
	inline := w.recorder("")
	inline.at = func(n int) {
		if n == 20 {
			gate.SetPaused(true)
		}
	}
	open := func() *index.Index {
		return w.openWith(func(o *index.Options) { o.Gate, o.Inline, o.LowPriority = gate, inline, true })
	}
	gate.SetPaused(true)
	ix := open()
	if err := ix.Scanned(t.Context()); err != nil { // a scan queues what is in work again, to be looked at once more
		t.Fatal(err)
	}
	gate.SetPaused(false)
	sync(t, ix, false) // ends, though not all is done
	part := ix.Coverage(ix.Snapshot())
	for deadline := time.Now().Add(time.Minute); part.Indexed+part.Pending != n && time.Now().Before(deadline); {
		runtime.Gosched() // what was in work when the pause began is published, then counted
		part = ix.Coverage(ix.Snapshot())
	}
	if part.Indexed < 20 || part.Indexed > 30 || part.Indexed+part.Pending != n || !part.Stale {
		t.Errorf("paused at 20 files: %+v", part)
	}
	closeIndex(t, ix)
	ix = open() // the pause is the gate's, and outlives the index
	sync(t, ix, true)
	if c := ix.Coverage(ix.Snapshot()); c.Indexed != part.Indexed {
		t.Errorf("opened again while paused: %+v", c)
	}
	inline.at = nil
	waits := make(chan error)
	gate.SetPaused(false)
	go func() { waits <- ix.Sync(t.Context(), true, true) }()
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	if c := ix.Coverage(ix.Snapshot()); c.Indexed != n || c.Stale {
		t.Errorf("resumed: %+v", c)
	}
	closeIndex(t, ix)
}

// Where memory is short what is known is kept up to date, what is open is
// indexed, and all else waits and is told.
func TestMemoryHold(t *testing.T) {
	const n = 40
	w := newWorkspace(t, numbered(n))
	gate := index.NewGate(0)
	gate.SetPaused(true)
	ix := w.openWith(func(o *index.Options) { o.Gate = gate })
	defer func() { closeIndex(t, ix) }()
	if err := ix.Scanned(t.Context()); err != nil {
		t.Fatal(err)
	}
	touch := func(paths ...string) {
		t.Helper()
		for i := range paths {
			paths[i] = w.abs(paths[i])
		}
		ix.Touch("test", paths, false)
		sync(t, ix, false)
	}
	w.inOrder(n) // else a scan looks at what was written just now once more
	touch("f000.go", "f001.go", "f002.go")
	gate.SetMemory(index.HoldIndexing)
	gate.SetPaused(false)

	w.write("f000.go", strings.ReplaceAll(body(0), "Number", "Changed"))
	if err := os.Remove(w.abs("f001.go")); err != nil {
		t.Fatal(err)
	}
	w.write("new.go", "package p\n\nfunc Late() {}\n")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(w.abs("f000.go"), old, old); err != nil {
		t.Fatal(err)
	}
	touch("f000.go", "f001.go", "f010.go", "new.go")
	view := ix.NewView()
	view.Apply(opened(w, "f020.go"))
	sync(t, ix, true)

	s := ix.Snapshot()
	var have []string
	for _, f := range s.Files() {
		have = append(have, f.Path)
	}
	if want := []string{"f000.go", "f002.go", "f020.go"}; !slices.Equal(have, want) {
		t.Errorf("short of memory %q are indexed, want %q", have, want)
	}
	if f := s.File("f000.go"); f == nil || len(f.Symbols) != 1 || f.Symbols[0].Name != "Changed000" {
		t.Errorf("a changed file is not up to date: %+v", f)
	}
	st := ix.Status(s)
	c := st.Coverage
	if c.Skipped["memoryLimit"] != n-3 || c.Indexed != 3 || c.Total != n || c.Pending != 0 || !c.Stale || st.State != wire.StateMemoryLimit || st.ETASeconds != nil {
		t.Errorf("short of memory: %+v, %s, %v", c, st.State, st.ETASeconds)
	}
	if i := slices.IndexFunc(st.SkippedFiles, func(f wire.SkippedFile) bool { return f.Path == "new.go" }); i < 0 || st.SkippedFiles[i].Reason != "memoryLimit" || st.SkippedFiles[i].Detail == "" {
		t.Errorf("what waits is not told: %+v", st.SkippedFiles)
	}
	if r := st.Roots[0]; r.State != wire.StateMemoryLimit || r.Pending != n-3 {
		t.Errorf("the root: %+v", r)
	}

	gate.SetMemory(index.HoldNothing)
	sync(t, ix, false)
	st = ix.Status(ix.Snapshot())
	if c := st.Coverage; c.Indexed != n || c.Total != n || len(c.Skipped) != 0 || c.Stale || st.State != wire.StateReady {
		t.Errorf("when memory is free: %+v, %s", c, st.State)
	}
}

// What is gone is not counted as something that is to be indexed.
func TestTotalFollowsDeletions(t *testing.T) {
	w := newWorkspace(t, numbered(10))
	ix := w.open()
	defer func() { closeIndex(t, ix) }()
	for i := range 4 {
		path := w.abs(fmt.Sprintf("f%03d.go", i))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		ix.Touch("test", []string{path}, false)
	}
	sync(t, ix, false)
	if st := ix.Status(ix.Snapshot()); st.Coverage.Total != 6 || st.Coverage.Indexed != 6 || st.State != wire.StateReady {
		t.Errorf("%+v, %s", st.Coverage, st.State)
	}
	w.write("f000.go", body(0)) // and back
	ix.Touch("test", []string{w.abs("f000.go")}, false)
	sync(t, ix, false)
	if st := ix.Status(ix.Snapshot()); st.Coverage.Total != 7 || st.Coverage.Indexed != 7 {
		t.Errorf("%+v", st.Coverage)
	}
	sync(t, ix, true)
	if st := ix.Status(ix.Snapshot()); st.Coverage.Total != 7 || st.State != wire.StateReady {
		t.Errorf("after a scan: %+v", st.Coverage)
	}
}

func TestEmptyIsNotReady(t *testing.T) {
	w := newWorkspace(t, nil)
	ix := w.open()
	defer func() { closeIndex(t, ix) }()
	if st := ix.Status(ix.Snapshot()); st.State != wire.StateEmpty || st.Roots[0].State != wire.StateEmpty {
		t.Errorf("%s, %+v", st.State, st.Roots)
	}
}
