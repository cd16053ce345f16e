package mcp

import (
	"context"
	"errors"
	"slices"
	"sync"

	"coderag-ls/engine/wire"
)

// errClosed answers calls after Close.
var errClosed = errors.New("the server has ended")

// desk holds the workspace that is asked about.
type desk struct {
	opts   Options
	ctx    context.Context // ends with close
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	turn   chan struct{} // 1 slot: held while a workspace is opened

	mu     sync.Mutex // guards all below
	now    *opened
	errs   []error // of closing
	closed bool
}

// opened is a workspace that calls may still use.
type opened struct {
	folders   []string
	workspace Workspace
	view      View
	calls     sync.WaitGroup
	settle    sync.Once // the first call waits for vectors of an earlier run
}

func newDesk(opts Options) *desk {
	d := &desk{opts: opts, turn: make(chan struct{}, 1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// begin opens the workspace of the program's own folder before it is asked for.
// The first call tells where that fails.
func (d *desk) begin(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.tasks.Go(func() {
		if _, done, err := d.take(ctx, nil); err == nil {
			done()
		}
	})
}

// take returns the workspace of the folders, opened where it is not. done is to
// be called when the call has been answered.
func (d *desk) take(ctx context.Context, folders []string) (o *opened, done func(), err error) {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil, nil, errClosed
	}
	d.tasks.Add(1) // close waits
	d.mu.Unlock()
	defer d.tasks.Done()
	if o := d.use(folders); o != nil {
		return o, o.calls.Done, nil
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-d.ctx.Done():
		return nil, nil, errClosed
	}
	if o := d.use(folders); o != nil {
		return o, o.calls.Done, nil
	}
	// A call that is given up must not take the index from the next one.
	w, err := d.opts.Open(d.ctx, folders)
	if err != nil {
		return nil, nil, err
	}
	o = &opened{folders: slices.Clone(folders), workspace: w, view: w.NewView()}
	o.calls.Add(1)
	d.mu.Lock()
	before := d.now
	d.now = o
	closed := d.closed
	d.mu.Unlock()
	if before != nil {
		d.retire(before)
	}
	if closed {
		o.calls.Done()
		d.mu.Lock()
		d.now = nil
		d.mu.Unlock()
		d.retire(o)
		return nil, nil, errClosed
	}
	return o, o.calls.Done, nil
}

// use returns the workspace in force where it is that of the folders.
func (d *desk) use(folders []string) *opened {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.now == nil || !slices.Equal(d.now.folders, folders) {
		return nil
	}
	d.now.calls.Add(1)
	return d.now
}

// retire closes a workspace once the last call that uses it has been answered.
func (d *desk) retire(o *opened) {
	d.tasks.Go(func() {
		o.calls.Wait()
		o.view.Close()
		if err := o.workspace.Close(); err != nil {
			d.mu.Lock()
			d.errs = append(d.errs, err)
			d.mu.Unlock()
		}
	})
}

// close waits for what is under way and closes the workspace.
func (d *desk) close() error {
	d.mu.Lock()
	closed, now := d.closed, d.now
	d.closed, d.now = true, nil
	d.mu.Unlock()
	d.cancel()
	if !closed && now != nil {
		d.retire(now)
	}
	d.tasks.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.errs...)
}

// state is what a call reports while it waits.
func (o *opened) state(ctx context.Context) (wire.Coverage, bool) {
	st, err := o.view.Status(ctx)
	return st.Coverage, err == nil
}
