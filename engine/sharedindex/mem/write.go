package mem

import (
	"context"
	"fmt"
	"maps"
	"time"

	"coderag-ls/engine/sharedindex"
)

// Writer implements sharedindex.Writer.
type Writer struct {
	b    *Backend
	name string
	r    *repository
}

// Write implements sharedindex.Backend. The lease lasts until the writer is closed: a
// publisher cannot end without its space.
func (b *Backend) Write(ctx context.Context, name string) (sharedindex.Writer, error) {
	if err := b.begin(ctx, "Write"); err != nil {
		return nil, err
	}
	if err := sharedindex.CheckName(name); err != nil {
		return nil, err
	}
	b.space.mu.Lock()
	defer b.space.mu.Unlock()
	r := b.space.repositories[b.key(name)]
	if r == nil {
		r = &repository{head: sharedindex.Head{Repository: name, Edition: b.edition, Generation: b.space.removed[b.key(name)]}, documents: map[string]*document{}}
		if b.space.repositories == nil {
			b.space.repositories = map[key]*repository{}
		}
		b.space.repositories[b.key(name)] = r
	}
	if r.writer != nil {
		return nil, fmt.Errorf("publishing %s: %w", name, sharedindex.ErrPublishing)
	}
	r.writer = &Writer{b: b, name: name, r: r}
	return r.writer, nil
}

// change runs fn with the repository, unless the lease was given up.
func (w *Writer) change(ctx context.Context, operation string, fn func(r *repository)) error {
	if err := w.b.begin(ctx, operation); err != nil {
		return err
	}
	w.b.space.mu.Lock()
	defer w.b.space.mu.Unlock()
	if w.r.writer != w {
		return fmt.Errorf("%s: %s is not being published any more: %w", operation, w.name, errClosed)
	}
	fn(w.r)
	return nil
}

// Begin implements sharedindex.Writer.
func (w *Writer) Begin(ctx context.Context, commit string) error {
	return w.change(ctx, "Begin", func(r *repository) {
		r.there, r.head.Publishing = true, commit
		r.head.Generation++
	})
}

// Put implements sharedindex.Writer.
func (w *Writer) Put(ctx context.Context, documents []sharedindex.Document) error {
	made := make([]*document, len(documents))
	for i := range documents {
		made[i] = newDocument(documents[i])
	}
	return w.change(ctx, "Put", func(r *repository) {
		for _, d := range made {
			r.documents[d.Record.Path] = d
		}
	})
}

// Delete implements sharedindex.Writer.
func (w *Writer) Delete(ctx context.Context, paths []string) error {
	return w.change(ctx, "Delete", func(r *repository) {
		for _, path := range paths {
			delete(r.documents, path)
		}
	})
}

// Count implements sharedindex.Writer.
func (w *Writer) Count(ctx context.Context, df map[string]int) error {
	df = maps.Clone(df)
	return w.change(ctx, "Count", func(r *repository) { r.df = df })
}

// Finish implements sharedindex.Writer.
func (w *Writer) Finish(ctx context.Context, head sharedindex.Head) error {
	return w.change(ctx, "Finish", func(r *repository) {
		head.Repository, head.Edition, head.Publishing = w.name, w.b.edition, ""
		head.Generation, head.Published = r.head.Generation+1, time.Now()
		r.head = head
	})
}

// Close implements sharedindex.Writer.
func (w *Writer) Close() error {
	w.b.space.mu.Lock()
	defer w.b.space.mu.Unlock()
	if w.r.writer == w {
		w.r.writer = nil
	}
	return nil
}
