package attach

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// remoteView is a view that the owner holds for this process.
type remoteView struct {
	l    *link
	wake chan struct{} // 1 slot: there are changes to send
	done chan struct{}
	once sync.Once

	sending sync.Mutex // held while changes are sent, so that they stay in order; taken before mu
	id      int64      // 0 before the owner has opened it; guarded by sending

	mu    sync.Mutex // guards all below, never held for long: typing waits for it
	cause string
	dirty []file.Change // not sent yet, of each path the newest
}

var _ backendView = (*remoteView)(nil)

func (l *link) newView() backendView {
	v := &remoteView{l: l, wake: make(chan struct{}, 1), done: make(chan struct{})}
	v.wake <- struct{}{} // it is opened at once
	l.spawn(v.run)
	return v
}

// run sends changes behind the back of who typed them.
func (v *remoteView) run() {
	for {
		select {
		case <-v.done:
			v.sending.Lock()
			defer v.sending.Unlock()
			if v.id != 0 {
				v.l.conn.Notify(noteCloseView, viewParams[struct{}]{View: v.id})
			}
			return
		case <-v.l.ctx.Done():
			return
		case <-v.wake:
			if _, err := v.flush(); err != nil && v.l.ctx.Err() == nil {
				v.l.log.Warn("telling the owner of the index about buffers", "error", err)
			}
		}
	}
}

// Close implements backendView.
func (v *remoteView) Close() {
	v.once.Do(func() { close(v.done) })
}

// Apply implements backendView. It only notes the changes: of many in one
// buffer the newest is sent, when something is asked or soon after.
func (v *remoteView) Apply(_ context.Context, cause string, changes []file.Change) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cause = cause
	for _, c := range changes {
		if i := slices.IndexFunc(v.dirty, func(d file.Change) bool { return d.Path == c.Path }); i >= 0 {
			if c.Kind == file.Edited && v.dirty[i].Kind == file.Opened {
				c.Kind, c.Language = file.Opened, v.dirty[i].Language
			}
			v.dirty = slices.Delete(v.dirty, i, i+1)
		}
		v.dirty = append(v.dirty, c)
	}
	select {
	case v.wake <- struct{}{}:
	default:
	}
	return nil
}

// flush sends what changed and returns the view's number.
func (v *remoteView) flush() (int64, error) {
	v.sending.Lock()
	defer v.sending.Unlock()
	if v.id == 0 {
		id, err := request[int64](v.l.ctx, v.l, methodOpenView, nil)
		if err != nil {
			return 0, err
		}
		v.id = id
	}
	v.mu.Lock()
	cause, changes := v.cause, v.dirty
	v.dirty = nil
	v.mu.Unlock()
	for len(changes) > 0 {
		n, size := 0, 0
		for n < len(changes) && (n == 0 || size+len(changes[n].Text) <= maxBatch) {
			size += len(changes[n].Text)
			n++
		}
		v.l.conn.Notify(noteApply, viewParams[applyParams]{v.id, applyParams{cause, changes[:n]}})
		changes = changes[n:]
	}
	return v.id, nil
}

// maxBatch is how many bytes of buffers one message holds, unless one buffer
// has more: messages are bounded.
const maxBatch = 8 << 20

// askView calls a method of the view; it sees every change applied before.
func askView[P, R any](ctx context.Context, v *remoteView, method string, params P) (R, error) {
	id, err := v.flush()
	if err != nil {
		var none R
		return none, fmt.Errorf("%w: %w", errLost, err)
	}
	return request[R](ctx, v.l, method, viewParams[P]{id, params})
}

// Ask implements backendView.
func (v *remoteView) Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error) {
	params := askParams{AskParams: p}
	var s *stream
	if emit != nil {
		params.Stream, s = v.l.open(emit)
		defer v.l.forget(params.Stream, s)
	}
	r, err := askView[askParams, askResult](ctx, v, methodAsk, params)
	if err == nil && s != nil {
		err = s.await(ctx, v.l, r.Events)
	}
	return r.Result, err
}

// Search implements backendView.
func (v *remoteView) Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error) {
	return askView[wire.SearchParams, wire.SearchResult](ctx, v, methodSearch, p)
}

// Context implements backendView.
func (v *remoteView) Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error) {
	return askView[wire.AskParams, wire.ContextResult](ctx, v, methodContext, p)
}

// Similar implements backendView.
func (v *remoteView) Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error) {
	return askView[wire.RangeParams, wire.SearchResult](ctx, v, methodSimilar, p)
}

// Explain implements backendView.
func (v *remoteView) Explain(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error) {
	return askView[explainParams, wire.ExplainResult](ctx, v, methodExplain, explainParams{name, near})
}

// Sync implements backendView.
func (v *remoteView) Sync(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error) {
	return askView[wire.SyncParams, wire.SyncResult](ctx, v, methodSync, p)
}

// text is a file's text as the owner has it.
func (v *remoteView) text(ctx context.Context, path string) (textResult, error) {
	return askView[string, textResult](ctx, v, methodText, path)
}

// resolve finds the file of a workspace path.
func (v *remoteView) resolve(ctx context.Context, path string) (textResult, error) {
	return askView[string, textResult](ctx, v, methodResolve, path)
}

// Tree implements backendView.
func (v *remoteView) Tree(ctx context.Context, p wire.TreeParams) (wire.TreeResult, error) {
	return askView[wire.TreeParams, wire.TreeResult](ctx, v, methodTree, p)
}

// Symbols implements backendView.
func (v *remoteView) Symbols(ctx context.Context, path string) ([]engine.SymbolUse, error) {
	return askView[string, []engine.SymbolUse](ctx, v, methodSymbols, path)
}

// Citations implements backendView.
func (v *remoteView) Citations(ctx context.Context, p wire.CitationsParams) (wire.CitationsResult, error) {
	return askView[wire.CitationsParams, wire.CitationsResult](ctx, v, methodCitations, p)
}

// Excerpt implements backendView.
func (v *remoteView) Excerpt(ctx context.Context, p wire.ExcerptParams) (wire.ExcerptResult, error) {
	return askView[wire.ExcerptParams, wire.ExcerptResult](ctx, v, methodExcerpt, p)
}

// Status implements backendView.
func (v *remoteView) Status(ctx context.Context) (wire.Status, error) {
	r, err := askView[struct{}, statusResult](ctx, v, methodStatus, struct{}{})
	if err != nil {
		return wire.Status{}, err
	}
	r.Owner = false
	r.Version = v.l.opts.Version
	if len(r.Differences) > 0 {
		r.Notices = append(r.Notices, differ(v.l.owner, r.Differences))
	}
	return r.Status, nil
}

// Reindex implements backendView.
func (v *remoteView) Reindex(ctx context.Context, p wire.ReindexParams) error {
	_, err := askView[wire.ReindexParams, any](ctx, v, methodReindex, p)
	return err
}

// SetPaused implements backendView.
func (v *remoteView) SetPaused(ctx context.Context, paused bool) error {
	_, err := askView[bool, any](ctx, v, methodPause, paused)
	return err
}
