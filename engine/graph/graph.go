// Package graph knows how the files of a workspace hang together: what imports
// what, which file tests which, which type implements which, who calls whom.
//
// A [Graph] is made of a snapshot's files. Imports are resolved by the rules of
// their languages (go.mod, tsconfig.json, Cargo.toml and the like are read), to
// files of the workspace only: what stands elsewhere gives no edge. Resolved
// imports, test relations and inheritance lists are kept; who calls whom is
// found when it is asked for, from an index of words ([Source]), since that of
// a whole workspace would cost more than all answers need.
//
// A graph is immutable and serves any number of requests. [Graph.Update] makes
// the next one: only files that changed are resolved again, unless what changed
// decides how others resolve (a path that came or went, a build file, the names
// that a file exports).
//
// It costs about 1 KB of memory and 10 µs per file.
package graph

import (
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/chunk"
)

// File is a file as the graph takes it. Its slices are shared, not copied.
type File struct {
	Path     string // slash-separated workspace path
	Language string // as file.Class has it
	Test     bool
	// Minor files (examples, documentation's snippets, vendored code) are
	// imported only by their like.
	Minor   bool
	Symbols []chunk.Symbol
	Imports []chunk.Import
	// Identity is equal for a file that has not changed (==). What was learned
	// of it is taken over then.
	Identity any
}

// Reader returns a file's text by workspace path; ok is false where it cannot
// be read. It must be safe for concurrent use.
type Reader func(path string) (content string, ok bool)

// Kind is the kind of an edge, from the file that has the relation to the one it
// has it to.
type Kind string

// The kinds of edges and, as seen from their other end, of relations.
const (
	Imports       Kind = "imports"
	ImportedBy    Kind = "imported_by"
	TestFor       Kind = "test_for"
	TestedBy      Kind = "tested_by"
	Implements    Kind = "implements"     // or extends
	InterfaceOf   Kind = "interface_of"   // it declares what the other implements or extends
	ImplementedBy Kind = "implemented_by" // it implements or extends what the other declares
	Sibling       Kind = "sibling_file"
	Calls         Kind = "calls"
	CalledBy      Kind = "called_by"
	References    Kind = "references" // documentation and configuration that name a file
	ReferencedBy  Kind = "referenced_by"
)

// Edge is an edge between two files.
type Edge struct {
	From, To string
	Kind     Kind
}

// node is a file by its number or, from len(files) on, a group of files that
// is imported as a whole: a package, a namespace.
type node = int32

const none node = -1

// link is a resolved import.
type link struct {
	to node
	// by is the import's number in the file, -1 where it is none of those.
	by int32
}

// fileInfo is what is known of one file.
type fileInfo struct {
	links []link  // in order of the imports, each target once
	tests []int32 // the files it tests, best first
	refs  []int32 // the files it names, being documentation or configuration
	bases []bases
	local *local
}

// local is what was learned of a file's own text; it does not depend on other
// files.
type local struct {
	pkg   string   // the package or namespace it declares
	words []string // what looks like a path in documentation or configuration
}

// Graph is the graph of a snapshot's files.
type Graph struct {
	t     *tables
	infos []fileInfo
	in    reverse // who imports a node
	refs  reverse // who names a file
	tests reverse // who tests a file
	rank  func() []float64
}

// New makes the graph of files, which are in order of their paths.
func New(files []File, read Reader) *Graph {
	g := &Graph{t: &tables{}}
	g.index()
	return g.Update(files, read)
}

// Update makes the graph of files, which are in order of their paths; what has
// not changed since g is taken over. The result is that of New; it is g where
// nothing changed.
func (g *Graph) Update(files []File, read Reader) *Graph {
	if read == nil {
		read = func(string) (string, bool) { return "", false }
	}
	old := g.t.files
	sameTables := len(files) == len(old) && len(files) > 0
	before := make([]int32, len(files)) // a file's number in g where it is unchanged
	j := 0
	for i := range files {
		before[i] = none
		for j < len(old) && old[j].Path < files[i].Path {
			j++
		}
		if j == len(old) || old[j].Path != files[i].Path {
			sameTables = false
			continue
		}
		switch {
		case sameFile(&old[j], &files[i]):
			before[i] = int32(j)
		case sameTables && !sameFace(&old[j], &files[i]):
			sameTables = false
		}
	}
	if len(files) == len(old) && !slices.Contains(before, none) {
		return g
	}
	next := &Graph{infos: make([]fileInfo, len(files))}
	each(len(files), func(i int) {
		if b := before[i]; b >= 0 {
			next.infos[i].local, next.infos[i].bases = g.infos[b].local, g.infos[b].bases
			return
		}
		next.infos[i].local, next.infos[i].bases = learn(&files[i], read), basesOf(&files[i])
	})
	if sameTables && slices.EqualFunc(g.infos, next.infos, func(a, b fileInfo) bool { return a.local.declares() == b.local.declares() }) {
		t := *g.t
		t.files = files
		next.t = &t
	} else {
		sameTables = false
		next.t = newTables(files, next.infos, read)
	}
	workers(len(files), func(from, to int) {
		r := newResolver(next.t, next.infos, read)
		for i := from; i < to; i++ {
			if b := before[i]; sameTables && b >= 0 {
				next.infos[i].links, next.infos[i].refs = g.infos[b].links, g.infos[b].refs
				continue
			}
			next.infos[i].links, next.infos[i].refs = r.file(int32(i))
		}
		for i := from; i < to; i++ {
			if b := before[i]; sameTables && b >= 0 {
				next.infos[i].tests = g.infos[b].tests
				continue
			}
			next.infos[i].tests = r.tested(int32(i))
		}
	})
	next.index()
	return next
}

