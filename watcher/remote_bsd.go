//go:build darwin || freebsd

package watcher

import "golang.org/x/sys/unix"

// remote reports whether a directory's file system can change without this
// machine's kernel knowing.
func remote(dir string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false
	}
	return uint64(s.Flags)&unix.MNT_LOCAL == 0
}
