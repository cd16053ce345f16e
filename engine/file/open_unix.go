//go:build unix

package file

import "syscall"

// openFlags keep an open from waiting for a FIFO's other end and from following
// a symlink.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
