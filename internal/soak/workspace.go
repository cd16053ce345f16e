package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// branch is the branch that is switched to and back.
const branch = "soak"

// workspace is a git repository with two branches, of many files that people
// wrote.
type workspace struct {
	dir string
	// switched are the files that differ between the branches, edited others
	// that the users work on; slash-separated.
	switched, edited []string
}

// makeWorkspace copies GOROOT/src and modules of the module cache into a git
// repository until it has so many files.
func makeWorkspace(ctx context.Context, dir string, files int) (*workspace, error) {
	w := &workspace{dir: dir}
	sources, err := sourceDirs(ctx)
	if err != nil {
		return nil, err
	}
	n := 0
	for i, source := range sources {
		if n >= files {
			break
		}
		copied, err := copyTree(source, filepath.Join(dir, fmt.Sprintf("m%02d-%s", i, filepath.Base(source))), files-n)
		if err != nil {
			return nil, err
		}
		n += copied
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}, {"checkout", "-q", "-b", branch}} {
		if err := w.git(ctx, args...); err != nil {
			return nil, err
		}
	}
	if err := w.choose(); err != nil {
		return nil, err
	}
	for i, path := range w.switched {
		if err := appendTo(filepath.Join(dir, path), fmt.Sprintf("\n// onBranch%d is only on the branch.\nfunc onBranch%d() int { return %d }\n", i, i, i)); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"commit", "-q", "-a", "-m", "branch"}, {"checkout", "-q", "main"}} {
		if err := w.git(ctx, args...); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// sourceDirs are the folders to copy: GOROOT/src first, then this module's
// dependencies.
func sourceDirs(ctx context.Context) ([]string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("finding GOROOT: %w", err)
	}
	modules, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("listing modules: %w", err)
	}
	dirs := []string{filepath.Join(strings.TrimSpace(string(root)), "src")}
	return append(dirs, strings.Fields(string(modules))...), nil
}

// copyTree copies source files, at most so many, and returns how many it did.
func copyTree(from, to string, most int) (int, error) {
	n := 0
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor") {
			return filepath.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".s", ".py", ".proto", ".sh", ".js":
		default:
			return nil
		}
		if !d.Type().IsRegular() || n >= most {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		n++
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
	if err != nil {
		return n, fmt.Errorf("copying %s: %w", from, err)
	}
	return n, nil
}

// choose picks the files that differ between the branches and those that are
// worked on.
func (w *workspace) choose() error {
	i := 0
	return filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil || filepath.Ext(path) != ".go" || info.Size() > 60_000 || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		switch i++; {
		case i%12 == 0 && len(w.switched) < 500:
			w.switched = append(w.switched, filepath.ToSlash(rel))
		case i%12 == 6 && info.Size() > 1000:
			w.edited = append(w.edited, filepath.ToSlash(rel))
		}
		return nil
	})
}

func appendTo(path, text string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, text...), 0o644)
}

// git runs git in the workspace, as nobody in particular.
func (w *workspace) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
