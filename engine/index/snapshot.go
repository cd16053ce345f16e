package index

import (
	"cmp"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
	"coderag-ls/engine/vector"
)

// File is one indexed file of a snapshot. It is immutable.
type File struct {
	// Path is the workspace path (with several roots prefixed with the root's
	// name); Rel is relative to Root.Dir.
	Path  string
	Rel   string
	Root  file.Root
	Class file.Class
	Hash  file.Hash
	// Size is in bytes on disk, ModTime in Unix nanoseconds.
	Size    int64
	ModTime int64
	// Provisional: only the words are searchable so far, by blocks of lines.
	Provisional bool
	// Open: the text is an editor's buffer, not the disk's.
	Open bool
	// Outside: it comes from elsewhere (Index.Outside), and Path need not be one of
	// the workspace.
	Outside bool
	Symbols []chunk.Symbol
	Imports []chunk.Import
	// PathVectors holds the vector of the path's words of the inline model, by
	// Model.Fingerprint.
	PathVectors map[string][]float32
}

// Abs is the file's absolute path.
func (f *File) Abs() string { return filepath.Join(f.Root.Dir, filepath.FromSlash(f.Rel)) }

// Named reports whether globs name the file, by either path.
func (f *File) Named(globs file.Globs) bool {
	return globs.Match(f.Rel) || f.Path != f.Rel && globs.Match(f.Path)
}

// Doc is one chunk of a snapshot. Chunk.Path is relative to the root.
type Doc struct {
	chunk.Chunk
	File *File
}

// List holds a part's vectors of one model.
type List struct {
	Model  embed.Model
	Matrix *vector.Matrix // combined content and path vectors, unit length
	// Norms are, by row, the lengths of content + Model.PathWeight*path, of which
	// the row has the direction.
	Norms []float32
	// Paths are, by row, the path vectors in them, where they are the list's to keep:
	// those of the inline model are its files'. Rows of a file share one.
	Paths []store.Vector
	// Docs maps the matrix's rows to documents in ascending order; nil where
	// row i is document i. Documents without a row have no vector yet.
	Docs []int32
}

// Definition is a symbol and the file that defines it.
type Definition struct {
	File   *File
	Symbol *chunk.Symbol
}

// Ref names a document of a snapshot.
type Ref struct{ Part, Doc int32 }

// Scored is a document with a score.
type Scored struct {
	Ref   Ref
	Score float32
}

// place says where a file's documents stand.
type place struct {
	file  *File
	part  *part
	first int32
	count int32
}

// Snapshot is an immutable state of the index.
type Snapshot struct {
	// Seq grows with every published snapshot.
	Seq uint64
	// sealed grows with every snapshot that workers published with changed
	// files: an older one is behind.
	sealed uint64
	parts  []*part
	// live marks, per part, the documents that are not replaced.
	live [][]uint64
	// lists are the vectors of each part.
	lists [][]List
	docs  int
	files fileTable
	words *lexical.Searcher
	state State // of a view's snapshot; zero for those that the index publishes
	// local is the snapshot that documents from elsewhere stand beside, nil where none
	// do; background are the statistics that these are a sample of.
	local      *Snapshot
	background *lexical.Background

	order func() []*File
}

// fileTable maps workspace paths to places in two layers, so that an edit
// copies the small one only.
type fileTable struct {
	base  map[string]place
	delta map[string]place // a place without a file is a removed path
	n     int
}

func (t fileTable) get(path string) (place, bool) {
	if p, ok := t.delta[path]; ok {
		return p, p.file != nil
	}
	p, ok := t.base[path]
	return p, ok
}

// with returns a table in which puts replace and gone are removed.
func (t fileTable) with(puts []place, gone []string) fileTable {
	next := fileTable{base: t.base, n: t.n, delta: make(map[string]place, len(t.delta)+len(puts)+len(gone))}
	for k, v := range t.delta {
		next.delta[k] = v
	}
	for _, p := range puts {
		if _, had := next.get(p.file.Path); !had {
			next.n++
		}
		next.delta[p.file.Path] = p
	}
	for _, path := range gone {
		if _, had := next.get(path); had {
			next.n--
			next.delta[path] = place{}
		}
	}
	// A delta of a quarter of the base costs more to copy each time than to
	// fold once.
	if len(next.delta) > maxDelta && len(next.delta)*4 > len(next.base) {
		return next.fold()
	}
	return next
}

