package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "init.defaultBranch=main", "-c", "gc.auto=0"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func writeAt(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// settled waits until the state of the index is as wanted and nothing is left to
// do.
func settled(e *lsptest.Editor, want func(wire.Status) bool) (st wire.Status) {
	e.Await(lsp.MethodStatusChanged, func(params json.RawMessage) bool {
		st = wire.Status{}
		return json.Unmarshal(params, &st) == nil && want(st) && st.Queues.Index == 0 && !st.Coverage.Stale
	})
	return st
}

func statusOf(e *lsptest.Editor) (st wire.Status) {
	e.MustCall(lsp.MethodStatus, nil, &st)
	return st
}

// TestCheckoutIsOneBatch: a change of branch that touches 5,000 files is one
// batch, and the way back embeds nothing.
func TestCheckoutIsOneBatch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	files := 5000
	if testing.Short() {
		files = 500
	}
	c := newCLI(t)
	dir := filepath.Join(t.TempDir(), "repo")
	gitIn(t, t.TempDir(), "init", "-q", dir)
	fill := func(name string) {
		t.Helper()
		for i := range files {
			writeAt(t, filepath.Join(dir, fmt.Sprintf("p%d/f%d.go", i%100, i)), fmt.Sprintf("package p%d\n\n// F%d is %s.\nfunc F%d() string { return %q }\n", i%100, i, name, i, name))
		}
		gitIn(t, dir, "add", ".")
		gitIn(t, dir, "commit", "-qm", name)
	}
	fill("one")
	gitIn(t, dir, "checkout", "-qb", "two")
	fill("two")
	gitIn(t, dir, "checkout", "-q", "main")

	e := lsptest.Start(t, lsptest.Config{Client: lsptest.Minimal, Folders: []string{dir}, Dial: c.serving("serve")})
	e.Sync(wire.SyncParams{Scan: true})
	settled(e, func(st wire.Status) bool { return st.LastBatch.Cause == "start" && st.Watches > 0 })
	before := statusOf(e)
	checkout := func(branch string) wire.Status {
		t.Helper()
		was := statusOf(e).Counters.Batches
		gitIn(t, dir, "checkout", "-q", branch)
		settled(e, func(st wire.Status) bool { return st.Counters.Batches > was })
		e.Sync(wire.SyncParams{Scan: true})
		st := statusOf(e)
		if st.Counters.Batches != was+1 {
			t.Errorf("%s: %d batches", branch, st.Counters.Batches-was)
		}
		if st.LastBatch.Cause != "git" || st.LastBatch.Files < files {
			t.Errorf("%s: last batch %+v", branch, st.LastBatch)
		}
		return st
	}
	there := checkout("two")
	if got := there.Counters.Embedded - before.Counters.Embedded; got == 0 {
		t.Error("nothing was embedded for another branch: this test shows nothing")
	}
	back := checkout("main")
	if got := back.Counters.Embedded - there.Counters.Embedded; got != 0 {
		t.Errorf("the way back embedded %d chunks", got)
	}
	again := checkout("two")
	if got := again.Counters.Embedded - back.Counters.Embedded; got != 0 {
		t.Errorf("the second time there embedded %d chunks", got)
	}
	if again.Watches > 100 {
		t.Errorf("%d watches for 100 directories", again.Watches)
	}
	fresh := lsptest.Start(t, lsptest.Config{Client: lsptest.Minimal, Folders: []string{dir}, Dial: newCLI(t).serving("serve", "--index.watch", "off")})
	fresh.Sync(wire.SyncParams{Scan: true})
	want := statusOf(fresh)
	if again.Chunks != want.Chunks || again.Symbols != want.Symbols || again.Coverage.Indexed != want.Coverage.Indexed {
		t.Errorf("%d chunks, %d symbols, %d files; a new index has %d, %d, %d", again.Chunks, again.Symbols, again.Coverage.Indexed, want.Chunks, want.Symbols, want.Coverage.Indexed)
	}
	for _, q := range []string{"F7", "F4321", "F499"} {
		if got, want := found(e, q), found(fresh, q); !slices.Equal(got, want) {
			t.Errorf("%s: %q, a new index says %q", q, got, want)
		}
	}
	for _, one := range []*lsptest.Editor{e, fresh} {
		if err := one.Shutdown(); err != nil {
			t.Error(err)
		}
	}
}

