package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"coderag-ls/engine/wire"
)

// askTime is how long a scrape waits for the state of the indexes: less than
// Prometheus waits for the scrape (10 s).
const askTime = 5 * time.Second

// figure is one figure of an index's state.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(st *wire.Status) float64
}

// indexes is the collector of the indexes' figures: what is asked for at each
// scrape. Those of several indexes are added up.
type indexes struct {
	log     *slog.Logger
	figures []figure
	skipped *prometheus.Desc

	mu      sync.Mutex // guards the fields below
	sources map[int]Source
	next    int
}

func newIndexes(log *slog.Logger) *indexes {
	x := &indexes{log: log, sources: map[int]Source{}}
	add := func(kind prometheus.ValueType, name, help string, of func(st *wire.Status) float64) {
		x.figures = append(x.figures, figure{prometheus.NewDesc("coderag_"+name, help, nil, nil), kind, of})
	}
	gauge := func(name, help string, of func(st *wire.Status) float64) { add(prometheus.GaugeValue, name, help, of) }
	counter := func(name, help string, of func(st *wire.Status) float64) {
		add(prometheus.CounterValue, name, help, of)
	}
	gauge("index_files", "Files that are searchable.", func(st *wire.Status) float64 { return float64(st.Coverage.Indexed) })
	gauge("index_files_expected", "Files to be indexed, searchable or not.", func(st *wire.Status) float64 { return float64(st.Coverage.Total) })
	gauge("index_files_pending", "Files that are not searchable as they stand.", func(st *wire.Status) float64 { return float64(st.Coverage.Pending) })
	gauge("index_chunks", "Chunks that are searchable.", func(st *wire.Status) float64 { return float64(st.Chunks) })
	gauge("index_symbols", "Symbols that are defined.", func(st *wire.Status) float64 { return float64(st.Symbols) })
	gauge("index_embed_queue_chunks", "Chunks whose vectors are not made yet.", func(st *wire.Status) float64 { return float64(st.Queues.Embed) })
	gauge("index_store_bytes", "Size of the indexes on disk.", func(st *wire.Status) float64 { return float64(st.StoreBytes) })
	gauge("index_watches", "Directories that are watched.", func(st *wire.Status) float64 { return float64(st.Watches) })
	counter("batches_total", "Batches of changes.", func(st *wire.Status) float64 { return float64(st.Counters.Batches) })
	counter("commits_total", "Commits to the store.", func(st *wire.Status) float64 { return float64(st.Counters.Commits) })
	counter("embedded_total", "Chunks that were embedded.", func(st *wire.Status) float64 { return float64(st.Counters.Embedded) })
	counter("embed_cache_hits_total", "Chunks whose vectors were there.", func(st *wire.Status) float64 { return float64(st.Counters.EmbedCacheHits) })
	x.skipped = prometheus.NewDesc("coderag_index_skipped_files", "Files and folders that are not indexed, by reason.", []string{"reason"}, nil)
	return x
}

// add has a source asked until remove is called.
func (x *indexes) add(source Source) (remove func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	id := x.next
	x.next++
	x.sources[id] = source
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.sources, id)
	}
}

// Describe implements prometheus.Collector.
func (x *indexes) Describe(c chan<- *prometheus.Desc) {
	for _, f := range x.figures {
		c <- f.desc
	}
	c <- x.skipped
}

// Collect implements prometheus.Collector. An index that does not answer is left
// out.
func (x *indexes) Collect(c chan<- prometheus.Metric) {
	all := x.ask()
	for _, f := range x.figures {
		sum := 0.0
		for i := range all {
			sum += f.of(&all[i])
		}
		c <- prometheus.MustNewConstMetric(f.desc, f.kind, sum)
	}
	skipped := map[string]int{}
	for _, st := range all {
		for reason, n := range st.Coverage.Skipped {
			skipped[reason] += n
		}
	}
	for reason, n := range skipped {
		c <- prometheus.MustNewConstMetric(x.skipped, prometheus.GaugeValue, float64(n), reason)
	}
}

// ask asks all sources at the same time. Of several that look at the same index
// one counts.
func (x *indexes) ask() []wire.Status {
	x.mu.Lock()
	sources := make([]Source, 0, len(x.sources))
	for _, s := range x.sources {
		sources = append(sources, s)
	}
	x.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	var mu sync.Mutex // guards the two below
	var all []wire.Status
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for _, source := range sources {
		wg.Go(func() {
			st, err := source(ctx)
			if err != nil {
				x.log.Warn("the metrics lack an index", "error", err)
				return
			}
			name := ""
			for _, r := range st.Roots {
				name += r.Dir + "\n"
			}
			mu.Lock()
			defer mu.Unlock()
			if !seen[name] {
				seen[name] = true
				all = append(all, st)
			}
		})
	}
	wg.Wait()
	return all
}
