package lsptest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"go.uber.org/goleak"
)

// leftovers know what there was before a session.
type leftovers struct {
	goroutines goleak.Option
	files      map[string]int // what is open, by what it is
}

func takeLeftovers() leftovers { return leftovers{goleak.IgnoreCurrent(), openFiles()} }

// openFiles counts what the process has open, where the system tells (Linux).
func openFiles() map[string]int {
	if runtime.GOOS != "linux" {
		return nil
	}
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	open := map[string]int{}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			open[target]++
		}
	}
	return open
}

// check says what a session left: goroutines and open files.
func (l leftovers) check() error {
	// buntdb's own goroutine notices at its next tick, up to a second later, that
	// the database was closed.
	if err := goleak.Find(l.goroutines, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager")); err != nil {
		return err
	}
	var left []string
	deadline := time.Now().Add(patience / 6)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		left = left[:0]
		for target, n := range openFiles() {
			// The runtime's own poller is made when it is first needed.
			if n > l.files[target] && target != "anon_inode:[eventpoll]" && target != "anon_inode:[eventfd]" && !strings.HasPrefix(target, "/proc/") {
				left = append(left, target)
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("still open: %q", left)
		}
		<-look.C
	}
}
