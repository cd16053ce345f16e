package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/store"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// View is the workspace as one client sees it: the index with the client's
// unsaved buffers in front of it. Its methods are safe for concurrent use;
// what is asked sees every change applied before.
type View struct {
	e     *Engine
	cited citedTexts

	mu       sync.Mutex // guards the fields below
	encoding text.Encoding
	inner    *index.View // nil before the first index was there and after Close
	closed   bool
	buffers  map[string]file.Change // newest text by absolute path, for an index that is opened anew
	settings *config.Settings       // the client's own, nil for the engine's
}

// NewView returns a view without buffers. Positions that it takes count UTF-16
// units until SetEncoding says otherwise.
func (e *Engine) NewView() *View {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := &View{e: e, encoding: text.UTF16, buffers: map[string]file.Change{}}
	if e.now != nil {
		v.inner = e.now.ix.NewView()
	}
	e.views[v] = true
	return v
}

// SetEncoding says what the characters of the client's positions count.
func (v *View) SetEncoding(enc text.Encoding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.encoding = enc
}

// SetSettings says how this client's questions are searched and answered: the
// settings search.* and answer.* of s. All others are the engine's.
func (v *View) SetSettings(s config.Settings) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.settings = &s
}

// Close forgets the view's buffers. What is asked of it afterwards is refused.
func (v *View) Close() {
	v.e.mu.Lock()
	defer v.e.mu.Unlock()
	delete(v.e.views, v)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.inner != nil {
		v.inner.Close()
	}
	v.inner, v.closed = nil, true
	clear(v.buffers)
}

// attach puts the view in front of another index.
func (v *View) attach(ix *index.Index) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inner = ix.NewView()
	for _, c := range v.buffers {
		v.inner.Apply([]file.Change{c})
	}
}

// Apply takes the client's buffer changes in the order they happened. It
// returns when they are recorded: whatever is asked afterwards sees them.
func (v *View) Apply(ctx context.Context, cause string, changes []file.Change) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return ErrClosed
	}
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
	if v.inner != nil { // else attach does it
		v.inner.Apply(changes)
	}
	v.e.opts.Logger.Debug("changes", "cause", cause, "count", len(changes))
	return nil
}

// state is what one request works on.
type state struct {
	ix       *index.Index
	view     *index.View
	snap     *index.Snapshot
	settings config.Settings
	missing  string     // which model does not take part, and why; "" for none
	omit     file.Globs // files whose text is not given
	shared   *joined    // nil where there is no shared index
}

// begin takes the newest snapshot for a request.
func (v *View) begin(ctx context.Context) (state, error) {
	for {
		_, settings, err := v.e.index(ctx)
		if err != nil {
			return state{}, err
		}
		v.mu.Lock()
		inner := v.inner
		if v.settings != nil {
			settings.Search, settings.Answer = v.settings.Search, v.settings.Answer
		}
		v.mu.Unlock()
		if inner == nil {
			return state{}, ErrClosed
		}
		snap, err := inner.Snapshot(ctx)
		switch {
		case err == nil:
			st := state{ix: inner.Index(), view: inner, snap: snap, settings: settings, missing: v.e.missing()}
			if o := v.e.current(); o != nil && o.ix == st.ix && o.shared != nil {
				st.shared = &joined{sh: o.shared}
			}
			return st, nil
		case !errors.Is(err, store.ErrClosed): // else another index takes its place
			return state{}, fmt.Errorf("putting the open buffers in front of the index: %w", err)
		}
	}
}

// Sync waits until every change applied before it is searchable.
func (v *View) Sync(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error) {
	for {
		ix, _, err := v.e.index(ctx)
		if err != nil {
			return wire.SyncResult{}, err
		}
		err = ix.Sync(ctx, p.Scan, p.Vectors)
		if err == nil {
			break
		}
		if !errors.Is(err, index.ErrClosed) { // else another index takes its place
			return wire.SyncResult{}, err
		}
	}
	st, err := v.begin(ctx)
	if err != nil {
		return wire.SyncResult{}, err
	}
	return wire.SyncResult{Coverage: st.ix.Coverage(st.snap)}, nil
}

