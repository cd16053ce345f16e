package graph

import (
	"path"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
)

// include resolves #include: from the file's directory, else to the file whose
// path ends with what is written (its directory is an include path).
func (r *resolver) include(from int32, target string) node {
	if to := r.relative(from, target); to != none {
		return to
	}
	target = path.Clean(strings.TrimPrefix(target, "./"))
	for strings.HasPrefix(target, "../") {
		target = target[3:]
	}
	ext := path.Ext(target)
	if ext == "" || !strings.Contains(target, "/") && systemHeader(target) {
		return none // <vector>, <string.h>
	}
	candidates := r.t.byStem[stemKey{"c", strings.ToLower(stem(target))}]
	if to := r.t.nearest(from, candidates, func(c int32) bool { return hasSuffix(r.t.files[c].Path, target) }); to != none {
		return to
	}
	// What configure makes of a template.
	candidates = r.t.byStem[stemKey{"c", strings.ToLower(path.Base(target))}]
	return r.t.nearest(from, candidates, func(c int32) bool { return hasSuffix(r.t.files[c].Path, target+".in") })
}

// systemHeader reports whether a header is one of C's standard library or of
// POSIX: of a workspace it is meant only beside the including file.
func systemHeader(name string) bool {
	switch strings.TrimSuffix(name, ".h") {
	case "assert", "complex", "ctype", "errno", "fcntl", "fenv", "float", "getopt", "inttypes", "iso646", "limits", "locale", "math", "poll", "pthread", "pwd", "sched", "semaphore", "setjmp",
		"signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "strings", "syslog", "termios", "tgmath", "threads", "time",
		"uchar", "unistd", "wchar", "wctype", "windows", "malloc", "memory", "netdb", "dirent", "dlfcn", "execinfo":
		return strings.HasSuffix(name, ".h")
	}
	return false
}

// ruby resolves require and require_relative. The index does not tell which it
// is: the load path (lib and its like) is looked at first, then the file's own
// directory, where a name of the standard library must be written as relative.
func (r *resolver) ruby(from int32, target string) node {
	target = strings.TrimSuffix(target, ".rb")
	dir := path.Dir(r.t.files[from].Path)
	if strings.HasPrefix(target, ".") {
		return r.relative(from, target, ".rb")
	}
	for d := range above(dir) {
		subs := []string{"lib", "test", "spec", "ext"}
		if base := path.Base(d); d == "." || base == "lib" || base == "test" || base == "spec" {
			subs = append(subs, "")
		}
		for _, sub := range subs {
			if to := r.t.file(path.Join(d, sub, target) + ".rb"); to != none {
				return to
			}
		}
	}
	if to := r.relative(from, target, ".rb"); to != none && (strings.Contains(target, "/") || r.isRelative(from, target)) {
		return to
	}
	if !strings.Contains(target, "/") {
		return none
	}
	parts := strings.Split(target, "/")
	return r.suffix(from, parts, len(parts))
}

// isRelative reads whether an import is written as require_relative.
func (r *resolver) isRelative(from int32, target string) bool {
	f := &r.t.files[from]
	content, ok := r.read(f.Path)
	if !ok {
		return true // the file beside is the likelier one
	}
	for line := range strings.Lines(content) {
		if strings.Contains(line, "require_relative") && strings.Contains(line, target) {
			return true
		}
	}
	return false
}

