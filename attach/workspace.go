package attach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
)

// retryAfter is the time between two attempts to open an index that could not
// be opened.
const retryAfter = 2 * time.Second

// Workspace is a workspace's index, in this process or in another one. It has
// the methods of *engine.Engine; like those they are safe for concurrent use.
type Workspace struct {
	opts   Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	loop   sync.WaitGroup

	joining sync.Mutex // held while the index is replaced; taken before mu

	mu       sync.Mutex // guards all below
	roots    []file.Root
	settings config.Settings
	now      backend // nil while the index is replaced, and where that failed
	why      error   // why now is nil, nil while the index is replaced
	closed   bool
	change   chan struct{} // closed when any of the above changes
	notices  []string      // about now
	views    map[*View]bool
}

// Open attaches to the process that has the workspace's index open; where there
// is none, it opens the index (engine.Open) and becomes that process.
func Open(ctx context.Context, opts Options) (*Workspace, error) {
	opts = opts.withDefaults()
	w := &Workspace{opts: opts, roots: opts.Roots, settings: opts.Settings, change: make(chan struct{}), views: map[*View]bool{}}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	b, notices, err := join(ctx, opts, opts.Roots, opts.Settings, 0)
	if err != nil {
		w.cancel()
		return nil, err
	}
	w.set(b, notices, nil)
	w.loop.Go(w.keepUp)
	return w, nil
}

// set puts an index in force, or says why there is none.
func (w *Workspace) set(b backend, notices []string, why error) {
	w.mu.Lock()
	w.now, w.notices, w.why = b, notices, why
	close(w.change)
	w.change = make(chan struct{})
	views := make([]*View, 0, len(w.views))
	for v := range w.views {
		views = append(views, v)
	}
	w.mu.Unlock()
	if b == nil {
		return
	}
	for _, v := range views {
		v.standBefore(b)
	}
	w.opts.Logger.Info("index", "owner", b.owns(), "pid", b.who().PID)
	if w.opts.Notice != nil {
		for _, text := range notices {
			w.opts.Notice(text)
		}
		if l, ok := b.(*link); ok && len(l.differs()) > 0 {
			w.opts.Notice(differ(l.owner, l.differs()))
		}
	}
	if w.opts.Changed != nil {
		w.opts.Changed()
	}
}

// keepUp replaces the index whenever its process is gone.
func (w *Workspace) keepUp() {
	for {
		w.mu.Lock()
		now, why, change := w.now, w.why, w.change
		w.mu.Unlock()
		var gone <-chan struct{}
		var again <-chan time.Time
		if now != nil {
			gone = now.gone()
		} else if why != nil {
			again = time.After(retryAfter)
		}
		select {
		case <-w.ctx.Done():
			return
		case <-change:
		case <-gone:
			w.rejoin(now)
		case <-again:
			w.rejoin(nil)
		}
	}
}

// rejoin finds another index for the same folders, unless that was done since.
func (w *Workspace) rejoin(lost backend) {
	w.joining.Lock()
	defer w.joining.Unlock()
	w.mu.Lock()
	now, roots, closed := w.now, w.roots, w.closed
	w.mu.Unlock()
	if now != lost || closed {
		return
	}
	if lost != nil {
		w.opts.Logger.Warn("the process that kept the index is gone", "pid", lost.who().PID)
	}
	_ = w.replace(w.ctx, roots) // set tells whoever asks
}

// replace leaves the index and joins that of other roots. The caller holds
// joining.
func (w *Workspace) replace(ctx context.Context, roots []file.Root) error {
	w.mu.Lock()
	before, settings := w.now, w.settings
	w.mu.Unlock()
	w.set(nil, nil, nil)
	if before != nil {
		if err := before.close(); err != nil {
			w.opts.Logger.Error("closing the index", "error", err)
		}
	}
	hangs := 0
	if l, ok := before.(*link); ok && errors.Is(context.Cause(l.ctx), errHangs) {
		hangs = l.owner.PID
	}
	opts := w.opts
	opts.takesOver = before != nil && !before.owns()
	b, notices, err := join(ctx, opts, roots, settings, hangs)
	if err == nil && w.ctx.Err() != nil {
		_ = b.close()
		b, err = nil, engine.ErrClosed
	}
	if err != nil {
		w.set(nil, nil, err)
		return err
	}
	w.set(b, notices, nil)
	return nil
}

// backend returns the index in force, other than one that was lost. While it
// is replaced it waits.
func (w *Workspace) backend(ctx context.Context, lost backend) (backend, error) {
	for {
		w.mu.Lock()
		now, why, closed, change := w.now, w.why, w.closed, w.change
		w.mu.Unlock()
		switch {
		case closed:
			return nil, engine.ErrClosed
		case now != nil && now != lost:
			return now, nil
		case why != nil:
			return nil, fmt.Errorf("the index could not be opened again: %w", why)
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.ctx.Done():
			return nil, engine.ErrClosed
		}
	}
}

// maxOwners is how many owners a request may outlive: one that ends every
// process which works on it must not end all.
const maxOwners = 4

// use calls f with the index in force, again where its process goes before it
// has answered.
func use[R any](ctx context.Context, w *Workspace, f func(b backend) (R, error)) (R, error) {
	var lost backend
	for try := 1; ; try++ {
		b, err := w.backend(ctx, lost)
		if err != nil {
			var none R
			return none, err
		}
		r, err := f(b)
		if !errors.Is(err, errLost) && !errors.Is(err, engine.ErrClosed) || ctx.Err() != nil || try == maxOwners {
			return r, err
		}
		lost = b
	}
}

