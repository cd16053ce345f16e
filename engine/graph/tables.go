package graph

import (
	"path"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
)

// tables are what imports are resolved with. They are the same as long as no
// path, no build file and no exported name changes (sameFace).
type tables struct {
	files []File
	ids   map[string]int32
	dirs  map[string]*directory
	// byStem lists code by family and lower-case stem, in path order.
	byStem map[stemKey][]int32
	// dirsByName lists directories of code by their last name, in path order.
	dirsByName map[string][]string
	groups     []group
	groupIDs   map[string]int32
	groupsOf   [][]int32 // by file
	// bySubject lists files without tests by family and what tests call them.
	bySubject map[stemKey][]int32
	// byName lists JVM files by the top-level names they define, Elixir's by
	// their modules.
	byName map[stemKey][]int32
	build  buildFiles
}

type stemKey struct{ family, stem string }

// directory is a directory that holds indexed files, itself or further down.
type directory struct {
	files []int32
	group int32 // of its package, none where it has none
	// python tells that a Python file stands somewhere below.
	python bool
}

// group is a set of files that is imported as a whole.
type group struct {
	name  string // a directory, or "namespace N", "package N"
	files []int32
}

// exports reports whether other files' imports depend on the names that this
// one defines.
func exports(language string) bool {
	switch family(language) {
	case "js", "python", "jvm", "rust", "c#", "elixir":
		return true
	}
	return false
}

// sameFace reports whether two versions of a file look the same to the imports
// of others.
func sameFace(a, b *File) bool {
	if a.Language != b.Language || a.Test != b.Test || a.Minor != b.Minor || isBuildFile(a.Path) {
		return false
	}
	if !exports(a.Language) {
		return true
	}
	if !slices.EqualFunc(a.Imports, b.Imports, func(x, y chunk.Import) bool {
		return x.Target == y.Target && slices.Equal(x.Names, y.Names)
	}) {
		return false
	}
	return slices.EqualFunc(a.Symbols, b.Symbols, func(x, y chunk.Symbol) bool {
		return x.Name == y.Name && x.Parent == y.Parent && x.Kind == y.Kind
	})
}

func newTables(files []File, infos []fileInfo, read Reader) *tables {
	t := &tables{
		files: files, ids: make(map[string]int32, len(files)), dirs: map[string]*directory{}, byStem: make(map[stemKey][]int32, len(files)),
		dirsByName: map[string][]string{}, groupIDs: map[string]int32{}, groupsOf: make([][]int32, len(files)),
		bySubject: map[stemKey][]int32{}, byName: map[stemKey][]int32{},
	}
	for i := range files {
		id, f := int32(i), &files[i]
		t.ids[f.Path] = id
		t.place(id, f)
		if code(f.Language) {
			key := stemKey{family(f.Language), strings.ToLower(stem(f.Path))}
			t.byStem[key] = append(t.byStem[key], id)
			if !f.Test {
				t.subjects(id, f)
			}
		}
		t.names(id, f, infos[i].local)
	}
	t.build = readBuildFiles(t, read)
	t.swiftModules()
	return t
}

// place enters a file into its directory, and makes the directories above.
func (t *tables) place(id int32, f *File) {
	dir := path.Dir(f.Path)
	d := t.directory(dir)
	d.files = append(d.files, id)
	if family(f.Language) == "python" {
		for d, at := d, dir; !d.python; d = t.dirs[at] {
			d.python = true
			if at == path.Dir(at) {
				break
			}
			at = path.Dir(at)
		}
	}
	switch f.Language {
	case "go", "java":
		if f.Language == "java" || !strings.HasSuffix(f.Path, "_test.go") {
			if d.group < 0 {
				d.group = t.group(dir)
			}
			t.join(d.group, id)
		}
	}
}

func (t *tables) directory(dir string) *directory {
	if d := t.dirs[dir]; d != nil {
		return d
	}
	d := &directory{group: none}
	t.dirs[dir] = d
	if dir != path.Dir(dir) {
		t.dirsByName[path.Base(dir)] = append(t.dirsByName[path.Base(dir)], dir)
		t.directory(path.Dir(dir))
	}
	return d
}

