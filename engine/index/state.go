package index

import (
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// skipMemory is why files wait for memory; they are indexed when it is free.
const skipMemory file.SkipReason = "memoryLimit"

// memoryDetail is what status says of a file that waits for memory.
const memoryDetail = "waits until memory is free: see index.memoryLimit"

// withheld counts the files that the memory limit keeps from being indexed, and
// those of them of which no words are searchable; it names up to most.
func (ix *Index) withheld(most int) (files, unseen int, some []spot) {
	if ix.gate.Memory() < HoldIndexing {
		return 0, 0, nil
	}
	return ix.queue.background(most)
}

// work fills in what a status tells of work that is going on. What it tells of
// the roots' files must be there already.
func (ix *Index) workState(s *Snapshot, st *wire.Status) {
	st.Paused = ix.gate.Paused()
	st.Rates = ix.meter.rates()
	_, _, waiting := ix.withheld(maxSkipped)
	for _, at := range waiting {
		st.SkippedFiles = append(st.SkippedFiles, wire.SkippedFile{Path: at.root.workspacePath(at.rel), Reason: string(skipMemory), Detail: memoryDetail})
	}
	speed, _ := ix.gate.embedding()
	held, _ := ix.gate.indexing()
	st.ETASeconds = eta(st.Queues, st.Rates, held, speed == EmbedNever)
	stopped, embedding := false, false // the model was given up; it has more to do
	if ix.vectors != nil {
		ix.vectors.mu.Lock()
		stopped = ix.vectors.err != nil
		embedding = !stopped && !ix.vectors.idle && st.Coverage.VectorsReady < 1
		ix.vectors.mu.Unlock()
	}
	st.State = ix.stateOf(st, len(waiting) > 0, stopped, embedding)

	pending := ix.queue.perRoot()
	indexed := map[string]int{}
	for _, f := range s.Files() {
		indexed[f.Root.Dir]++
	}
	for i, r := range ix.roots {
		one := &st.Roots[i]
		one.Indexed, one.Pending = indexed[r.Dir], pending[r]
		r.mu.Lock()
		one.Total = len(r.listing.Entries)
		for _, n := range r.known.skipped {
			one.Total -= n
		}
		r.mu.Unlock()
		one.Total = max(one.Total, one.Indexed)
		one.State = ix.rootState(one, st)
	}
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
// given up, embedding that it has more to do, short that files wait for memory.
func (ix *Index) stateOf(st *wire.Status, short, stopped, embedding bool) string {
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
	case embedding:
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
