package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// What is measured of a live workspace, and the targets.
const (
	liveEdits     = 300
	liveSaves     = 40
	switchedFiles = 5000
	largestEdited = 900_000 // bytes
	takeOvers     = 3       // of each kind

	maxEditP50   = 50 // ms
	maxEditP95   = 150
	maxSaveP50   = 1000
	maxTakeOver  = 3 // s
	lookInterval = 5 * time.Millisecond
)

// benchLive works in a copy of the corpus, which is a git repository, through a
// language server of its own.
func benchLive(e *env) (section, error) {
	sec := section{
		title: "Live",
		text: fmt.Sprintf("A copy of the corpus in a git repository, served by the program itself over its standard input and output, the model in the binary. An edit is a line put into an open file; the time is from sending textDocument/didChange to the answer of a coderag/search that finds the new line, with a coderag/sync in between (%d edits of %d files). A save is a file replaced on disk, unknown to the editor; the time is until a search finds it, debouncing included. The branch differs in %d files; the time is from the end of `git checkout` until coderag/sync has answered.",
			liveEdits, liveEdits/10, switchedFiles),
		plot: &plotData{title: "Until it is searchable", unit: "ms (p50)"},
	}
	var err error
	inTest(func(tb testing.TB) {
		l := startLive(tb, e)
		rows, failed := l.measure()
		sec.rows, err = rows, failed
	}, &err)
	if err != nil {
		return sec, err
	}
	for _, r := range sec.rows {
		if r.unit == "ms" {
			sec.plot.labels = append(sec.plot.labels, strings.TrimSuffix(r.what, ", p50"))
			sec.plot.ours = append(sec.plot.ours, r.ours)
		}
	}
	return sec, nil
}

// live is a session in a workspace that changes.
type live struct {
	tb      testing.TB
	ctx     context.Context
	dir     string
	binary  string
	cache   string
	editor  *lsptest.Editor
	process *exec.Cmd // editor's server
	files   []string
	rng     *rand.Rand
	n       int
}

func startLive(tb testing.TB, e *env) *live {
	l := &live{tb: tb, ctx: e.ctx, dir: filepath.Join(e.dir, "live"), binary: filepath.Join(e.dir, "coderag-ls"), cache: filepath.Join(e.dir, "live-index"), rng: rand.New(rand.NewPCG(1, 2))}
	l.command("", "go", "build", "-o", l.binary, "./cmd/coderag-ls")
	l.must(os.CopyFS(l.dir, os.DirFS(e.corpus.root.Dir)))
	l.git("init", "-q", "-b", "main")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "all")
	l.must(filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") || strings.Contains(path, "vendor") {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() < largestEdited { // larger ones are not indexed
			l.files = append(l.files, path)
		}
		return err
	}))
	l.git("checkout", "-q", "-b", "other")
	for _, path := range l.files[:min(switchedFiles, len(l.files))] {
		l.write(path, l.read(path)+"\n// "+l.word()+" is on the other branch.\n")
	}
	l.git("commit", "-q", "-a", "-m", "other")
	l.git("checkout", "-q", "main")
	l.start()
	return l
}

// start starts a server and waits until everything is indexed.
func (l *live) start() {
	l.editor = lsptest.Start(l.tb, lsptest.Config{Client: lsptest.Neovim, Folders: []string{l.dir}, Dial: l.dial})
	l.editor.Sync(wire.SyncParams{Vectors: true})
}

func (l *live) dial(testing.TB) (io.ReadWriteCloser, func() error) {
	cmd := exec.CommandContext(l.ctx, l.binary, "serve", "--stdio")
	cmd.Env = append(os.Environ(), "CODERAG_INDEX_CACHE_DIR="+l.cache, "CODERAG_EMBED_PROVIDER=static", "CODERAG_LOG_LEVEL=error")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	l.must(err)
	out, w, err := os.Pipe()
	l.must(err)
	cmd.Stdout = w
	l.must(cmd.Start())
	l.process = cmd
	l.must(w.Close())
	return connection{out, in, out}, cmd.Wait
}

