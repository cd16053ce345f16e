// Package metrics offers a server's figures to Prometheus: how many requests
// there were and how long their stages took, and the state of the indexes. It
// is off unless an address is set, which other machines must not be able to
// reach. No label holds a question, a path or anything else of the workspace.
package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"coderag-ls/engine/wire"
)

// The outcomes of a request.
const (
	OK       = "ok"
	Canceled = "canceled" // given up by the client
	Refused  = "refused"  // it was no question
	Failed   = "error"
)

// Source tells the state of an index.
type Source func(ctx context.Context) (wire.Status, error)

// Server keeps the figures of this process and serves them where it is told to
// listen. It is safe for concurrent use.
type Server struct {
	log      *slog.Logger
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	found    *prometheus.HistogramVec
	score    prometheus.Histogram
	cache    *prometheus.CounterVec
	index    *indexes

	listening sync.Mutex // held while the address changes; guards the field below
	endpoint  *endpoint  // nil where nothing listens
}

// New returns a server that does not listen yet. version is the program's; log
// may be nil.
func New(version string, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		log:      log,
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coderag_requests_total", Help: "Requests by method and outcome.",
		}, []string{"method", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coderag_request_duration_seconds", Help: "How long the stages of answered requests took; total is all of it.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "stage"}),
		found: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coderag_search_candidates", Help: "Candidates of searches by list.",
			Buckets: []float64{0, 1, 5, 10, 20, 50, 100, 200},
		}, []string{"list"}),
		score: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "coderag_search_top_score", Help: "Calibrated relevance of the best hit.",
			Buckets: prometheus.LinearBuckets(.1, .1, 10),
		}),
		cache: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coderag_cache_hits_total", Help: "Requests whose hits were those of an earlier search.",
		}, []string{"method"}),
	}
	s.index = newIndexes(log)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "coderag_build_info", Help: "1, with the program's version.", ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	s.registry.MustRegister(s.requests, s.duration, s.found, s.score, s.cache, s.index, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Request takes the figures of a request: its method, its outcome, how long it
// took in all, and what its result tells, which may be nothing.
func (s *Server) Request(method, outcome string, took time.Duration, m wire.Metrics) {
	s.requests.WithLabelValues(method, outcome).Inc()
	if outcome != OK {
		return
	}
	s.duration.WithLabelValues(method, "total").Observe(took.Seconds())
	for stage, ms := range m.Timings {
		if stage != "total" {
			s.duration.WithLabelValues(method, stage).Observe(ms / 1000)
		}
	}
	if m.TopScore > 0 {
		s.score.Observe(m.TopScore)
	}
	if m.CacheHit {
		s.cache.WithLabelValues(method).Inc()
		return
	}
	if m.Candidates != (wire.Candidates{}) {
		s.found.WithLabelValues("lexical").Observe(float64(m.Candidates.Lexical))
		s.found.WithLabelValues("vector").Observe(float64(m.Candidates.Vector))
		s.found.WithLabelValues("fused").Observe(float64(m.Candidates.Fused))
	}
}

// Add has the state of an index told until remove is called.
func (s *Server) Add(source Source) (remove func()) { return s.index.add(source) }
