package main

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"
)

// cost is what a piece of work took.
type cost struct{ Wall, CPU float64 } // seconds

func measure(work func() error) (cost, error) {
	wall, cpu := time.Now(), cpuSeconds()
	err := work()
	return cost{time.Since(wall).Seconds(), cpuSeconds() - cpu}, err
}

// residentMB is the process's resident memory (Linux).
func residentMB() float64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseFloat(string(fields[1]), 64)
	if err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize()) / 1e6
}

// percentiles returns the median and the 95th percentile of times, in
// milliseconds.
func percentiles(times []time.Duration) (p50, p95 float64) {
	slices.Sort(times)
	at := func(q float64) float64 {
		return float64(times[min(len(times)-1, int(q*float64(len(times))))].Microseconds()) / 1000
	}
	return at(.5), at(.95)
}

// repeat calls work until enough time has passed and returns calls per second
// of CPU time.
func repeat(atLeast time.Duration, work func() (int, error)) (perSecond float64, err error) {
	began, cpu, n := time.Now(), cpuSeconds(), 0
	for time.Since(began) < atLeast {
		k, err := work()
		if err != nil {
			return 0, err
		}
		n += k
	}
	return float64(n) / (cpuSeconds() - cpu), nil
}

// peakMB is the most resident memory since the start or resetPeak (Linux).
func peakMB() float64 { return status("VmHWM") }

// resetPeak makes peakMB count from now on, where the kernel allows it.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
