package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"weak"

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

	mu      sync.Mutex         // guards the fields below; never held for long, since typing waits for it
	buffers map[string]*buffer // by absolute path
	changes uint64

	making chan struct{} // holds a token while a snapshot is made, which guards the fields below
	parts  map[*buffer]madeBuffer
	// The last snapshot and what it was made of. The pointers are weak: a client
	// that asks nothing for long must not keep an old index in memory.
	base, current weak.Pointer[Snapshot]
	made, ruled   uint64
}

// buffer is one text of an open document. It is immutable.
type buffer struct {
	root *root
	rel  string
	text string
}

// madeBuffer is what was made of a buffer.
type madeBuffer struct {
	hash  file.Hash
	part  *part // nil where it was not made yet
	lists []List
}

// NewView returns a view without buffers.
func (ix *Index) NewView() *View {
	return &View{ix: ix, buffers: map[string]*buffer{}, making: make(chan struct{}, 1), parts: map[*buffer]madeBuffer{}}
}

// Close forgets the buffers: nobody looks at them any more.
func (v *View) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, b := range v.buffers {
		v.ix.opened(b.root, b.rel, -1)
	}
	clear(v.buffers)
	v.changes++
}

// Index returns the index that the view stands in front of.
func (v *View) Index() *Index { return v.ix }

// Apply records buffer changes in order.
func (v *View) Apply(changes []file.Change) {
	var closed, touched []string
	v.mu.Lock()
	for _, c := range changes {
		switch c.Kind {
		case file.Opened, file.Edited:
			b := &buffer{text: c.Text}
			b.root, b.rel, _ = v.ix.locate(c.Path)
			path := v.ix.canonical(c.Path)
			if v.buffers[path] == nil {
				v.ix.opened(b.root, b.rel, 1)
			}
			v.buffers[path] = b
			v.changes++
		case file.Closed:
			if path := v.ix.canonical(c.Path); v.buffers[path] != nil {
				v.ix.opened(v.buffers[path].root, v.buffers[path].rel, -1)
				delete(v.buffers, path)
				v.changes++
			}
			closed = append(closed, c.Path)
		case file.Touched:
			touched = append(touched, c.Path)
		}
	}
	v.mu.Unlock()
	if len(closed) > 0 {
		v.ix.Touch("close", closed, false)
	}
	if len(touched) > 0 {
		v.ix.Touch("change", touched, false)
	}
}

// Text returns a file's text as the view has it. ok is false where there is no
// such indexed file.
func (v *View) Text(abs string) (string, bool) { return v.Read(context.Background(), abs) }

// Read is Text for a request, which may end before the disk answers.
func (v *View) Read(ctx context.Context, abs string) (string, bool) {
	path := v.ix.canonical(abs)
	v.mu.Lock()
	b := v.buffers[path]
	v.mu.Unlock()
	if b != nil {
		return b.text, true
	}
	content, err := v.ix.texts.get(ctx, path)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, errSlow) {
			v.ix.missed(path)
		}
		return "", false
	}
	v.ix.seen(path, content.Hash)
	return content.Text, true
}

// Open reports whether the client holds the file.
func (v *View) Open(abs string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.buffers[v.ix.canonical(abs)] != nil
}

// Snapshot returns the newest state with every buffer in it.
func (v *View) Snapshot(ctx context.Context) (*Snapshot, error) {
	select {
	case v.making <- struct{}{}:
		defer func() { <-v.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v.mu.Lock()
	changes := v.changes
	ruled := v.ix.ruled.Load() // which buffers count is for the rules to say
	base := v.ix.Snapshot()
	if last := v.current.Value(); last != nil && v.base.Value() == base && v.made == changes && v.ruled == ruled {
		v.mu.Unlock()
		return last, nil
	}
	buffers := slices.Collect(maps.Values(v.buffers))
	v.mu.Unlock()

	kept := make(map[*buffer]madeBuffer, len(buffers))
	var parts []*part
	var lists [][]List
	for _, b := range buffers {
		if b.root == nil {
			continue
		}
		made, shown, err := v.make(ctx, base, b)
		if err != nil {
			maps.Copy(v.parts, kept) // the next request need not begin again
			return nil, err
		}
		kept[b] = made
		if shown {
			parts, lists = append(parts, made.part), append(lists, made.lists)
		}
	}
	next := base
	if len(parts) > 0 {
		next = base.with(parts, lists, nil, false)
		next.Seq = v.ix.seq.Add(1)
		next.state = State{base: weak.Make(base), view: weak.Make(v), changes: changes, ruled: ruled}
	}
	v.parts, v.base, v.current, v.made, v.ruled = kept, weak.Make(base), weak.Make(next), changes, ruled
	return next, nil
}

// State names what a snapshot holds. Two snapshots of one state hold the same
// documents, though perhaps under other references: a view makes its snapshot
// again where the last one was collected. It keeps no snapshot in memory, and
// no two states are ever equal by chance. It can be a map's key.
type State struct {
	base    weak.Pointer[Snapshot] // what the index published
	view    weak.Pointer[View]     // whose buffers stand in front of it, if any do
	changes uint64                 // of the view
	ruled   uint64                 // Index.ruled
	beside  [32]byte               // what stands beside it; zero for nothing
}

// State returns what names the snapshot's content.
func (s *Snapshot) State() State {
	if s.state != (State{}) {
		return s.state
	}
	return State{base: weak.Make(s)}
}

// SameBase reports whether both states stand on one published snapshot: they
// differ at most in unsaved buffers.
func (s State) SameBase(other State) bool { return s.base == other.base }

// make returns the part of a buffer, which it may have been made before. shown
// is false where the base has the same text, or the path is not indexed.
func (v *View) make(ctx context.Context, base *Snapshot, b *buffer) (made madeBuffer, shown bool, err error) {
	made, have := v.parts[b]
	if !have {
		made.hash = text.Hash(b.text)
	}
	path := b.root.workspacePath(b.rel)
	if f := base.File(path); f != nil && f.Hash == made.hash && !f.Provisional {
		return made, false, nil
	}
	if b.root.rulesNow().Ignored(b.rel) {
		return made, false, nil
	}
	if made.part != nil {
		return made, true, nil
	}
	rec := store.FileRecord{Path: b.rel, Hash: made.hash, Size: int64(len(b.text)), ChunkVersion: v.ix.chunkVersion()}
	var reason file.SkipReason
	rec.Class, reason, _ = file.Classify(b.rel, b.text)
	doc := text.New(b.text)
	var vectors [][]store.Vector
	// What is no text to be indexed has no chunks, but hides the file's former
	// text, which is not what the editor shows.
	if reason == "" && rec.Size <= v.ix.opts.Files.MaxBytes {
		rec.File = v.ix.chunker.Chunk(ctx, chunk.Input{Path: b.rel, Class: rec.Class, Text: doc})
		if err := ctx.Err(); err != nil {
			return made, false, err // it may be cut by lines
		}
		fresh := map[store.VectorKey]store.Vector{}
		if vectors, _, err = v.ix.inlineVectors(ctx, b.root, rec.File.Chunks, doc, fresh); err != nil {
			return made, false, fmt.Errorf("embedding the buffer %s: %w", path, err)
		}
		v.ix.recent.put(fresh) // until it is saved
	}
	f := v.ix.newFile(ctx, b.root, &rec)
	f.Open = true
	one := newBuilder(v.ix.tok, v.ix.inlineModels())
	one.add(f, rec.File.Chunks, doc, vectors)
	made.part, made.lists = one.build()
	return made, true, nil
}
