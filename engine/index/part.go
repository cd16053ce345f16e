package index

import (
	"cmp"
	"hash/maphash"
	"path"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
	"coderag-ls/engine/vector"
)

// part is an immutable block of documents with its postings. Its vectors stand
// beside it in the snapshot, since those of a slow model arrive later.
type part struct {
	docs  []Doc
	files []place // part is not set
	lex   *lexical.Segment
	// defs are the symbols of the files in the order of their names, folded
	// their places in the order of what their names in lower case hash to.
	// Sorted slices take a fifth of the memory of maps.
	defs   []Definition
	folded func() []foldedName
	seed   maphash.Seed
	// saved names the file that holds the postings on disk, "" where none does.
	saved string
	// sample: it holds some of the documents that a snapshot's background counts.
	sample bool
}

func newPart(docs []Doc, files []place, lex *lexical.Segment) *part {
	n := 0
	for _, at := range files {
		n += len(at.file.Symbols)
	}
	p := &part{docs: docs, files: files, lex: lex, defs: make([]Definition, 0, n), seed: maphash.MakeSeed()}
	for _, at := range files {
		for i := range at.file.Symbols {
			p.defs = append(p.defs, Definition{File: at.file, Symbol: &at.file.Symbols[i]})
		}
	}
	slices.SortFunc(p.defs, func(a, b Definition) int { return strings.Compare(a.Symbol.Name, b.Symbol.Name) })
	p.folded = sync.OnceValue(func() []foldedName {
		order := make([]foldedName, len(p.defs))
		for i, d := range p.defs {
			order[i] = foldedName{p.foldedHash(strings.ToLower(d.Symbol.Name)), int32(i)}
		}
		slices.SortFunc(order, func(a, b foldedName) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.def, b.def)) })
		return order
	})
	return p
}

// foldedName is the place in part.defs of a name, by a hash of the name in
// lower case.
type foldedName struct {
	hash uint32
	def  int32
}

func (p *part) foldedHash(lower string) uint32 { return uint32(maphash.String(p.seed, lower)) }

// named returns the definitions of a name, in no particular order.
func (p *part) named(name string) []Definition {
	from, _ := slices.BinarySearchFunc(p.defs, name, func(d Definition, name string) int { return strings.Compare(d.Symbol.Name, name) })
	to := from
	for to < len(p.defs) && p.defs[to].Symbol.Name == name {
		to++
	}
	return p.defs[from:to]
}

// namedFold is named for a name in lower case, without regard to case.
func (p *part) namedFold(lower string) []Definition {
	order, hash := p.folded(), p.foldedHash(lower)
	at, _ := slices.BinarySearchFunc(order, hash, func(f foldedName, hash uint32) int { return cmp.Compare(f.hash, hash) })
	var found []Definition
	for ; at < len(order) && order[at].hash == hash; at++ {
		if d := p.defs[order[at].def]; strings.ToLower(d.Symbol.Name) == lower {
			found = append(found, d)
		}
	}
	return found
}

// builder collects documents for a part. It is used by one goroutine.
type builder struct {
	docs  []Doc
	files []place
	lex   *lexical.Builder
	lists []*listBuilder
}

// listBuilder collects the rows of one model's list.
type listBuilder struct {
	model embed.Model
	rows  *vector.Builder
	docs  []int32
	norms []float32
	paths []store.Vector // of the slow model
	row   []float32      // scratch
}

func newListBuilder(m embed.Model, capacity int) *listBuilder {
	rows, err := vector.NewBuilder(m.Dim, capacity)
	if err != nil {
		panic(err) // a model's dimension is checked when it is loaded
	}
	return &listBuilder{model: m, rows: rows}
}

// add appends the row of a document: its content vector with its path's.
func (l *listBuilder) add(doc int32, v store.Vector, path []float32) {
	var norm float32
	l.row, norm = appendCombined(l.row[:0], v, path, l.model.PathWeight)
	if l.rows.AppendFloat32(l.row) == nil {
		l.docs, l.norms = append(l.docs, doc), append(l.norms, norm)
	}
}

// addBehind is add for the slow model, whose path vectors the list keeps.
func (l *listBuilder) addBehind(doc int32, v, path store.Vector) {
	n := len(l.docs)
	if l.add(doc, v, dequantise(path)); len(l.docs) > n {
		l.addPath(path)
	}
}