// connection is a server's standard input and output.
type connection struct {
	io.Reader
	io.WriteCloser
	out io.Closer
}

// Close closes both.
func (c connection) Close() error { return errors.Join(c.WriteCloser.Close(), c.out.Close()) }

func (l *live) measure() ([]row, error) {
	edits, syncs := l.edits()
	editP50, editP95 := percentiles(edits)
	syncP50, syncP95 := percentiles(syncs)
	saveP50, saveP95 := percentiles(l.saves())
	rows := []row{
		{what: "edit to search that finds it, p50", ours: editP50, worstOurs: editP95, hasOursP95: true, unit: "ms", most: maxEditP50},
		{what: "edit to search that finds it, p95", ours: editP95, unit: "ms", most: maxEditP95},
		{what: "of it until coderag/sync answered, p50", ours: syncP50, worstOurs: syncP95, hasOursP95: true, unit: "ms"},
		{what: "save on disk to search that finds it, p50", ours: saveP50, worstOurs: saveP95, hasOursP95: true, unit: "ms", most: maxSaveP50},
	}
	for i, branch := range []string{"other", "main"} {
		before := l.status()
		l.git("checkout", "-q", branch)
		began := time.Now()
		l.editor.Sync(wire.SyncParams{Scan: true, Vectors: true})
		took := time.Since(began)
		after := l.status()
		what := []string{"to a branch", "back"}[i]
		rows = append(rows,
			row{what: "git checkout " + what + " to everything searchable", ours: took.Seconds(), unit: "s"},
			row{what: "git checkout " + what + ", chunks embedded", ours: float64(after.Counters.Embedded - before.Counters.Embedded), unit: "chunks"},
			row{what: "git checkout " + what + ", batches", ours: float64(after.Counters.Batches - before.Counters.Batches), unit: "batches"})
	}
	l.must(l.editor.Shutdown())
	began := time.Now()
	l.editor = lsptest.Start(l.tb, lsptest.Config{Client: lsptest.Neovim, Folders: []string{l.dir}, Dial: l.dial})
	var answer wire.AskResult
	l.editor.MustCall(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: questions()[0]}}, &answer)
	if len(answer.Citations) == 0 {
		return nil, errors.New("no answer after a restart")
	}
	rows = append(rows, row{what: "restart to the first answer", ours: time.Since(began).Seconds(), unit: "s", most: maxWarmStart})
	l.editor.Sync(wire.SyncParams{Scan: true, Vectors: true})
	rows = append(rows, row{what: "restart, chunks embedded", ours: float64(l.status().Counters.Embedded), unit: "chunks"})
	rested, busy := l.takeOvers()
	rows = append(rows,
		row{what: "owner killed at rest to the other window's answer, slowest", ours: rested.Seconds(), unit: "s", most: maxTakeOver},
		row{what: "owner killed after a change to the other window's answer, slowest", ours: busy.Seconds(), unit: "s", most: maxTakeOver})
	return rows, l.editor.Shutdown()
}

// takeOvers kills the process that owns the index while another window is
// attached, and asks there at once: at rest, and just after files have changed
// on disk, so that nothing of that is written yet.
func (l *live) takeOvers() (rested, busy time.Duration) {
	for i := range 2 * takeOvers {
		owner := l.process
		l.start() // attached to the owner
		if i%2 == 1 {
			for range 20 {
				path := l.pick()
				l.write(path, l.read(path)+"\n// "+l.word()+" changed.\n")
			}
			l.editor.Sync(wire.SyncParams{Scan: true})
		}
		l.must(owner.Process.Kill())
		began := time.Now()
		var answer wire.AskResult
		l.editor.MustCall(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: questions()[i%len(questions())]}}, &answer)
		took := time.Since(began)
		if len(answer.Citations) == 0 {
			l.tb.Fatalf("no answer after the owner was killed")
		}
		if i%2 == 1 {
			busy = max(busy, took)
		} else {
			rested = max(rested, took)
		}
		l.editor.Sync(wire.SyncParams{Scan: true, Vectors: true})
	}
	return rested, busy
}

