package file

import (
	"os"
	"path/filepath"
	"strings"
)

// gitExclude returns the path of the info/exclude file of the repository whose
// work tree is dir: .git may be the repository itself, or a file that names it
// (a submodule or a linked work tree, gitrepository-layout(5)).
func gitExclude(dir string) string {
	git := filepath.Join(dir, ".git")
	info, err := os.Lstat(git)
	if err != nil {
		return ""
	}
	if info.Mode().IsRegular() {
		line, _ := firstLine(git)
		target, ok := strings.CutPrefix(line, "gitdir: ")
		if !ok {
			return ""
		}
		if git = filepath.FromSlash(target); !filepath.IsAbs(git) {
			git = filepath.Join(dir, git)
		}
	}
	if common, ok := firstLine(filepath.Join(git, "commondir")); ok {
		if common = filepath.FromSlash(common); !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
		git = common
	}
	return filepath.Join(git, "info", "exclude")
}

// isWorkTree reports whether dir is the top of a git work tree.
func isWorkTree(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// firstLine returns the first line of a small file.
func firstLine(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimRight(line, "\r"), true
}
