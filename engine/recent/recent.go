// Package recent tells which files of a folder its people worked on last, as
// git knows it: what the newest commits changed, and what is not committed yet.
//
// The folder may be anybody's. git is asked in a way that runs no program that
// the repository's settings name, fetches nothing and writes nothing.
package recent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// commits is how far back is looked, maxFiles how many files are told: what
	// came in by the thousand was edited by nobody here.
	commits  = 200
	maxFiles = 2000
	// maxOutput is how much of what git says is read, in bytes.
	maxOutput = 8 << 20
	// patience is how long git may take in all.
	patience = 10 * time.Second
)

// Files returns when files below dir were last edited, by slash path relative
// to dir: the time of the last commit that changed the file, and now for what
// is not committed. Without git, or outside of a repository, it returns nothing
// and no error. Files that are gone may be among them.
func Files(ctx context.Context, dir string) (map[string]time.Time, error) {
	if !inRepository(dir) {
		return nil, nil
	}
	exe, err := exec.LookPath("git")
	if err != nil {
		return nil, nil // also where it was found in the folder itself
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g := git{exe: exe, dir: dir}
	files := map[string]time.Time{}
	// A repository without a commit has no log; its files are untracked.
	logErr := g.log(ctx, files)
	statusErr := g.status(ctx, files)
	if logErr != nil && statusErr != nil {
		return nil, fmt.Errorf("asking git which files of %s were edited last: %w", dir, errors.Join(logErr, statusErr))
	}
	return files, nil
}

// inRepository reports whether dir or one above it holds .git.
func inRepository(dir string) bool {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return true
		}
		if filepath.Dir(at) == at {
			return false
		}
	}
}

type git struct{ exe, dir string }

// log adds what the newest commits changed.
func (g git) log(ctx context.Context, files map[string]time.Time) error {
	var at time.Time
	// Paths that hold control characters are quoted, so that none begins with one.
	return g.run(ctx, '\n', func(line string) bool {
		if seconds, ok := strings.CutPrefix(line, "\x01"); ok {
			n, err := strconv.ParseInt(seconds, 10, 64)
			if err != nil {
				return false
			}
			at = time.Unix(n, 0)
			return len(files) < maxFiles
		}
		if _, newer := files[line]; line != "" && !newer && !strings.HasPrefix(line, `"`) {
			files[line] = at
		}
		return len(files) < maxFiles
	}, nil, "log", "-n", strconv.Itoa(commits), "--no-merges", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--no-show-signature", "--no-notes", "--no-color", "--format=tformat:%x01%ct", "--name-only", "--relative", "--", ".")
}

// status adds what is changed and not committed.
func (g git) status(ctx context.Context, files map[string]time.Time) error {
	prefix := ""
	if err := g.run(ctx, '\n', func(line string) bool { prefix = line; return false }, nil, "rev-parse", "--show-prefix"); err != nil {
		return err
	}
	filters, err := g.filters(ctx)
	if err != nil {
		return err
	}
	now, n := time.Now(), 0
	return g.run(ctx, 0, func(entry string) bool {
		if len(entry) < 4 { // two letters, a space, the path
			return true
		}
		if rel, ok := strings.CutPrefix(entry[3:], prefix); ok && !strings.HasSuffix(rel, "/") {
			files[rel] = now
			n++
		}
		return n < maxFiles
	}, filters, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=no", "--ignore-submodules=all", "--no-renames", "--", ".")
}

// filters returns the settings that switch off the programs that the repository
// would have files pass through before they are compared.
func (g git) filters(ctx context.Context) (off []string, err error) {
	err = g.run(ctx, 0, func(name string) bool {
		if strings.ContainsAny(name, "=\n") { // -c could not name it
			err = fmt.Errorf("the filter %q has a name that cannot be switched off", name)
			return false
		}
		off = append(off, "-c", name+"=")
		return true
	}, nil, "config", "-z", "--name-only", "--get-regexp", `^filter\..*\.(clean|process|required)$`)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // there is none
	}
	return off, err
}

// run runs git and hands what it writes to take, piece by piece, until that is
// false.
func (g git) run(ctx context.Context, end byte, take func(string) bool, settings []string, args ...string) error {
	all := []string{
		"-C", g.dir, "--no-pager", "--no-optional-locks", "--literal-pathspecs",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.allow=never",
		"-c", "log.showSignature=false", "-c", "core.quotePath=false",
	}
	command := args[0]
	cmd := exec.CommandContext(ctx, g.exe, append(append(all, settings...), args...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = environment()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git %s: %w", command, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git %s: %w", command, err)
	}
	r := bufio.NewReader(io.LimitReader(out, maxOutput))
	enough := false
	for !enough {
		piece, err := r.ReadString(end)
		if err != nil {
			break // what has no end was cut off, or there is nothing
		}
		enough = !take(piece[:len(piece)-1])
	}
	_ = out.Close() // git ends when it writes more
	if err := cmd.Wait(); err != nil && !enough {
		return fmt.Errorf("git %s: %w", command, err)
	}
	return ctx.Err()
}

// environment is the program's, without what would have git look at another
// repository than the folder's, ask somebody or fetch.
func environment() []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(strings.ToUpper(name), "GIT_") {
			env = append(env, e)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
}
