package index

import (
	"context"
	"errors"
	"sync"
)

// scanner runs one scan at a time; requests that come meanwhile are served by
// one more.
type scanner struct {
	ix     *Index
	signal chan struct{}

	mu        sync.Mutex
	requested uint64
	finished  uint64
	done      chan struct{} // closed and replaced when a scan ends
}

func newScanner(ix *Index) *scanner {
	return &scanner{ix: ix, signal: make(chan struct{}, 1), done: make(chan struct{})}
}

// request asks for a scan and returns its number.
func (s *scanner) request(cause string) uint64 {
	s.mu.Lock()
	s.requested++
	number := s.requested
	s.mu.Unlock()
	s.ix.log.Debug("scan requested", "cause", cause)
	select {
	case s.signal <- struct{}{}:
	default:
	}
	return number
}

func (s *scanner) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.signal:
		}
		s.mu.Lock()
		upTo, finished := s.requested, s.finished
		s.mu.Unlock()
		if upTo == finished {
			continue // the signal of a request that the last scan served
		}
		queued := 0
		for _, r := range s.ix.roots {
			n, err := s.ix.scan(ctx, r)
			queued += n
			if n >= manyNew {
				s.ix.askGit(ctx, r)
			}
			if !errors.Is(err, context.Canceled) {
				s.ix.scanned(r, err)
			}
		}
		s.ix.startBatch(queued)
		s.ix.counted(upTo, queued)
		s.mu.Lock()
		s.finished = max(s.finished, upTo)
		close(s.done)
		s.done = make(chan struct{})
		s.mu.Unlock()
		s.ix.changed()
	}
}

// counted tells the last batch how many files a scan found for it.
func (ix *Index) counted(scan uint64, files int) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.lastScan > 0 && ix.lastScan <= scan {
		ix.last.Files, ix.lastScan = max(ix.last.Files, files), 0
	}
}

// scanned notes whether a root could be scanned: what is wrong with it is told
// for as long as it is.
func (ix *Index) scanned(r *root, err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	r.mu.Lock()
	before := r.err
	r.err, r.isAway = now, errors.Is(err, errAway)
	r.mu.Unlock()
	switch {
	case now != "" && now != before:
		ix.log.Warn(now)
		if ix.opts.Notice != nil {
			ix.opts.Notice(now)
		}
		ix.failed(now)
	case now == "" && before != "":
		ix.log.Info("scanned again", "root", r.Dir)
	}
}

// scanning reports whether a scan is wanted or running.
func (s *scanner) scanning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finished < s.requested
}

// wait returns when every scan requested before the call has ended.
func (s *scanner) wait(ctx context.Context) error {
	s.mu.Lock()
	target := s.requested
	for s.finished < target {
		done := s.done
		s.mu.Unlock()
		if err := wait(ctx, done, s.ix.closed); err != nil {
			return err
		}
		s.mu.Lock()
	}
	s.mu.Unlock()
	return nil
}
