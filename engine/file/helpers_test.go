package file_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"coderag-ls/engine/file"
)

// tree writes files below a new directory; a path that ends in "/" is a
// directory.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		write(t, dir, path, content)
	}
	return dir
}

func write(t testing.TB, dir, path, content string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(path))
	if path[len(path)-1] == '/' {
		must(t, os.MkdirAll(full, 0o755))
		return
	}
	must(t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(t, os.WriteFile(full, []byte(content), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rules(t testing.TB, dir string, opts file.Options) *file.Rules {
	t.Helper()
	r, err := file.NewRules(file.Root{Name: "root", Dir: dir}, opts)
	must(t, err)
	return r
}

func scan(t testing.TB, dir string, opts file.Options) file.Listing {
	t.Helper()
	l, err := rules(t, dir, opts).Scan(t.Context())
	must(t, err)
	return l
}

func paths(l file.Listing) []string {
	out := []string{}
	for _, e := range l.Entries {
		out = append(out, e.Path)
	}
	return out
}

// skipOf returns what the listing says of a path, or of a directory above it.
func skipOf(l file.Listing, path string) (file.Skip, bool) {
	for _, s := range l.Skips {
		if s.Path == path || s.Dir && len(path) > len(s.Path) && path[:len(s.Path)+1] == s.Path+"/" {
			return s, true
		}
	}
	return file.Skip{}, false
}

// git runs git without the user's settings.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "core.excludesFile=/dev/null", "-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
