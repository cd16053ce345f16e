package watcher

import (
	"context"
	"time"
)

// Directories without indexed files are looked at every lookInterval, and less
// often when nothing has happened for idleAfter.
const (
	lookInterval = 500 * time.Millisecond
	idleAfter    = time.Minute
)

// soon is when the directories of a batch are looked at again: by then its files
// are indexed, as a rule, and their directory can be watched.
const soon = 100 * time.Millisecond

// process turns events into batches.
func (w *Watcher) process(ctx context.Context) {
	defer close(w.batches)
	defer w.tree.close()
	p := &processor{w: w, next: &batch{}, active: time.Now()}
	p.run(ctx)
}

// processor is the state of process.
type processor struct {
	w      *Watcher
	next   *batch
	active time.Time // when something happened last

	due   *time.Timer // the events may have settled
	armed bool        // due is running
	look  *time.Timer // the next look at directories that are not watched
	again *time.Timer // for Keep to follow what was told
	later []time.Duration
	gate  *time.Timer // the next look at what holds the batch back
	check *time.Timer
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

func (p *processor) run(ctx context.Context) {
	w, t := p.w, p.w.tree
	t.start(ctx)
	p.next.rescan("start")
	w.opts.Changed(w.tree.stats())
	w.publish()

	p.due, p.look, p.again, p.gate, p.check = stopped(), time.NewTimer(p.interval(0)), stopped(), stopped(), time.NewTimer(w.opts.CheckInterval)
	for _, timer := range []*time.Timer{p.due, p.look, p.again, p.gate, p.check} {
		defer timer.Stop()
	}
	for {
		var out chan Batch
		var ready Batch
		if p.mayGo(ctx) {
			out, ready = w.batches, p.next.batch()
		}
		select {
		case <-ctx.Done():
			return
		case out <- ready:
			p.taken()
		case <-w.events.wake:
			p.active = time.Now()
			if !p.armed {
				p.armed = true
				p.due.Reset(w.opts.Debounce)
			}
		case <-p.due.C:
			p.settle(ctx)
		case <-p.look.C:
			p.look.Reset(p.interval(t.look(ctx, p.next, false)))
		case <-p.gate.C: // mayGo looks
		case <-p.again.C:
			t.resync(ctx, p.next)
			if p.later = p.later[1:]; len(p.later) > 0 {
				p.again.Reset(p.later[0])
			}
		case <-w.refresh:
			t.resync(ctx, p.next)
		case <-p.check.C:
			p.checkUp(ctx)
		}
		w.publish()
	}
}

// taken follows a batch that was taken.
func (p *processor) taken() {
	if p.next.all && p.next.cause != "check" || p.next.rules {
		p.later = []time.Duration{time.Second, 4 * time.Second}
		p.again.Reset(p.later[0])
	}
	p.active = time.Now()
	p.next = &batch{}
	p.w.tree.unsure = true
	p.look.Reset(min(soon, p.interval(0)))
}

// settle takes the events once they have settled.
func (p *processor) settle(ctx context.Context) {
	w := p.w
	if wait := w.events.wait(time.Now(), w.opts.Debounce, w.opts.MaxDelay); wait > 0 {
		p.due.Reset(wait)
		return
	}
	p.armed = false
	seen := w.events.take()
	empty := p.next.first.IsZero()
	w.tree.apply(ctx, seen.ops, p.next)
	if seen.overflow {
		w.tree.resync(ctx, p.next)
		w.tree.suspect(p.next)
		p.next.rescan("overflow")
	}
	if empty && !p.next.first.IsZero() {
		p.next.first = seen.first
	}
}

// mayGo reports whether the batch can be sent: something is in it, no events are
// on their way, and no git command is at work on its files. After one was, all
// that it did is made part of the batch.
func (p *processor) mayGo(ctx context.Context) bool {
	if p.next.empty() || p.armed {
		return false
	}
	if p.next.ready {
		return true
	}
	w := p.w
	if busy, wait := p.next.busy(time.Now(), w.opts.GitHold); busy {
		p.gate.Reset(min(wait, w.opts.Debounce))
		return false
	}
	p.next.held = time.Time{}
	if p.next.blame() {
		// What no event told of is part of it.
		w.tree.look(ctx, p.next, true)
	}
	p.next.ready = true
	return true
}

// interval is the time until the next look when one took so long; a look that a
// busy machine kept waiting is no reason to look much later.
func (p *processor) interval(took time.Duration) time.Duration {
	most := p.w.opts.PollInterval
	rest := min(50*took, 10*most)
	if time.Since(p.active) > idleAfter {
		return max(most, rest)
	}
	return max(min(lookInterval, most), rest)
}

// checkUp asks for a rescan where nothing is going on.
func (p *processor) checkUp(ctx context.Context) {
	quiet := min(5*time.Second, p.w.opts.CheckInterval/2)
	if since := time.Since(p.active); since < quiet || !p.next.empty() || p.armed {
		p.check.Reset(max(quiet-since, quiet/10))
		return
	}
	p.w.tree.resync(ctx, p.next)
	p.next.rescan("check")
	p.check.Reset(p.w.opts.CheckInterval)
}
