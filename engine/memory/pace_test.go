package memory_test

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"coderag-ls/engine/memory"
)

// inProcess runs the test alone in a process of its own: the collector's setting is
// the whole process's.
func inProcess(t *testing.T) bool {
	t.Helper()
	const variable = "CODERAG_TEST_PACE"
	if os.Getenv(variable) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"=1", "GOGC=100")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// goal is the size of the heap, in MB, at which the collector runs next.
func goal() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() >> 20
}

// settle collects until the setting follows what is in use: a finalizer runs
// after the collection that finds its object, the goal is set by the next.
func settle(t *testing.T, want func(uint64) bool) {
	t.Helper()
	for range 100 {
		runtime.GC()
		if want(goal()) {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("the heap's goal is %d MB, the percentage %d", goal(), debug.SetGCPercent(100))
}

func TestPaceCollectsByTheBudget(t *testing.T) {
	if !inProcess(t) {
		return
	}
	memory.Pace(100 << 20)
	held := [][]byte{}
	hold := func(mb int) {
		for range mb {
			held = append(held, make([]byte, 1<<20))
		}
	}
	hold(40)
	settle(t, func(g uint64) bool { return g >= 90 && g <= 130 })
	hold(40) // 80: at least two fifths more than is in use, though the budget is less
	settle(t, func(g uint64) bool { return g >= 105 && g <= 135 })
	hold(120) // 200: far over the budget, collected at 280, not all the time
	settle(t, func(g uint64) bool { return g >= 270 && g <= 310 })
	held = held[:30]
	clear(held[30:cap(held)])
	settle(t, func(g uint64) bool { return g >= 90 && g <= 150 })
	runtime.KeepAlive(held)
}
