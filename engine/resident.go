package engine

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
)

// residentBytes is the process's resident memory: what the kernel says where
// it does (Linux, /proc/self/statm), else what the runtime holds of the system.
func residentBytes() int64 {
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := bytes.Fields(data); len(fields) > 1 {
			if pages, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
				return pages * int64(os.Getpagesize())
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
