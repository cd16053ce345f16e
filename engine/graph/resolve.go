package graph

import (
	"path"
	"slices"
	"strings"
)

// resolver resolves the imports of one file after another. It is used by one
// goroutine.
type resolver struct {
	t     *tables
	infos []fileInfo
	read  Reader
	// roots remembers where Python's absolute imports were found, packages what
	// was read of files' package declarations.
	roots    map[[2]string]string
	packages map[int32]string
	configs  map[string]*tsConfig
	crates   map[string]string // root files of Rust's crates, by file

	from  int32
	f     *File
	dir   string
	links []link
	// budget is what is left of maxFollow.
	budget int
}

func newResolver(t *tables, infos []fileInfo, read Reader) *resolver {
	return &resolver{t: t, infos: infos, read: read, roots: map[[2]string]string{}, packages: map[int32]string{}, configs: map[string]*tsConfig{}, crates: map[string]string{}}
}

// begin turns to a file.
func (r *resolver) begin(id int32) {
	r.from, r.f, r.links = id, &r.t.files[id], nil
	r.dir = path.Dir(r.f.Path)
}

// file resolves all imports of a file.
func (r *resolver) file(id int32) (links []link, refs []int32) {
	r.begin(id)
	for k := range r.f.Imports {
		r.one(int32(k))
	}
	if r.f.Language == "rust" {
		r.rustModules()
	}
	if r.f.Language == "zig" {
		r.zigImports()
		return slices.Clip(r.links), nil
	}
	return slices.Clip(r.links), r.named(id)
}

// one resolves one import: its module, and the files that define the imported
// names where the module only passes them on.
func (r *resolver) one(k int32) {
	im := &r.f.Imports[k]
	target := strings.Trim(im.Target, "\"'` ")
	if target == "" {
		return
	}
	if len(im.Names) == 0 || !qualifies(r.f.Language) {
		to := r.module(r.from, target, "")
		r.add(to, k)
		for _, name := range im.Names {
			r.follow(to, name, k)
		}
		if i := strings.LastIndexByte(target, ':'); i >= 0 && r.f.Language == "rust" {
			r.follow(to, target[i+1:], k)
		}
		return
	}
	last := none
	for _, name := range im.Names {
		to := r.module(r.from, target, name)
		if to == none && last != none && family(r.f.Language) == "rust" {
			continue // a name of a tree within the tree
		}
		r.add(to, k)
		r.follow(to, name, k)
		last = to
	}
}

// add records that an import leads to a node.
func (r *resolver) add(to node, by int32) {
	if to == none || to == r.from || slices.ContainsFunc(r.links, func(l link) bool { return l.to == to }) {
		return
	}
	r.links = append(r.links, link{to, by})
}

// qualifies reports whether what is imported from a module may be a module
// itself.
func qualifies(language string) bool {
	switch family(language) {
	case "python", "rust", "jvm", "php", "elixir":
		return true
	}
	return false
}

// module finds what an import in a file means: a file or a group. name is one of
// the imported names, "" for the module as a whole.
func (r *resolver) module(from int32, target, name string) node {
	f := &r.t.files[from]
	switch family(f.Language) {
	case "go":
		return r.goPackage(from, target)
	case "python":
		return r.python(from, target, name)
	case "js":
		return r.ecma(from, target)
	case "jvm":
		return r.jvm(from, target, name)
	case "rust":
		return r.rust(from, target, name)
	case "c":
		return r.include(from, target)
	case "ruby":
		return r.ruby(from, target)
	case "php":
		return r.php(from, target, name)
	case "c#":
		return r.csharp(from, target)
	case "swift":
		name, _, _ := strings.Cut(target, ".") // "import struct Module.Name"
		return r.t.groupOf("module " + name)
	case "elixir":
		return r.elixir(from, target, name)
	case "lua":
		return r.suffix(from, strings.FieldsFunc(target, func(c rune) bool { return c == '.' || c == '/' }), 1)
	case "shell":
		return r.sourced(from, target)
	case "dart":
		return r.dart(from, target)
	case "css":
		return r.stylesheet(from, target)
	}
	return r.other(from, target)
}

// Bounds on following a name: how many files pass it on, and how many imports
// are looked at for that.
const (
	maxOrigin = 4
	maxFollow = 64
)

