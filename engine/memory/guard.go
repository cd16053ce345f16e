package memory

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// tightAt is the share of the limit from which garbage is given back to the
	// system and collected more often.
	tightAt = 0.8
	// slack is how far below its share the process must be for a measure to be
	// taken back: what it saved must not bring it back at once.
	slack = 0.15
	// lookEvery is the least time between two looks, firstRest how long a measure
	// stands at least; each time one has to be taken again, that doubles, up to
	// mostRest.
	lookEvery = 50 * time.Millisecond
	firstRest = time.Second
	mostRest  = 5 * time.Minute
)

// Measure is something that is done to need less memory.
type Measure struct {
	// Name says to the user what is done.
	Name string
	// At is the share of the limit from which it is taken, over 0.8.
	At float64
	// Take does it, Back takes it back; both return when it is done. They must not
	// call Look or SetLimit.
	Take, Back func()
}

// Guard keeps the process's resident memory under a limit. Nearing it, garbage
// is given back to the system and collected more often; where that does not do,
// measures are taken one after the other, each when its share of the limit is
// in use, and taken back in the other order when memory is free again. Its
// methods are safe for concurrent use.
type Guard struct {
	measures []Measure // in the order of At
	limit    atomic.Int64
	next     atomic.Int64 // when to look next, in Unix nanoseconds

	mu      sync.Mutex // guards the fields below; held while measures are taken
	tight   bool
	former  int64 // the runtime's memory limit before it was tightened
	left    int64 // what was in use after the last release
	rest    time.Duration
	since   time.Time // when a measure was last taken or taken back
	retakes int

	told  sync.Mutex // guards names
	names []string   // of the measures in force
}

// NewGuard returns a guard; limit is in bytes. Nothing happens before Look.
func NewGuard(limit int64, measures ...Measure) *Guard {
	g := &Guard{measures: measures}
	g.limit.Store(limit)
	return g
}

// SetLimit changes the limit, in bytes. The next Look acts on it.
func (g *Guard) SetLimit(limit int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit.Swap(limit) != limit {
		g.rest, g.retakes, g.left = 0, 0, 0 // someone's decision is obeyed at once
		g.next.Store(0)
	}
}

// Limit is the limit in bytes.
func (g *Guard) Limit() int64 { return g.limit.Load() }

// Taken names the measures in force.
func (g *Guard) Taken() []string {
	g.told.Lock()
	defer g.told.Unlock()
	return append([]string{}, g.names...)
}

// Look measures what is in use and does what is needed; it returns when that is
// done, so that who needs memory waits for it. It costs nothing most of the
// time: call it often. changed is true where a measure was taken or taken back.
func (g *Guard) Look() (changed bool) {
	if time.Now().UnixNano() < g.next.Load() {
		return false
	}
	g.mu.Lock() // waits while another one takes measures
	defer g.mu.Unlock()
	if time.Now().UnixNano() < g.next.Load() {
		return false
	}
	changed = g.look()
	g.next.Store(time.Now().Add(lookEvery).UnixNano())
	return changed
}

func (g *Guard) look() (changed bool) {
	taken := len(g.Taken())
	if g.tight {
		taken--
	}
	share := g.share()
	if share >= tightAt {
		if Resident() > g.left+g.Limit()/32 {
			g.giveBack()
			share = g.share()
		}
		if share >= tightAt && !g.tight {
			g.tight, changed = true, true
			g.former = debug.SetMemoryLimit(-1)
		}
		if g.tight {
			g.tighten()
		}
	}
	for taken < len(g.measures) && share >= g.measures[taken].At {
		m := g.measures[taken]
		m.Take()
		taken, changed = taken+1, true
		g.tell(taken)
		g.giveBack()
		share = g.share()
		g.rest = max(g.rest, firstRest)
		if g.retakes++; g.retakes > len(g.measures) {
			g.rest = min(2*g.rest, mostRest)
		}
		g.since = time.Now()
	}
	for taken > 0 && share < g.measures[taken-1].At-slack && time.Since(g.since) >= g.rest {
		taken, changed = taken-1, true
		g.measures[taken].Back()
		g.since = time.Now()
	}
	if taken == 0 && g.tight && share < tightAt-slack {
		g.tight, changed = false, true
		debug.SetMemoryLimit(g.former)
	}
	if changed {
		g.tell(taken)
	}
	return changed
}

// share is how much of the limit is in use.
func (g *Guard) share() float64 { return float64(Resident()) / float64(max(g.Limit(), 1)) }

func (g *Guard) giveBack() {
	Release()
	g.left = Resident()
}

func (g *Guard) tell(taken int) {
	g.told.Lock()
	defer g.told.Unlock()
	g.names = g.names[:0:0]
	if g.tight {
		g.names = append(g.names, "garbage is collected more often")
	}
	for _, m := range g.measures[:taken] {
		g.names = append(g.names, m.Name)
	}
}

// tighten has Go's runtime keep its part under what is left of the limit. A
// fifth more than is in use is always granted, else the collector would run all
// the time.
func (g *Guard) tighten() {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	own, live := int64(s[0].Value.Uint64()-s[1].Value.Uint64()), int64(s[2].Value.Uint64())
	others := max(Resident()-own, 0) // C libraries, mapped files
	debug.SetMemoryLimit(max(g.Limit()/100*85-others, live/5*6+8*mib))
}

// Close takes the runtime's own limit back. Measures stay as they are.
func (g *Guard) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tight {
		g.tight = false
		debug.SetMemoryLimit(g.former)
	}
}
