package index

import (
	"container/heap"
	"context"
	"sync"
)

// The priorities of queued files: what the user looks at first.
const (
	prioTouched = iota // changed just now
	prioGlance         // new in a large batch: words first, by lines
	prioScan           // found by a scan; newest first
)

// item is a file that must be looked at.
type item struct {
	root   *root
	rel    string
	prio   int
	recent int64 // modification time, Unix nanoseconds: newer first
	ticket uint64
	force  bool // chunk again although nothing changed
	glance bool // only make the words searchable, until the file's own turn
	// wordless: a glance found nothing to search (unreadable, binary, minified).
	wordless bool
	index    int
}

type itemHeap []*item

func (h itemHeap) Len() int { return len(h) }
func (h itemHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.prio != b.prio {
		return a.prio < b.prio
	}
	if a.recent != b.recent {
		return a.recent > b.recent
	}
	return a.rel < b.rel
}
func (h itemHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *itemHeap) Push(x any) { it := x.(*item); it.index = len(*h); *h = append(*h, it) }
func (h *itemHeap) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return it
}

type itemKey struct {
	root   *root
	rel    string
	glance bool
}

func (it *item) key() itemKey { return itemKey{it.root, it.rel, it.glance} }

// queue holds the files to look at. A file is worked on by one worker at a
// time; a file that changes meanwhile is queued again. Every push gets a
// ticket, so that a caller can wait for all that was pushed before.
type queue struct {
	mu       sync.Mutex
	heap     itemHeap
	waiting  map[itemKey]*item
	inFlight map[itemKey]*item
	again    map[itemKey]*item // in flight and changed since
	drained  bool              // there was a time when nothing was left to do
	ticket   uint64
	ready    chan struct{} // one token per state change, for workers
	done     chan struct{} // closed and replaced when items finish
}

func newQueue() *queue {
	return &queue{
		waiting: map[itemKey]*item{}, inFlight: map[itemKey]*item{}, again: map[itemKey]*item{},
		ready: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

func (q *queue) push(items ...*item) {
	q.mu.Lock()
	for _, it := range items {
		q.ticket++
		it.ticket = q.ticket
		key := it.key()
		if old := q.waiting[key]; old != nil {
			// The older ticket is kept: whoever waits for it waits for this.
			old.force = old.force || it.force
			old.recent = max(old.recent, it.recent)
			old.prio = min(old.prio, it.prio)
			old.wordless = false
			heap.Fix(&q.heap, old.index)
			continue
		}
		if q.inFlight[key] != nil {
			if old := q.again[key]; old != nil {
				it.ticket = old.ticket
				it.force = it.force || old.force
			}
			q.again[key] = it
			continue
		}
		q.waiting[key] = it
		heap.Push(&q.heap, it)
	}
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// pop returns the most urgent file; ok is false where none waits.
func (q *queue) pop() (it *item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.heap) == 0 {
		return nil, false
	}
	it = heap.Pop(&q.heap).(*item)
	key := it.key()
	delete(q.waiting, key)
	q.inFlight[key] = it
	if len(q.heap) > 0 {
		q.wake() // another worker may take the next
	}
	return it, true
}

// finish says that what was popped is searchable.
func (q *queue) finish(items []*item) {
	q.mu.Lock()
	for _, it := range items {
		key := it.key()
		delete(q.inFlight, key)
		if it.wordless {
			if own := q.waiting[itemKey{it.root, it.rel, false}]; own != nil {
				own.wordless = true
			}
		}
		if next := q.again[key]; next != nil {
			delete(q.again, key)
			q.waiting[key] = next
			heap.Push(&q.heap, next)
		}
	}
	close(q.done)
	q.done = make(chan struct{})
	more := len(q.heap) > 0
	q.drained = q.drained || !more && len(q.inFlight) == 0
	q.mu.Unlock()
	if more {
		q.wake()
	}
}

// hasDrained reports whether there was a time when nothing was left to do.
func (q *queue) hasDrained() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.drained
}

// len is the number of files that must still be chunked.
func (q *queue) len() int { return q.count(func(*item) bool { return true }) }

// count is the number of files to be chunked for which match holds.
func (q *queue) count(match func(*item) bool) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, m := range []map[itemKey]*item{q.waiting, q.inFlight, q.again} {
		for _, it := range m {
			if !it.glance && match(it) {
				n++
			}
		}
	}
	return n
}

// inWork returns the root's files that a worker has in hand: what becomes of
// them is not known yet.
func (q *queue) inWork(r *root) []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var rels []string
	for key := range q.inFlight {
		if key.root == r {
			rels = append(rels, key.rel)
		}
	}
	return rels
}

// wait returns when everything pushed before the call is finished.
func (q *queue) wait(ctx context.Context) error {
	q.mu.Lock()
	target := q.ticket
	for {
		if !q.outstanding(target) {
			q.mu.Unlock()
			return nil
		}
		done := q.done
		q.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
		q.mu.Lock()
	}
}

func (q *queue) outstanding(target uint64) bool {
	for _, m := range []map[itemKey]*item{q.waiting, q.inFlight, q.again} {
		for _, it := range m {
			if it.ticket <= target {
				return true
			}
		}
	}
	return false
}
