//go:build unix

package index

import (
	"os"
	"syscall"
)

// deviceOf names the volume that a file is on; 0 where that is not known.
func deviceOf(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
