package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/host"
	"coderag-ls/engine/index"
	"coderag-ls/engine/memory"
	"coderag-ls/engine/wire"
)

const (
	// lookEvery is how often memory is looked at where nothing is indexed;
	// workers look between files. powerEvery is the same of the battery.
	lookEvery  = 2 * time.Second
	powerEvery = time.Minute
	// lowBattery is the charge, in percent, below which nothing is embedded in
	// the background.
	lowBattery = 20
)

// The measures against too much memory, as the user is told of them, and the
// share of the limit from which each is taken.
const (
	dropsCaches    = "caches are dropped"
	stopsEmbedding = "MiniLM is unloaded, and embeds nothing"
	stopsIndexing  = "no further files are indexed"

	cachesAt, embeddingAt, indexingAt = 0.85, 0.90, 0.95
)

// resources keep background work within what memory and battery allow.
type resources struct {
	e     *Engine
	guard *memory.Guard
	stop  context.CancelFunc
	done  chan struct{}

	mu    sync.Mutex // guards the fields below
	power host.Power
	told  bool // that indexing stopped
}

// newResources looks after memory and battery once run is called, until ctx,
// which stop ends.
func (e *Engine) newResources(ctx context.Context, stop context.CancelFunc) *resources {
	r := &resources{e: e, stop: stop, done: make(chan struct{}), power: host.Power{Percent: 100}}
	r.guard = memory.NewGuard(memoryLimit(e.opts.Settings),
		memory.Measure{Name: dropsCaches, At: cachesAt, Take: r.dropCaches, Back: func() {}},
		memory.Measure{Name: stopsEmbedding, At: embeddingAt, Take: r.stopEmbedding, Back: func() { r.resumeEmbedding(ctx) }},
		memory.Measure{Name: stopsIndexing, At: indexingAt, Take: r.stopIndexing, Back: func() { e.gate.SetMemory(index.HoldEmbedding) }},
	)
	return r
}

// memoryLimit is the limit of the settings in bytes.
func memoryLimit(s config.Settings) int64 {
	if s.Index.MemoryLimit > 0 {
		return int64(s.Index.MemoryLimit) << 20
	}
	return memory.DefaultLimit()
}

// run looks after memory and battery until the engine closes.
func (r *resources) run(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var asked time.Time
	for {
		if time.Since(asked) >= powerEvery {
			asked = time.Now()
			r.setPower(r.e.opts.power(ctx))
		}
		r.look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// close ends it. Measures that are taken stay.
func (r *resources) close() {
	r.stop()
	<-r.done
	r.guard.Close()
}

// look looks at memory.
func (r *resources) look() {
	if r.guard.Look() {
		r.e.changed()
	}
}

// apply has changed settings obeyed.
func (r *resources) apply(s config.Settings) {
	r.e.searches.Resize(s.Search.CacheSize)
	r.guard.SetLimit(memoryLimit(s))
	r.look()
	r.mu.Lock()
	power := r.power
	r.told = false
	r.mu.Unlock()
	r.e.gate.SetYield(s.Index.Yield && !r.e.opts.Foreground)
	r.e.gate.SetEmbedding(embedding(s.Embed.OnBattery, power, r.e.opts.Foreground))
}

func (r *resources) setPower(p host.Power) {
	r.mu.Lock()
	before := r.power
	r.power = p
	r.mu.Unlock()
	if before == p {
		return
	}
	r.e.mu.Lock()
	policy := r.e.settings.Embed.OnBattery
	r.e.mu.Unlock()
	r.e.gate.SetEmbedding(embedding(policy, p, r.e.opts.Foreground))
	r.e.changed()
}

// embedding says how fast the slow model may work. Where someone waits for it,
// the battery is their business.
func embedding(policy string, p host.Power, foreground bool) index.Embedding {
	switch {
	case !p.OnBattery || policy == "full" || foreground:
		return index.EmbedFreely
	case policy == "pause" || p.Percent < lowBattery:
		return index.EmbedNever
	}
	return index.EmbedSlowly
}

func (r *resources) dropCaches() {
	r.e.graphs.forget()
	r.e.searches.Forget()
	if o := r.e.current(); o != nil {
		if o.shared != nil {
			o.shared.reader.Forget()
		}
		o.ix.Tokenizer().Forget()
	}
}

func (r *resources) stopEmbedding() {
	r.e.gate.SetMemory(index.HoldEmbedding)
	if o := r.e.current(); o != nil && o.behind != nil {
		if err := o.behind.unload(); err != nil {
			r.e.opts.Logger.Warn("unloading MiniLM", "error", err)
		}
	}
}

func (r *resources) resumeEmbedding(ctx context.Context) {
	if o := r.e.current(); o != nil && o.behind != nil {
		if err := o.behind.load(ctx); err != nil {
			r.e.opts.Logger.Warn("loading MiniLM again", "error", err)
			return // embedding stays stopped: the next start tries again
		}
	}
	r.e.gate.SetMemory(index.HoldNothing)
}

func (r *resources) stopIndexing() {
	r.e.gate.SetMemory(index.HoldIndexing)
	r.mu.Lock()
	told := r.told
	r.told = true
	r.mu.Unlock()
	text := stoppedNotice(r.guard.Limit())
	r.e.opts.Logger.Warn(text)
	if r.e.opts.Notice != nil && !told {
		r.e.opts.Notice(text)
	}
}

func stoppedNotice(limit int64) string {
	return fmt.Sprintf("no further files are indexed: memory is at the limit of %d MiB; answers go on with what is indexed, the rest follows when memory is free (raise index.memoryLimit, or exclude files)", limit>>20)
}

// status fills in what memory and battery do.
func (r *resources) status(st *wire.Status) {
	st.RSSBytes = memory.Resident()
	st.MemoryLimitBytes = r.guard.Limit()
	st.MemoryMeasures = r.guard.Taken()
	r.mu.Lock()
	st.OnBattery = r.power.OnBattery
	r.mu.Unlock()
	if slices.Contains(st.MemoryMeasures, stopsIndexing) {
		st.Notices = append(st.Notices, stoppedNotice(st.MemoryLimitBytes))
	}
}

// current returns what is open, nil while it is replaced.
func (e *Engine) current() *opened {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// power asks what the machine runs on.
func (o Options) power(ctx context.Context) host.Power {
	if o.Power != nil {
		return o.Power(ctx)
	}
	return host.ReadPower(ctx)
}

// sameIndex reports whether an index that was opened with some settings serves
// others too.
func sameIndex(before, after config.Settings) bool {
	for _, s := range []*config.Settings{&before, &after} {
		s.Index.MemoryLimit, s.Index.Yield, s.Embed.OnBattery = 0, false, "" // obeyed as they are
	}
	if hasServer(before) && hasServer(after) && (!slices.Equal(before.LLM.NeverSend, after.LLM.NeverSend) || before.LLM.CAFile != after.LLM.CAFile || before.LLM.AuditLog != after.LLM.AuditLog) {
		return false
	}
	return reflect.DeepEqual(before.Index, after.Index) && reflect.DeepEqual(before.Chunk, after.Chunk) && before.Embed == after.Embed && reflect.DeepEqual(before.Shared, after.Shared)
}