// found are the hits of a search, with their text.
func found(e *lsptest.Editor, query string) []string {
	var r wire.SearchResult
	e.MustCall(lsp.MethodSearch, wire.SearchParams{Query: query}, &r)
	var all []string
	for _, h := range r.Hits {
		all = append(all, fmt.Sprintf("%s:%d-%d %s", h.Path, h.StartLine, h.EndLine, h.Text))
	}
	return all
}

// TestWatchesAreOfIndexedDirectories: there are never more watches than
// directories that hold indexed files.
func TestWatchesAreOfIndexedDirectories(t *testing.T) {
	c := newCLI(t)
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, ".gitignore"), "out/\n")
	code := "package p\n\n// Hello greets.\nfunc Hello() {}\n"
	for _, rel := range []string{"src/main/java/app/a.go", "src/main/b.go", "docs/deep/c.go"} {
		writeAt(t, filepath.Join(dir, rel), code)
	}
	for rel, text := range map[string]string{
		"out/gen/a.go": code, "node_modules/x/y/index.js": "f()", "empty/__init__.py": "", "media/logo.png": "x",
		"bin/data.txt": "\x00\x01\x02\x00", "min/app.js": strings.Repeat("var a=1;", 20_000),
	} {
		writeAt(t, filepath.Join(dir, rel), text)
	}
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Dial: c.serving("serve")})
	e.Sync(wire.SyncParams{Scan: true})
	watches := func(n int) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for statusOf(e).Watches != n {
			if time.Now().After(deadline) {
				t.Fatalf("%d watches, want %d", statusOf(e).Watches, n)
			}
			time.Sleep(10 * time.Millisecond) // the status has no event for it
		}
	}
	// .gitignore is indexed, too.
	if st := statusOf(e); st.Coverage.Indexed != 4 || st.Languages["ignore list"] != 1 {
		t.Errorf("%d files, %v", st.Coverage.Indexed, st.Languages)
	}
	watches(4)
	if got := e.Received("client/registerCapability"); slices.ContainsFunc(got, func(p json.RawMessage) bool {
		return strings.Contains(string(p), "didChangeWatchedFiles")
	}) {
		t.Error("the editor was asked to watch what the server does")
	}
	writeAt(t, filepath.Join(dir, "empty/__init__.py"), "def now_there_is_something(): pass\n")
	writeAt(t, filepath.Join(dir, "fresh/below/d.go"), code)
	watches(6)
	if err := os.RemoveAll(filepath.Join(dir, "src")); err != nil {
		t.Fatal(err)
	}
	watches(4)
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
}

// TestLimitIsShownOnce: the user is told once what cannot be watched, and the
// editor is asked for help.
func TestLimitIsShownOnce(t *testing.T) {
	c := newCLI(t)
	dir := t.TempDir()
	for i := range 8 {
		writeAt(t, filepath.Join(dir, fmt.Sprintf("d%d/a.go", i)), "package p\n\nfunc F() {}\n")
	}
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Dial: c.serving("serve", "--index.maxWatches", "3")})
	shown := string(e.Await("window/showMessage", nil))
	if !strings.Contains(shown, "only 3 directories") {
		t.Errorf("%s", shown)
	}
	e.Await("client/registerCapability", func(p json.RawMessage) bool { return strings.Contains(string(p), "didChangeWatchedFiles") })
	e.Sync(wire.SyncParams{Scan: true})
	st := statusOf(e)
	if st.Watches != 3 || st.WatchCap != 3 || !slices.ContainsFunc(st.Notices, func(n string) bool { return strings.Contains(n, "only 3 directories") }) {
		t.Errorf("%d of %d watches, notices %q", st.Watches, st.WatchCap, st.Notices)
	}
	// What the editor tells is heard at once.
	writeAt(t, filepath.Join(dir, "d7/b.go"), "package p\n\n// Voucher is new.\nfunc Voucher() {}\n")
	e.Watched(lsptest.FileEvent{URI: lsptest.URI(filepath.Join(dir, "d7/b.go")), Type: lsptest.FileCreated})
	e.Sync(wire.SyncParams{})
	if got := found(e, "Voucher"); len(got) == 0 || !strings.HasPrefix(got[0], "d7/b.go") {
		t.Errorf("%q", got)
	}
	e.SetSettings(map[string]any{"index": map[string]any{"pollInterval": 700}})
	e.Notify("workspace/didChangeConfiguration", nil)
	e.MustCall(lsp.MethodStatus, nil, nil)
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
	if n := len(e.Received("window/showMessage")); n != 1 {
		t.Errorf("shown %d times", n)
	}
}

