package index

import (
	"container/heap"
	"context"
	"sync"
)

// The priorities of queued files: what the user looks at first.
const (
	prioOpen    = iota // open in an editor
	prioTouched        // changed just now
	prioRecent         // found by a scan, and edited not long ago, as git tells
	prioPlain          // a glance at it would cost as much as its own turn
	prioScan           // found by a scan; newest first
)

// urgent reports whether the user waits for an item: it is worked on although
// requests run, or background work is stopped.
func (it *item) urgent() bool { return it.prio <= prioTouched }

// item is a file that must be looked at.
type item struct {
	root   *root
	rel    string
	prio   int
	recent int64 // modification time, Unix nanoseconds: newer first
	force  bool  // chunk again although nothing changed
	glance bool  // only make the words searchable, until the file's own turn
	// glanced is what the glance at the file found: the glance's own result, and
	// what is known of the file while it waits for its own turn.
	glanced glanced
	index   int
	mark    *mark
}

// glanced says what a glance found.
type glanced int

const (
	notGlanced glanced = iota
	wordless           // nothing to search: unreadable, binary, minified
	worded             // its words are searchable
	plain              // it is cut without a syntax tree: its own turn is as good as a glance
)

// mark stands for a push that someone may wait for.
type mark struct {
	ticket uint64
	done   bool
}

// itemHeap has the most urgent item first.
type itemHeap struct {
	items []*item
	// oldestFirst: among equals, what changed last comes last.
	oldestFirst bool
}

func (h *itemHeap) Len() int { return len(h.items) }
func (h *itemHeap) Less(i, j int) bool {
	a, b := h.items[i], h.items[j]
	if a.prio != b.prio {
		return a.prio < b.prio
	}
	if h.oldestFirst {
		a, b = b, a
	}
	if a.recent != b.recent {
		return a.recent > b.recent
	}
	return a.rel < b.rel
}
func (h *itemHeap) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].index, h.items[j].index = i, j
}
func (h *itemHeap) Push(x any) {
	it := x.(*item)
	it.index = len(h.items)
	h.items = append(h.items, it)
}
func (h *itemHeap) Pop() any {
	last := len(h.items) - 1
	it := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
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
	closed <-chan struct{} // waiting ends
	gate   *Gate           // nil for one that is open

	mu       sync.Mutex
	heap     itemHeap // files that wait for their own turn
	glances  itemHeap // files that wait for a glance
	waiting  map[itemKey]*item
	inFlight map[itemKey]*item
	again    map[itemKey]*item // in flight and changed since
	drained  bool              // there was a time when nothing was left to do
	ticket   uint64
	marks    []*mark       // in the order of their tickets; those that are done leave at the front
	left     int           // files to be chunked, glances apart
	unseen   int           // of these, the ones that no glance has found anything out about
	ready    chan struct{} // one token per state change, for workers
	done     chan struct{} // closed and replaced when items finish
}

