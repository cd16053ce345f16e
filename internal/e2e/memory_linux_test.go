package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
)

// wordy fills a folder with files that have few words in common: an index of
// them needs much memory for their size.
func wordy(t *testing.T, files int) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		w := make([]byte, 7)
		for i := range w {
			w[i] = byte('a' + rng.IntN(26))
		}
		return string(w)
	}
	for i := range files {
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n", i)
		for f := range 8 {
			fmt.Fprintf(&b, "\n// %s %s %s\nfunc F%dx%d() int {\n\tn := 0\n", word(), word(), word(), i, f)
			for range 30 {
				fmt.Fprintf(&b, "\tn += len(%q)\n", word()+" "+word())
			}
			b.WriteString("\treturn n\n}\n")
		}
		write(t, filepath.Join(dir, fmt.Sprintf("f%d.go", i)), b.String())
	}
	return dir
}

// mostResident is the most memory in MiB that a process had so far, 0 where it is
// gone. What the system tells once it has ended counts what this process had when
// it started it, too.
func mostResident(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(data), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		return 0
	}
	return kib >> 10
}

// The program stays under its memory limit, says what it left out, answers with
// what it has, and goes on when it may use more.
func TestMemoryLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 2,000 files twice")
	}
	const files, limit = 2000, 120 // MiB; without one it takes some 200
	dir := wordy(t, files)
	h := newHome(t)
	index := func(limit int) (st wire.Status, peak int64) {
		t.Helper()
		cmd := h.command(t.Context(), "--root", dir, "index", "--json", "--embed.provider", "static", "--index.memoryLimit", fmt.Sprint(limit))
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				peak = max(peak, mostResident(cmd.Process.Pid))
				continue
			case err := <-ended:
				if err != nil {
					t.Fatalf("with %d MiB: %v", limit, err)
				}
			}
			break
		}
		if err := json.Unmarshal(out.Bytes(), &st); err != nil {
			t.Fatal(err)
		}
		return st, peak
	}
	st, peak := index(limit)
	c := st.Coverage
	if st.State != wire.StateMemoryLimit || c.Skipped["memoryLimit"] == 0 || c.Skipped["memoryLimit"] == files || c.Total != files || !c.Stale {
		t.Errorf("with %d MiB: %s, %+v, %q", limit, st.State, c, st.MemoryMeasures)
	}
	if !containsAll(strings.Join(st.Notices, "\n"), []string{"limit of 120 MiB", "index.memoryLimit"}) {
		t.Errorf("told: %q", st.Notices)
	}
	// Between two looks something may be taken that the next gives back.
	if peak > limit*110/100 {
		t.Errorf("%d MiB were in use, %d are allowed", peak, limit)
	}
	t.Logf("with a limit of %d MiB: %d in use at most, %d of %d files indexed, %d left out", limit, peak, c.Indexed, c.Total, c.Skipped["memoryLimit"])
	// The newest file was indexed first.
	if got := h.search(dir, "F1999x3", "--index.memoryLimit", fmt.Sprint(limit)); len(got.Hits) == 0 {
		t.Errorf("nothing is found: %+v", got.Coverage)
	}
	st, _ = index(4096)
	if st.State != wire.StateReady || st.Coverage.Indexed != files || len(st.Coverage.Skipped) != 0 {
		t.Errorf("with enough memory: %s, %+v", st.State, st.Coverage)
	}
}
