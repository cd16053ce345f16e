package bunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tidwall/buntdb"
)

// flushEvery is how much work a loss of power may cost. buntdb has a policy of
// its own for that, but holds its lock while it waits for the disk, which on a
// slow one keeps readers waiting, and forgets what the disk says.
const flushEvery = time.Second

// flusher calls a function a moment after it was woken.
type flusher struct {
	dirty    chan struct{}
	quit     chan struct{}
	once     sync.Once
	finished sync.WaitGroup
}

func (f *flusher) start(flush func()) {
	f.dirty, f.quit = make(chan struct{}, 1), make(chan struct{})
	f.finished.Go(func() {
		timer := time.NewTimer(flushEvery)
		defer timer.Stop()
		for {
			select {
			case <-f.quit:
				return
			case <-f.dirty:
			}
			timer.Reset(flushEvery)
			select {
			case <-f.quit:
				return
			case <-timer.C:
			}
			flush()
		}
	})
}

func (f *flusher) wake() {
	select {
	case f.dirty <- struct{}{}:
	default:
	}
}

// stop ends it and waits for that.
func (f *flusher) stop() {
	f.once.Do(func() { close(f.quit) })
	f.finished.Wait()
}

// flush makes what was written durable. Nobody waits for it.
func (s *Store) flush() {
	s.mu.RLock()
	f := s.log
	s.mu.RUnlock()
	// A log that is closed meanwhile was synced by who closed it.
	if err := s.opts.Fsync(f); err != nil && !errors.Is(err, os.ErrClosed) {
		s.lost.Store(&err)
	}
}

// Sync makes everything acknowledged so far durable. What a disk failed to keep
// before is written once more.
func (s *Store) Sync(ctx context.Context) error {
	s.writing.Lock()
	var size int64
	var f *os.File
	err := s.use(ctx, func(*buntdb.DB) error {
		fi, err := s.log.Stat()
		if err == nil {
			size, f = fi.Size(), s.log
		}
		return err
	})
	if err == nil && s.lost.Load() != nil {
		// The system tells of a failed write once and then takes it as done.
		err = s.rewrite(ctx)
		s.writing.Unlock()
		return err
	}
	s.writing.Unlock()
	if err != nil {
		return err
	}
	switch err := s.opts.Fsync(f); {
	case errors.Is(err, os.ErrClosed):
		return s.Sync(ctx) // the log was replaced
	case err != nil:
		s.lost.Store(&err)
		return fmt.Errorf("syncing index %s: %w", s.dir, full(err))
	}
	s.mark(size)
	return nil
}

// mark notes that so much of the log is durable, unless it was replaced.
func (s *Store) mark(size int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if fi, err := s.log.Stat(); !s.closed && err == nil && fi.Size() >= size {
		s.writeMark(size, false)
	}
}
