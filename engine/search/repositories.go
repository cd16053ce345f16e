package search

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"coderag-ls/engine/index"
)

// Repositories returns what the filter on repositories passes by name: an entry is a
// name, the end of one by whole segments, or a glob pattern.
func Repositories(filter []string) (keep func(name string) bool, err error) {
	for _, p := range filter {
		if strings.TrimSpace(p) == "" || !doublestar.ValidatePattern(p) {
			return nil, fmt.Errorf("%q names no repository: give a name such as github.com/spf13/cobra, or a glob pattern", p)
		}
	}
	return func(name string) bool {
		for _, p := range filter {
			if namesFile(name, p) || doublestar.MatchUnvalidated(p, name) {
				return true
			}
		}
		return false
	}, nil
}

// LocalRepository is the name by which the filter on repositories knows a workspace
// folder.
func LocalRepository(root string) string { return "./" + root }

// repository is the name of a file's repository for the filter.
func repository(f *index.File) string {
	if name, _, ok := strings.Cut(f.Root.Name, "@"); ok && f.Outside && strings.HasPrefix(f.Path, f.Root.Name+":") {
		return name
	}
	return LocalRepository(f.Root.Name)
}
