package graph

import (
	"path"
	"strings"
)

// jvm resolves the imports of Java, Kotlin, Scala and Groovy: a class by
// package and name, a member by its class, all of a package.
func (r *resolver) jvm(from int32, target, name string) node {
	if name != "" && name != "*" && name != "_" {
		target += "." + name
	}
	wild := false
	for _, star := range [...]string{".*", "._"} {
		if rest, ok := strings.CutSuffix(target, star); ok {
			target, wild = rest, true
		}
	}
	segs := strings.Split(target, ".")
	if wild {
		if to := r.jvmPackage(from, target, segs); to != none {
			return to
		}
	}
	// The last parts may be a nested class and a member.
	for n := len(segs); n > max(0, len(segs)-3); n-- {
		if to := r.jvmName(from, strings.Join(segs[:n-1], "."), segs[n-1]); to != none {
			return to
		}
	}
	return none
}

// jvmPackage finds a package: as Kotlin's files declare it, or Java's
// directory that ends with its parts.
func (r *resolver) jvmPackage(from int32, pkg string, segs []string) node {
	if to := r.t.groupOf("package " + pkg); to != none {
		return to
	}
	suffix := strings.Join(segs, "/")
	best, bestCommon := none, -1
	for _, dir := range r.t.dirsByName[segs[len(segs)-1]] {
		d := r.t.dirs[dir]
		if d.group < 0 || !hasSuffix(dir, suffix) || r.t.files[d.files[0]].Language == "go" {
			continue
		}
		if n := common(r.t.files[from].Path, dir+"/"); n > bestCommon {
			best, bestCommon = r.t.groupNode(d.group), n
		}
	}
	return best
}

// jvmName finds the file that defines a top-level name of a package.
func (r *resolver) jvmName(from int32, pkg, name string) node {
	candidates := r.t.byName[stemKey{"jvm", name}]
	if len(candidates) == 0 || pkg == "" {
		return none
	}
	dir := strings.ReplaceAll(pkg, ".", "/")
	return r.t.nearest(from, candidates, func(c int32) bool {
		if declared := r.infos[c].local.declares(); declared != "" {
			return declared == pkg
		}
		if hasSuffix(path.Dir(r.t.files[c].Path), dir) {
			return true
		}
		return r.t.files[c].Language == "java" && r.javaPackage(c) == pkg
	})
}

// javaPackage reads the package that a Java file declares. It is asked for only
// where directories do not tell, which is against the custom.
func (r *resolver) javaPackage(id int32) string {
	pkg, ok := r.packages[id]
	if !ok {
		if content, readable := r.read(r.t.files[id].Path); readable {
			pkg = declared(content, "package ")
		}
		r.packages[id] = pkg
	}
	return pkg
}
