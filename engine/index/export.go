package index

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
)

// ErrChanged: a file is no longer what was indexed of it.
var ErrChanged = errors.New("changed since it was indexed")

// Export calls fn with indexed files of a workspace of one folder as the documents
// that are published of them: those of the paths, in their order, all in path order
// where paths is nil. It fails with what fn fails with, and with ErrChanged where a text is not the
// one that was indexed, or is not there: wait for Sync and begin again. It may be called by
// several goroutines.
func Export(ctx context.Context, ix *Index, paths []string, fn func(sharedindex.Document) error) error {
	if err := ix.oneFolder(); err != nil {
		return err
	}
	words := lexical.NewBuilder(ix.tok)
	snap := ix.Snapshot()
	files := snap.Files()
	if paths != nil {
		files = make([]*File, len(paths))
		for i, path := range paths {
			if files[i] = snap.File(path); files[i] == nil {
				return fmt.Errorf("preparing %s: %w", path, ErrChanged)
			}
		}
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		doc, err := ix.export(ctx, snap, f, words)
		if err != nil {
			return fmt.Errorf("preparing %s: %w", f.Path, err)
		}
		if err := fn(doc); err != nil {
			return err
		}
	}
	return nil
}

// Entries returns what Export has documents of, in path order, and the statistics of their
// words: of those files only whose path keep passes, nil for all.
func Entries(ix *Index, keep func(path string) bool) ([]sharedindex.Entry, sharedindex.Statistics, error) {
	if err := ix.oneFolder(); err != nil {
		return nil, sharedindex.Statistics{}, err
	}
	snap := ix.Snapshot()
	parts := snap.Parts()
	for i := range parts {
		parts[i].Live = lexical.NewBitmap(parts[i].Segment.Len())
	}
	entries := make([]sharedindex.Entry, 0, snap.FileCount())
	for _, f := range snap.Files() {
		if keep != nil && !keep(f.Rel) {
			continue
		}
		refs := snap.DocsOf(f)
		for _, ref := range refs {
			parts[ref.Part].Live.Set(int(ref.Doc))
		}
		entries = append(entries, sharedindex.Entry{Path: f.Rel, Hash: f.Hash, Chunks: len(refs)})
	}
	return entries, sharedindex.Statistics{Terms: lexical.Totals(parts), DF: lexical.DFs(parts)}, nil
}

// oneFolder is an error where the workspace is of several.
func (ix *Index) oneFolder() error {
	if len(ix.roots) != 1 {
		return fmt.Errorf("publishing %d folders at once: one folder is one repository", len(ix.roots))
	}
	return nil
}

// Edition names what documents have in common that are exported.
func (ix *Index) Edition() sharedindex.Edition {
	e := sharedindex.Edition{ChunkVersion: ix.chunkVersion(), Tokenizer: lexical.TokenizerVersion}
	if models := ix.inlineModels(); len(models) > 0 {
		e.Model = models[0]
	}
	return e
}

func (ix *Index) export(ctx context.Context, snap *Snapshot, f *File, words *lexical.Builder) (sharedindex.Document, error) {
	var out sharedindex.Document
	content, err := ix.readFile(ctx, filepath.Join(f.Root.Dir, filepath.FromSlash(f.Rel)))
	switch {
	case err != nil:
		return out, err
	case content.Hash != f.Hash || f.Provisional:
		return out, ErrChanged
	}
	out.Text = content.Text
	out.Record = store.FileRecord{
		Path: f.Rel, Hash: f.Hash, Size: content.Size, Class: f.Class, ChunkVersion: ix.chunkVersion(),
		File: chunk.File{Symbols: f.Symbols, Imports: f.Imports},
	}
	refs := snap.DocsOf(f)
	keys := make([]store.VectorKey, len(refs))
	for i, ref := range refs {
		c := snap.Doc(ref).Chunk
		out.Record.File.Chunks = append(out.Record.File.Chunks, c)
		keys[i] = vectorKey(&c)
	}
	doc := text.New(content.Text)
	comments := chunk.Comments(f.Class.Language, content.Text)
	for i := range out.Record.File.Chunks {
		out.Words = append(out.Words, sharedindex.Words(words.Terms(lexicalDoc(f, &out.Record.File.Chunks[i], doc, comments))))
	}
	models := ix.inlineModels()
	if len(models) == 0 {
		return out, nil
	}
	m := models[0]
	have, err := ix.storedVectors(ctx, ix.roots[0], m, keys)
	if err != nil {
		return out, err
	}
	path := f.PathVectors[m.Fingerprint]
	for _, k := range keys {
		v := have[k]
		out.Vectors = append(out.Vectors, v)
		var row []float32
		if v.Values != nil {
			if unit, norm := appendCombined(nil, v, path, m.PathWeight); norm > 0 {
				row = unit
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}