// edits types a line into open files, ten times each.
func (l *live) edits() (found, synced []time.Duration) {
	path := ""
	for i := range liveEdits {
		if i%10 == 0 {
			if path != "" {
				l.editor.Close(path)
			}
			path = l.pick()
			l.editor.OpenFile(path)
			l.editor.Sync(wire.SyncParams{})
		}
		word, content := l.word(), l.editor.Text(path)
		at := l.rng.IntN(len(content))
		at += strings.IndexByte(content[at:], '\n') + 1
		began := time.Now()
		l.editor.Edit(path, at, at, "// "+word+" was typed here.\n")
		l.editor.Sync(wire.SyncParams{})
		synced = append(synced, time.Since(began))
		if !l.finds(word) {
			l.tb.Fatalf("%s in %s is not found after a sync", word, path)
		}
		found = append(found, time.Since(began))
	}
	l.editor.Close(path)
	return found, synced
}

// saves replaces files on disk.
func (l *live) saves() (found []time.Duration) {
	for range liveSaves {
		path, word := l.pick(), l.word()
		content := l.read(path) + "\n// " + word + " was saved here.\n"
		began := time.Now()
		l.write(path, content)
		for !l.finds(word) {
			if time.Since(began) > time.Minute {
				l.tb.Fatalf("%s in %s is not found a minute after it was saved", word, path)
			}
			time.Sleep(lookInterval)
		}
		found = append(found, time.Since(began))
	}
	l.git("checkout", "-q", ".")
	l.editor.Sync(wire.SyncParams{Scan: true, Vectors: true})
	return found
}

func (l *live) finds(word string) bool {
	var r wire.SearchResult
	l.editor.MustCall(lsp.MethodSearch, wire.SearchParams{Query: word, TopK: 50}, &r)
	for _, h := range r.Hits {
		if strings.Contains(h.Text, word) {
			return true
		}
	}
	return false
}

func (l *live) status() wire.Status {
	var s wire.Status
	l.editor.MustCall(lsp.MethodStatus, json.RawMessage("{}"), &s)
	return s
}

func (l *live) pick() string { return l.files[l.rng.IntN(len(l.files))] }

// word is one that stands nowhere else.
func (l *live) word() string {
	l.n++
	return fmt.Sprintf("zq%c%c%cword%d", 'a'+l.n%26, 'a'+l.n/26%26, 'a'+l.n/676%26, l.n)
}

func (l *live) read(path string) string {
	data, err := os.ReadFile(path)
	l.must(err)
	return string(data)
}

// write replaces a file at once, as editors do.
func (l *live) write(path, content string) {
	tmp := path + "~"
	l.must(os.WriteFile(tmp, []byte(content), 0o644))
	l.must(os.Rename(tmp, path))
}

func (l *live) git(args ...string) {
	l.command(l.dir, "git", append([]string{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"}, args...)...)
}

func (l *live) command(dir, name string, args ...string) {
	cmd := exec.CommandContext(l.ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		l.tb.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
}

func (l *live) must(err error) {
	if err != nil {
		l.tb.Fatal(err)
	}
}

// inTest runs f as a test would, outside of one: the scripted editor wants
// something that it can fail.
func inTest(f func(testing.TB), err *error) {
	r := &runner{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(r.cleanups) - 1; i >= 0; i-- {
				r.cleanups[i]()
			}
		}()
		f(r)
	}()
	<-done
	if r.err != nil {
		*err = r.err
	}
}

// runner is what of testing.TB the editor uses.
type runner struct {
	testing.TB
	err      error
	cleanups []func()
}

func (r *runner) Helper()             {}
func (r *runner) Cleanup(f func())    { r.cleanups = append(r.cleanups, f) }
func (r *runner) Logf(string, ...any) {}
func (r *runner) Fatal(args ...any) {
	r.err = errors.New(strings.TrimSpace(fmt.Sprintln(args...)))
	runtime.Goexit()
}
func (r *runner) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }
