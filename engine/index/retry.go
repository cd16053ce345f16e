package index

import (
	"context"
	"time"
)

// How long it takes until what could not be written is tried again: the first
// time, and at most.
const (
	defaultRetry = 5 * time.Second
	maxRetry     = time.Minute
)

// retryLater has everything that could not be written tried again in a while:
// a disk that is full gets room without anybody telling.
func (ix *Index) retryLater() {
	select {
	case ix.unwritten <- struct{}{}:
	default:
	}
}

// retry tries again what could not be written.
func (ix *Index) retry(ctx context.Context) {
	wait := ix.opts.Retry
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ix.unwritten:
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait = min(2*wait, maxRetry)
		var items []*item
		for _, r := range ix.roots {
			items = append(items, r.unwrittenItems()...)
		}
		ix.queue.push(items...)
		ix.wakeSaver()
		if ix.vectors != nil {
			ix.vectors.wake()
		}
		if len(items) == 0 {
			wait = ix.opts.Retry
		}
	}
}

// unwrittenItems are the files whose last commit failed. They are chunked
// again: their vectors may not have been stored either.
func (r *root) unwrittenItems() []*item {
	r.mu.Lock()
	defer r.mu.Unlock()
	var items []*item
	for rel := range r.failed {
		items = append(items, &item{root: r, rel: rel, prio: prioScan, force: true})
	}
	return items
}

// isUnwritten reports whether a file's last commit failed.
func (r *root) isUnwritten(rel string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed[rel]
}
