package watcher

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Git's directories are not watched: they are looked at when a batch is about to
// be sent. A command that changes many files holds the lock of the index while
// it does.

// repo is a git work tree.
type repo struct {
	dir string // git's directory of the work tree
	// seen is what the files that tell of commands looked like last.
	seen map[string]fileStamp
	// moving is when these were last seen changing while a rebase was under way.
	moving time.Time
	// ignored are locks that were waited for in vain: somebody's left-overs.
	ignored map[string]fileStamp
}

// fileStamp tells two states of a file apart; it is zero where there is none.
type fileStamp struct{ size, modTime int64 }

var (
	// locks are held by commands at work.
	locks = [...]string{"index.lock", "HEAD.lock"}
	// sequences are there while a command of many steps is under way, and while it
	// waits for the user.
	sequences = [...]string{"rebase-merge", "rebase-apply", "sequencer"}
	// traces change with what commands do: the first two where HEAD moves, which a
	// command that resets the work tree does too, if to where it was.
	traces = [...]string{"HEAD", "logs/HEAD", "index", "rebase-merge", "rebase-merge/done", "rebase-apply", "rebase-apply/next", "sequencer"}
)

// pause is how long the steps of a rebase may be apart; a rebase in which
// nothing happens for longer waits for the user.
const pause = time.Second

func newRepo(dir string) *repo {
	r := &repo{dir: dir, seen: map[string]fileStamp{}, ignored: map[string]fileStamp{}}
	for _, name := range traces {
		r.seen[name] = r.stamp(name)
	}
	return r
}

func (r *repo) stamp(name string) fileStamp {
	info, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.Size(), info.ModTime().UnixNano()}
}

// working reports whether a command is at work. A lock that is older than limit
// is a crashed command's.
func (r *repo) working(now time.Time, limit time.Duration) bool {
	for _, name := range locks {
		s := r.stamp(name)
		if s != (fileStamp{}) && s != r.ignored[name] && now.Sub(time.Unix(0, s.modTime)) < limit {
			return true
		}
	}
	for _, name := range sequences {
		if _, err := os.Lstat(filepath.Join(r.dir, name)); err != nil {
			continue
		}
		// blame compares with what was seen before: nothing is noted here.
		newest := int64(0)
		for _, trace := range traces {
			newest = max(newest, r.stamp(trace).modTime)
		}
		if last := time.Unix(0, newest); last.After(r.moving) {
			r.moving = last
		}
		return now.Sub(r.moving) < pause
	}
	return false
}

// lostPatience has locks ignored that are held now.
func (r *repo) lostPatience() {
	for _, name := range locks {
		r.ignored[name] = r.stamp(name)
	}
}

// moved reports whether HEAD moved, and whether the index changed, after a time
// and since the last call.
func (r *repo) moved(after time.Time) (head, index bool) {
	// The clocks of file systems tick slower than ours.
	from := after.Add(-50 * time.Millisecond).UnixNano()
	for i, name := range traces[:3] {
		s := r.stamp(name)
		changed := s != r.seen[name] && s.modTime >= from
		r.seen[name] = s
		if i < 2 {
			head = head || changed
		} else {
			index = changed
		}
	}
	return head, index
}

// gitDir returns git's directory of a work tree whose .git is a directory or,
// for linked work trees and submodules, a file that names it; "" where there is
// none.
func gitDir(workTree string) string {
	git := filepath.Join(workTree, ".git")
	info, err := os.Stat(git)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return git
	case info.Mode().Type() != fs.FileMode(0) || info.Size() > 4096:
		return ""
	}
	data, err := os.ReadFile(git)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	target, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "gitdir: ")
	if !ok {
		return ""
	}
	if target = filepath.FromSlash(target); !filepath.IsAbs(target) {
		target = filepath.Join(workTree, target)
	}
	return filepath.Clean(target)
}

// enclosing returns the work tree that a root lies in and git's directory of it;
// "" where it lies in none.
func enclosing(root string) (workTree, git string) {
	for at := root; ; at = filepath.Dir(at) {
		if git := gitDir(at); git != "" {
			return at, git
		}
		if at == filepath.Dir(at) {
			return "", ""
		}
	}
}
