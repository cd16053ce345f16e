package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
)

// ErrClosed is what everything returns after Close.
var ErrClosed = index.ErrClosed

// Close stops all work, syncs and closes the store. What waits returns an
// error.
func (e *Engine) Close() error {
	err := e.close()
	e.stopAgain() // it may be waiting to open the index again
	e.reopening.Wait()
	return err
}

func (e *Engine) close() error {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.mu.Lock()
	now := e.now
	closed := e.closed
	e.now, e.closed = nil, true
	e.mu.Unlock()
	if !closed {
		defer e.res.close()
	}
	if now == nil {
		return nil
	}
	return now.close()
}

// SetSettings applies changed settings. Those of discovery, chunking and
// embedding open the index anew; what they touch is indexed again. Requests
// that run meanwhile are answered from the former index, or wait for the new
// one. Where the index cannot be opened with the settings, those in force stay.
func (e *Engine) SetSettings(ctx context.Context, s config.Settings) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.mu.Lock()
	before := e.settings
	same := e.now != nil && sameIndex(before, s)
	if same {
		e.settings = s
	}
	roots := e.roots
	e.mu.Unlock()
	e.res.apply(s)
	if same {
		return nil
	}
	err := e.reopen(ctx, s, roots)
	if err != nil {
		e.res.apply(before)
	}
	return err
}

// SetRoots changes the workspace folders. Requests that run meanwhile are
// answered as with SetSettings, and so is a failure.
func (e *Engine) SetRoots(ctx context.Context, roots []file.Root) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.mu.Lock()
	same := e.now != nil && reflect.DeepEqual(e.roots, roots)
	settings := e.settings
	e.mu.Unlock()
	if same {
		return nil
	}
	return e.reopen(ctx, settings, roots)
}

// reopen opens the index anew. Where that cannot be done, what was in force
// goes on, and the error is returned. The caller holds changing.
func (e *Engine) reopen(ctx context.Context, settings config.Settings, roots []file.Root) error {
	ready := make(chan struct{})
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	before, formerSettings, formerRoots := e.now, e.settings, e.roots
	e.now, e.ready = nil, ready
	e.mu.Unlock()
	if before != nil {
		if err := before.close(); err != nil {
			e.opts.Logger.Error("closing the former index", "error", err)
		}
	}
	e.graphs.forget()
	e.searches.Forget()

	now, err := e.open(ctx, settings, roots)
	if err != nil {
		settings, roots = formerSettings, formerRoots
		var again error
		if now, again = e.open(context.WithoutCancel(ctx), settings, roots); again != nil {
			err = errors.Join(err, again)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now, e.settings, e.roots, e.why = now, settings, roots, err
	if now != nil {
		for v := range e.views {
			v.attach(now.ix)
		}
	}
	close(ready)
	return err
}

// index returns the index and the settings in force. While the index is
// replaced it waits.
func (e *Engine) index(ctx context.Context) (*index.Index, config.Settings, error) {
	for {
		e.mu.Lock()
		now, settings, ready, why, closed := e.now, e.settings, e.ready, e.why, e.closed
		e.mu.Unlock()
		switch {
		case closed:
			return nil, settings, ErrClosed
		case now != nil:
			return now.ix, settings, nil
		}
		select {
		case <-ready:
		default:
			select {
			case <-ready:
				continue
			case <-ctx.Done():
				return nil, settings, ctx.Err()
			}
		}
		return nil, settings, fmt.Errorf("the index could not be opened again: %w", why)
	}
}
