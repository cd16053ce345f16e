package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"coderag-ls/engine"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/mem"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// buntdb's own goroutine notices up to a second later that it was closed.
		goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"),
		// lumberjack's lives as long as the process.
		goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

// cli is the program in a world of its own.
type cli struct {
	t     *testing.T
	env   []string
	dir   string // a workspace
	cache string
	space *mem.Space // the shared index, nil for that of the settings
}

// app is a run of the program in this world.
func (c *cli) app(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := newApp(stdin, stdout, stderr, c.env)
	if c.space != nil {
		a.openShared = func(_ context.Context, s engine.SharedAccess) (sharedindex.Backend, error) {
			return c.space.Open(s.Tenant, s.Edition), nil
		}
	}
	return a
}

// newCLI makes a small workspace and an environment that knows nothing of the
// user's.
func newCLI(t *testing.T) *cli {
	t.Helper()
	base := t.TempDir()
	c := &cli{t: t, dir: filepath.Join(base, "shop"), cache: filepath.Join(base, "cache")}
	home := filepath.Join(base, "home")
	for _, dir := range []string{c.dir, home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "CODERAG_INDEX_CACHE_DIR=" + c.cache, "CODERAG_EMBED_PROVIDER=static"}
	c.write("go.mod", "module shop\n")
	c.write("cart/cart.go", `// Package cart holds what a customer is about to buy.
package cart

// Cart is a customer's basket.
type Cart struct{ items []Item }

// Item is an article and how many of it.
type Item struct {
	Name  string
	Cents int
	Count int
}

// TotalCents adds up the prices of all items in the basket.
func (c *Cart) TotalCents() int {
	total := 0
	for _, item := range c.items {
		total += item.Cents * item.Count
	}
	return total
}
`)
	c.write("ship/retry.go", `package ship

import "time"

// RetryDelay grows exponentially with each failed delivery attempt, up to a minute.
func RetryDelay(attempt int) time.Duration {
	delay := 100 * time.Millisecond << attempt
	return min(delay, time.Minute)
}
`)
	c.write("README.md", "# Shop\n\nA shop.\n\n## Shipping\n\nParcels leave the warehouse at noon.\n")
	return c
}

func (c *cli) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// result is what a run left behind.
type result struct {
	code        int
	out, errOut string
}

// run runs the program on the workspace.
func (c *cli) run(args ...string) result {
	return c.bare("", append([]string{"--root", c.dir}, args...)...)
}

// bare runs the program with these arguments only.
func (c *cli) bare(stdin string, args ...string) result {
	c.t.Helper()
	var out, errOut strings.Builder
	code := c.app(strings.NewReader(stdin), &out, &errOut).run(c.t.Context(), args)
	return result{code, out.String(), errOut.String()}
}

// want fails unless the run ended with code and wrote what is given.
func (r result) want(t *testing.T, code int, out, errOut string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.out, out) || !strings.Contains(r.errOut, errOut) {
		t.Errorf("exit code %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", r.code, code, out, r.out, errOut, r.errOut)
	}
}

// TestHelp compares every command's help with testdata/help.
func TestHelp(t *testing.T) {
	c := newCLI(t)
	for _, args := range []string{"", "ask", "search", "similar", "context", "index", "publish", "watch", "mcp", "status", "citations", "doctor", "serve", "config", "model", "model build", "model fetch", "model library", "model status", "clean", "eval", "version", "settings"} {
		words := strings.Fields(args)
		r := c.bare("", append(words, "--help")...)
		if args == "settings" {
			r = c.bare("", "help", "settings")
		}
		r.want(t, exitOK, "", "")
		name := "coderag-ls"
		if args != "" {
			name = strings.Join(words, "-")
		}
		golden := filepath.Join("testdata", "help", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(r.out), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if r.out != string(want) {
			t.Errorf("%s differs (go test ./cmd/coderag-ls -update):\n%s", golden, r.out)
		}
	}
}

// TestUsage: every mistake ends with code 2, says what is wrong and prints no result.
func TestUsage(t *testing.T) {
	c := newCLI(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"aks"}, `unknown command "aks"; did you mean ask?`},
		{[]string{"where is it?"}, `to ask a question: coderag-ls ask "where is it?"`},
		{[]string{"--bogus"}, "unknown flag: --bogus"},
		{[]string{"ask"}, "there is no question"},
		{[]string{"ask", " \t"}, "there is no question"},
		{[]string{"search"}, "there is no question"},
		{[]string{"context", ""}, "there is no question"},
		{[]string{"ask", "--top-k", "0", "x"}, "--top-k 0 is less than 1"},
		{[]string{"ask", "--top-k", "many", "x"}, `invalid argument "many"`},
		{[]string{"ask", "--lines", "-1", "x"}, "cannot be negative"},
		{[]string{"context", "--budget=-5", "x"}, "cannot be negative"},
		{[]string{"ask", "--search.topK", "99", "x"}, "flag --search.topK: 99 is out of range (10 to 50)"},
		{[]string{"ask", "--search.minRelevance=much", "x"}, `"much" is not a number`},
		{[]string{"ask", "--color", "sometimes", "x"}, `--color "sometimes" is none of auto, always, never`},
		{[]string{"index", "somewhere"}, "paths are for --force"},
		{[]string{"index", "--dry-run", "--force"}, "exclude each other"},
		{[]string{"status", "now"}, "takes no arguments"},
		{[]string{"version", "now"}, "takes no arguments"},
		{[]string{"serve", "--listen", "127.0.0.1:0", "--pipe", "x"}, "exclude each other"},
		{[]string{"serve", "--token", "x"}, "--token is for --listen"},
		{[]string{"serve", "--listen", "0.0.0.0:7000"}, "no loopback address"},
		{[]string{"serve", "--listen", "localhost:7000"}, "no loopback address"},
		{[]string{"serve", "--listen", ":7000"}, "no loopback address"},
		{[]string{"serve", "--listen", "127.0.0.1"}, "not of the form"},
		{[]string{"serve", "--listen", "127.0.0.1:99999"}, "no port number"},
		{[]string{"similar"}, "takes one file"},
		{[]string{"similar", "nothere.go"}, "there is no file nothere.go"},
		{[]string{"similar", "ship/retry.go:90-91"}, "has 9 lines, but 90 to 91"},
		{[]string{"similar", "ship/retry.go:3-2"}, "3 to 2"},
		{[]string{"mcp", "--http", "0.0.0.0:80"}, "no loopback address"},
		{[]string{"mcp", "--http", ""}, "not of the form"},
		{[]string{"mcp", "now"}, "takes no arguments"},
		{[]string{"watch", "now"}, "takes no arguments"},
		{[]string{"clean", "--all", "--vanished"}, "exclude each other"},
		{[]string{"config", "search.topq"}, "did you mean search.topK?"},
		{[]string{"model", "bild"}, `unknown command "bild"`},
		{[]string{"model", "build"}, "takes one folder or archive"},
		{[]string{"model", "build", "--variant", "int7", "x"}, `"int7" is none of int8, fp32`},
		{[]string{"model", "library"}, "takes one archive"},
		{[]string{"model", "library", "--url", "http://127.0.0.1/x"}, "--url needs --sha256"},
	} {
		r := c.run(tt.args...)
		if r.code != exitUsage || !strings.Contains(r.errOut, tt.want) || !strings.Contains(r.errOut, "--help' for usage.") || r.out != "" {
			t.Errorf("%q: code %d, want 2 and %q\nstdout: %s\nstderr: %s", tt.args, r.code, tt.want, r.out, r.errOut)
		}
	}
}

