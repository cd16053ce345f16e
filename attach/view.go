package attach

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// View is the workspace as one client sees it. It has the methods of
// *engine.View, and keeps the client's buffers: whoever keeps the index next is
// told of them.
type View struct {
	w *Workspace

	mu      sync.Mutex // guards all below
	of      backend    // what inner is a view of
	inner   backendView
	closed  bool
	buffers map[string]file.Change // newest text by absolute path
}

// errViewClosed is what a closed view returns.
var errViewClosed = errors.New("the view is closed")

// standBefore puts the buffers in front of an index.
func (v *View) standBefore(b backend) backendView {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == b || v.closed {
		return v.inner
	}
	v.of, v.inner = b, b.newView()
	if len(v.buffers) > 0 {
		var all []file.Change
		for _, c := range v.buffers {
			all = append(all, c)
		}
		if err := v.inner.Apply(v.w.ctx, "taken over", all); err != nil {
			v.w.opts.Logger.Warn("putting the open buffers in front of the index", "error", err)
		}
	}
	return v.inner
}

// ask calls f with the view in force, again where the index's process goes
// before it has answered. All that a view can be asked may be asked twice.
func asked[R any](ctx context.Context, v *View, f func(inner backendView) (R, error)) (R, error) {
	return use(ctx, v.w, func(b backend) (R, error) {
		inner := v.standBefore(b)
		if inner == nil || v.isClosed() {
			var none R
			return none, errViewClosed
		}
		return f(inner)
	})
}

func (v *View) isClosed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.closed
}

// Close forgets the view's buffers. What is asked of it afterwards is refused.
func (v *View) Close() {
	v.w.mu.Lock()
	delete(v.w.views, v)
	v.w.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.closed && v.inner != nil {
		v.inner.Close()
	}
	v.closed = true
	clear(v.buffers)
}

// Apply takes the client's buffer changes in the order they happened. Whatever
// is asked afterwards sees them.
func (v *View) Apply(ctx context.Context, cause string, changes []file.Change) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return errViewClosed
	}
	changes = slices.Clone(changes)
	for i := range changes {
		c := &changes[i]
		c.Path = filepath.Clean(c.Path)
		switch c.Kind {
		case file.Opened, file.Edited:
			again := *c
			again.Kind = file.Opened
			v.buffers[c.Path] = again
		case file.Closed:
			delete(v.buffers, c.Path)
		}
	}
	if v.inner == nil {
		return nil // standBefore does it
	}
	if err := v.inner.Apply(ctx, cause, changes); err != nil && v.of.owns() && ctx.Err() == nil {
		v.w.opts.Logger.Debug("changes wait for the next index", "error", err)
	}
	return nil
}

// Sync waits until every change applied before it is searchable.
func (v *View) Sync(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error) {
	return asked(ctx, v, func(i backendView) (wire.SyncResult, error) { return i.Sync(ctx, p) })
}

// Ask answers a question; see engine.View.Ask. Where it is answered twice,
// because the first one to do so is gone, emit is not told the same again.
func (v *View) Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error) {
	var once func(engine.Event)
	told := &told{emit: emit}
	if emit != nil {
		once = told.event
	}
	r, err := asked(ctx, v, func(i backendView) (wire.AskResult, error) {
		told.begin()
		return i.Ask(ctx, p, once)
	})
	if err == nil && emit != nil {
		told.settle(r)
	}
	return r, err
}

// Search ranks chunks.
func (v *View) Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error) {
	return asked(ctx, v, func(i backendView) (wire.SearchResult, error) { return i.Search(ctx, p) })
}

// Context packs what a question needs into budgeted Markdown.
func (v *View) Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error) {
	return asked(ctx, v, func(i backendView) (wire.ContextResult, error) { return i.Context(ctx, p) })
}

// Similar ranks chunks by likeness to a range of a document.
func (v *View) Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error) {
	return asked(ctx, v, func(i backendView) (wire.SearchResult, error) { return i.Similar(ctx, p) })
}

// Explain explains the symbol of that name.
func (v *View) Explain(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error) {
	return asked(ctx, v, func(i backendView) (wire.ExplainResult, error) { return i.Explain(ctx, name, near) })
}