// newQueue returns a queue for so many workers. Several begin at both ends: some
// glance at the oldest files while the others give the newest their own turns,
// which then need no glance.
func newQueue(closed <-chan struct{}, workers int) *queue {
	return &queue{
		closed: closed, glances: itemHeap{oldestFirst: workers > 1},
		waiting: map[itemKey]*item{}, inFlight: map[itemKey]*item{}, again: map[itemKey]*item{},
		ready: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

func (q *queue) push(items ...*item) {
	q.mu.Lock()
	for _, it := range items {
		q.ticket++
		it.mark = &mark{ticket: q.ticket}
		if q.add(it) {
			q.marks = append(q.marks, it.mark)
		}
	}
	q.mu.Unlock()
	q.wake()
}

// add puts an item where it belongs. It is false where one of the same key
// waits already: that one has the older mark, and whoever waits for it waits
// for this.
func (q *queue) add(it *item) bool {
	key := it.key()
	if old := q.waiting[key]; old != nil {
		old.take(it)
		if old.glanced == wordless {
			old.glanced = notGlanced // it may have words now
			q.unseen++
		}
		heap.Fix(q.heapOf(old), old.index)
		return false
	}
	if q.inFlight[key] != nil {
		if old := q.again[key]; old != nil {
			old.take(it)
			return false
		}
		q.again[key] = it
		return true
	}
	q.enqueue(it)
	return true
}

// take makes an item as urgent as another of its key.
func (it *item) take(other *item) {
	it.force = it.force || other.force
	it.recent = max(it.recent, other.recent)
	it.prio = min(it.prio, other.prio)
}

// enqueue makes an item wait for a worker; none of its key is in the queue.
func (q *queue) enqueue(it *item) {
	q.waiting[it.key()] = it
	heap.Push(q.heapOf(it), it)
	q.countIn(it, 1)
}

func (q *queue) heapOf(it *item) *itemHeap {
	if it.glance {
		return &q.glances
	}
	return &q.heap
}

// countIn counts an item in or out.
func (q *queue) countIn(it *item, by int) {
	if it.glance {
		return
	}
	q.left += by
	if it.glanced == notGlanced {
		q.unseen += by
	}
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// pop returns the most urgent file; ok is false where none waits. With
// glanceFirst only what the user waits for is more urgent than a glance, without
// it there are glances only where no file waits for its own turn. With
// urgentOnly there is nothing but what the user waits for.
func (q *queue) pop(glanceFirst, urgentOnly bool) (it *item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := &q.heap
	switch {
	case len(q.glances.items) == 0 || urgentOnly:
	case len(q.heap.items) == 0, glanceFirst && !q.heap.items[0].urgent():
		from = &q.glances
	}
	if len(from.items) == 0 || urgentOnly && !from.items[0].urgent() {
		return nil, false
	}
	it = heap.Pop(from).(*item)
	key := it.key()
	delete(q.waiting, key)
	q.inFlight[key] = it
	if !it.glance {
		q.spare(it)
	}
	if q.anyWaits() {
		q.wake() // another worker may take the next
	}
	return it, true
}

func (q *queue) anyWaits() bool { return len(q.heap.items)+len(q.glances.items) > 0 }

// spare gives up the glance at a file that has its own turn.
func (q *queue) spare(own *item) {
	key := own.key()
	key.glance = true
	if g := q.waiting[key]; g != nil {
		heap.Remove(&q.glances, g.index)
		delete(q.waiting, key)
		// Who waits for the glance waits for more than that.
		if g.mark.ticket < own.mark.ticket {
			own.mark, g.mark = g.mark, own.mark
		}
		g.mark.done = true
	}
}

// finish says that what was popped is searchable.
func (q *queue) finish(items []*item) {
	q.mu.Lock()
	for _, it := range items {
		key := it.key()
		delete(q.inFlight, key)
		it.mark.done = true
		if it.glance {
			q.settle(it)
		}
		q.countIn(it, -1)
		if next := q.again[key]; next != nil {
			delete(q.again, key)
			q.enqueue(next)
		}
	}
	for len(q.marks) > 0 && q.marks[0].done {
		q.marks = q.marks[1:]
	}
	close(q.done)
	q.done = make(chan struct{})
	more := q.anyWaits()
	q.drained = q.drained || !more && len(q.inFlight) == 0
	q.mu.Unlock()
	if more {
		q.wake()
	}
}

// raise makes what waits of a file come first: it was opened.
func (q *queue) raise(r *root, rel string) {
	q.mu.Lock()
	for _, glance := range []bool{false, true} {
		if it := q.waiting[itemKey{r, rel, glance}]; it != nil {
			it.prio = prioOpen
			heap.Fix(q.heapOf(it), it.index)
		}
		if it := q.again[itemKey{r, rel, glance}]; it != nil {
			it.prio = prioOpen
		}
	}
	q.mu.Unlock()
	q.wake() // it may be worked on though other files may not
}

// reorder puts what waits of a root, found by scans, into another order.
func (q *queue) reorder(r *root, by *focus) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range []*itemHeap{&q.heap, &q.glances} {
		for _, it := range h.items {
			if it.root != r || it.prio <= prioRecent {
				continue
			}
			if prio, edited := by.of(spot{r, it.rel}, it.recent); prio < prioScan {
				it.prio, it.recent = prio, edited
			}
		}
		heap.Init(h)
	}
}

// postpone puts what was popped back, as something that nobody waits for.
func (q *queue) postpone(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := it.key()
	delete(q.inFlight, key)
	q.countIn(it, -1)
	it.prio = prioScan
	q.enqueue(it)
	if next := q.again[key]; next != nil {
		delete(q.again, key)
		it.force = it.force || next.force
		next.mark.done = true // who waits for it waits for the older mark
	}
	close(q.done) // a wait may be over: it does not count any more
	q.done = make(chan struct{})
}

// anyBackground reports whether something waits that is not urgent.
func (q *queue) anyBackground() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.glances.items) > 0 {
		return true
	}
	// All that is urgent comes before all that is not; a heap's last are not first.
	for i := len(q.heap.items) - 1; i >= 0; i-- {
		if !q.heap.items[i].urgent() {
			return true
		}
	}
	return false
}