// TestRoots: a bad folder is named, and what nobody means to index is refused.
func TestRoots(t *testing.T) {
	c := newCLI(t)
	home := filepath.Join(filepath.Dir(c.dir), "home")
	link := filepath.Join(c.dir, "..", "homelink")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.dir, "go.mod")
	for _, tt := range []struct{ root, want string }{
		{filepath.Join(c.dir, "nothere"), "nothere does not exist"},
		{file, "go.mod is a file; --root takes a folder"},
		{"", "--root is empty"},
		{"/", "is the root of the file system"},
		{home, "is your home directory"},
		{link, "is your home directory"},
		{filepath.Dir(home), "holds your home directory"},
	} {
		for _, command := range [][]string{{"ask", "x"}, {"index"}, {"index", "--dry-run"}, {"status"}, {"clean"}} {
			r := c.bare("", append([]string{"--root", tt.root}, command...)...)
			if r.code != exitUsage || !strings.Contains(r.errOut, tt.want) {
				t.Errorf("--root %q %q: code %d, want 2 and %q\n%s", tt.root, command, r.code, tt.want, r.errOut)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(home, "notes.md"), []byte("# Notes\n\nBuy milk.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.bare("", "--root", home, "--yes", "index").want(t, exitOK, "1 of 1 indexed", "")
}

func TestUnreadableRoot(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser reads everything; internal/e2e runs this as another user")
	}
	c := newCLI(t)
	locked := filepath.Join(c.dir, "locked")
	if err := os.Mkdir(locked, 0); err != nil {
		t.Fatal(err)
	}
	c.bare("", "--root", locked, "ask", "x").want(t, exitError, "", "locked cannot be read")
}

// TestRootIsTheRepository: without --root the nearest folder with .git counts,
// else the working directory.
func TestRootIsTheRepository(t *testing.T) {
	c := newCLI(t)
	t.Chdir(filepath.Join(c.dir, "cart"))
	c.bare("", "search", "--json", "TotalCents").want(t, exitOK, `"path": "cart.go"`, "")
	if err := os.Mkdir(filepath.Join(c.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.bare("", "search", "--json", "TotalCents").want(t, exitOK, `"path": "cart/cart.go"`, "")
	// Worktrees and submodules have a file of that name.
	if err := os.WriteFile(filepath.Join(c.dir, "cart", ".git"), []byte("gitdir: elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.bare("", "search", "--json", "TotalCents").want(t, exitOK, `"path": "cart.go"`, "")
}

// TestTwoRoots: folders of one name are told apart, and paths say which is meant.
func TestTwoRoots(t *testing.T) {
	c := newCLI(t)
	other := filepath.Join(t.TempDir(), "shop")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "refund.go"), []byte("package shop\n\n// Refund gives the money back.\nfunc Refund() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := c.bare("", "--root", c.dir, "--root", other, "--root", c.dir, "search", "--json", "Refund money")
	r.want(t, exitOK, `"path": "shop-2/refund.go"`, "")
	r.want(t, exitOK, `"root": "shop-2"`, "")
}

// TestInterrupted: a cancelled run ends with 130 and says nothing.
func TestInterrupted(t *testing.T) {
	c := newCLI(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut strings.Builder
	code := run(ctx, []string{"--root", c.dir, "ask", "total"}, strings.NewReader(""), &out, &errOut, c.env)
	result{code, out.String(), errOut.String()}.want(t, exitInterrupted, "", "")
	if out.String() != "" {
		t.Errorf("stdout: %s", out.String())
	}
	c.run("ask", "TotalCents").want(t, exitOK, "cart/cart.go", "")
}
