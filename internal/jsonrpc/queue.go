package jsonrpc

import "sync"

// maxQueued bounds the bytes of messages that were read and not yet handled;
// the reader waits when they exceed it.
const maxQueued = 64 << 20

// queue hands messages from the reader to the dispatcher in order. It is
// unbounded in number, so that a cancellation behind many messages is still
// read at once, and bounded in bytes.
type queue struct {
	mu     sync.Mutex // guards all below
	change sync.Cond  // on mu; signalled when any of them changes
	items  []item
	bytes  int
	closed bool
}

// item is what the reader read: a message, or what was wrong with one.
type item struct {
	msg  *message
	call *inflight // for a request
	err  error     // to be answered to msg.ID, or with a null id
	size int
}

func newQueue() *queue {
	q := &queue{}
	q.change.L = &q.mu
	return q
}

// push adds an item; it is dropped where the queue was closed.
func (q *queue) push(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > maxQueued && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return
	}
	q.items = append(q.items, it)
	q.bytes += it.size
	q.change.Broadcast()
}

// pop returns the next item; ok is false when the queue is closed and empty.
func (q *queue) pop() (it item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.change.Wait()
	}
	if len(q.items) == 0 {
		return item{}, false
	}
	it, q.items[0] = q.items[0], item{}
	q.items = q.items[1:]
	q.bytes -= it.size
	q.change.Broadcast()
	return it, true
}

// close lets pop return what is left, then false.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}

// drop forgets what is left and closes.
func (q *queue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items, q.bytes, q.closed = nil, 0, true
	q.change.Broadcast()
}
