package graph

import (
	"path"
	"slices"
	"strings"
)

// ecmaExtensions are tried in this order where an import names none.
var ecmaExtensions = []string{".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".json"}

// ecma resolves an import of JavaScript or TypeScript: relative paths, the
// paths of tsconfig.json, package.json's imports, packages of the workspace.
func (r *resolver) ecma(from int32, target string) node {
	target, _, _ = strings.Cut(target, "?") // Vite's ?raw, ?url
	dir := path.Dir(r.t.files[from].Path)
	if target == "." || target == ".." || strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		p, ok := join(dir, target)
		if !ok {
			return none
		}
		return r.ecmaFile(p)
	}
	if strings.HasPrefix(target, "/") || strings.Contains(target, ":") { // node:fs, https://...
		return none
	}
	if c := r.tsConfig(dir); c != nil {
		for _, p := range c.candidates(target) {
			if to := r.ecmaFile(p); to != none {
				return to
			}
		}
	}
	if strings.HasPrefix(target, "#") {
		return r.ecmaOwn(dir, target)
	}
	if to := r.ecmaPackage(r.t.files[from].Path, target); to != none {
		return to
	}
	// The usual aliases of bundlers for a project's source folder.
	for _, alias := range [...]string{"@/", "~/"} {
		rest, ok := strings.CutPrefix(target, alias)
		if !ok {
			continue
		}
		for d := range above(dir) {
			for _, sub := range [...]string{"src", "app", ""} {
				if p := path.Join(d, sub, rest); sub != "" || path.Base(d) == "src" {
					if to := r.ecmaFile(p); to != none {
						return to
					}
				}
			}
		}
	}
	return none
}

// ecmaFile finds the file that a path means: as it is, with an extension, the
// TypeScript of a .js, a directory's package.json or index.
func (r *resolver) ecmaFile(p string) node {
	if p != "." {
		if to := r.withExt(p, ecmaExtensions...); to != none {
			return to
		}
		ext := path.Ext(p)
		bare := strings.TrimSuffix(p, ext)
		var source []string
		switch ext {
		case ".js":
			source = []string{".ts", ".tsx", ".d.ts", ".jsx"}
		case ".jsx":
			source = []string{".tsx"}
		case ".mjs":
			source = []string{".mts", ".d.mts"}
		case ".cjs":
			source = []string{".cts", ".d.cts"}
		}
		for _, e := range source {
			if to := r.t.file(bare + e); to != none {
				return to
			}
		}
	}
	if r.t.dirs[p] == nil {
		return none
	}
	if i, ok := r.t.build.npmAt[p]; ok {
		if to := r.npmEntry(&r.t.build.npm[i], ""); to != none {
			return to
		}
	}
	return r.ecmaIndex(p)
}

func (r *resolver) ecmaIndex(dir string) node {
	for _, e := range ecmaExtensions {
		if to := r.t.file(path.Join(dir, "index"+e)); to != none {
			return to
		}
	}
	return none
}

// ecmaPackage finds a package of the workspace by its name.
func (r *resolver) ecmaPackage(from, target string) node {
	name, sub, _ := strings.Cut(target, "/")
	if strings.HasPrefix(target, "@") {
		scope := name
		name, sub, _ = strings.Cut(sub, "/")
		name = scope + "/" + name
	}
	best, bestFit := -1, -1
	for _, i := range r.t.build.npmByName[name] {
		p := &r.t.build.npm[i]
		if fit := fits(from, p.dir, p.aside); fit > bestFit {
			best, bestFit = i, fit
		}
	}
	if best < 0 {
		return none
	}
	return r.npmEntry(&r.t.build.npm[best], sub)
}

// npmEntry finds the file behind a package's entry point or subpath. What is
// built is looked for among the sources.
func (r *resolver) npmEntry(p *npmPackage, sub string) node {
	for _, e := range p.entries(sub) {
		if to := r.npmSource(p.dir, e); to != none {
			return to
		}
	}
	if sub == "" {
		for _, d := range [...]string{p.dir, path.Join(p.dir, "src"), path.Join(p.dir, "lib")} {
			if to := r.ecmaIndex(d); to != none {
				return to
			}
		}
		return none
	}
	for _, d := range [...]string{"", "src", "lib"} {
		if at, ok := join(p.dir, path.Join(d, sub)); ok && at != p.dir {
			if to := r.ecmaFile(at); to != none {
				return to
			}
		}
	}
	return none
}

// npmSource finds a file that a package.json names, or the source that it is
// built from.
func (r *resolver) npmSource(dir, entry string) node {
	p, ok := join(dir, entry)
	if !ok || p == dir {
		return none
	}
	if to := r.ecmaExact(p); to != none {
		return to
	}
	rel := strings.TrimPrefix(p, dir+"/")
	if dir == "." {
		rel = p
	}
	first, rest, ok := strings.Cut(rel, "/")
	for ok {
		switch first {
		case "dist", "lib", "build", "out", "es", "esm", "cjs", "output", "types", "node", "browser":
			if to := r.ecmaExact(path.Join(dir, "src", rest)); to != none {
				return to
			}
			if to := r.ecmaExact(path.Join(dir, rest)); to != none {
				return to
			}
			first, rest, ok = strings.Cut(rest, "/")
			continue
		}
		break
	}
	return none
}

// ecmaExact is ecmaFile without directories, for a path that may have the
// extension of what is built.
func (r *resolver) ecmaExact(p string) node {
	if to := r.withExt(p, ecmaExtensions...); to != none {
		return to
	}
	bare := strings.TrimSuffix(p, path.Ext(p))
	bare = strings.TrimSuffix(strings.TrimSuffix(bare, ".d"), ".min")
	if path.Ext(p) == "" {
		return r.ecmaIndex(p)
	}
	return r.withExt(bare, ecmaExtensions...)
}

// ecmaOwn resolves "#name" by the imports of the package that a directory
// belongs to.
func (r *resolver) ecmaOwn(dir, target string) node {
	for d := range above(dir) {
		i, ok := r.t.build.npmAt[d]
		if !ok {
			continue
		}
		p := &r.t.build.npm[i]
		for _, e := range p.imported(target) {
			if to := r.npmSource(p.dir, e); to != none {
				return to
			}
		}
		return none
	}
	return none
}

// tsConfig is the nearest tsconfig.json or jsconfig.json that says how names
// are resolved, nil where none does.
func (r *resolver) tsConfig(dir string) *tsConfig {
	if c, ok := r.configs[dir]; ok {
		return c
	}
	var found *tsConfig
	for d := range above(dir) {
		if c := r.t.build.tsConfigs[d]; c != nil && (c.baseURL != "" || len(c.paths) > 0) {
			found = c
			break
		}
	}
	r.configs[dir] = found
	return found
}

// candidates are the paths that a name may stand for.
func (c *tsConfig) candidates(target string) []string {
	var best *tsPath
	var star string
	for i := range c.paths {
		p := &c.paths[i]
		if !p.wild {
			if p.prefix == target {
				best, star = p, ""
				break
			}
			continue
		}
		if len(target) >= len(p.prefix)+len(p.suffix) && strings.HasPrefix(target, p.prefix) && strings.HasSuffix(target, p.suffix) && (best == nil || len(p.prefix) > len(best.prefix)) {
			best, star = p, target[len(p.prefix):len(target)-len(p.suffix)]
		}
	}
	var out []string
	if best != nil {
		for _, to := range best.to {
			if p, ok := join(best.base, strings.Replace(to, "*", star, 1)); ok {
				out = append(out, p)
			}
		}
	}
	if c.baseURL != "" {
		if p, ok := join(c.baseURL, target); ok && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
