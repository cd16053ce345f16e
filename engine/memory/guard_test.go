package memory_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"coderag-ls/engine/memory"
)

const mb = 1 << 20

// ballast is memory in use.
func ballast(size int) []byte {
	b := make([]byte, size*mb)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
}

// lookUntil looks until the measures in force are as wanted.
func lookUntil(t *testing.T, g *memory.Guard, want ...string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		g.Look()
		if slices.Equal(g.Taken(), want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d MB in use: measures %q, want %q", memory.Resident()/mb, g.Limit()/mb, g.Taken(), want)
		}
		runtime.Gosched()
	}
}

const often = "garbage is collected more often"

// Measures are taken in order, no more of them than are needed, and taken back
// in the other order.
func TestGuard(t *testing.T) {
	if !inProcess(t) {
		return
	}
	var done []string
	var guard *memory.Guard
	cache, model := ballast(60), [][]byte(nil)
	step := func(name string, at float64, take func()) memory.Measure {
		return memory.Measure{
			Name: name, At: at,
			Take: func() { // looking at the state is allowed
				if g := guard; len(g.Taken()) > 4 || g.Limit() <= 0 {
					t.Error("the state while a measure is taken")
				}
				done = append(done, "+"+name)
				take()
			},
			Back: func() { done = append(done, "-"+name) },
		}
	}
	limit := int64(400 * mb)
	base := memory.Resident() // with the cache
	g := memory.NewGuard(limit,
		step("cache", .85, func() { cache = nil }),
		step("model", .9, func() { model = nil }),
		step("indexing", .95, func() {}),
	)
	guard = g
	defer g.Close()
	use := func(share float64) (held [][]byte) {
		for float64(memory.Resident()) < share*float64(limit) { // the race detector takes its part of each
			held = append(held, ballast(1))
		}
		return held
	}
	if base > limit/2 {
		t.Fatalf("%d MB before anything is used", base/mb)
	}

	lookUntil(t, g) // nothing
	hold := use(.87)
	lookUntil(t, g, often, "cache") // which is enough
	if share := float64(memory.Resident()) / float64(limit); share > .85 {
		t.Errorf("%.2f of the limit in use", share)
	}
	model = use(.93)
	more := use(.97)
	lookUntil(t, g, often, "cache", "model")
	all := use(.97)
	lookUntil(t, g, often, "cache", "model", "indexing")
	for range 10 { // nothing more can be done: nothing is
		g.Look()
	}
	if want := []string{"+cache", "+model", "+indexing"}; !slices.Equal(done, want) {
		t.Errorf("done: %q, want %q", done, want)
	}
	runtime.KeepAlive([]any{hold, more, all, cache, model})
	hold, more, all = nil, nil, nil
	runtime.GC()
	lookUntil(t, g)
	if want := []string{"+cache", "+model", "+indexing", "-indexing", "-model", "-cache"}; !slices.Equal(done, want) {
		t.Errorf("done: %q, want %q", done, want)
	}
}

// Garbage alone is no reason to stop anything.
func TestGuardGivesGarbageBack(t *testing.T) {
	if !inProcess(t) {
		return
	}
	g := memory.NewGuard(300*mb, memory.Measure{Name: "all", At: .9, Take: func() { t.Error("a measure was taken for garbage") }, Back: func() {}})
	defer g.Close()
	for range 40 {
		runtime.KeepAlive(ballast(100))
		g.Look()
		for wait := time.Now().Add(60 * time.Millisecond); time.Now().Before(wait); {
			g.Look() // as workers do between files
		}
	}
}

// A higher limit ends what a lower one needed.
func TestGuardFollowsTheLimit(t *testing.T) {
	if !inProcess(t) {
		return
	}
	g := memory.NewGuard(1*mb, memory.Measure{Name: "all", At: .9, Take: func() {}, Back: func() {}})
	defer g.Close()
	lookUntil(t, g, often, "all")
	g.SetLimit(8192 * mb)
	lookUntil(t, g)
}