// TestTheEditorWatches: with index.watch client nobody else does; an editor that
// does not offer to has the server do it.
func TestTheEditorWatches(t *testing.T) {
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "a.go"), "package p\n\nfunc F() {}\n")
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Dial: newCLI(t).serving("serve", "--index.watch", "client")})
	e.Await("client/registerCapability", func(p json.RawMessage) bool { return strings.Contains(string(p), "didChangeWatchedFiles") })
	e.Sync(wire.SyncParams{Scan: true})
	if st := statusOf(e); st.Watches != 0 {
		t.Errorf("%d watches", st.Watches)
	}
	writeAt(t, filepath.Join(dir, "b.go"), "package p\n\n// Voucher is new.\nfunc Voucher() {}\n")
	e.Watched(lsptest.FileEvent{URI: lsptest.URI(filepath.Join(dir, "b.go")), Type: lsptest.FileCreated})
	e.Sync(wire.SyncParams{})
	if got := found(e, "Voucher"); len(got) == 0 {
		t.Error("what the editor told was not heard")
	}
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
	e = lsptest.Start(t, lsptest.Config{Client: lsptest.Minimal, Folders: []string{dir}, Dial: newCLI(t).serving("serve", "--index.watch", "client")})
	if shown := string(e.Await("window/showMessage", nil)); !strings.Contains(shown, "index.watch") {
		t.Errorf("%s", shown)
	}
	e.Sync(wire.SyncParams{Scan: true})
	writeAt(t, filepath.Join(dir, "c.go"), "package p\n\nfunc G() {}\n")
	settled(e, func(st wire.Status) bool { return st.Coverage.Indexed == 3 })
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
}

// BenchmarkSaveToSearchable measures from a save on disk, of which no editor
// tells, to a search that finds it, in the sources of Go's net packages and
// compiler.
func BenchmarkSaveToSearchable(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	for _, part := range []string{"net", "cmd/compile", "runtime", "go", "crypto"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(strings.TrimSpace(string(out)), "src", part))); err != nil {
			b.Skip(err)
		}
	}
	c := &cli{env: []string{"CODERAG_INDEX_CACHE_DIR=" + b.TempDir(), "CODERAG_EMBED_PROVIDER=static"}}
	e := lsptest.Start(b, lsptest.Config{Client: lsptest.Minimal, Folders: []string{dir}, Dial: c.serving("serve", "--log.level", "error")})
	e.Sync(wire.SyncParams{Scan: true})
	settled(e, func(st wire.Status) bool { return st.Watches > 0 })
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		word := fmt.Sprintf("Quagga%dSave", i)
		start := time.Now()
		if err := os.WriteFile(filepath.Join(dir, "net/http/saved.go"), []byte("package http\n\n// "+word+" is new.\nfunc "+word+"() {}\n"), 0o644); err != nil {
			b.Fatal(err)
		}
		for {
			if hits := found(e, word); len(hits) > 0 && strings.Contains(hits[0], word) {
				break
			}
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Milliseconds()), "p95-ms")
	if err := e.Shutdown(); err != nil {
		b.Error(err)
	}
}
