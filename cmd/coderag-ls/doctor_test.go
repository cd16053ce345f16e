package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store/bunt"
)

// TestDoctorFinds breaks a set-up in one way at a time: doctor names the part that is
// broken, says what to do, and finds nothing else.
func TestDoctorFinds(t *testing.T) {
	indexDir := func(c *cli) string {
		s := config.Default()
		s.Index.CacheDir = c.cache
		dir, err := engine.IndexDir(s, file.Root{Name: filepath.Base(c.dir), Dir: c.dir})
		if err != nil {
			c.t.Fatal(err)
		}
		return dir
	}
	put := func(c *cli, name, text string, mode os.FileMode) string {
		path := filepath.Join(c.t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			c.t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			c.t.Fatal(err)
		}
		return path
	}
	closed := func(c *cli) string { // an address where nobody listens
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			c.t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	for name, tt := range map[string]struct {
		check  string // that finds it; "" where nothing is broken
		state  string
		says   string
		damage func(c *cli) []string // breaks it, and returns further flags
	}{
		"nothing": {"", "", "", func(*cli) []string { return nil }},
		"a settings file that is no TOML": {"settings", stateWarning, "config.toml", func(c *cli) []string {
			return []string{"--config", put(c, "config.toml", "search = = 3\n", 0o600)}
		}},
		"a variable that is no setting's": {"settings", stateWarning, "CODERAG_TOPK", func(c *cli) []string {
			c.env = append(c.env, "CODERAG_TOPK=30")
			return nil
		}},
		"a pattern that is none": {"workspace", stateError, "[a", func(*cli) []string { return []string{"--index.exclude", "[a"} }},
		"nothing to index": {"workspace", stateWarning, "0 files", func(c *cli) []string {
			return []string{"--exclude", "**"}
		}},
		"a worktree whose repository is gone": {"git", stateWarning, ".git", func(c *cli) []string {
			c.write(".git", "gitdir: /nowhere/.git/worktrees/shop\n")
			return nil
		}},
		"an index that is damaged": {"index", stateWarning, "index", func(c *cli) []string {
			c.run("index").want(c.t, exitOK, "", "")
			damage(c.t, indexDir(c))
			return nil
		}},
		"an index that another process does not share": {"index", stateWarning, "not shared", func(c *cli) []string {
			c.run("index").want(c.t, exitOK, "", "")
			st, err := bunt.Open(c.t.Context(), indexDir(c), bunt.Options{})
			if err != nil {
				c.t.Fatal(err)
			}
			c.t.Cleanup(func() { st.Close() })
			return nil
		}},
		"a cache that is a file": {"cache", stateError, "cannot be written", func(c *cli) []string {
			return []string{"--cache-dir", filepath.Join(put(c, "file", "", 0o600), "cache")}
		}},
		"no place for a socket": {"socket", stateError, "no socket", func(c *cli) []string {
			long := filepath.Join(c.t.TempDir(), strings.Repeat("long", 30))
			if err := os.Mkdir(long, 0o700); err != nil {
				c.t.Fatal(err)
			}
			c.t.Setenv("XDG_RUNTIME_DIR", filepath.Join(long, "missing"))
			c.t.Setenv("TMPDIR", filepath.Join(long, "missing"))
			return []string{"--cache-dir", long}
		}},
		"a model that is not installed": {"model", stateError, "nomodel", func(c *cli) []string {
			return []string{"--embed.provider", "onnx", "--embed.modelDir", filepath.Join(c.t.TempDir(), "nomodel")}
		}},
		"more folders than watches": {"watching", stateWarning, "index.maxWatches", func(*cli) []string { return []string{"--index.maxWatches", "1"} }},
		"watching switched off":     {"watching", stateWarning, "index.watch", func(*cli) []string { return []string{"--index.watch", "off"} }},
		"a language model without a name": {"provider", stateError, "llm.model", func(*cli) []string {
			return []string{"--llm.baseUrl", "http://127.0.0.1:1/v1"}
		}},
		"a language model that is not running": {"provider", stateError, "cannot be reached", func(c *cli) []string {
			return []string{"--llm.baseUrl", "http://" + closed(c) + "/v1", "--llm.model", "m"}
		}},
		"a key that others can read": {"provider", stateError, "key", func(c *cli) []string {
			return []string{"--llm.baseUrl", "http://" + closed(c) + "/v1", "--llm.model", "m", "--llm.apiKeyFile", put(c, "key", "sk-secret-secret\n", 0o644)}
		}},
		"an embeddings server without a model": {"embeddings", stateError, "embed.model is not set", func(*cli) []string {
			return []string{"--embed.baseUrl", "http://127.0.0.1:1/v1"}
		}},
		"an embedding model without a server": {"embeddings", stateError, "embed.baseUrl is not set", func(*cli) []string {
			return []string{"--embed.model", "m"}
		}},
		"an embeddings server that is not running": {"embeddings", stateError, "cannot be reached", func(c *cli) []string {
			return []string{"--embed.baseUrl", "http://" + closed(c) + "/v1", "--embed.model", "m"}
		}},
		"an embeddings server that is no URL": {"embeddings", stateError, "no http or https URL", func(*cli) []string {
			return []string{"--embed.baseUrl", "localhost:1", "--embed.model", "m"}
		}},
		"an embeddings server's key that others can read": {"embeddings", stateError, "key", func(c *cli) []string {
			return []string{"--embed.baseUrl", "http://" + closed(c) + "/v1", "--embed.model", "m", "--embed.apiKeyFile", put(c, "key", "sk-secret-secret\n", 0o644)}
		}},
		"a log file in no folder": {"log", stateError, "log", func(c *cli) []string {
			return []string{"--log.file", filepath.Join(c.t.TempDir(), "none", "log")}
		}},
		"metrics for everybody": {"metrics", stateError, "0.0.0.0", func(*cli) []string { return []string{"--metrics.listen", "0.0.0.0:9090"} }},
		"a token that others can read": {"mcp", stateError, "chmod 600", func(c *cli) []string {
			return []string{"--mcp.tokenFile", put(c, "token", strings.Repeat("secret", 5), 0o644)}
		}},
		"a token that is short": {"mcp", stateError, mcpTokenVariable, func(c *cli) []string {
			c.env = append(c.env, mcpTokenVariable+"=abc")
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(name, "others can read") {
				t.Skip("files have no modes")
			}
			c := newCLI(t)
			args := append(tt.damage(c), "doctor", "--json")
			r := c.run(args...)
			found := false
			for _, f := range decode[[]finding](t, r.out) {
				switch {
				case f.State == stateOK:
				case tt.check == "cache" && f.Check == "index": // it lies there
				case f.Check != tt.check || f.State != tt.state:
					t.Errorf("%s is %s: %s", f.Check, f.State, f.Detail)
				default:
					found = true
					if !strings.Contains(f.Detail, tt.says) || f.Advice == "" {
						t.Errorf("%s says %q, advises %q", f.Check, f.Detail, f.Advice)
					}
				}
				if strings.Contains(f.Detail+f.Advice, "secret") && tt.check != "" && f.Check != "workspace" {
					t.Errorf("%s tells a secret: %s %s", f.Check, f.Detail, f.Advice)
				}
			}
			if found != (tt.check != "") {
				t.Errorf("it was not found:\n%s", r.out)
			}
			code := exitOK
			if tt.state == stateError {
				code = exitError
			}
			if r.code != code {
				t.Errorf("exit code %d, want %d\n%s", r.code, code, r.errOut)
			}
			if text := c.run(args[:len(args)-1]...); text.code != code || tt.check != "" && !strings.Contains(text.out, tt.check) {
				t.Errorf("exit code %d:\n%s", text.code, text.out)
			}
		})
	}
}

// damage writes over the middle of an index.
func damage(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var largest string
	var size int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > size {
			largest, size = filepath.Join(dir, e.Name()), info.Size()
		}
	}
	f, err := os.OpenFile(largest, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("\xff", 64)), size/2); err != nil {
		t.Fatal(err)
	}
}
