package index

import (
	"context"
	"errors"
	"sync"
	"time"

	"coderag-ls/engine/file"
)

// How long a request waits for the text of one file: on a disk that answers,
// and while another read is overdue. What takes longer is not shown; a request
// that is never answered would be worse.
const (
	patience   = 5 * time.Second
	impatience = 500 * time.Millisecond
)

// readFile reads a file for background work, which waits for as long as it
// takes, but not longer than ctx: a disk that hangs must not keep the program
// from ending.
func (ix *Index) readFile(ctx context.Context, abs string) (file.Content, error) {
	select {
	case res := <-begin(ix.opts.Read, abs, ix.opts.Files.MaxBytes):
		return res.content, res.err
	case <-ctx.Done():
		return file.Content{}, ctx.Err()
	}
}

// result is what reading a file gave.
type result struct {
	content file.Content
	err     error
}

// begin starts to read a file.
func begin(read func(string, int64) (file.Content, error), abs string, maxBytes int64) <-chan result {
	done := make(chan result, 1)
	go func() {
		content, err := read(abs, maxBytes)
		done <- result{content, err}
	}()
	return done
}

// errSlow: a file could not be read in time.
var errSlow = errors.New("the disk does not answer in time")

// reader reads files for requests, which must not hang where a disk does. A read
// that is overdue is left to itself: nothing can end it but the system.
type reader struct {
	read func(path string, maxBytes int64) (file.Content, error)
	max  int64
	// late is told when the first read is overdue, and when none is any more.
	late func(is bool)

	mu      sync.Mutex
	overdue map[string]bool // files that are being read for too long
}

func newReader(read func(string, int64) (file.Content, error), maxBytes int64, late func(bool)) *reader {
	return &reader{read: read, max: maxBytes, late: late, overdue: map[string]bool{}}
}

// get reads a file. It returns errSlow where that takes too long and the
// context's error where that ends first.
func (r *reader) get(ctx context.Context, abs string) (file.Content, error) {
	r.mu.Lock()
	wait := patience
	if len(r.overdue) > 0 {
		wait = impatience
	}
	stuck := r.overdue[abs]
	r.mu.Unlock()
	if stuck {
		return file.Content{}, errSlow // one more would hang like the first
	}
	done := begin(r.read, abs, r.max)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case res := <-done:
		return res.content, res.err
	case <-ctx.Done():
		return file.Content{}, ctx.Err()
	case <-timer.C:
	}
	r.mark(abs, true)
	go func() {
		<-done
		r.mark(abs, false)
	}()
	return file.Content{}, errSlow
}

// mark notes that the read of a file is overdue, or came to its end.
func (r *reader) mark(abs string, is bool) {
	r.mu.Lock()
	before := len(r.overdue) > 0
	if is {
		r.overdue[abs] = true
	} else {
		delete(r.overdue, abs)
	}
	now := len(r.overdue) > 0
	r.mu.Unlock()
	if before != now {
		r.late(now)
	}
}