// Text returns the text of the file at an absolute path as the view has it.
func (v *View) Text(ctx context.Context, path string) (content string, ok bool) {
	r, err := asked(ctx, v, func(i backendView) (textResult, error) { return i.text(ctx, path) })
	return r.Content, r.OK && err == nil
}

// Symbols returns the symbols that the file at an absolute path defines.
func (v *View) Symbols(ctx context.Context, path string) ([]engine.SymbolUse, error) {
	return asked(ctx, v, func(i backendView) ([]engine.SymbolUse, error) { return i.Symbols(ctx, path) })
}

// Resolve turns a citation's path into the absolute path of a file.
func (v *View) Resolve(path string) (abs string, ok bool) {
	r, err := asked(v.w.ctx, v, func(i backendView) (textResult, error) { return i.resolve(v.w.ctx, path) })
	return r.Content, r.OK && err == nil
}

// Excerpt returns lines of an indexed file as they stand.
func (v *View) Excerpt(ctx context.Context, p wire.ExcerptParams) (wire.ExcerptResult, error) {
	return asked(ctx, v, func(i backendView) (wire.ExcerptResult, error) { return i.Excerpt(ctx, p) })
}

// Tree draws the indexed files as a tree.
func (v *View) Tree(ctx context.Context, p wire.TreeParams) (wire.TreeResult, error) {
	return asked(ctx, v, func(i backendView) (wire.TreeResult, error) { return i.Tree(ctx, p) })
}

// Citations tells what became of a document's citations.
func (v *View) Citations(ctx context.Context, p wire.CitationsParams) (wire.CitationsResult, error) {
	return asked(ctx, v, func(i backendView) (wire.CitationsResult, error) { return i.Citations(ctx, p) })
}

// Status tells the state of the index and who keeps it.
func (v *View) Status(ctx context.Context) (wire.Status, error) {
	st, err := asked(ctx, v, func(i backendView) (wire.Status, error) { return i.Status(ctx) })
	if err == nil {
		v.w.mu.Lock()
		st.Notices = append(st.Notices, v.w.notices...)
		v.w.mu.Unlock()
	}
	return st, err
}

// Reindex chunks and embeds paths again, all files where there are none.
func (v *View) Reindex(ctx context.Context, p wire.ReindexParams) error {
	_, err := asked(ctx, v, func(i backendView) (any, error) { return nil, i.Reindex(ctx, p) })
	return err
}

// SetPaused stops background work, or lets it go on.
func (v *View) SetPaused(ctx context.Context, paused bool) error {
	_, err := asked(ctx, v, func(i backendView) (any, error) { return nil, i.SetPaused(ctx, paused) })
	return err
}

// told are the parts of an answer that the client was told.
type told struct {
	emit func(engine.Event)

	mu      sync.Mutex // guards all below
	parts   []engine.Event
	next    int  // the part that comes next
	strayed bool // this answer is not the one that was begun
}

// begin says that an answer is made, from its beginning.
func (t *told) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next, t.strayed = 0, false
}

// event tells the client, unless it knows. Text cannot be taken back: where
// another answer comes than was begun, the client gets it as a whole in the end.
func (t *told) event(e engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.strayed:
		return
	case t.next == len(t.parts):
		t.parts = append(t.parts, e)
		t.emit(e)
	case !same(t.parts[t.next], e):
		t.strayed = true
		return
	}
	t.next++
}

// same reports whether two parts are.
func same(a, b engine.Event) bool {
	if a.Citation != nil && b.Citation != nil {
		return a.Citation.ID == b.Citation.ID
	}
	return a.Citation == nil && b.Citation == nil && a.Text == b.Text && a.Retract == b.Retract
}

// settle takes back the citations that the answer does not have.
func (t *told) settle(r wire.AskResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.strayed && t.next == len(t.parts) {
		return
	}
	for _, e := range t.parts {
		if e.Citation != nil && !slices.ContainsFunc(r.Citations, func(c wire.Citation) bool { return c.ID == e.Citation.ID }) {
			t.emit(engine.Event{Retract: e.Citation.ID})
		}
	}
}
