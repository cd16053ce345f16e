//go:build unix

package watcher

import (
	"io/fs"
	"syscall"
)

// fileID names a file whatever its path is.
type fileID struct{ device, inode uint64 }

func (i fileID) known() bool { return i != fileID{} }

func idOf(info fs.FileInfo) fileID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	//nolint:unconvert // the fields' types differ between systems
	return fileID{uint64(s.Dev), uint64(s.Ino)}
}

// links returns the number of names that a file has.
func links(info fs.FileInfo) uint64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(s.Nlink)
}