// Text returns the text of the file at an absolute path as the view has it:
// the buffer's, else the disk's. ok is false where there is no such text file.
func (v *View) Text(ctx context.Context, path string) (content string, ok bool) {
	v.mu.Lock()
	inner := v.inner
	v.mu.Unlock()
	if inner == nil {
		return "", false
	}
	return inner.Read(ctx, filepath.Clean(path))
}

// Resolve turns a citation's path (wire.Citation.Path) into the absolute path
// of a file in the workspace.
func (v *View) Resolve(path string) (abs string, ok bool) {
	ix, _, err := v.e.index(context.Background())
	if err != nil {
		return "", false
	}
	if abs, ok := ix.Resolve(path); ok {
		return abs, true
	}
	if o := v.e.current(); o != nil && o.shared != nil {
		return o.shared.copies.resolve(path)
	}
	return "", false
}

// SymbolUse is a defined symbol and how often it is used.
type SymbolUse struct {
	Name     string
	Kind     string
	NameLine int // 1-based
	Uses     int // chunks elsewhere that name it
}

// maxUses bounds the count of a symbol's uses: nobody reads larger numbers,
// and counting them would hold the editor up.
const maxUses = 1000

// Symbols returns the symbols that the file at an absolute path defines as it
// stands in the view, in line order. It is nil for a file outside the index.
func (v *View) Symbols(ctx context.Context, path string) ([]SymbolUse, error) {
	defer v.e.gate.Request()()
	st, err := v.begin(ctx)
	if err != nil {
		return nil, err
	}
	name, ok := st.ix.WorkspacePath(filepath.Clean(path))
	if !ok {
		return nil, nil
	}
	f := st.snap.File(name)
	if f == nil {
		return nil, nil
	}
	uses := make([]SymbolUse, 0, len(f.Symbols))
	for _, s := range f.Symbols {
		u := SymbolUse{Name: s.Name, Kind: string(s.Kind), NameLine: s.NameLine}
		for _, r := range st.snap.Identifier(s.Name, maxUses) {
			d := st.snap.Doc(r)
			if d.File != f || d.EndLine < s.StartLine || d.StartLine > s.EndLine {
				u.Uses++
			}
		}
		uses = append(uses, u)
	}
	slices.SortStableFunc(uses, func(a, b SymbolUse) int { return a.NameLine - b.NameLine })
	return uses, nil
}

// Status tells the state of the index.
func (v *View) Status(ctx context.Context) (wire.Status, error) {
	st, err := v.begin(ctx)
	if err != nil {
		return wire.Status{}, err
	}
	s := st.ix.Status(st.snap)
	s.Version = v.e.opts.Version
	s.OwnedBy = wire.Owner{PID: os.Getpid(), Version: s.Version}
	v.e.mu.Lock()
	if v.e.now != nil {
		s.Notices = append(append([]string{}, v.e.now.notices...), s.Notices...)
	}
	v.e.mu.Unlock()
	if st.shared != nil {
		s.Shared = st.shared.sh.status(st.ix, s.Coverage)
	}
	v.e.res.status(&s)
	n := v.e.searches.Counters()
	s.Counters.SearchCacheHits, s.Counters.SearchCacheSemanticHits, s.Counters.SearchCacheMisses = n.Hits, n.Semantic, n.Misses
	s.Requests = v.e.requests.Status()
	return s, nil
}

// SetPaused stops background work for all clients, until it is resumed or the
// program ends. What is open in an editor or changes on disk is made searchable
// all the same.
func (v *View) SetPaused(_ context.Context, paused bool) error {
	v.e.gate.SetPaused(paused)
	v.e.changed()
	return nil
}

// Reindex chunks and embeds paths (relative to the workspace) again, all files
// where there are none.
func (v *View) Reindex(ctx context.Context, p wire.ReindexParams) error {
	ix, _, err := v.e.index(ctx)
	if err != nil {
		return err
	}
	ix.Reindex(p.Paths)
	return nil
}
