//go:build !windows

package llm

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownersOnly refuses a file that others may read or write.
func ownersOnly(path string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("key file %s can be read by others (mode %04o): run chmod 600 %s", path, mode, path)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("key file %s belongs to another user", path)
	}
	return nil
}
