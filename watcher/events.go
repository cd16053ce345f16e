package watcher

import (
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// manyEvents is how many paths are kept: above it they are dropped for a look
	// at everything, as when the system's own queue overflows.
	manyEvents = 100_000
	// swell is the number of paths for which a batch waits as long again as for
	// one path, up to mostSwell times as long.
	swell     = 250
	mostSwell = 10
	// manyNoisy bounds the paths whose events are known to be of no interest.
	manyNoisy = 10_000
)

// events are the system's events since they were last taken, by path.
type events struct {
	wake chan struct{} // holds a token once something is there

	mu          sync.Mutex // guards what follows
	ops         map[string]fsnotify.Op
	overflow    bool
	first, last time.Time
	// noisy are files that are not kept: a log that is written all the time must
	// hold nothing up.
	noisy map[string]bool
}

func newEvents() *events {
	return &events{wake: make(chan struct{}, 1), ops: map[string]fsnotify.Op{}, noisy: map[string]bool{}}
}

func (e *events) add(ev fsnotify.Event) {
	if ev.Name == "" || ev.Op == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if ev.Op&^(fsnotify.Write|fsnotify.Chmod) == 0 && e.noisy[ev.Name] {
		return
	}
	e.ops[ev.Name] |= ev.Op
	if len(e.ops) > manyEvents {
		e.ops, e.overflow = map[string]fsnotify.Op{}, true
	}
	e.happened()
}

// ignore has writes to files that are not kept passed over.
func (e *events) ignore(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.noisy) >= manyNoisy {
		clear(e.noisy)
	}
	e.noisy[path] = true
}

// heed has all events taken again: other files may be kept now.
func (e *events) heed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.noisy)
}

// lost tells that events were.
func (e *events) lost() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.overflow = true
	e.happened()
}

// happened notes the time; mu is held.
func (e *events) happened() {
	e.last = time.Now()
	if e.first.IsZero() {
		e.first = e.last
	}
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// wait returns how much longer to wait for the events to settle: until nothing
// has come for quiet, but no longer than most, both of which grow with the number
// of paths.
func (e *events) wait(now time.Time, quiet, most time.Duration) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first.IsZero() {
		return 0
	}
	times := time.Duration(min(1+len(e.ops)/swell, mostSwell))
	if e.overflow {
		times = mostSwell
	}
	return max(0, min(times*quiet-now.Sub(e.last), times*most-now.Sub(e.first)))
}

// taken are events that were taken.
type taken struct {
	ops      map[string]fsnotify.Op
	overflow bool      // some are missing
	first    time.Time // when they began
}

// take returns the events and forgets them.
func (e *events) take() taken {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := taken{ops: e.ops, overflow: e.overflow, first: e.first}
	e.ops, e.overflow, e.first = map[string]fsnotify.Op{}, false, time.Time{}
	return all
}
