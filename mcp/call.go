package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine/wire"
)

// vectorTime is how long the first call waits for vectors of an earlier run to
// be read; those that are not made yet are not worth a wait.
const vectorTime = time.Second

// begin finds the workspace of a call and brings its index up to date. ask is
// true where the client is to be asked for its roots first. end is to be called
// when the call has been answered, unless there is an error or ask is true.
func (s *Server) begin(ctx context.Context, c caller, p *progress) (view View, end func(), ask bool, err error) {
	folders, ask := s.folders(ctx, c)
	if ask {
		return nil, nil, true, nil
	}
	p.tell(1, "opening the index")
	o, done, err := s.desk.take(ctx, folders)
	if err != nil {
		return nil, nil, false, err
	}
	if err := s.sync(ctx, o, p); err != nil {
		done()
		return nil, nil, false, err
	}
	p.tell(progressIndexed, "the index is up to date")
	return o.view, done, false, nil
}

// sync compares the disk with the index, so that a call sees what the client
// wrote just before it. What takes too long is not waited for: the result says
// what is missing.
func (s *Server) sync(ctx context.Context, o *opened, p *progress) error {
	stop := p.watch(o)
	defer stop()
	limited, cancel := context.WithTimeout(ctx, s.opts.Patience)
	defer cancel()
	_, err := o.view.Sync(limited, wire.SyncParams{Scan: true})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("bringing the index up to date: %w", err)
	}
	o.settle.Do(func() {
		limited, cancel := context.WithTimeout(ctx, vectorTime)
		defer cancel()
		if _, err := o.view.Sync(limited, wire.SyncParams{Vectors: true}); err != nil && limited.Err() == nil {
			s.log.Warn("reading the vectors", "error", err)
		}
	})
	return ctx.Err()
}

// within is ctx until the server is closed.
func (s *Server) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.desk.ctx, func() { cancel(errClosed) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// coverageText says how complete the index was, in the last lines of a result.
func coverageText(c wire.Coverage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Coverage: %d of %d files indexed", c.Indexed, c.Total)
	if n := sum(c.Skipped); n > 0 {
		var reasons []string
		for _, r := range slices.Sorted(maps.Keys(c.Skipped)) {
			reasons = append(reasons, fmt.Sprintf("%d %s", c.Skipped[r], r))
		}
		fmt.Fprintf(&b, "; left out: %s", strings.Join(reasons, ", "))
	}
	if c.VectorsReady < 1 {
		fmt.Fprintf(&b, "; vectors %d %%", int(c.VectorsReady*100))
	}
	b.WriteString(".\n")
	if c.Pending > 0 || c.Stale || c.Indexed < c.Total {
		fmt.Fprintf(&b, "The index is not complete yet: what is said here may lack something. Ask again in a moment.\n")
	}
	return b.String()
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// failure words an error for a client whose call ended.
func failure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}
