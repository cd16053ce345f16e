package watcher

import (
	"os"
	"strconv"
	"strings"
)

// raiseLimit says what to do about the limit.
const raiseLimit = "To watch more, raise fs.inotify.max_user_watches (sysctl) or exclude directories."

// systemLimit returns how many directories to watch: the limit is the user's,
// for all programs together, so some is left to the others.
func systemLimit() int {
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 8192 * 3 / 4 // the kernel's default of old
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || n <= 0 {
		return 8192 * 3 / 4
	}
	return max(1, n/4*3)
}
