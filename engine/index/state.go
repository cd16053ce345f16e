package index

import (
	"maps"

	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// skipMemory is why files wait for memory; they are indexed when it is free.
const skipMemory file.SkipReason = "memoryLimit"

// memoryDetail is what status says of a file that waits for memory.
const memoryDetail = "waits until memory is free: see index.memoryLimit"

// withheld returns the files that the memory limit keeps from being indexed, and
// whether words of them are searchable. Those that are indexed and changed are
// stale, but not among them.
func (ix *Index) withheld() map[spot]bool {
	if ix.gate.Memory() < HoldIndexing {
		return nil
	}
	waits := ix.queue.background()
	for _, r := range ix.roots {
		r.mu.Lock()
		maps.DeleteFunc(waits, func(at spot, _ bool) bool {
			_, have := r.known.get(at.rel)
			return at.root == r && have
		})
		r.mu.Unlock()
	}
	return waits
}

// work fills in what a status tells of work that is going on. What it tells of
// the roots' files must be there already.
func (ix *Index) workState(s *Snapshot, st *wire.Status) {
	st.Paused = ix.gate.Paused()
	st.Rates = ix.meter.rates()
	waiting := ix.withheld()
	for at := range waiting {
		st.SkippedFiles = append(st.SkippedFiles, wire.SkippedFile{Path: at.root.workspacePath(at.rel), Reason: string(skipMemory), Detail: memoryDetail})
	}
	speed, _ := ix.gate.embedding()
	held, _ := ix.gate.indexing()
	stopped := false // the model was given up
	st.Queues.Embed, stopped = ix.toEmbed()
	st.ETASeconds = eta(st.Queues, st.Rates, held, speed == EmbedNever)
	st.State = ix.stateOf(st, len(waiting) > 0, stopped)

	pending := ix.queue.perRoot()
	indexed := map[string]int{}
	for _, f := range s.Files() {
		indexed[f.Root.Dir]++
	}
	for i, r := range ix.roots {
		one := &st.Roots[i]
		one.Indexed, one.Pending = indexed[r.Dir], pending[r]
		r.mu.Lock()
		one.Indexed += r.known.covered
		one.Total = r.total()
		r.mu.Unlock()
		one.Total = max(one.Total, one.Indexed)
		one.State = ix.rootState(one, st)
	}
}

// toEmbed counts the chunks that the slow model will make vectors of; stopped
// says that it was given up.
func (ix *Index) toEmbed() (chunks int, stopped bool) {
	if ix.vectors == nil {
		return 0, false
	}
	ix.vectors.mu.Lock()
	without := ix.vectors.without
	stopped = ix.vectors.err != nil
	ix.vectors.mu.Unlock()
	if stopped {
		return 0, true
	}
	s := ix.Snapshot() // of no client: buffers have no vectors of this model
	return max(s.docs-s.embedded(ix.vectors.model)-ix.unsentDocs(s)-without, 0), false
}

// eta is how many seconds the queues take at these rates, nil where nobody
// knows.
func eta(q wire.Queues, rates wire.Rates, indexHeld, embedHeld bool) *float64 {
	seconds := 0.0
	add := func(left int, rate float64, held bool) bool {
		if left == 0 {
			return true
		}
		if held || rate == 0 {
			return false
		}
		seconds += float64(left) / rate
		return true
	}
	if !add(q.Index, rates.Files, indexHeld) || !add(q.Embed, rates.Embeds, embedHeld) {
		return nil
	}
	return &seconds
}

// stateOf names the state of the whole. stopped says that the slow model was
// given up, short that files wait for memory.
func (ix *Index) stateOf(st *wire.Status, short, stopped bool) string {
	c := st.Coverage
	failed := stopped
	for _, r := range st.Roots {
		failed = failed || r.Error != ""
	}
	switch {
	case failed:
		return wire.StateError
	case st.Paused:
		return wire.StatePaused
	case short:
		return wire.StateMemoryLimit
	case ix.scans.scanning():
		return wire.StateScanning
	case st.Queues.Index > 0 || c.Stale:
		return wire.StateIndexing
	case c.Indexed < c.Total:
		return wire.StateError // nothing works on what is missing
	case c.Total == 0:
		return wire.StateEmpty
	case st.Queues.Embed > 0:
		return wire.StateEmbedding
	}
	return wire.StateReady
}

// rootState names the state of one root.
func (ix *Index) rootState(r *wire.RootStatus, st *wire.Status) string {
	switch {
	case r.Error != "":
		return wire.StateError
	case st.State == wire.StatePaused, st.State == wire.StateScanning:
		return st.State
	case r.Pending > 0 && st.State == wire.StateMemoryLimit:
		return wire.StateMemoryLimit
	case r.Pending > 0:
		return wire.StateIndexing
	case r.Indexed < r.Total:
		return wire.StateError
	case r.Total == 0:
		return wire.StateEmpty
	case st.State == wire.StateEmbedding:
		return wire.StateEmbedding
	}
	return wire.StateReady
}