// follow adds the file that defines a name, where the one that is imported only
// passes it on.
func (r *resolver) follow(to node, name string, by int32) {
	r.budget = maxFollow
	r.add(r.origin(to, name, 0), by)
}

// origin follows a name through files that only pass it on (an __init__.py, an
// index.ts, a lib.rs) to the one that defines it.
func (r *resolver) origin(at node, name string, depth int) node {
	if at == none || int(at) >= len(r.t.files) || depth == maxOrigin || name == "" || name == "*" {
		return none
	}
	f := &r.t.files[at]
	if !passesOn(f) || defines(f, name) {
		return none
	}
	for i := range f.Imports {
		im := &f.Imports[i]
		given := ""
		k := slices.IndexFunc(im.Names, func(n string) bool { return n == name || strings.HasSuffix(n, "::"+name) })
		named := k >= 0
		switch {
		case named:
			given = im.Names[k]
		case len(im.Names) == 0 && f.Language == "rust":
			named = strings.HasSuffix(im.Target, "::"+name)
		}
		star := !named && (len(im.Names) == 0 && (family(f.Language) == "js" || strings.HasSuffix(im.Target, "*")) || slices.Contains(im.Names, "*"))
		if !named && !star {
			continue
		}
		if r.budget--; r.budget < 0 {
			return none
		}
		to := r.module(at, strings.Trim(im.Target, "\"'` "), given)
		if to == none || to == at {
			continue
		}
		if further := r.origin(to, name, depth+1); further != none {
			return further
		}
		if named || int(to) < len(r.t.files) && defines(&r.t.files[to], name) {
			return to
		}
	}
	return none
}

// passesOn reports whether a file may do nothing but pass names on.
func passesOn(f *File) bool {
	if len(f.Imports) == 0 {
		return false
	}
	switch family(f.Language) {
	case "python":
		return strings.HasSuffix(f.Path, "__init__.py") || strings.HasSuffix(f.Path, "__init__.pyi")
	case "js":
		return true
	case "rust":
		return true
	}
	return false
}

func defines(f *File, name string) bool {
	for i := range f.Symbols {
		if f.Symbols[i].Name == name && f.Symbols[i].Parent == "" {
			return true
		}
	}
	return false
}

func (t *tables) groupOf(name string) node {
	if g, ok := t.groupIDs[name]; ok && len(t.groups[g].files) > 0 {
		return t.groupNode(g)
	}
	return none
}

// suffix finds the file whose path, without extension, ends with the parts; of
// several the nearest one. least is how many parts must match, from the end.
func (r *resolver) suffix(from int32, parts []string, least int) node {
	if len(parts) == 0 {
		return none
	}
	last := parts[len(parts)-1]
	fam := family(r.t.files[from].Language)
	candidates := r.t.byStem[stemKey{fam, strings.ToLower(last)}]
	if fam == "lua" {
		// A directory stands for its init.lua.
		candidates = slices.Concat(candidates, r.t.byStem[stemKey{fam, "init"}])
	}
	for n := len(parts); n >= max(1, least, 1); n-- {
		want := strings.Join(parts[len(parts)-n:], "/")
		to := r.t.nearest(from, candidates, func(c int32) bool {
			p := r.t.files[c].Path
			if hasSuffix(strings.TrimSuffix(p, path.Ext(p)), want) {
				return true
			}
			return fam == "lua" && path.Base(p) == "init.lua" && hasSuffix(path.Dir(p), want)
		})
		if to != none || n <= least {
			return to
		}
	}
	return none
}

// relative finds a file by a path from the importing file's directory, as it
// is or with one of the extensions.
func (r *resolver) relative(from int32, rel string, exts ...string) node {
	p, ok := join(path.Dir(r.t.files[from].Path), rel)
	if !ok {
		return none
	}
	return r.withExt(p, exts...)
}

func (r *resolver) withExt(p string, exts ...string) node {
	if to := r.t.file(p); to != none {
		return to
	}
	for _, e := range exts {
		if to := r.t.file(p + e); to != none {
			return to
		}
	}
	return none
}

// parent is the directory above; "." has none.
func parent(dir string) string { return path.Dir(dir) }

// above yields a directory and those above it, nearest first, "." last.
func above(dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			if !yield(dir) || dir == path.Dir(dir) {
				return
			}
			dir = path.Dir(dir)
		}
	}
}
