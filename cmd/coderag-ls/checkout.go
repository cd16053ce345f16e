package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// checkout is a commit as files in a folder.
type checkout struct {
	dir    string
	commit string
	files  map[string]bool // of the commit, by slash path; nil for all
	temp   bool            // dir is a copy that is removed
}

// errNoGit: a folder is in no git repository.
var errNoGit = errors.New("not in a git repository")

// checkoutOf returns the files of a commit of the repository that a folder lies in: the
// worktree where that has exactly them, else a copy. The caller closes it.
func checkoutOf(ctx context.Context, dir, rev string) (_ *checkout, err error) {
	top, err := git(ctx, dir, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoGit, err)
	}
	c := &checkout{dir: filepath.FromSlash(strings.TrimSpace(top))}
	if c.commit, err = git(ctx, c.dir, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}"); err != nil {
		return nil, usagef("%q names no commit of %s", rev, c.dir)
	}
	c.commit = strings.TrimSpace(c.commit)
	if err := c.list(ctx); err != nil {
		return nil, err
	}
	head, err := git(ctx, c.dir, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err == nil && strings.TrimSpace(head) == c.commit {
		changed, err := git(ctx, c.dir, nil, "status", "--porcelain=v1", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
		if err != nil {
			return nil, err
		}
		if changed == "" {
			return c, nil
		}
	}
	return c, c.export(ctx)
}

// list reads which files the commit has.
func (c *checkout) list(ctx context.Context) error {
	out, err := git(ctx, c.dir, nil, "ls-tree", "-r", "-z", "--full-tree", c.commit)
	if err != nil {
		return err
	}
	c.files = map[string]bool{}
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, path, ok := strings.Cut(entry, "\t")
		if ok && strings.Contains(meta, " blob ") { // submodules are repositories of their own
			c.files[path] = true
		}
	}
	return nil
}

// export writes the commit's files into a folder of their own.
func (c *checkout) export(ctx context.Context) (err error) {
	temp, err := os.MkdirTemp("", "coderag-publish-")
	if err != nil {
		return fmt.Errorf("making a folder for the files of %s: %w", c.commit, err)
	}
	from := c.dir
	c.dir, c.temp = filepath.Join(temp, filepath.Base(from)), true
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return err
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(temp, "index")}
	if _, err := git(ctx, from, env, "read-tree", c.commit); err != nil {
		return err
	}
	_, err = git(ctx, from, env, "checkout-index", "--all", "--force", "--quiet", "--prefix="+filepath.ToSlash(c.dir)+"/")
	return err
}

// close removes what was made.
func (c *checkout) close() error {
	if !c.temp {
		return nil
	}
	return os.RemoveAll(filepath.Dir(c.dir))
}

// git runs git in a folder and returns what it writes.
func git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	exe, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("git is not installed: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, append([]string{"-C", dir, "--no-pager", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.WaitDelay = time.Second
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); !strings.HasPrefix(strings.ToUpper(name), "GIT_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w: %s", args[0], dir, err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
