//go:build !linux

package watcher

import "runtime"

// advice says what to do about a limit.
func advice(error) string {
	return "To watch them, raise the limit of open files (ulimit -n) or exclude directories."
}

// systemLimit returns how many directories to watch. kqueue opens every
// directory and every file in it: few, so that files are left to open.
func systemLimit() int {
	if runtime.GOOS == "windows" {
		return 1 << 16
	}
	return 512
}