// NewView returns a view without buffers, with positions that count in UTF-16.
func (w *Workspace) NewView() *View {
	v := &View{w: w, buffers: map[string]file.Change{}}
	w.mu.Lock()
	w.views[v] = true
	b := w.now
	w.mu.Unlock()
	if b != nil {
		v.standBefore(b)
	}
	return v
}

// SetSettings applies changed settings. Where another process has the index,
// those of the index itself have to wait until this one owns it; the user is
// told.
func (w *Workspace) SetSettings(ctx context.Context, s config.Settings) error {
	w.joining.Lock()
	defer w.joining.Unlock()
	w.mu.Lock()
	now, before, roots := w.now, w.settings, w.roots
	w.settings = s
	w.mu.Unlock()
	switch {
	case before.Index.CacheDir != s.Index.CacheDir || now == nil:
		err := w.replace(ctx, roots)
		if err != nil {
			w.mu.Lock()
			w.settings = before
			w.mu.Unlock()
			err = errors.Join(err, w.replace(context.WithoutCancel(ctx), roots))
		}
		return err
	case !now.owns():
		err := now.setSettings(ctx, s)
		if l, ok := now.(*link); ok && err == nil && len(l.differs()) > 0 && w.opts.Notice != nil {
			w.opts.Notice(differ(l.owner, l.differs()))
		}
		if errors.Is(err, errLost) {
			return nil // the next owner is told
		}
		return err
	}
	err := now.setSettings(ctx, s)
	switch {
	case errors.Is(err, store.ErrLocked):
		return w.replace(ctx, roots) // somebody took the index while it was opened anew
	case err != nil:
		w.mu.Lock()
		w.settings = before
		w.mu.Unlock()
	}
	return err
}

// SetRoots changes the workspace folders: the index of the former ones is left
// to those who share it. Where that of the new ones cannot be opened, the
// former stay.
func (w *Workspace) SetRoots(ctx context.Context, roots []file.Root) error {
	w.joining.Lock()
	defer w.joining.Unlock()
	w.mu.Lock()
	before, now := w.roots, w.now
	w.mu.Unlock()
	if now != nil && slices.Equal(before, roots) {
		return nil
	}
	if err := w.replace(ctx, roots); err != nil {
		return errors.Join(err, w.replace(context.WithoutCancel(ctx), before))
	}
	w.mu.Lock()
	w.roots = roots
	w.mu.Unlock()
	return nil
}

// Touch tells that paths (absolute) may have changed on disk; rescan tells that
// anything may have.
func (w *Workspace) Touch(ctx context.Context, cause string, paths []string, rescan bool) error {
	_, err := use(ctx, w, func(b backend) (any, error) { return nil, b.touch(ctx, cause, paths, rescan) })
	return err
}

// SetWatch tells what the watcher reports.
func (w *Workspace) SetWatch(watches, watchCap int, notice string) {
	if b, err := w.backend(w.ctx, nil); err == nil {
		b.setWatch(watches, watchCap, notice)
	}
}

// Keep reports whether a path (absolute) is indexed or, for a directory, may
// hold indexed files.
func (w *Workspace) Keep(path string, isDir bool) bool {
	keep, err := use(w.ctx, w, func(b backend) (bool, error) { return b.keep(w.ctx, path, isDir) })
	return keep && err == nil
}

// Known returns the files (absolute) below directories that are indexed, left out
// or being looked at; none where another process has the index.
func (w *Workspace) Known(dirs []string) []string {
	if b, err := w.backend(w.ctx, nil); err == nil {
		if o, ok := b.(*owner); ok {
			return o.engine.Known(dirs)
		}
	}
	return nil
}

// Holds reports whether a directory (absolute) itself holds indexed files, as
// far as that is known in this process.
func (w *Workspace) Holds(dir string) (holds, known bool) {
	if b, err := w.backend(w.ctx, nil); err == nil {
		if o, ok := b.(*owner); ok {
			return o.engine.Holds(dir)
		}
	}
	return false, false
}

// Directories returns the absolute directories that hold indexed files, once
// the first scan has ended.
func (w *Workspace) Directories(ctx context.Context) ([]string, error) {
	return use(ctx, w, func(b backend) ([]string, error) { return b.directories(ctx) })
}

// AwaitOwner returns when this process owns the index, so that it is the one
// to watch the files, or with an error when ctx or the workspace ends.
func (w *Workspace) AwaitOwner(ctx context.Context) error {
	for {
		w.mu.Lock()
		now, closed, change := w.now, w.closed, w.change
		w.mu.Unlock()
		switch {
		case closed:
			return engine.ErrClosed
		case now != nil && now.owns():
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		case <-w.ctx.Done():
			return engine.ErrClosed
		}
	}
}

// Close leaves the index to those who share it, or closes it.
func (w *Workspace) Close() error {
	w.cancel()
	w.mu.Lock()
	closed := w.closed
	w.closed = true
	w.mu.Unlock()
	if closed {
		return nil
	}
	w.loop.Wait()
	w.joining.Lock()
	defer w.joining.Unlock()
	w.mu.Lock()
	now := w.now
	w.now = nil
	w.mu.Unlock()
	if now == nil {
		return nil
	}
	return now.close()
}
