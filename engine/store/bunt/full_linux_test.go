package bunt_test

import (
	"syscall"
	"testing"
)

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=400k"); err != nil {
		t.Skipf("no small disk to be had: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	told := fillUp(t.Context(), mustOpen(t, dir))
	acknowledged(t, dir, told)
}