func (t *tables) group(name string) int32 {
	id, ok := t.groupIDs[name]
	if !ok {
		id = int32(len(t.groups))
		t.groups = append(t.groups, group{name: name})
		t.groupIDs[name] = id
	}
	return id
}

func (t *tables) join(group, file int32) {
	g := &t.groups[group]
	if n := len(g.files); n == 0 || g.files[n-1] != file {
		g.files = append(g.files, file)
		t.groupsOf[file] = append(t.groupsOf[file], group)
	}
}

// names enters the names by which other files import a file: types of the JVM's
// languages, modules of Elixir, namespaces.
func (t *tables) names(id int32, f *File, l *local) {
	switch fam := family(f.Language); fam {
	case "jvm":
		t.named(fam, stem(f.Path), id)
		for i := range f.Symbols {
			if s := &f.Symbols[i]; s.Parent == "" || f.Language == "kotlin" && s.Kind == chunk.Method && strings.Contains(s.Signature, "."+s.Name+"(") {
				t.named(fam, s.Name, id)
			}
		}
		if l.declares() != "" {
			t.join(t.group("package "+l.pkg), id)
		}
	case "elixir":
		for i := range f.Symbols {
			if s := &f.Symbols[i]; s.Kind == chunk.Module || s.Kind == chunk.Class || s.Kind == chunk.Interface {
				name := s.Name
				if s.Parent != "" {
					name = s.Parent + "." + s.Name
				}
				t.named(fam, name, id)
			}
		}
	case "c#":
		if l.declares() != "" {
			t.join(t.group("namespace "+l.pkg), id)
		}
		for i := range f.Symbols {
			if s := &f.Symbols[i]; s.Kind == chunk.Module {
				name := s.Name
				if s.Parent != "" {
					name = s.Parent + "." + s.Name
				}
				t.join(t.group("namespace "+name), id)
			}
		}
	}
}

func (t *tables) named(family, name string, id int32) {
	key := stemKey{family, name}
	if l := t.byName[key]; len(l) == 0 || l[len(l)-1] != id {
		t.byName[key] = append(l, id)
	}
}

// code reports whether files of a language import one another.
func code(language string) bool {
	switch language {
	case "", "markdown", "text", "json", "yaml", "toml", "xml", "csv", "ini", "dockerfile", "makefile", "git attributes", "ignore list", "diff", "svg":
		return false
	}
	return true
}

// file is the number of a path's file.
func (t *tables) file(p string) node {
	if id, ok := t.ids[p]; ok {
		return id
	}
	return none
}

func (t *tables) groupNode(g int32) node {
	if g < 0 {
		return none
	}
	return node(len(t.files)) + g
}

// join is path.Join with "." for the workspace's root; ok is false where the
// path leaves the workspace.
func join(dir, rel string) (string, bool) {
	p := path.Join(dir, rel)
	return p, p != ".." && !strings.HasPrefix(p, "../") && !strings.HasPrefix(p, "/")
}

// hasSuffix reports whether a slash-separated path ends with whole segments.
func hasSuffix(p, suffix string) bool {
	return p == suffix || len(p) > len(suffix) && p[len(p)-len(suffix)-1] == '/' && strings.HasSuffix(p, suffix)
}

// nearest chooses, among files, the one nearest to a path: no test for what is
// none, no example for what is none, then the longest common beginning, the
// shortest path, the order of paths.
func (t *tables) nearest(from int32, candidates []int32, ok func(int32) bool) node {
	best, bestScore := none, 0
	f := &t.files[from]
	for _, c := range candidates {
		if c == from || ok != nil && !ok(c) {
			continue
		}
		o := &t.files[c]
		score := common(f.Path, o.Path)*64 - strings.Count(o.Path, "/")
		if o.Test && !f.Test {
			score -= 1 << 20
		}
		if o.Minor && !f.Minor {
			score -= 1 << 19
		}
		if best == none || score > bestScore {
			best, bestScore = c, score
		}
	}
	return best
}
