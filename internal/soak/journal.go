package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// maxWrong is how many faults are kept in words.
const maxWrong = 50

// journal collects what happened. Its methods are safe for concurrent use.
type journal struct {
	mu      sync.Mutex // guards all
	counts  map[string]int
	times   map[string][]float64 // ms
	faults  []string
	nfaults int
}

func newJournal() *journal {
	return &journal{counts: map[string]int{}, times: map[string][]float64{}}
}

func (j *journal) count(what string) { j.add(what, 1) }

func (j *journal) add(what string, n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts[what] += n
}

func (j *journal) took(what string, d time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.times[what] = append(j.times[what], float64(d.Microseconds())/1000)
}

func (j *journal) wrong(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.nfaults++; j.nfaults <= maxWrong {
		j.faults = append(j.faults, time.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
	}
}

// percentile is that of times, in ms, 0 where there are none.
func percentile(times []float64, p float64) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}
