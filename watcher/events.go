package watcher

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// manyEvents is how many paths are kept: above it they are dropped for a look
// at everything, as when the system's own queue overflows.
const manyEvents = 100_000

// events are the system's events since they were last taken, by path.
type events struct {
	wake chan struct{} // holds a token once something is there

	mu          sync.Mutex // guards what follows
	ops         map[string]fsnotify.Op
	overflow    bool
	first, last time.Time
	// locked is true while a git command holds the index lock.
	locked bool
}

func newEvents() *events {
	return &events{wake: make(chan struct{}, 1), ops: map[string]fsnotify.Op{}}
}

func (e *events) add(ev fsnotify.Event) {
	if ev.Name == "" || ev.Op == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ops[ev.Name] |= ev.Op
	if len(e.ops) > manyEvents {
		e.ops, e.overflow = map[string]fsnotify.Op{}, true
	}
	if filepath.Base(ev.Name) == "index.lock" && isGitDir(filepath.Dir(ev.Name)) {
		e.locked = ev.Has(fsnotify.Create)
	}
	e.happened()
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

// wait returns how much longer to wait for the events to settle.
func (e *events) wait(now time.Time, quiet, most time.Duration) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first.IsZero() {
		return 0
	}
	if e.locked {
		if left := 10*most - now.Sub(e.first); left > 0 {
			return min(quiet, left)
		}
	}
	return max(0, min(quiet-now.Sub(e.last), most-now.Sub(e.first)))
}

// take returns the events and forgets them.
func (e *events) take() (ops map[string]fsnotify.Op, overflow bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ops, overflow = e.ops, e.overflow
	e.ops, e.overflow, e.first, e.locked = map[string]fsnotify.Op{}, false, time.Time{}, false
	return ops, overflow
}
