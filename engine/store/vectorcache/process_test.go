package vectorcache_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"math/rand"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"coderag-ls/engine/store/vectorcache"
)

// The test program runs itself again in these roles.
const (
	roleVar  = "SHARED_TEST_ROLE"
	dirVar   = "SHARED_TEST_DIR"
	seedVar  = "SHARED_TEST_SEED"
	boundVar = "SHARED_TEST_BOUND"
	roleFill = "write and read"
)

// child writes and reads until it is killed, or has done rounds of it, and
// prints what of it is kept. It ends with 1 where it reads a wrong vector.
func child(role string) int {
	if role != roleFill {
		return limited()
	}
	seed, _ := strconv.Atoi(os.Getenv(seedVar))
	bound, _ := strconv.ParseInt(os.Getenv(boundVar), 10, 64)
	rng := rand.New(rand.NewSource(int64(seed)))
	c := vectorcache.Open(vectorcache.Options{Dir: os.Getenv(dirVar), MaxBytes: bound, Fresh: 1, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	for range 300 {
		from := rng.Intn(20_000)
		put(c, keys(from, from+30))
		for k, v := range c.Vectors(model, dim, keys(from-50, from+50)) {
			if want := vector(k); v.Scale != want.Scale || !slices.Equal(v.Values, want.Values) {
				fmt.Printf("wrong vector of %x\n", k[:4])
				return 1
			}
		}
		fmt.Println(from)
	}
	if err := c.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// fill starts a process; kept gets what it has written, in blocks of 30 from a
// number on. With kill above 0 it is killed after so many.
func fill(t *testing.T, dir string, seed, kill int, bound int64) (kept []int) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+roleFill, dirVar+"="+dir, seedVar+"="+strconv.Itoa(seed), boundVar+"="+strconv.FormatInt(bound, 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	for in := bufio.NewScanner(out); (kill == 0 || len(kept) < kill) && in.Scan(); {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			t.Error(in.Text())
		}
		kept = append(kept, n)
	}
	if kill > 0 {
		cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil && kill == 0 {
		t.Error(err)
	}
	return kept
}

// TestProcesses: processes that write at once, some of which are killed, lose
// nothing that one of them had kept.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	done := make(chan []int)
	const processes = 6
	for p := range processes {
		go func() { done <- fill(t, dir, p, p%3*40, big) }()
	}
	var all []int
	for range processes {
		all = append(all, <-done...)
	}
	c, logged := open(t, dir, big)
	for _, from := range all {
		if n := held(t, c, keys(from, from+30)); n != 30 {
			t.Fatalf("of 30 vectors from %d on %d are found", from, n)
		}
	}
	if len(all) < processes*40 {
		t.Errorf("%d blocks only", len(all))
	}
	if logged.Len() > 0 {
		t.Logf("logged %s", logged)
	}
	// Everybody is gone: the first slot is free again.
	put(c, keys(100_000, 100_010))
	if _, err := os.Stat(dir + "/slot-00"); err != nil {
		t.Error(err)
	}
	if names := segments(t, dir); len(names) > 2*processes {
		t.Errorf("%d segments", len(names))
	}
}

// TestBoundOfManyProcesses: the bound holds while several write.
func TestBoundOfManyProcesses(t *testing.T) {
	dir := t.TempDir()
	const processes, bound = 4, 1 << 20
	done := make(chan []int)
	for p := range processes {
		go func() { done <- fill(t, dir, p, 0, bound) }()
	}
	for left := processes; left > 0; {
		select {
		case <-done:
			left--
		default:
			if n, err := vectorcache.Size(dir); err != nil || n > bound {
				t.Errorf("%d bytes, more than %d (%v)", n, bound, err)
			}
		}
	}
	c, _ := open(t, dir, bound)
	if n := held(t, c, keys(0, 20_000)); n < 1000 {
		t.Errorf("%d are left", n)
	}
}
