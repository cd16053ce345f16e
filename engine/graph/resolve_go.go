package graph

import (
	"path"
	"strings"
)

// goPackage finds the package of an import path: in a vendor directory, in a
// module of the workspace, by a replace directive; without a go.mod, by the
// directory.
func (r *resolver) goPackage(from int32, target string) node {
	t := r.t
	if strings.HasPrefix(target, ".") {
		if p, ok := join(path.Dir(t.files[from].Path), target); ok {
			return t.packageOf(p)
		}
		return none
	}
	dir := path.Dir(t.files[from].Path)
	own := t.build.goModule(dir)
	if own != nil {
		if to := t.packageOf(path.Join(own.dir, "vendor", target)); to != none {
			return to
		}
		for _, rep := range own.replaces {
			if rest, ok := below(target, rep.old); ok {
				if to := t.packageOf(path.Join(rep.dir, rest)); to != none {
					return to
				}
			}
		}
		if rest, ok := own.holds(target); ok {
			if to := t.packageOf(path.Join(own.dir, rest)); to != none {
				return to
			}
		}
	}
	// Other modules of the workspace, the longest path first.
	var best *goModule
	bestFit := -1
	for i := range t.build.goModules {
		m := &t.build.goModules[i]
		rest, ok := m.holds(target)
		if !ok || m == own || t.packageOf(path.Join(m.dir, rest)) == none {
			continue
		}
		fit := fits(t.files[from].Path, m.dir, m.aside)
		if fit >= 0 && (best == nil || len(m.path) > len(best.path) || len(m.path) == len(best.path) && fit > bestFit) {
			best, bestFit = m, fit
		}
	}
	if best != nil {
		rest, _ := best.holds(target)
		return t.packageOf(path.Join(best.dir, rest))
	}
	if own != nil || !strings.Contains(target, "/") {
		return none
	}
	// No go.mod is there: the workspace stands somewhere in a GOPATH.
	for rest := target; ; {
		if to := t.packageOf(rest); to != none {
			return to
		}
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return none
		}
		rest = rest[i+1:]
	}
}

// packageOf is the package in a directory.
func (t *tables) packageOf(dir string) node {
	if d := t.dirs[dir]; d != nil && d.group >= 0 {
		return t.groupNode(d.group)
	}
	return none
}

// holds reports whether an import path is one of the module's, and where in it.
func (m *goModule) holds(target string) (rest string, ok bool) {
	if m.path == "std" { // the standard library's packages have no prefix
		return target, true
	}
	return below(target, m.path)
}

// below reports whether an import path is prefix or below it.
func below(p, prefix string) (rest string, ok bool) {
	if p == prefix {
		return "", true
	}
	if strings.HasPrefix(p, prefix) && p[len(prefix)] == '/' {
		return p[len(prefix)+1:], true
	}
	return "", false
}

// goModule is the module that a directory belongs to, nil where there is none.
func (b *buildFiles) goModule(dir string) *goModule {
	for d := range above(dir) {
		if i, ok := b.goModuleAt[d]; ok {
			return &b.goModules[i]
		}
	}
	return nil
}
