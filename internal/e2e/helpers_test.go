package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// programVariable names the program under test for the tests of a run. It may
// be set beforehand, to one built with the race detector for example.
const programVariable = "CODERAG_TEST_PROGRAM"

// TestMain builds the program once for all tests.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		if os.Getenv(programVariable) == "" {
			dir, err := os.MkdirTemp("", "coderag-e2e-")
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer os.RemoveAll(dir)
			// Another user runs it too.
			if err := os.Chmod(dir, 0o755); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			path := filepath.Join(dir, "coderag-ls")
			if out, err := exec.Command("go", "build", "-o", path, "coderag-ls/cmd/coderag-ls").CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "building: %v\n%s", err, out)
				return 1
			}
			if err := os.Setenv(programVariable, path); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return m.Run()
	}())
}

// home is where runs of the program keep their files.
type home struct {
	tb     testing.TB
	cache  string   // where the indexes are
	config string   // the user's config.toml
	env    []string // further variables
	as     *user    // who runs it, nil for the tests' own user
	server *server  // the one that was started last
}

// newHome returns one for a test of its own.
func newHome(tb testing.TB) *home {
	return &home{tb: tb, cache: tb.TempDir(), config: filepath.Join(tb.TempDir(), "config.toml")}
}

// runLimit ends a run that hangs; nothing is meant to come near it.
const runLimit = 5 * time.Minute

// command is the program with arguments.
func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Getenv(programVariable), args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CODERAG_") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "HOME=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+filepath.Dir(h.config), "CODERAG_INDEX_CACHE_DIR="+h.cache, "CODERAG_EMBED_PROVIDER=static")
	cmd.Env = append(cmd.Env, h.env...)
	cmd.Dir = filepath.Dir(h.config)
	h.as.apply(cmd)
	return cmd
}

// outcome is what a run left.
type outcome struct {
	tb             testing.TB
	args           []string
	code           int
	stdout, stderr string
}

// run runs a command to its end.
func (h *home) run(args ...string) outcome {
	h.tb.Helper()
	return h.runWith("", args...)
}

// runWith is run with a standard input.
func (h *home) runWith(stdin string, args ...string) outcome {
	h.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := h.command(ctx, append([]string{"--config", h.config}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		h.tb.Fatalf("starting the program: %v", err)
	}
	o := outcome{h.tb, args, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	checkStderr(h.tb, o.stderr)
	return o
}

// checkStderr fails where the program fell over.
func checkStderr(tb testing.TB, stderr string) {
	tb.Helper()
	for _, mark := range []string{"panic:", "goroutine ", "fatal error:", "SIGSEGV", "DATA RACE"} {
		if strings.Contains(stderr, mark) {
			tb.Errorf("the program fell over:\n%s", clip(stderr, 8000))
			return
		}
	}
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}

// wants fails unless the run ended with a code and said all of the texts, on
// either stream.
func (o outcome) wants(code int, says ...string) outcome {
	o.tb.Helper()
	if o.code != code {
		o.tb.Errorf("%q ended with %d, want %d\n%s", o.args, o.code, code, clip(o.stderr, 4000))
	}
	for _, text := range says {
		if !strings.Contains(o.stdout, text) && !strings.Contains(o.stderr, text) {
			o.tb.Errorf("%q does not say %q:\n%s\n%s", o.args, text, clip(o.stdout, 4000), clip(o.stderr, 4000))
		}
	}
	return o
}

// decode decodes the JSON on standard output.
func (o outcome) decode(result any) {
	o.tb.Helper()
	if o.code != 0 && o.code != 3 {
		o.tb.Fatalf("%q ended with %d\n%s", o.args, o.code, clip(o.stderr, 4000))
	}
	if err := json.Unmarshal([]byte(o.stdout), result); err != nil {
		o.tb.Fatalf("%q: %v\n%s", o.args, err, clip(o.stdout, 4000))
	}
}

// search asks the command line.
func (h *home) search(root, query string, flags ...string) wire.SearchResult {
	h.tb.Helper()
	var r wire.SearchResult
	h.run(append([]string{"search", "--quiet", "--json", "--root", root, query}, flags...)...).decode(&r)
	return r
}

// status brings the index up to date and returns its state.
func (h *home) status(root string) wire.Status {
	h.tb.Helper()
	var st wire.Status
	h.run("index", "--quiet", "--json", "--root", root).decode(&st)
	return st
}

// server is a running one: what the editor reads and writes.
type server struct {
	io.Reader
	io.WriteCloser
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has
	err    error         // how, once it has
	stderr *transcript
}

// transcript collects what a process writes while it runs.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *transcript) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is what was written so far.
func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// dial starts the language server as an editor does.
func (h *home) dial(tb testing.TB) (io.ReadWriteCloser, func() error) {
	tb.Helper()
	cmd := h.command(context.Background(), "--config", h.config, "serve", "--stdio")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	// A pipe of our own: Wait must not close it while the editor reads.
	out, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	p := &server{Reader: out, WriteCloser: in, cmd: cmd, ended: make(chan struct{}), stderr: &transcript{}}
	cmd.Stdout, cmd.Stderr = w, p.stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	h.server = p
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	tb.Cleanup(func() {
		in.Close() // what a server ends for
		<-p.ended
		out.Close()
		checkStderr(tb, p.stderr.String())
		if tb.Failed() {
			tb.Logf("the server said:\n%s", clip(p.stderr.String(), 4000))
		}
	})
	return p, func() error {
		<-p.ended
		return p.err
	}
}

// kill ends the server as a crash does.
func (p *server) kill(tb testing.TB) {
	tb.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		tb.Fatal(err)
	}
	<-p.ended
}

// edit opens folders in an editor whose server keeps its files in the home.
func (h *home) edit(folders ...string) *lsptest.Editor {
	h.tb.Helper()
	return h.editWith(lsptest.Config{Folders: folders})
}

// editWith is edit with more to say.
func (h *home) editWith(c lsptest.Config) *lsptest.Editor {
	h.tb.Helper()
	if c.Client == "" {
		c.Client = lsptest.VSCode
	}
	c.Dial = h.dial
	return lsptest.Start(h.tb, c)
}

// hits searches in the editor.
func hits(tb testing.TB, e *lsptest.Editor, query string) []wire.Hit {
	tb.Helper()
	var r wire.SearchResult
	e.MustCall(lsp.MethodSearch, wire.SearchParams{Query: query}, &r)
	return r.Hits
}

// found reports whether a file is among hits, with a text in its lines.
func found(hits []wire.Hit, path, text string) bool {
	return slices.ContainsFunc(hits, func(h wire.Hit) bool { return h.Path == path && strings.Contains(h.Text, text) })
}

// wantFound fails unless a file is found.
func wantFound(tb testing.TB, hits []wire.Hit, path, text string) {
	tb.Helper()
	if !found(hits, path, text) {
		tb.Errorf("%q with %q is not among the hits %q", path, text, places(hits))
	}
}

func places(hits []wire.Hit) []string {
	all := []string{}
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%s:%d-%d", h.Path, h.StartLine, h.EndLine))
	}
	return all
}

