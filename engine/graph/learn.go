package graph

import (
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
)

// Bounds on what is read of documentation and configuration.
const (
	maxNamed      = 64       // files that one file names
	maxNamingText = 64 << 10 // bytes of a file
)

// declares is the package or namespace that a file's text declares.
func (l *local) declares() string {
	if l == nil {
		return ""
	}
	return l.pkg
}

// learn reads what the index does not know of a file, nil where there is
// nothing to learn.
func learn(f *File, read Reader) *local {
	switch f.Language {
	case "kotlin", "scala", "groovy":
		if s, ok := read(f.Path); ok {
			return &local{pkg: declared(s, "package ")}
		}
	case "c#":
		if slices.ContainsFunc(f.Symbols, func(s chunk.Symbol) bool { return s.Kind == chunk.Module }) {
			return nil // its symbols tell
		}
		if s, ok := read(f.Path); ok {
			return &local{pkg: declared(s, "namespace ")}
		}
	case "zig":
		if s, ok := read(f.Path); ok {
			if words := zigTargets(s); len(words) > 0 {
				return &local{words: words}
			}
		}
	case "markdown", "dockerfile", "makefile", "yaml", "restructuredtext", "asciidoc":
		if s, ok := read(f.Path); ok {
			if words := pathWords(s[:min(len(s), maxNamingText)]); len(words) > 0 {
				return &local{words: words}
			}
		}
	}
	return nil
}

// declared is the name after a keyword that a line begins with.
func declared(s, keyword string) string {
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), keyword); ok {
			rest = strings.Trim(strings.TrimSpace(rest), ";{` ")
			if i := strings.IndexAny(rest, " \t;{/"); i >= 0 {
				rest = rest[:i]
			}
			return strings.ReplaceAll(rest, "`", "")
		}
	}
	return ""
}

// zigTargets are the files that Zig's @import names.
func zigTargets(s string) []string {
	var out []string
	for _, part := range strings.Split(s, `@import("`)[1:] {
		if target, _, ok := strings.Cut(part, `")`); ok && strings.HasSuffix(target, ".zig") && len(target) < 200 && !strings.ContainsAny(target, "\"\n") {
			out = append(out, strings.Clone(target))
		}
	}
	return out
}

// pathWords are the words of a text that may be paths of files, each once, in
// order.
func pathWords(s string) []string {
	var words []string
	seen := map[string]bool{}
	for i := 0; i < len(s); {
		if !pathByte(s[i]) {
			i++
			continue
		}
		start, path, address := i, false, false
		for ; i < len(s) && pathByte(s[i]); i++ {
			switch s[i] {
			case '/', '.':
				path = true
			case ':':
				address = address || strings.HasPrefix(s[i:], "://")
			}
		}
		if !path || address || i-start < 3 || i-start > 200 {
			continue
		}
		w, _, _ := strings.Cut(s[start:i], ":") // "file.go:12", "./src:/app"
		w = strings.TrimRight(w, ".!")
		dot := strings.LastIndexByte(w, '.')
		// A bare name needs an extension: "e.g" is none, "Makefile" too common a word.
		if len(w) < 3 || !strings.Contains(w, "/") && (dot <= 0 || len(w)-dot > 12 || dot == len(w)-1) || seen[w] {
			continue
		}
		w = strings.Clone(w)
		seen[w] = true
		words = append(words, w)
	}
	return words
}

// pathByte reports whether a byte may stand in a path: what separates words, and
// what follows a path in a link, may not.
func pathByte(c byte) bool {
	switch c {
	case '(', ')', '[', ']', '<', '>', '{', '}', '"', '\'', '`', '|', ',', ';', '=', '*', '#', '?':
		return false
	}
	return c > ' '
}

// named are the files that a documentation or configuration file names: by a
// path from its own directory, or from the workspace's root.
func (r *resolver) named(id int32) []int32 {
	l := r.infos[id].local
	if l == nil || len(l.words) == 0 {
		return nil
	}
	var refs []int32
	add := func(p string, ok bool) bool {
		to := none
		if ok {
			to = r.t.file(p)
		}
		if to == none {
			return false
		}
		if to != id && !slices.Contains(refs, to) {
			refs = append(refs, to)
		}
		return true
	}
	for _, w := range l.words {
		if len(refs) == maxNamed {
			break
		}
		if add(join(r.dir, strings.TrimPrefix(w, "/"))) {
			continue
		}
		// From a directory above: documentation names files from the project's
		// root.
		for dir := r.dir; dir != "." && strings.Contains(w, "/"); {
			dir = parent(dir)
			if add(join(dir, strings.TrimPrefix(w, "/"))) {
				break
			}
		}
	}
	return refs
}
