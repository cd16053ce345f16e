package watcher

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// The limits of inotify, for the whole machine and for a user namespace such as
// a container's.
const (
	machineWatches   = "/proc/sys/fs/inotify/max_user_watches"
	namespaceWatches = "/proc/sys/user/max_inotify_watches"
)

// advice says what to do about a limit.
func advice(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "To watch them, raise fs.inotify.max_user_instances (sudo sysctl fs.inotify.max_user_instances=1024) or the limit of open files (ulimit -n)."
	}
	n := systemLimit()
	if m, ok := readLimit(machineWatches); ok {
		n = m
	}
	return fmt.Sprintf("To watch them, raise fs.inotify.max_user_watches (sudo sysctl fs.inotify.max_user_watches=%d) or exclude directories.", max(524288, 2*n))
}

// systemLimit returns how many directories to watch: the limit is the user's,
// for all programs together, so some is left to the others.
func systemLimit() int {
	least := 8192 // the kernel's default of old
	if n, ok := readLimit(machineWatches); ok {
		least = n
	}
	if n, ok := readLimit(namespaceWatches); ok {
		least = min(least, n)
	}
	return max(1, least/4*3)
}

func readLimit(path string) (int, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return n, err == nil && n > 0
}
