package memory

import (
	"bytes"
	"os"
	"strconv"
)

// Resident is the process's resident memory in bytes, as the kernel counts it:
// Go's heap, what C libraries hold and what is mapped of files.
func Resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return held()
	}
	if fields := bytes.Fields(data); len(fields) > 1 {
		if pages, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	return held()
}