func sameFile(a, b *File) bool {
	return a.Identity != nil && a.Identity == b.Identity && a.Language == b.Language && a.Test == b.Test && a.Minor == b.Minor
}

// index makes what is looked up by a relation's other end.
func (g *Graph) index() {
	n := len(g.t.files)
	g.in = newReverse(n+len(g.t.groups), n, func(i int, add func(node)) {
		for _, l := range g.infos[i].links {
			add(l.to)
		}
	})
	g.refs = newReverse(n, n, func(i int, add func(node)) {
		for _, to := range g.infos[i].refs {
			add(to)
		}
	})
	g.tests = newReverse(n, n, func(i int, add func(node)) {
		for _, to := range g.infos[i].tests {
			add(to)
		}
	})
	g.rank = sync.OnceValue(g.pageRank)
}

// reverse lists, for each node, the files that have an edge to it, in order of
// their paths: compressed rows.
type reverse struct {
	start []int32
	from  []int32
}

func newReverse(nodes, files int, edges func(i int, add func(node))) reverse {
	r := reverse{start: make([]int32, nodes+1)}
	for i := range files {
		edges(i, func(to node) { r.start[to+1]++ })
	}
	for i := range nodes {
		r.start[i+1] += r.start[i]
	}
	r.from = make([]int32, r.start[nodes])
	at := slices.Clone(r.start[:nodes])
	for i := range files {
		edges(i, func(to node) {
			r.from[at[to]] = int32(i)
			at[to]++
		})
	}
	return r
}

func (r *reverse) of(n node) []int32 { return r.from[r.start[n]:r.start[n+1]] }

// Edges returns the kept edges that begin at a file: imports, tests, references.
// A package is told by its directory or namespace with a trailing "/"; the
// order is that of the imports.
func (g *Graph) Edges(file string) []Edge {
	i, ok := g.t.ids[file]
	if !ok {
		return nil
	}
	var out []Edge
	for _, l := range g.infos[i].links {
		out = append(out, Edge{file, g.nodeName(l.to), Imports})
	}
	for _, to := range g.infos[i].tests {
		out = append(out, Edge{file, g.t.files[to].Path, TestFor})
	}
	for _, to := range g.infos[i].refs {
		out = append(out, Edge{file, g.t.files[to].Path, References})
	}
	return out
}

// Importers returns the paths of the files that import a file or its package,
// in order.
func (g *Graph) Importers(file string) []string {
	i, ok := g.t.ids[file]
	if !ok {
		return nil
	}
	var out []string
	for _, by := range g.importers(i) {
		out = append(out, g.t.files[by].Path)
	}
	return out
}

// importers are the files that import a file or a group that it belongs to,
// in order, without itself.
func (g *Graph) importers(i int32) []int32 {
	all := slices.Clone(g.in.of(i))
	for _, group := range g.t.groupsOf[i] {
		for _, by := range g.in.of(node(len(g.t.files)) + group) {
			if by != i {
				all = append(all, by)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (g *Graph) nodeName(n node) string {
	if int(n) < len(g.t.files) {
		return g.t.files[n].Path
	}
	return g.t.groups[int(n)-len(g.t.files)].name + "/"
}

// members are the files that a node stands for, in order of their paths.
func (g *Graph) members(n node) []int32 {
	if int(n) < len(g.t.files) {
		return []int32{n}
	}
	return g.t.groups[int(n)-len(g.t.files)].files
}

// Targets returns what the k-th import of a file leads to, as Edges names it.
func (g *Graph) Targets(file string, k int) []string {
	i, ok := g.t.ids[file]
	if !ok || k < 0 || k >= len(g.t.files[i].Imports) {
		return nil
	}
	r := newResolver(g.t, g.infos, func(string) (string, bool) { return "", false })
	r.begin(i)
	r.one(int32(k))
	var out []string
	for _, l := range r.links {
		out = append(out, g.nodeName(l.to))
	}
	return out
}

// Len is the number of files.
func (g *Graph) Len() int { return len(g.t.files) }

// each calls fn for 0 to n-1 on as many goroutines as there are processors.
func each(n int, fn func(i int)) {
	workers(n, func(from, to int) {
		for i := from; i < to; i++ {
			fn(i)
		}
	})
}

// workers splits 0 to n-1 into runs.
func workers(n int, fn func(from, to int)) {
	procs := runtime.GOMAXPROCS(0)
	if n < 64 || procs == 1 {
		fn(0, n)
		return
	}
	// More runs than processors: files of one kind stand together.
	size := max(64, n/(procs*4))
	var wg sync.WaitGroup
	gate := make(chan struct{}, procs)
	for from := 0; from < n; from += size {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			fn(from, min(from+size, n))
		})
	}
	wg.Wait()
}

// family is the set of languages that import one another.
func family(language string) string {
	switch language {
	case "typescript", "tsx", "javascript", "jsx", "vue", "svelte", "coffeescript":
		return "js"
	case "c", "c++", "objective-c", "objective-c++", "cuda", "arduino":
		return "c"
	case "java", "kotlin", "scala", "groovy":
		return "jvm"
	case "python", "cython", "starlark":
		return "python"
	case "css", "scss", "sass", "less", "stylus":
		return "css"
	case "shell", "bash", "zsh", "fish", "tcsh":
		return "shell"
	}
	return language
}

// stem is the base name without its last extension (all of ".d.ts").
func stem(p string) string {
	b := path.Base(p)
	if s := strings.TrimSuffix(b, path.Ext(b)); s != "" {
		return strings.TrimSuffix(s, ".d")
	}
	return b
}

// common counts the directories that two paths begin with.
func common(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n++
		}
	}
	return n
}