// state is the server's status.
func state(tb testing.TB, e *lsptest.Editor) wire.Status {
	tb.Helper()
	var st wire.Status
	e.MustCall(lsp.MethodStatus, nil, &st)
	return st
}

// awaitMessage waits until the server shows or logs a message with all texts.
func awaitMessage(e *lsptest.Editor, texts ...string) {
	e.Await("window/showMessage", func(raw json.RawMessage) bool {
		var p struct{ Message string }
		return json.Unmarshal(raw, &p) == nil && containsAll(p.Message, texts)
	})
}

func containsAll(s string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(s, p) })
}

// skipped returns the reason and detail that a status has for a path.
func skipped(st wire.Status, path string) (reason, detail string) {
	for _, f := range st.SkippedFiles {
		if f.Path == path {
			return f.Reason, f.Detail
		}
	}
	return "", ""
}

// wantSkipped fails unless a path is skipped for a reason, with a detail.
func wantSkipped(tb testing.TB, st wire.Status, path, reason, detail string) {
	tb.Helper()
	r, d := skipped(st, path)
	if r != reason || !strings.Contains(d, detail) {
		tb.Errorf("%q is skipped as %q (%q), want %q (%q)", path, r, d, reason, detail)
	}
	if reason != "" && st.Coverage.Skipped[reason] == 0 {
		tb.Errorf("coverage counts no %q: %v", reason, st.Coverage.Skipped)
	}
}

// quokka is the sound file beside the bad ones: what is in it must be found
// whatever stands next to it.
const quokka = "package zoo\n\n// Quokka counts the marsupials of the island.\nfunc Quokka(n int) int { return n + 1 }\n"

// workspace makes a folder of files, given as name and content in turn, with a
// sound file zoo.go among them.
func workspace(tb testing.TB, files ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	write(tb, filepath.Join(dir, "zoo.go"), quokka)
	for i := 0; i < len(files); i += 2 {
		write(tb, filepath.Join(dir, files[i]), files[i+1])
	}
	return dir
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// must fails on an error of the test's own making.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// wantQuokka asks for what the sound file holds.
func wantQuokka(t *testing.T, e *lsptest.Editor, prefix string) {
	t.Helper()
	e.Sync(wire.SyncParams{})
	wantFound(t, hits(t, e, "Quokka"), prefix+"zoo.go", "func Quokka")
	res := ask(t, e, "what does Quokka count?")
	if len(res.Citations) == 0 || res.Citations[0].Path != prefix+"zoo.go" || !strings.Contains(res.Answer, "[zoo.go:") && prefix == "" {
		t.Errorf("the answer cites %v: %s", res.Citations, clip(res.Answer, 500))
	}
	for _, c := range res.Citations {
		if c.Path == prefix+"zoo.go" {
			checkCitation(t, c, quokka)
		}
	}
}
