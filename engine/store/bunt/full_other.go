//go:build !unix

package bunt

import (
	"errors"
	"os"
	"syscall"
)

// Windows' ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL.
const (
	handleDiskFull = syscall.Errno(39)
	diskFull       = syscall.Errno(112)
)

// isFull says whether an error means a full disk.
func isFull(err error) bool {
	return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
}

// syncDir does nothing: directories cannot be synced here.
func syncDir(string, func(*os.File) error) error { return nil }
