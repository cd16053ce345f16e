package graph

import (
	"path"
	"strings"

	"coderag-ls/engine/chunk"
)

// rust resolves the path of a use declaration: crate::, self::, super::,
// children of the module, crates of the workspace. What follows the last module
// that has a file is an item of it.
func (r *resolver) rust(from int32, target, name string) node {
	if name != "" && name != "self" && name != "*" {
		target += "::" + name
	}
	segs := strings.Split(strings.TrimPrefix(strings.ReplaceAll(target, " ", ""), "::"), "::")
	for len(segs) > 0 && (segs[len(segs)-1] == "*" || segs[len(segs)-1] == "" || segs[len(segs)-1] == "self" && len(segs) > 1) {
		segs = segs[:len(segs)-1]
	}
	if len(segs) == 0 {
		return none
	}
	p := r.t.files[from].Path
	dir, root := r.rustChildren(p)
	switch segs[0] {
	case "crate":
		return r.rustWalk(path.Dir(root), r.t.file(root), segs[1:])
	case "self", "super":
		up := -r.inlineModules(from, target)
		for len(segs) > 0 && (segs[0] == "self" || segs[0] == "super") {
			if segs[0] == "super" {
				up++
			}
			segs = segs[1:]
		}
		at := from
		for ; up > 0; up-- {
			if r.t.files[at].Path == root {
				return none
			}
			parent := r.rustParent(r.t.files[at].Path, root)
			if parent == none {
				return none
			}
			at = parent
			dir, _ = r.rustChildren(r.t.files[at].Path)
		}
		return r.rustWalk(dir, at, segs)
	}
	// A child of this module, a crate of the workspace.
	if to := r.rustModule(dir, segs[0]); to != none && len(segs) > 1 && segs[0] != "std" && segs[0] != "core" {
		return r.rustWalk(dir, from, segs)
	}
	if c := r.crateNamed(p, segs[0]); c != nil {
		return r.rustWalk(path.Dir(c.lib), r.t.file(c.lib), segs[1:])
	}
	return none
}

// rustChildren is the directory of a module's children, and the root file of
// its crate.
func (r *resolver) rustChildren(p string) (dir, root string) {
	dir = path.Dir(p)
	base := path.Base(p)
	root, ok := r.crates[p]
	if !ok {
		root = r.crateRoot(p)
		r.crates[p] = root
	}
	if p != root && base != "mod.rs" {
		dir = path.Join(dir, strings.TrimSuffix(base, ".rs"))
	}
	return dir, root
}

// crateRoot is the root file of the crate that a file belongs to: the
// library's or the program's for what stands in src, a file of its own for
// tests, examples, benchmarks and further programs.
func (r *resolver) crateRoot(p string) string {
	for d := range above(path.Dir(p)) {
		i, ok := r.t.build.crateAt[d]
		if !ok {
			if base := path.Base(d); base == "src" {
				for _, name := range [...]string{"lib.rs", "main.rs"} {
					if at := path.Join(d, name); r.t.file(at) != none && !r.crateAbove(d) {
						return at
					}
				}
			}
			continue
		}
		c := &r.t.build.crates[i]
		rel := strings.TrimPrefix(p, d+"/")
		if d == "." {
			rel = p
		}
		main := path.Join(d, "src/main.rs")
		if p == main {
			return p
		}
		first, rest, _ := strings.Cut(rel, "/")
		switch {
		case first == "src" && strings.HasPrefix(rest, "bin/"), first == "tests", first == "examples", first == "benches":
			// dir/name.rs, or dir/name/main.rs and what is beside it.
			top := path.Join(d, first)
			if first == "src" {
				top = path.Join(top, "bin")
			}
			if path.Dir(p) == top {
				return p
			}
			sub, _, _ := strings.Cut(strings.TrimPrefix(p, top+"/"), "/")
			if at := path.Join(top, sub, "main.rs"); r.t.file(at) != none {
				return at
			}
			if at := path.Join(top, sub+".rs"); r.t.file(at) != none {
				return at
			}
			return p
		}
		if r.t.file(c.lib) != none {
			return c.lib
		}
		return main
	}
	return p
}

// crateAbove reports whether a Cargo.toml stands above a directory.
func (r *resolver) crateAbove(dir string) bool {
	for d := range above(dir) {
		if _, ok := r.t.build.crateAt[d]; ok {
			return true
		}
	}
	return false
}

// rustModule finds the file of a child module.
func (r *resolver) rustModule(dir, name string) node {
	name = strings.TrimPrefix(name, "r#")
	if to := r.t.file(path.Join(dir, name+".rs")); to != none {
		return to
	}
	return r.t.file(path.Join(dir, name, "mod.rs"))
}

// rustWalk follows a path as far as there are files for its modules. at is the
// module whose children stand in dir.
func (r *resolver) rustWalk(dir string, at node, segs []string) node {
	for _, s := range segs {
		to := r.rustModule(dir, s)
		if to == none || to == at {
			return at
		}
		at = to
		dir = path.Join(dir, strings.TrimPrefix(s, "r#"))
	}
	return at
}

// rustParent is the file of the module that a file's module is a child of.
func (r *resolver) rustParent(p, root string) node {
	dir := path.Dir(p)
	if path.Base(p) == "mod.rs" {
		dir = path.Dir(dir)
	}
	if dir == path.Dir(root) {
		return r.t.file(root)
	}
	if to := r.t.file(path.Join(dir, "mod.rs")); to != none {
		return to
	}
	return r.t.file(dir + ".rs")
}

// inlineModules counts the modules with a body in the same file around the
// import of a target: their "super" is the file itself.
func (r *resolver) inlineModules(from int32, target string) int {
	f := &r.t.files[from]
	line := 0
	for i := range f.Imports {
		if t := f.Imports[i].Target; t == target || strings.HasPrefix(target, t+"::") {
			line = f.Imports[i].Line
			break
		}
	}
	n := 0
	for i := range f.Symbols {
		if s := &f.Symbols[i]; s.Kind == chunk.Module && s.NameLine < line && line <= s.EndLine {
			n++
		}
	}
	return n
}

// crateNamed finds a crate of the workspace by the name that a file knows it
// by.
func (r *resolver) crateNamed(p, name string) *crate {
	for d := range above(path.Dir(p)) {
		if i, ok := r.t.build.crateAt[d]; ok {
			if real, ok := r.t.build.crates[i].renamed[name]; ok {
				name = real
			}
			break
		}
	}
	var best *crate
	bestFit := -1
	for _, i := range r.t.build.crateNames[name] {
		c := &r.t.build.crates[i]
		if fit := fits(p, c.dir, c.aside); fit > bestFit {
			best, bestFit = c, fit
		}
	}
	if best == nil || r.t.file(best.lib) == none {
		return nil
	}
	return best
}

// rustModules adds what a file declares with "mod name;".
func (r *resolver) rustModules() {
	dir, _ := r.rustChildren(r.f.Path)
	for i := range r.f.Symbols {
		s := &r.f.Symbols[i]
		if s.Kind != chunk.Module || s.EndLine > s.NameLine+1 {
			continue
		}
		at := dir
		if s.Parent != "" {
			at = path.Join(dir, strings.ReplaceAll(s.Parent, "::", "/"))
		}
		r.add(r.rustModule(at, s.Name), -1)
	}
}
