package e2e_test

import (
	"fmt"
	"syscall"
	"testing"
)

// smallDisk puts a disk of so many bytes at a folder.
func smallDisk(tb testing.TB, dir string, bytes int) {
	tb.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		tb.Skipf("no disk can be mounted: %v", err)
	}
	tb.Cleanup(func() { must(tb, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// enlarge changes the size of such a disk.
func enlarge(tb testing.TB, dir string, bytes int) {
	tb.Helper()
	must(tb, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", bytes)))
}
