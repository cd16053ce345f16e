// Package requests counts what was asked and keeps the figures of the last
// requests, of which the status tells the median and the 95th percentile.
package requests

import (
	"maps"
	"slices"
	"sync"

	"coderag-ls/engine/wire"
)

// window is how many values of each figure are kept: 95 % of them leave 12, so
// that one slow request does not make the percentile.
const window = 256

// Recorder takes the figures of requests. It is safe for concurrent use; the
// zero value is ready.
type Recorder struct {
	mu         sync.Mutex // guards the fields below
	methods    map[string]int64
	failed     int64
	stages     series
	candidates series
	scores     series
}

// series are rings of values by name.
type series map[string]*ring

type ring struct {
	values []float32 // at most window
	next   int
}

func (s *series) add(name string, value float64) {
	if *s == nil {
		*s = series{}
	}
	r := (*s)[name]
	if r == nil {
		r = &ring{}
		(*s)[name] = r
	}
	if len(r.values) < window {
		r.values = append(r.values, float32(value))
		return
	}
	r.values[r.next] = float32(value)
	r.next = (r.next + 1) % window
}

// Failed counts a request that was not answered.
func (r *Recorder) Failed(method string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(method)
	r.failed++
}

func (r *Recorder) count(method string) {
	if r.methods == nil {
		r.methods = map[string]int64{}
	}
	r.methods[method]++
}

// Answered takes the figures of an answered request. Where the result came from
// a cache there are no candidates.
func (r *Recorder) Answered(method string, m wire.Metrics) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(method)
	for stage, ms := range m.Timings {
		r.stages.add(stage, ms)
	}
	if m.Candidates != (wire.Candidates{}) && !m.CacheHit {
		r.candidates.add("lexical", float64(m.Candidates.Lexical))
		r.candidates.add("vector", float64(m.Candidates.Vector))
		r.candidates.add("fused", float64(m.Candidates.Fused))
	}
	if m.TopScore > 0 {
		r.scores.add("top", m.TopScore)
		r.scores.add("mean", m.MeanScore)
	}
}

// Status returns the counts and the distributions.
func (r *Recorder) Status() wire.Requests {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := wire.Requests{Methods: map[string]int64{}, Failed: r.failed}
	maps.Copy(st.Methods, r.methods)
	st.Stages, st.Candidates, st.Scores = r.stages.distributions(), r.candidates.distributions(), r.scores.distributions()
	return st
}

func (s series) distributions() map[string]wire.Distribution {
	all := make(map[string]wire.Distribution, len(s))
	for name, r := range s {
		sorted := slices.Sorted(slices.Values(r.values))
		all[name] = wire.Distribution{Count: len(sorted), P50: percentile(sorted, 50), P95: percentile(sorted, 95)}
	}
	return all
}

// percentile is the nearest-rank percentile of sorted values: the least of them
// that p percent of all do not exceed.
func percentile(sorted []float32, p int) float64 {
	return float64(sorted[(len(sorted)*p+99)/100-1])
}
