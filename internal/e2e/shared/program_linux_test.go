package shared_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/wire"
	"coderag-ls/internal/sharedcluster"
	"coderag-ls/lsp/lsptest"
)

// user is somebody who runs the program: with a key, a tenant, and a cache of
// their own.
type user struct {
	tb     testing.TB
	ctx    context.Context
	binary string              // "" for the program under test
	host   *sharedcluster.Host // where it runs, nil for the tests' own place
	cache  string
	env    []string
	tenant string
}

// newUser is one with the publisher's key.
func newUser(tb testing.TB, ctx context.Context, c *sharedcluster.Cluster, tenant string) *user {
	return &user{tb: tb, ctx: ctx, cache: tb.TempDir(), tenant: tenant, env: []string{
		"CODERAG_SHARED_ENDPOINTS=" + strings.Join(c.Endpoints(), ","),
		"CODERAG_SHARED_API_KEY=" + sharedcluster.AdminKey,
		"CODERAG_SHARED_TENANT=" + tenant,
	}}
}

// with is the user with more settings, and a cache of their own.
func (u *user) with(env ...string) *user {
	o := *u
	o.cache, o.env = u.tb.TempDir(), append(append([]string{}, u.env...), env...)
	return &o
}

// in is the user in another test, such as a part of the first.
func (u *user) in(tb testing.TB) *user {
	o := *u
	o.tb = tb
	return &o
}

// alone is the user without a shared index.
func (u *user) alone() *user { return u.with("CODERAG_SHARED_ENDPOINTS=") }

func (u *user) command(ctx context.Context, args ...string) *exec.Cmd {
	binary := u.binary
	if binary == "" {
		binary = os.Getenv(programVariable)
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CODERAG_") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "HOME=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	home := filepath.Join(u.cache, "home")
	must(u.tb, os.MkdirAll(home, 0o755))
	cmd.Env = append(cmd.Env, "HOME="+home, "CODERAG_INDEX_CACHE_DIR="+u.cache, "CODERAG_EMBED_PROVIDER=static")
	cmd.Env = append(cmd.Env, u.env...)
	cmd.Dir = home
	return cmd
}

// outcome is what a run left.
type outcome struct {
	tb             testing.TB
	args           []string
	code           int // -1 where it was killed
	stdout, stderr string
}

// job is a run that is under way.
type job struct {
	u        *user
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     chan struct{}
}

// start starts a run.
func (u *user) start(args ...string) *job {
	u.tb.Helper()
	j := &job{u: u, cmd: u.command(u.ctx, args...), done: make(chan struct{})}
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.err
	start := j.cmd.Start
	if u.host != nil {
		start = func() error { return u.host.Start(j.cmd) }
	}
	must(u.tb, start())
	go func() {
		_ = j.cmd.Wait()
		close(j.done)
	}()
	u.tb.Cleanup(func() {
		_ = j.cmd.Process.Kill()
		<-j.done
	})
	return j
}

// wait waits for the run's end.
func (j *job) wait() outcome {
	<-j.done
	o := outcome{j.u.tb, j.cmd.Args[1:], j.cmd.ProcessState.ExitCode(), j.out.String(), j.err.String()}
	for _, mark := range []string{"panic:", "goroutine ", "fatal error:", "DATA RACE"} {
		if strings.Contains(o.stderr, mark) {
			o.tb.Errorf("the program fell over:\n%s", clip(o.stderr))
			break
		}
	}
	return o
}

func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// kill ends the run as kill -9 does.
func (j *job) kill() {
	j.u.tb.Helper()
	must(j.u.tb, j.cmd.Process.Kill())
	<-j.done
}

// run runs the program to its end.
func (u *user) run(args ...string) outcome {
	u.tb.Helper()
	return u.start(args...).wait()
}

// wants fails unless the run ended with a code and said the texts.
func (o outcome) wants(code int, says ...string) outcome {
	o.tb.Helper()
	if o.code != code {
		o.tb.Fatalf("%q ended with %d, want %d\n%s%s", o.args, o.code, code, clip(o.stdout), clip(o.stderr))
	}
	for _, text := range says {
		if !strings.Contains(o.stdout+o.stderr, text) {
			o.tb.Errorf("%q does not say %q:\n%s%s", o.args, text, clip(o.stdout), clip(o.stderr))
		}
	}
	return o
}

// decode decodes the JSON that was printed.
func (o outcome) decode(result any) {
	o.tb.Helper()
	if err := json.Unmarshal([]byte(o.stdout), result); err != nil {
		o.tb.Fatalf("%q: %v\n%s%s", o.args, err, clip(o.stdout), clip(o.stderr))
	}
}

func clip(s string) string {
	if len(s) > 4000 {
		return s[:4000] + "…"
	}
	return s
}

func publishArgs(name, commit, dir string, more ...string) []string {
	return append([]string{"publish", "--json", "--quiet", "--repository", name, "--commit", commit, dir}, more...)
}

// publish publishes a folder that is no git repository.
func (u *user) publish(name, commit, dir string, more ...string) (p wire.Publication) {
	u.tb.Helper()
	u.run(publishArgs(name, commit, dir, more...)...).wants(0).decode(&p)
	return p
}

// list is what is published.
func (u *user) list() (all []wire.SharedRepository) {
	u.tb.Helper()
	u.run("publish", "--list", "--json").wants(0).decode(&all)
	return all
}

// search asks the command line.
func (u *user) search(root, query string, flags ...string) (r wire.SearchResult) {
	u.tb.Helper()
	o := u.run(append([]string{"search", "--quiet", "--json", "--root", root, query}, flags...)...)
	if o.code != 3 { // nothing was found
		o.wants(0)
	}
	o.decode(&r)
	return r
}

// server is the language server's end of an editor's pipes.
type server struct {
	io.Reader
	io.WriteCloser
}

// edit opens a folder in an editor.
func (u *user) edit(t testing.TB, folder string) *lsptest.Editor {
	t.Helper()
	return lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{folder}, Dial: func(tb testing.TB) (io.ReadWriteCloser, func() error) {
		tb.Helper()
		cmd := u.command(context.Background(), "serve", "--stdio")
		in, err := cmd.StdinPipe()
		must(tb, err)
		out, w, err := os.Pipe()
		must(tb, err)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &said
		if u.host != nil {
			must(tb, u.host.Start(cmd))
		} else {
			must(tb, cmd.Start())
		}
		must(tb, w.Close())
		ended := make(chan error, 1)
		done := make(chan struct{})
		go func() {
			ended <- cmd.Wait()
			close(done)
		}()
		tb.Cleanup(func() {
			in.Close()
			<-done
			out.Close()
			if tb.Failed() {
				tb.Logf("the server said:\n%s", clip(said.String()))
			}
		})
		return server{out, in}, func() error { return <-ended }
	}})
}

// places lists hits for people.
func places(hits []wire.Hit) []string {
	all := []string{}
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%s:%d-%d", h.Path, h.StartLine, h.EndLine))
	}
	return all
}
