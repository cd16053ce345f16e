//go:build !unix

package watcher

import "io/fs"

// fileID names a file whatever its path is: not here, where a listing does not
// tell.
type fileID struct{ device, inode uint64 }

func (i fileID) known() bool { return false }

func idOf(fs.FileInfo) fileID { return fileID{} }

// links returns the number of names that a file has, as far as a listing tells.
func links(fs.FileInfo) uint64 { return 1 }
