package watcher

import (
	"os"
	"path/filepath"
	"strings"
)

// A change of branch or a reset ends with a change of HEAD or of the index in
// git's directory: the watcher reports it as one rescan.

// isGitDir reports whether a directory looks like git's by its name.
func isGitDir(dir string) bool {
	return filepath.Base(dir) == ".git" || strings.Contains(filepath.ToSlash(dir), "/.git/worktrees/") || strings.Contains(filepath.ToSlash(dir), "/.git/modules/")
}

// gitDir returns git's directory of a work tree whose .git is a directory or,
// for linked work trees and submodules, a file that names it; "" where there is
// none.
func gitDir(workTree string) string {
	git := filepath.Join(workTree, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return git
	case !info.Mode().IsRegular() || info.Size() > 4096:
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

// enclosingGitDir returns git's directory of the repository that a root lies
// in.
func enclosingGitDir(root string) string {
	for at := root; ; at = filepath.Dir(at) {
		if git := gitDir(at); git != "" || at == filepath.Dir(at) {
			return git
		}
	}
}

// movesBranch reports whether a change of the file in git's directory may have
// changed the work tree.
func movesBranch(base string) bool { return base == "HEAD" || base == "index" }
