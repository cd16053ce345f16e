package index

import (
	"context"
	"sync"
	"time"
)

const (
	// defaultPatience is the longest that background work waits for requests at
	// a time, and turnLength how long it then works although some run: so that
	// indexing always comes to its end.
	defaultPatience = 250 * time.Millisecond
	turnLength      = 100 * time.Millisecond
)

// Hold says what the memory limit stops. Each stops what those before it do.
type Hold int

const (
	HoldNothing   Hold = iota // nothing: memory is free
	HoldEmbedding             // the slow model's vectors
	HoldIndexing              // files that are neither open nor changed just now
)

// Embedding says how fast the slow model may work in the background.
type Embedding int

const (
	EmbedFreely Embedding = iota // as fast as the settings let it
	EmbedSlowly                  // one text at a time
	EmbedNever                   // not at all, until it may again
)

// Gate tells background work when it may go on. It belongs to whoever opens
// indexes and may outlive them. Its methods are safe for concurrent use.
type Gate struct {
	patience time.Duration

	mu       sync.Mutex // guards the fields below
	yields   bool
	requests int
	paused   bool
	memory   Hold
	power    Embedding
	changed  chan struct{} // closed when something changes, nil where nobody waits
}

// NewGate returns an open gate. patience is how long background work waits for
// requests at a time, 0 for the default.
func NewGate(patience time.Duration) *Gate {
	if patience <= 0 {
		patience = defaultPatience
	}
	return &Gate{patience: patience, yields: true}
}

// Request says that someone waits for an answer; call the result when it is
// given. Background work rests meanwhile, for a bounded time.
func (g *Gate) Request() (done func()) {
	g.mu.Lock()
	g.requests++
	g.mu.Unlock()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.requests--; g.requests == 0 {
			g.tell()
		}
	})
}

// SetYield says whether background work rests while requests run.
func (g *Gate) SetYield(yield bool) { g.set(func() { g.yields = yield }) }

// SetPaused stops background work, or lets it go on. What is open in an editor
// or changes on disk is made searchable all the same.
func (g *Gate) SetPaused(paused bool) { g.set(func() { g.paused = paused }) }

// Paused reports whether background work was stopped by SetPaused.
func (g *Gate) Paused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

// SetMemory says what must stop because memory is short.
func (g *Gate) SetMemory(h Hold) { g.set(func() { g.memory = h }) }

// SetEmbedding says how fast the slow model may work.
func (g *Gate) SetEmbedding(e Embedding) { g.set(func() { g.power = e }) }

func (g *Gate) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	g.tell()
}

// tell wakes who waits. mu is held.
func (g *Gate) tell() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// change returns a channel that is closed at the next change. mu is held.
func (g *Gate) change() <-chan struct{} {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.changed
}

// indexing says whether background indexing is stopped, and tells of the next
// change.
func (g *Gate) indexing() (held bool, change <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused || g.memory >= HoldIndexing, g.change()
}

// Memory returns what the memory limit stops.
func (g *Gate) Memory() Hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.memory
}

// embedding says how fast the slow model may work, and tells of the next change.
func (g *Gate) embedding() (Embedding, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paused || g.memory >= HoldEmbedding {
		return EmbedNever, g.change()
	}
	return g.power, g.change()
}

// turn is one goroutine's right to work although requests run: it rests for the
// gate's patience, works for turnLength, and rests again.
type turn struct{ resting, until time.Time }

// rest reports whether the goroutine must rest now: until change tells so, and
// no longer than most.
func (g *Gate) rest(t *turn) (rest bool, change <-chan struct{}, most time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.requests == 0 || !g.yields {
		t.resting = time.Time{}
		return false, nil, 0
	}
	now := time.Now()
	switch {
	case now.Before(t.until):
		return false, nil, 0
	case t.resting.IsZero():
		t.resting = now
	case now.Sub(t.resting) >= g.patience:
		t.resting, t.until = time.Time{}, now.Add(turnLength)
		return false, nil, 0
	}
	return true, g.change(), g.patience - now.Sub(t.resting)
}

// yield returns when the goroutine may go on.
func (g *Gate) yield(ctx context.Context, t *turn) {
	for ctx.Err() == nil {
		rest, change, most := g.rest(t)
		if !rest {
			return
		}
		timer := time.NewTimer(most)
		select {
		case <-ctx.Done():
		case <-change:
		case <-timer.C:
		}
		timer.Stop()
	}
}