// fold returns the same table in one layer.
func (t fileTable) fold() fileTable {
	folded := make(map[string]place, t.n)
	t.each(func(path string, p place) { folded[path] = p })
	return fileTable{base: folded, n: t.n}
}

func (t fileTable) each(fn func(path string, p place)) {
	for path, p := range t.delta {
		if p.file != nil {
			fn(path, p)
		}
	}
	for path, p := range t.base {
		if _, over := t.delta[path]; !over {
			fn(path, p)
		}
	}
}

func emptySnapshot() *Snapshot { return finish(&Snapshot{words: &lexical.Searcher{}}) }

// finish prepares what is computed at most once, when first asked for.
func finish(s *Snapshot) *Snapshot {
	s.order = sync.OnceValue(func() []*File {
		files := make([]*File, 0, s.files.n)
		s.files.each(func(_ string, p place) { files = append(files, p.file) })
		slices.SortFunc(files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
		return files
	})
	return s
}

// with returns a snapshot in which the files of the new parts replace those of
// the same path, and the paths in gone are removed. lists are the vectors of the new
// parts. With onlyNew a part's file that is there already
// stays as it is. Parts left without a live document are dropped.
func (s *Snapshot) with(added []*part, lists [][]List, gone []string, onlyNew bool) *Snapshot {
	next := &Snapshot{Seq: s.Seq + 1, sealed: s.sealed, docs: s.docs, words: s.words}
	next.parts = slices.Clone(s.parts)
	next.live = slices.Clone(s.live)
	next.lists = slices.Clone(s.lists)
	cloned := make([]bool, len(s.parts))
	index := make(map[*part]int, len(s.parts))
	for i, p := range s.parts {
		index[p] = i
	}
	kill := func(path string) {
		at, ok := s.files.get(path)
		if !ok || at.count == 0 {
			return
		}
		i := index[at.part]
		if !cloned[i] {
			next.live[i], cloned[i] = slices.Clone(next.live[i]), true
		}
		for d := at.first; d < at.first+at.count; d++ {
			next.live[i][d>>6] &^= 1 << (d & 63)
		}
		next.docs -= int(at.count)
	}
	var puts []place
	seen := map[string]bool{}
	// Newest part first: where two hold one path, the later one counts.
	for i := len(added) - 1; i >= 0; i-- {
		p := added[i]
		live := make([]uint64, (len(p.docs)+63)/64)
		for _, at := range p.files {
			if seen[at.file.Path] {
				continue
			}
			seen[at.file.Path] = true
			if _, have := s.files.get(at.file.Path); have && onlyNew {
				continue
			}
			kill(at.file.Path)
			for d := at.first; d < at.first+at.count; d++ {
				live[d>>6] |= 1 << (d & 63)
			}
			next.docs += int(at.count)
			puts = append(puts, place{file: at.file, part: p, first: at.first, count: at.count})
		}
		next.parts = append(next.parts, p)
		next.live = append(next.live, live)
		next.lists = append(next.lists, lists[i])
	}
	for _, path := range gone {
		if !seen[path] {
			kill(path)
		}
	}
	next.files = s.files.with(puts, gone)
	next.dropDead()
	return finish(next)
}

// dropDead leaves out parts without live documents.
func (s *Snapshot) dropDead() {
	kept := 0
	for i := range s.parts {
		if slices.ContainsFunc(s.live[i], func(w uint64) bool { return w != 0 }) {
			s.parts[kept], s.live[kept], s.lists[kept] = s.parts[i], s.live[i], s.lists[i]
			kept++
		}
	}
	clear(s.parts[kept:])
	s.parts, s.live, s.lists = s.parts[:kept], s.live[:kept], s.lists[:kept]
}

// Len is the number of live documents.
func (s *Snapshot) Len() int { return s.docs }

// FileCount is the number of files.
func (s *Snapshot) FileCount() int { return s.files.n }

// Doc returns a document.
func (s *Snapshot) Doc(r Ref) *Doc { return &s.parts[r.Part].docs[r.Doc] }

// File returns the file of a workspace path, nil where there is none.
func (s *Snapshot) File(path string) *File {
	at, _ := s.files.get(path)
	return at.file
}

// Files returns all files in path order. The slice is shared: do not change it.
func (s *Snapshot) Files() []*File { return s.order() }

// Docs yields every document, in no particular order.
func (s *Snapshot) Docs() iter.Seq[*Doc] {
	return func(yield func(*Doc) bool) {
		for i, p := range s.parts {
			for d := range p.docs {
				if s.isLive(i, d) && !yield(&p.docs[d]) {
					return
				}
			}
		}
	}
}

// DocsOf returns a file's documents in line order.
func (s *Snapshot) DocsOf(f *File) []Ref {
	at, ok := s.files.get(f.Path)
	if !ok || at.file != f || at.count == 0 {
		return nil
	}
	i := slices.Index(s.parts, at.part)
	refs := make([]Ref, at.count)
	for d := range refs {
		refs[d] = Ref{Part: int32(i), Doc: at.first + int32(d)}
	}
	return refs
}

// DocOf returns the document of f that holds the line (1-based).
func (s *Snapshot) DocOf(f *File, line int) (Ref, bool) {
	for _, r := range s.DocsOf(f) {
		if d := s.Doc(r); d.StartLine <= line && line <= d.EndLine {
			return r, true
		}
	}
	return Ref{}, false
}

// Definitions returns where a name is defined, in path and line order.
func (s *Snapshot) Definitions(name string) []Definition {
	return s.definitions(func(p *part) []Definition { return p.named(name) })
}

// DefinitionsFold is Definitions without regard to case; lower is in lower
// case.
func (s *Snapshot) DefinitionsFold(lower string) []Definition {
	return s.definitions(func(p *part) []Definition { return p.namedFold(lower) })
}

// Names yields the names of the symbols that are defined, in no particular order
// and some of them several times.
func (s *Snapshot) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range s.parts {
			last := ""
			for i := range p.defs {
				d := &p.defs[i]
				if d.Symbol.Name == last {
					continue
				}
				if at, ok := s.files.get(d.File.Path); !ok || at.file != d.File {
					continue
				}
				if last = d.Symbol.Name; !yield(last) {
					return
				}
			}
		}
	}
}

