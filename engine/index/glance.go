package index

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

// glanceLines is how many lines make a provisional chunk.
const glanceLines = 40

// glanceAt makes a new file's words searchable by blocks of lines, without a
// syntax tree, symbols or vectors. Nothing is stored: the file's own turn comes
// later and replaces this.
func (w *worker) glanceAt(ctx context.Context, it *item) error {
	r := it.root
	path := r.workspacePath(it.rel)
	if w.ix.Snapshot().File(path) != nil {
		return nil
	}
	content, err := w.ix.readFile(ctx, r.abs(it.rel))
	if err != nil {
		it.glanced = wordless // its own turn tells why
		return nil
	}
	if w.ix.covered(r, it.rel, content.Hash, known{}) {
		it.glanced = wordless
		return nil
	}
	class, reason, _ := file.Classify(it.rel, content.Text)
	if reason != "" {
		it.glanced = wordless
		return nil
	}
	if class.Generated || class.SourceType != file.Code {
		it.glanced = plain
		return nil
	}
	doc := text.New(content.Text)
	f := &File{
		Path: path, Rel: it.rel, Root: r.Root, Class: class, Hash: content.Hash, Size: content.Size,
		ModTime: content.ModTime.UnixNano(), Provisional: true,
	}
	var chunks []chunk.Chunk
	for start := 1; start <= doc.LineCount(); start += glanceLines {
		end := min(start+glanceLines-1, doc.LineCount())
		lines, _ := doc.Lines(start, end)
		chunks = append(chunks, chunk.Chunk{
			ID: fmt.Sprintf("%s:%d", path, start), Path: it.rel, SourceType: class.SourceType, Kind: chunk.Lines,
			Language: class.Language, Index: len(chunks), StartLine: start, EndLine: end, Tokens: len(lines) / 4,
			Summary: filepath.Base(it.rel), Hash: sha256.Sum256([]byte(lines)),
		})
	}
	w.b.add(f, chunks, doc, nil)
	it.glanced = worded
	return nil
}
