package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
)

// OutsideFile is a file that was indexed elsewhere.
type OutsideFile struct {
	// Root has the directory that the file lies in, which need not be one of the
	// workspace's.
	Root file.Root
	// Path is what results show, such as "name@commit:dir/file.go", or the workspace
	// path of a file that the workspace has.
	Path string
	// Record is what is known of the file; its Path is relative to Root.
	Record store.FileRecord
	Text   string
	// Vectors are the content vectors of the chunks, in order, by the model of
	// the fingerprint. Those of another model than the inline one are left out.
	Vectors []store.Vector
	Model   string
}

// Outside is an OutsideFile made ready to be searched. It is immutable, and good for the
// snapshots of the index that made it as long as the index is open.
type Outside struct {
	id    uint64 // of no other
	part  *part
	lists []List
}

// maxBuilder is how large, in bytes, what a builder knows may be to be kept.
const maxBuilder = 8 << 20

// File is the file as snapshots show it.
func (o *Outside) File() *File { return o.part.files[0].file }

// Size is about how many bytes of memory it takes, without its text.
func (o *Outside) Size() int {
	n := o.part.lex.Bytes() + len(o.part.defs)*16
	for i := range o.part.docs {
		d := &o.part.docs[i]
		n += 512 + len(d.Summary)
	}
	for _, l := range o.lists {
		n += l.Matrix.Len() * (l.Model.Dim + 8)
	}
	return n
}

// Outside makes files from elsewhere searchable, in the order given, on all
// processors. A record must fit its text, hash and lines. It fails with ctx,
// or where a record does not.
func (ix *Index) Outside(ctx context.Context, files []OutsideFile) ([]*Outside, error) {
	made := make([]*Outside, len(files))
	errs := make([]error, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(files), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			words, _ := ix.builders.Get().(*lexical.Builder) // what it learns of one file's words serves the next
			if words == nil {
				words = lexical.NewBuilder(ix.tok)
			}
			defer func() {
				if words.Size() < maxBuilder {
					ix.builders.Put(words)
				}
			}()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				made[i], errs[i] = ix.outside(ctx, &files[i], words)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("preparing %s: %w", files[i].Path, err)
		}
	}
	return made, nil
}

func (ix *Index) outside(ctx context.Context, in *OutsideFile, words *lexical.Builder) (*Outside, error) {
	if text.Hash(in.Text) != in.Record.Hash {
		return nil, errors.New("its text is not the one that its hash is of")
	}
	doc := text.New(in.Text)
	chunks := in.Record.File.Chunks
	for i := range chunks {
		if c := &chunks[i]; c.StartLine < 1 || c.EndLine < c.StartLine || c.EndLine > doc.LineCount() {
			return nil, fmt.Errorf("chunk %d is lines %d to %d of a text of %d", i, c.StartLine, c.EndLine, doc.LineCount())
		}
	}
	for i := range in.Record.File.Symbols {
		if y := &in.Record.File.Symbols[i]; y.StartLine < 1 || y.EndLine < y.StartLine || y.EndLine > doc.LineCount() {
			return nil, fmt.Errorf("the symbol %s is lines %d to %d of a text of %d", y.Name, y.StartLine, y.EndLine, doc.LineCount())
		}
	}
	f := &File{
		Path: in.Path, Rel: in.Record.Path, Root: in.Root, Class: in.Record.Class, Hash: in.Record.Hash, Size: in.Record.Size,
		Outside: true, Symbols: in.Record.File.Symbols, Imports: in.Record.File.Imports,
	}
	b := &builder{lex: words}
	var vectors [][]store.Vector
	if models := ix.inlineModels(); len(models) > 0 && models[0].Fingerprint == in.Model {
		f.PathVectors = ix.pathVectors(ctx, f.Rel)
		b.lists = []*listBuilder{newListBuilder(models[0], len(chunks))}
		vectors = [][]store.Vector{in.Vectors[:min(len(in.Vectors), len(chunks))]}
	}
	b.add(f, chunks, doc, vectors)
	o := &Outside{id: ix.seq.Add(1)}
	o.part, o.lists = b.build()
	o.part.sample = true
	return o, nil
}

// Beside returns a snapshot in which files from elsewhere stand beside those of
// this one, which win over one of the same path; a later one wins over an earlier.
// background, where it is not nil, are statistics that count all of them already.
func (s *Snapshot) Beside(outside []*Outside, background *lexical.Background) *Snapshot {
	base := s.Local()
	parts, lists := make([]*part, len(outside)), make([][]List, len(outside))
	for i, o := range outside {
		parts[i], lists[i] = o.part, o.lists
	}
	next := base.with(parts, lists, nil, true)
	next.Seq, next.local, next.background = base.Seq, base, background
	next.state = base.State()
	next.state.beside = besides(outside, background)
	next.order = sync.OnceValue(func() []*File {
		var added []*File
		for _, o := range outside {
			if f := o.File(); next.File(f.Path) == f {
				added = append(added, f)
			}
		}
		slices.SortFunc(added, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
		return mergeFiles(base.Files(), slices.Compact(added))
	})
	return next
}

// mergeFiles merges two lists in path order.
func mergeFiles(a, b []*File) []*File {
	all := make([]*File, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Path < b[0].Path {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// besides names what stands beside a snapshot.
func besides(outside []*Outside, background *lexical.Background) [32]byte {
	h := sha256.New()
	number := func(n uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, n)) }
	number(uint64(len(outside)))
	for _, o := range outside {
		number(o.id)
	}
	if background != nil {
		number(uint64(background.Docs))
		for _, n := range background.Terms {
			number(n)
		}
		for _, term := range sortedKeys(background.DF) {
			number(uint64(len(term)))
			h.Write([]byte(term))
			number(uint64(background.DF[term]))
		}
	}
	return [32]byte(h.Sum(nil))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Local returns the snapshot without the documents that stand beside it.
func (s *Snapshot) Local() *Snapshot {
	if s.local != nil {
		return s.local
	}
	return s
}

// Background returns the statistics that documents beside the snapshot's own are
// a sample of, nil where there are none.
func (s *Snapshot) Background() *lexical.Background { return s.background }

// Corpus is the number of documents that statistics count: the snapshot's own and
// those that documents beside them are a sample of.
func (s *Snapshot) Corpus() int {
	if s.background == nil {
		return s.docs
	}
	return s.Local().docs + s.background.Docs
}