// php resolves names by PSR-4 and required files by their paths.
func (r *resolver) php(from int32, target, name string) node {
	if strings.HasSuffix(target, ".php") || strings.HasSuffix(target, ".inc") {
		return r.relative(from, strings.TrimPrefix(target, "/"))
	}
	if name != "" {
		target += `\` + name
	}
	target = strings.Trim(target, `\`)
	for _, p := range r.t.build.psr4 {
		rest, ok := strings.CutPrefix(target, p.prefix)
		if !ok || p.prefix != "" && rest != "" && rest[0] != '\\' {
			continue
		}
		rel := strings.ReplaceAll(strings.Trim(rest, `\`), `\`, "/")
		if to := r.t.file(path.Join(p.dir, rel) + ".php"); to != none {
			return to
		}
	}
	parts := strings.Split(target, `\`)
	if len(parts) < 2 {
		return none
	}
	// Without composer.json: the last directories are the namespace's.
	return r.suffix(from, parts, 2)
}

// csharp resolves a using: a namespace, or a type of one.
func (r *resolver) csharp(from int32, target string) node {
	if to := r.t.groupOf("namespace " + target); to != none {
		return to
	}
	i := strings.LastIndexByte(target, '.')
	if i < 0 {
		return none
	}
	ns := r.t.groupOf("namespace " + target[:i])
	if ns == none {
		return none
	}
	for _, f := range r.t.groups[int(ns)-len(r.t.files)].files {
		for k := range r.t.files[f].Symbols {
			if s := &r.t.files[f].Symbols[k]; s.Name == target[i+1:] && s.Kind != chunk.Method && s.Kind != chunk.Variable {
				return f
			}
		}
	}
	return none
}

// swiftModules makes a group of each target's files: those of Package.swift,
// else the directories in Sources.
func (t *tables) swiftModules() {
	for i := range t.files {
		f := &t.files[i]
		if f.Language != "swift" {
			continue
		}
		best := swiftTarget{}
		for _, target := range t.build.swift {
			if strings.HasPrefix(f.Path, target.dir+"/") && len(target.dir) > len(best.dir) {
				best = target
			}
		}
		if best.name == "" {
			if _, rest, ok := strings.Cut("/"+f.Path, "/Sources/"); ok {
				best.name, _, _ = strings.Cut(rest, "/")
			}
		}
		if best.name != "" {
			t.join(t.group("module "+best.name), int32(i))
		}
	}
}

// elixir finds the file that defines a module.
func (r *resolver) elixir(from int32, target, name string) node {
	if name != "" {
		target += "." + name
	}
	return r.t.nearest(from, r.t.byName[stemKey{"elixir", target}], nil)
}

// sourced resolves what a shell script reads in: a path from its directory,
// from the workspace's root, or what follows a variable in it.
func (r *resolver) sourced(from int32, target string) node {
	if i := strings.LastIndexAny(target, "$)}`"); i >= 0 {
		_, rest, ok := strings.Cut(target[i:], "/")
		if !ok {
			return none
		}
		target = rest
	}
	target = strings.Trim(target, `"'`)
	if target == "" || strings.HasPrefix(target, "/") {
		return none
	}
	for d := range above(path.Dir(r.t.files[from].Path)) {
		if p, ok := join(d, target); ok {
			if to := r.withExt(p, ".sh"); to != none {
				return to
			}
		}
	}
	return none
}

// dart resolves relative paths and package: URIs.
func (r *resolver) dart(from int32, target string) node {
	rest, ok := strings.CutPrefix(target, "package:")
	if !ok {
		return r.relative(from, target)
	}
	_, rest, ok = strings.Cut(rest, "/")
	if !ok {
		return none
	}
	return r.suffix(from, strings.Split("lib/"+strings.TrimSuffix(rest, ".dart"), "/"), strings.Count(rest, "/")+2)
}

// stylesheet resolves @use and @import, with the underscore of partials.
func (r *resolver) stylesheet(from int32, target string) node {
	target = strings.TrimPrefix(target, "~")
	exts := []string{".scss", ".sass", ".css", ".less"}
	if to := r.relative(from, target, exts...); to != none {
		return to
	}
	dir, base := path.Split(target)
	return r.relative(from, dir+"_"+base, exts...)
}

// zigImports adds what @import names, which the index does not know.
func (r *resolver) zigImports() {
	if l := r.infos[r.from].local; l != nil {
		for _, target := range l.words {
			r.add(r.relative(r.from, target), -1)
		}
	}
}

// other resolves the imports of further languages: a path from the file's
// directory, or dotted parts that a path ends with.
func (r *resolver) other(from int32, target string) node {
	ext := path.Ext(r.t.files[from].Path)
	if to := r.relative(from, target, ext); to != none && to != from {
		return to
	}
	target = strings.TrimSuffix(target, ext)
	parts := strings.FieldsFunc(target, func(c rune) bool { return strings.ContainsRune("./:\\", c) })
	if r.t.files[from].Language == "clojure" {
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], "-", "_")
		}
	}
	if len(parts) == 0 || slices.Contains(parts, "..") {
		return none
	}
	return r.suffix(from, parts, len(parts))
}