func (s *Snapshot) definitions(of func(*part) []Definition) []Definition {
	var found []Definition
	for _, p := range s.parts {
		for _, d := range of(p) {
			if at, ok := s.files.get(d.File.Path); ok && at.file == d.File {
				found = append(found, d)
			}
		}
	}
	slices.SortFunc(found, func(a, b Definition) int {
		x, y := a.Symbol, b.Symbol
		return cmp.Or(strings.Compare(a.File.Path, b.File.Path), cmp.Compare(x.StartLine, y.StartLine), cmp.Compare(x.NameLine, y.NameLine),
			cmp.Compare(x.EndLine, y.EndLine), strings.Compare(x.Name, y.Name), strings.Compare(x.Parent, y.Parent))
	})
	return found
}

// Models returns the models that have vectors, the list with most rows first.
func (s *Snapshot) Models() []embed.Model {
	rows := map[string]int{}
	models := map[string]embed.Model{}
	for _, lists := range s.lists {
		for _, l := range lists {
			rows[l.Model.Fingerprint] += l.Matrix.Len()
			models[l.Model.Fingerprint] = l.Model
		}
	}
	all := make([]embed.Model, 0, len(models))
	for _, m := range models {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b embed.Model) int {
		return cmp.Or(cmp.Compare(rows[b.Fingerprint], rows[a.Fingerprint]), strings.Compare(a.Name, b.Name))
	})
	return all
}

// Parts returns the lexical parts for corpus statistics.
func (s *Snapshot) Parts() []lexical.Part {
	parts := make([]lexical.Part, len(s.parts))
	for i, p := range s.parts {
		parts[i] = lexical.Part{Segment: p.lex, Live: s.live[i], Sample: p.sample}
	}
	return parts
}
