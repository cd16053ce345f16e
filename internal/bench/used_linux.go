package main

import "golang.org/x/sys/unix"

// cpuSeconds is what the process has used so far, user and system.
func cpuSeconds() float64 { return used(unix.RUSAGE_SELF) }

// threadSeconds is what the thread has used so far.
func threadSeconds() float64 { return used(unix.RUSAGE_THREAD) }

func used(who int) float64 {
	var r unix.Rusage
	if err := unix.Getrusage(who, &r); err != nil {
		return 0
	}
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}
