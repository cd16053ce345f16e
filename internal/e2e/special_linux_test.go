package e2e_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

// specialFiles makes what is no file and returns the kinds by name.
func specialFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	made := map[string]string{"fifo.go": "FIFO"}
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo.go"), 0o644))
	for name, number := range map[string]int{"zero.go": 5, "random.go": 8} {
		if err := syscall.Mknod(filepath.Join(dir, name), syscall.S_IFCHR|0o666, 1<<8|number); err != nil {
			t.Logf("no device can be made: %v", err)
			continue
		}
		made[name] = "device"
	}
	return made
}
