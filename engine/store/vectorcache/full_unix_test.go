//go:build unix

package vectorcache_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"coderag-ls/engine/store/vectorcache"
)

// limited writes more than its files may hold and prints how much it finds
// afterwards.
func limited() int {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 50_000, Max: 50_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println(err)
		return 1
	}
	c := vectorcache.Open(vectorcache.Options{Dir: os.Getenv(dirVar), MaxBytes: big, Fresh: 1})
	for i := range 100 {
		put(c, keys(i*30, i*30+30))
	}
	fmt.Println(len(c.Vectors(model, dim, keys(0, 3000))) > 100)
	c.Close()
	return 0
}

// TestFull: a disk without room keeps what was there, and nothing more.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=limited", dirVar+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "true" {
		t.Fatalf("%v: %s", err, out)
	}
	c, logged := open(t, dir, big)
	before := held(t, c, keys(0, 3000))
	put(c, keys(0, 3000))
	if n := held(t, c, keys(0, 3000)); n != 3000 || before < 100 {
		t.Errorf("%d were left, with room again %d are found", before, n)
	}
	if logged.Len() > 0 {
		t.Errorf("logged %s", logged)
	}
}