// background returns the files that wait and are not urgent, and whether words
// of them are searchable.
func (q *queue) background() map[spot]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waits := make(map[spot]bool, len(q.heap.items))
	for _, it := range q.heap.items {
		if !it.urgent() {
			waits[spot{it.root, it.rel}] = it.glanced != notGlanced
		}
	}
	return waits
}

// perRoot counts the files that must still be chunked by root.
func (q *queue) perRoot() map[*root]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	counts := map[*root]int{}
	for _, in := range []map[itemKey]*item{q.waiting, q.inFlight} {
		for key := range in {
			if !key.glance {
				counts[key.root]++
			}
		}
	}
	return counts
}

// settle tells a file's own item what the glance at it found. Where the file's
// own turn came before the words of the glance were published, it comes again:
// what is shown would otherwise stay, though the file may be gone.
func (q *queue) settle(glance *item) {
	own := item{root: glance.root, rel: glance.rel}
	switch waits := q.waiting[own.key()]; {
	case waits != nil && glance.glanced == plain:
		waits.prio = min(waits.prio, prioPlain)
		heap.Fix(&q.heap, waits.index)
	case waits != nil:
		if waits.glanced == notGlanced && glance.glanced != notGlanced {
			waits.glanced = glance.glanced
			q.unseen--
		}
	case glance.glanced == worded:
		own.prio, own.recent, own.glanced = prioScan, glance.recent, worded
		own.mark = glance.mark
		if q.add(&own) {
			own.mark.done = false
		}
	}
}

// hasDrained reports whether there was a time when nothing was left to do.
func (q *queue) hasDrained() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.drained
}

// len is the number of files that must still be chunked.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.left
}

// pending is the number of files whose words are not searchable as they stand.
func (q *queue) pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.unseen
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

// wait returns when everything pushed before the call is finished, but for what
// is not worked on now because background work is stopped.
func (q *queue) wait(ctx context.Context) error {
	q.mu.Lock()
	target := q.ticket
	for {
		var change <-chan struct{}
		held := false
		if q.gate != nil {
			held, change = q.gate.indexing()
		}
		if !q.outstanding(target) || held && !q.urgentOutstanding(target) {
			q.mu.Unlock()
			return nil
		}
		done := q.done
		q.mu.Unlock()
		select {
		case <-done:
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		case <-q.closed:
			return ErrClosed
		}
		q.mu.Lock()
	}
}

// outstanding reports whether something with a ticket up to target is not
// finished.
func (q *queue) outstanding(target uint64) bool {
	return len(q.marks) > 0 && q.marks[0].ticket <= target
}

// urgentOutstanding is outstanding for what a worker has in hand and what is
// urgent.
func (q *queue) urgentOutstanding(target uint64) bool {
	for _, it := range q.inFlight {
		if it.mark.ticket <= target {
			return true
		}
	}
	for _, it := range q.heap.items {
		if it.urgent() && it.mark.ticket <= target {
			return true
		}
	}
	for _, it := range q.again {
		if it.mark.ticket <= target {
			return true
		}
	}
	return false
}

// wait waits for done, which is ErrClosed where the index closes first.
func wait(ctx context.Context, done, closed <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return ErrClosed
	}
}
