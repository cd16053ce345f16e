package file

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// userGlob is a glob pattern of the settings.
type userGlob struct {
	shown string
	text  string
	whole bool // matched with the path, not the base name
	// fixed is the pattern up to its first "**", by path segment; empty where
	// it does not say in which directories to look.
	fixed []string
	open  bool // "**" follows fixed
}

// Globs are glob patterns of a setting. They name folders, base names or paths
// within a workspace folder, as index.exclude does.
type Globs struct{ globs []userGlob }

// NewGlobs reads patterns; the error names one that is none.
func NewGlobs(patterns []string) (Globs, error) {
	globs, err := compileGlobs(patterns)
	return Globs{globs}, err
}

// Match reports whether a slash-separated path relative to its folder, or a
// folder above it, is named.
func (g Globs) Match(rel string) bool {
	_, ok := matchGlobs(g.globs, rel, path.Base(rel))
	return ok
}

func compileGlobs(patterns []string) ([]userGlob, error) {
	var globs []userGlob
	for _, p := range patterns {
		text := strings.TrimSpace(p)
		if text == "" {
			continue
		}
		whole := strings.Contains(strings.TrimSuffix(text, "/"), "/")
		text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "./"), "/"), "/")
		if text == "" || !doublestar.ValidatePattern(text) {
			return nil, fmt.Errorf("%q is not a valid glob pattern", p)
		}
		g := userGlob{shown: p, text: text, whole: whole}
		if whole {
			for _, segment := range strings.Split(text, "/") {
				if g.open = segment == "**"; g.open {
					break
				}
				g.fixed = append(g.fixed, segment)
			}
		}
		globs = append(globs, g)
	}
	return globs, nil
}

// matchGlobs returns the first glob that names a path or a directory above it.
func matchGlobs(globs []userGlob, rel, base string) (string, bool) {
	for i := range globs {
		g := &globs[i]
		name := base
		if g.whole {
			name = rel
		}
		if doublestar.MatchUnvalidated(g.text, name) || g.above(rel) {
			return g.shown, true
		}
	}
	return "", false
}

// above reports whether the glob names a directory above the path.
func (g *userGlob) above(rel string) bool {
	for up := path.Dir(rel); up != "."; up = path.Dir(up) {
		name := up
		if !g.whole {
			name = path.Base(up)
		}
		if doublestar.MatchUnvalidated(g.text, name) {
			return true
		}
	}
	return false
}

// reachable reports whether a glob may name something below a directory.
func reachable(globs []userGlob, rel string) bool {
	segments := strings.Split(rel, "/")
	for i := range globs {
		g := &globs[i]
		if len(g.fixed) == 0 || (len(segments) >= len(g.fixed) && !g.open) {
			continue
		}
		ok := true
		for k := range min(len(segments), len(g.fixed)) {
			ok = ok && doublestar.MatchUnvalidated(g.fixed[k], segments[k])
		}
		if ok {
			return true
		}
	}
	return false
}
