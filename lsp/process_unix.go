//go:build unix

package lsp

import "syscall"

// processAlive reports whether a process exists; one of another user does.
func processAlive(pid int) bool {
	return syscall.Kill(pid, 0) != syscall.ESRCH
}
