package memory

import "runtime"

// held is what Go's runtime holds of the system: what is told where the system
// itself cannot be asked.
func held() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
