//go:build !linux

package main

import "time"

// Elsewhere processor time is taken for wall time of one thread; the figures
// of docs/benchmarks.md come from Linux.

var started = time.Now()

func cpuSeconds() float64 { return time.Since(started).Seconds() }

func threadSeconds() float64 { return cpuSeconds() }
