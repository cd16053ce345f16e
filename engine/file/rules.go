package file

import (
	"path"
	"path/filepath"
	"strings"
)

// Options say which files of a root are indexed.
type Options struct {
	// MaxBytes is the size above which a file is skipped; 0 or less means
	// DefaultMaxBytes.
	MaxBytes int64
	// Exclude are glob patterns (with ** for any number of directories) of
	// paths that are not indexed. A pattern without "/" is matched with the
	// base name, any other with the path from the root.
	Exclude []string
	// Include are glob patterns of paths that are indexed although an ignore
	// file, a built-in exclude or the secret-file rule would skip them.
	Include []string
	// NoIgnoreFiles turns .gitignore, .ignore, .coderagignore and
	// .git/info/exclude off.
	NoIgnoreFiles bool
}

// DefaultMaxBytes is the default of Options.MaxBytes: 1 MiB. Source files that
// people write are far below it; what is above is data or generated.
const DefaultMaxBytes = 1 << 20

// Rules say which paths of one root are indexed. They are safe for concurrent
// use. Ignore files are read once: make new Rules when one changed.
type Rules struct {
	root Root
	opts Options
}

// NewRules returns the rules of a root.
func NewRules(root Root, opts Options) (*Rules, error) {
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	root.Dir = filepath.Clean(root.Dir)
	return &Rules{root: root, opts: opts}, nil
}

// Ignored reports whether the file at a slash-separated path from the root is
// not indexed because of its name or place.
func (r *Rules) Ignored(rel string) bool {
	reason, _ := r.Decide(rel, false)
	return reason != ""
}

// Decide says why the file or directory at a slash-separated path from the
// root is not indexed because of its name or place: "" where it is.
func (r *Rules) Decide(rel string, isDir bool) (SkipReason, string) {
	for _, part := range strings.Split(rel, "/") {
		if part == ".git" || part == "node_modules" {
			return SkipExcluded, part
		}
	}
	return "", ""
}

// IsIgnoreFile reports whether a path names a file that holds ignore rules: a
// change of one calls for new Rules and a scan.
func IsIgnoreFile(p string) bool {
	switch path.Base(filepath.ToSlash(p)) {
	case ".gitignore", ".ignore", ".coderagignore":
		return true
	}
	return false
}
