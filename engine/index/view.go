package index

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
)

// View is the index with one client's unsaved buffers in front of it. Buffers
// are chunked when something asks, so that typing costs nothing; what is asked
// afterwards sees every change applied before.
type View struct {
	ix *Index

	mu      sync.Mutex
	buffers map[string]*buffer // by absolute path
	changes uint64
	// The last snapshot and what it was made of.
	base    *Snapshot
	made    uint64
	current *Snapshot
}

// buffer is an open document.
type buffer struct {
	root    *root
	rel     string
	text    string
	version int32
	hash    file.Hash
	hashed  bool
	// What was made of the text, nil where it must be made again.
	part  *part
	lists []List
}

// NewView returns a view without buffers.
func (ix *Index) NewView() *View { return &View{ix: ix, buffers: map[string]*buffer{}} }

// Apply records buffer changes in order.
func (v *View) Apply(changes []file.Change) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range changes {
		switch c.Kind {
		case file.Opened, file.Edited:
			b := v.buffers[c.Path]
			if b == nil {
				b = &buffer{}
				b.root, b.rel, _ = v.ix.locate(c.Path)
				v.buffers[c.Path] = b
			}
			b.text, b.version = c.Text, c.Version
			b.hashed, b.part, b.lists = false, nil, nil
			v.changes++
		case file.Closed:
			if _, open := v.buffers[c.Path]; open {
				delete(v.buffers, c.Path)
				v.changes++
			}
			v.ix.Touch("close", []string{c.Path}, false)
		case file.Touched:
			v.ix.Touch("change", []string{c.Path}, false)
		}
	}
}

// Text returns a file's text as the view has it. ok is false where there is no
// such indexed file.
func (v *View) Text(abs string) (string, bool) {
	v.mu.Lock()
	b := v.buffers[abs]
	v.mu.Unlock()
	if b != nil {
		return b.text, true
	}
	content, err := file.Read(abs, v.ix.opts.Files.MaxBytes)
	if err != nil {
		v.ix.missed(abs)
		return "", false
	}
	return content.Text, true
}

// Open reports whether the client holds the file.
func (v *View) Open(abs string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.buffers[abs] != nil
}

// Snapshot returns the newest state with every buffer in it.
func (v *View) Snapshot(ctx context.Context) (*Snapshot, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	base := v.ix.Snapshot()
	if v.current != nil && v.base == base && v.made == v.changes {
		return v.current, nil
	}
	var parts []*part
	var lists [][]List
	for _, b := range v.buffers {
		if err := v.build(ctx, base, b); err != nil {
			return nil, err
		}
		if b.part != nil {
			parts, lists = append(parts, b.part), append(lists, b.lists)
		}
	}
	next := base
	if len(parts) > 0 {
		next = base.with(parts, lists, nil, false)
		next.Seq = v.ix.seq.Add(1)
	}
	v.base, v.made, v.current = base, v.changes, next
	return next, nil
}

// build makes the part of a buffer whose text is not what the base has.
func (v *View) build(ctx context.Context, base *Snapshot, b *buffer) error {
	if b.root == nil {
		return nil
	}
	if !b.hashed {
		b.hash, b.hashed = sha256.Sum256([]byte(b.text)), true
	}
	if f := base.File(b.root.workspacePath(b.rel)); f != nil && f.Hash == b.hash {
		b.part, b.lists = nil, nil
		return nil
	}
	if b.part != nil {
		return nil
	}
	b.root.mu.Lock()
	ignored := b.root.rules.Ignored(b.rel)
	b.root.mu.Unlock()
	if ignored {
		return nil
	}
	rec := store.FileRecord{Path: b.rel, Hash: b.hash, Size: int64(len(b.text)), ChunkVersion: v.ix.chunkVersion()}
	var reason file.SkipReason
	if rec.Class, reason, _ = file.Classify(b.rel, b.text); reason != "" {
		// The file's former text is not what the editor shows: hide it.
		rec.File = chunk.File{}
	}
	doc := text.New(b.text)
	var vectors [][]store.Vector
	if reason == "" {
		rec.File = v.ix.chunker.Chunk(ctx, chunk.Input{Path: b.rel, Class: rec.Class, Text: doc})
		var err error
		if vectors, _, _, err = v.ix.inlineVectors(ctx, b.root, rec.File.Chunks, doc); err != nil {
			return fmt.Errorf("embedding the buffer %s: %w", b.root.workspacePath(b.rel), err)
		}
	}
	f := v.ix.newFile(ctx, b.root, &rec)
	f.Open = true
	one := newBuilder(v.ix.tok, v.ix.inlineModels())
	one.add(f, rec.File.Chunks, doc, vectors)
	b.part, b.lists = one.build()
	return nil
}
