package recent_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"coderag-ls/engine/recent"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := repository{t, t.TempDir()}
	r.git("init", "-q")
	return r
}

func (r repository) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

const date = "2020-01-02T03:04:05Z"

func (r repository) write(path, content string) {
	r.t.Helper()
	abs := filepath.Join(r.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(abs, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r repository) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "x")
}

func files(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	got, err := recent.Files(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFiles(t *testing.T) {
	r := newRepository(t)
	r.write("sub/old.go", "1")
	r.write("sub/two words\u00e9.go", "1")
	r.write("other/far.go", "1")
	r.write(".gitignore", "*.log\n")
	r.commit()
	r.write("sub/old.go", "22")         // changed
	r.write("sub/new/untracked.go", "") // new
	r.write("sub/x.log", "")            // ignored
	committed, _ := time.Parse(time.RFC3339, date)
	got := files(t, r.dir)
	want := []string{".gitignore", "other/far.go", "sub/new/untracked.go", "sub/old.go", "sub/two words\u00e9.go"}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if !got["other/far.go"].Equal(committed) || time.Since(got["sub/old.go"]) > time.Hour || time.Since(got["sub/new/untracked.go"]) > time.Hour {
		t.Errorf("times: %v", got)
	}
	// A folder in a repository has its own paths.
	want = []string{"new/untracked.go", "old.go", "two words\u00e9.go"}
	if names := slices.Sorted(maps.Keys(files(t, filepath.Join(r.dir, "sub")))); !slices.Equal(names, want) {
		t.Errorf("in a folder: %q, want %q", names, want)
	}
	if names := files(t, t.TempDir()); len(names) != 0 {
		t.Errorf("outside of a repository: %q", names)
	}
}

func TestRepositoryWithoutCommit(t *testing.T) {
	r := newRepository(t)
	r.write("a.go", "")
	if got := files(t, r.dir); len(got) != 1 || got["a.go"].IsZero() {
		t.Errorf("%v", got)
	}
}

func TestNoRepository(t *testing.T) {
	r := newRepository(t)
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "HEAD"), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := recent.Files(t.Context(), r.dir); err == nil {
		t.Errorf("of a broken repository: %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := recent.Files(ctx, newRepository(t).dir); err == nil {
		t.Error("a cancelled question is answered")
	}
}

// A repository's settings may name programs. None is run: the folder may be
// anybody's.
func TestNothingIsRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	r := newRepository(t)
	trap := filepath.Join(t.TempDir(), "trap")
	sprung := trap + ".sprung"
	if err := os.WriteFile(trap, []byte("#!/bin/sh\necho \"$0 $*\" >> "+sprung+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.write("a.go", "1")
	r.write(".gitattributes", "* filter=trap diff=trap\n")
	r.commit()
	for _, name := range []string{
		"core.fsmonitor", "filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "diff.trap.textconv", "diff.trap.command",
		"diff.external", "gpg.program", "core.pager", "pager.log", "pager.status", "core.sshCommand", "core.askPass", "credential.helper",
	} {
		r.git("config", name, trap)
	}
	r.git("config", "filter.trap.required", "true")
	r.git("config", "log.showSignature", "true")
	r.git("config", "core.hooksPath", filepath.Dir(trap))
	r.write("a.go", "2") // the same size: git must look into it
	got := files(t, r.dir)
	if _, ok := got["a.go"]; !ok {
		t.Errorf("%v", got)
	}
	if what, err := os.ReadFile(sprung); err == nil {
		t.Errorf("the repository had this run: %s", what)
	}
	// The traps do spring where they are not switched off.
	cmd := exec.Command("git", "-C", r.dir, "status")
	_ = cmd.Run()
	if _, err := os.ReadFile(sprung); err != nil {
		t.Errorf("no trap was sprung by git status itself: %v", err)
	}
}
