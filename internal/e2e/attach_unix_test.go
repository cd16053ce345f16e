//go:build unix

package e2e_test

import (
	"strconv"
	"syscall"
	"testing"

	"coderag-ls/engine/wire"
)

// An owner that is stopped, not ended, does not stop the others.
func TestAttachStoppedOwner(t *testing.T) {
	h := newHome(t)
	dir := zoo(t, 10)
	owner, other := openWindow(t, h, dir, "Wallaby"), openWindow(t, h, dir, "Numbat")
	owner.wantOwn(t)
	other.wantOwn(t)
	if ownership(t, owner, other) != 0 {
		owner, other = other, owner // it was faster
	}
	must(t, owner.server.cmd.Process.Signal(syscall.SIGSTOP))
	pid := "pid " + strconv.Itoa(owner.server.cmd.Process.Pid)
	h.run("search", "--root", dir, "Quokka").wants(0, "zoo.go", pid, "does not answer")
	other.wantOwn(t)
	awaitMessage(other.Editor, pid, "does not answer")
	other.Sync(wire.SyncParams{})
	other.wantOwn(t)
	must(t, owner.server.cmd.Process.Signal(syscall.SIGCONT))
	owner.wantOwn(t)
	for _, w := range []*window{owner, other} {
		if err := w.Shutdown(); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}
}