// addPath notes the path vector in the last row.
func (l *listBuilder) addPath(path store.Vector) {
	for len(l.paths) < len(l.docs)-1 { // rows of unsaved buffers have none
		l.paths = append(l.paths, store.Vector{})
	}
	l.paths = append(l.paths, path)
}

// list makes the list of a part of total documents.
func (l *listBuilder) list(total int) List {
	list := List{Model: l.model, Matrix: l.rows.Matrix(), Norms: slices.Clip(l.norms), Paths: slices.Clip(l.paths)}
	if len(l.docs) != total {
		list.Docs = append([]int32{}, l.docs...) // not nil where there are no rows
	}
	return list
}

func newBuilder(tok *lexical.Tokenizer, models []embed.Model) *builder {
	b := &builder{lex: lexical.NewBuilder(tok)}
	for _, m := range models {
		b.lists = append(b.lists, newListBuilder(m, 0))
	}
	return b
}

// add appends a file with its chunks. vectors holds, per list, the content
// vectors of the chunks (nil where there is none yet).
func (b *builder) add(f *File, chunks []chunk.Chunk, doc *text.Document, vectors [][]store.Vector) {
	first := int32(len(b.docs))
	var comments []chunk.Span
	if !f.Provisional {
		comments = chunk.Comments(f.Class.Language, doc.Content())
	}
	for i := range chunks {
		b.docs = append(b.docs, Doc{Chunk: chunks[i], File: f})
		b.lex.Add(lexicalDoc(f, &chunks[i], doc, comments))
	}
	for l, list := range b.lists {
		if l >= len(vectors) {
			break
		}
		for i, v := range vectors[l] {
			if v.Values != nil {
				list.add(first+int32(i), v, f.PathVectors[list.model.Fingerprint])
			}
		}
	}
	b.files = append(b.files, place{file: f, first: first, count: int32(len(chunks))})
}

// appendCombined appends the unit vector of content and path to dst, which is
// empty; both count with their own length (embed.Combine), norm is that of
// their sum.
func appendCombined(dst []float32, v store.Vector, path []float32, weight float32) (row []float32, norm float32) {
	if len(path) != len(v.Values) {
		path = nil
	}
	for i, q := range v.Values {
		x := float32(q) * v.Scale
		if path != nil {
			x += weight * path[i]
		}
		dst = append(dst, x)
	}
	norm = embed.Normalize(dst)
	return dst, norm
}

func (b *builder) build() (*part, []List) {
	if cap(b.docs) > len(b.docs)+len(b.docs)/16 {
		b.docs = slices.Clone(b.docs) // it stays for long: what append left over is too much
	}
	p := newPart(b.docs, b.files, b.lex.Build())
	lists := make([]List, 0, len(b.lists))
	for _, l := range b.lists {
		lists = append(lists, l.list(len(b.docs)))
	}
	return p, lists
}

// row returns the row of a document.
func (l *List) row(doc int32) (int, bool) {
	if l.Docs == nil {
		return int(doc), int(doc) < l.Matrix.Len()
	}
	return slices.BinarySearch(l.Docs, doc)
}

// lexicalDoc gives a chunk to the lexical index: its lines with the comments
// marked, its names, and its summary with the headers above it.
func lexicalDoc(f *File, c *chunk.Chunk, doc *text.Document, comments []chunk.Span) lexical.Doc {
	from, to := doc.LineStart(c.StartLine), doc.LineEnd(c.EndLine)
	d := lexical.Doc{Body: doc.Content()[from:to], Prose: f.Class.SourceType != file.Code}
	i, _ := slices.BinarySearchFunc(comments, from, func(s chunk.Span, at int) int {
		if s.End <= at {
			return -1
		}
		return 1
	})
	for ; i < len(comments) && comments[i].Start < to; i++ {
		d.Comments = append(d.Comments, lexical.Span{Start: max(comments[i].Start-from, 0), End: min(comments[i].End, to) - from})
	}
	dir, base := path.Split(f.Rel)
	d.Name, d.Path = strings.TrimSuffix(base, path.Ext(base)), dir
	d.Defs = c.Symbols
	d.Summary = strings.Join(append([]string{c.Summary}, c.HeaderPath...), " ")
	return d
}

// vectorKey names what of a chunk is embedded: chunks that a model cannot tell
// apart have the same key wherever they stand, so that moving or indenting code
// embeds nothing.
func vectorKey(c *chunk.Chunk) store.VectorKey { return store.VectorKey(c.EmbedHash) }
