package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// tally counts what a queue keeps sums of.
func tally(q *queue) (left, unseen int) {
	seen := map[itemKey]bool{}
	for _, m := range []map[itemKey]*item{q.waiting, q.inFlight} {
		for key, it := range m {
			if it.glance || seen[key] {
				continue
			}
			seen[key] = true
			left++
			if it.glanced == notGlanced {
				unseen++
			}
		}
	}
	return left, unseen
}

// TestQueueSums pushes, pops and finishes at random: the sums are those of what
// is there, and nothing is left at the end.
func TestQueueSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := &root{}
	q := newQueue(nil, 2)
	var inHand [3][]*item // of workers that finish what they popped together
	for step := range 20000 {
		switch n := rng.IntN(10); {
		case n < 4 && step < 15000:
			it := item{root: r, rel: fmt.Sprint(rng.IntN(50)), prio: rng.IntN(3), force: rng.IntN(5) == 0}
			glance := it
			glance.glance = true
			if rng.IntN(3) == 0 {
				q.push(&glance)
			}
			q.push(&it)
		case n < 8:
			if it, ok := q.pop(rng.IntN(2) == 0, false); ok {
				if it.glance {
					it.glanced = glanced(rng.IntN(4))
				}
				w := rng.IntN(len(inHand))
				inHand[w] = append(inHand[w], it)
			}
		default:
			w := rng.IntN(len(inHand))
			q.finish(inHand[w])
			inHand[w] = nil
		}
		left, unseen := tally(q)
		if left != q.len() || unseen != q.pending() {
			t.Fatalf("step %d: the sums are %d and %d, want %d and %d", step, q.len(), q.pending(), left, unseen)
		}
	}
	for {
		for w := range inHand {
			q.finish(inHand[w])
			inHand[w] = nil
		}
		it, ok := q.pop(true, false)
		if !ok {
			break
		}
		inHand[0] = append(inHand[0], it)
	}
	if q.len() != 0 || q.pending() != 0 || len(q.marks) != 0 || len(q.waiting)+len(q.inFlight)+len(q.again) != 0 {
		t.Errorf("left: %d, %d, %d marks", q.len(), q.pending(), len(q.marks))
	}
	if err := q.wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// done reports whether a wait that began with the ticket would end.
func done(q *queue, ticket uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.outstanding(ticket)
}

// Where the words of a glance are published after the file's own turn, the file
// is looked at again: it may be gone. Who waits for the first look waits for
// that one, too.
func TestGlanceThatIsLate(t *testing.T) {
	r := &root{}
	q := newQueue(nil, 2)
	q.push(&item{root: r, rel: "x", prio: prioScan, glance: true})
	q.push(&item{root: r, rel: "x", prio: prioScan})
	ticket := q.ticket
	glance, _ := q.pop(true, false)
	glance.glanced = worded
	own, _ := q.pop(true, false)
	if !glance.glance || own.glance {
		t.Fatal("a glance comes after the file's own turn")
	}
	q.finish([]*item{own})
	if done(q, ticket) {
		t.Error("a wait ends while the glance is in work")
	}
	q.finish([]*item{glance})
	if done(q, ticket) {
		t.Error("a wait ends before the file is looked at again")
	}
	again, ok := q.pop(true, false)
	if !ok || again.rel != "x" || again.glance {
		t.Fatalf("after a late glance: %+v", again)
	}
	q.finish([]*item{again})
	if !done(q, ticket) || q.len() != 0 {
		t.Error("it is not over")
	}

	// The same with the own turn still running.
	q.push(&item{root: r, rel: "y", prio: prioScan, glance: true})
	q.push(&item{root: r, rel: "y", prio: prioScan})
	glance, _ = q.pop(true, false)
	glance.glanced = worded
	own, _ = q.pop(true, false)
	q.finish([]*item{glance})
	q.finish([]*item{own})
	if done(q, q.ticket) {
		t.Error("a wait ends before the file is looked at again")
	}
	// Where the own turn is to come, there is no need to.
	again, _ = q.pop(true, false)
	q.push(&item{root: r, rel: "z", prio: prioScan, glance: true}, &item{root: r, rel: "z", prio: prioScan})
	glance, _ = q.pop(true, false)
	glance.glanced = worded
	q.finish([]*item{again, glance})
	if q.len() != 1 || q.pending() != 0 {
		t.Errorf("%d files left, %d of them not searchable", q.len(), q.pending())
	}
}

func TestQueueWaits(t *testing.T) {
	closed := make(chan struct{})
	q := newQueue(closed, 1)
	r := &root{}
	q.push(&item{root: r, rel: "a"}, &item{root: r, rel: "b"})
	a, _ := q.pop(true, false)
	b, _ := q.pop(true, false)
	q.push(&item{root: r, rel: "a", force: true}) // changed while in work
	ticket := q.ticket
	q.finish([]*item{a, b})
	if done(q, ticket) {
		t.Error("a wait ends with the second a waiting")
	}
	a, _ = q.pop(true, false)
	if !a.force {
		t.Error("the second a is not what was pushed")
	}
	errs := make(chan error, 1)
	go func() { errs <- q.wait(t.Context()) }()
	q.finish([]*item{a})
	if err := <-errs; err != nil {
		t.Error(err)
	}
	q.push(&item{root: r, rel: "c"})
	if !done(q, ticket) || done(q, q.ticket) {
		t.Error("a wait ends with what was pushed later, or one for it does not wait")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(closed)
	if err := q.wait(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A worker that does not glance takes the newest files, those that do begin with
// the oldest; a file that has its own turn is not glanced at.
func TestQueueFromBothEnds(t *testing.T) {
	r := &root{}
	q := newQueue(nil, 2)
	for i, rel := range []string{"old", "mid", "new"} {
		q.push(&item{root: r, rel: rel, prio: prioScan, recent: int64(i), glance: true})
	}
	for i, rel := range []string{"old", "mid", "new"} {
		q.push(&item{root: r, rel: rel, prio: prioScan, recent: int64(i)})
	}
	ticket := q.ticket
	var inHand []*item
	take := func(glanceFirst bool, rel string, glance bool) *item {
		t.Helper()
		it, ok := q.pop(glanceFirst, false)
		if !ok || it.rel != rel || it.glance != glance {
			t.Fatalf("got %+v, want %s, a glance: %v", it, rel, glance)
		}
		inHand = append(inHand, it)
		return it
	}
	take(false, "new", false)
	take(true, "old", true).glanced = worded
	q.push(&item{root: r, rel: "saved", prio: prioTouched})
	take(true, "saved", false)
	take(true, "mid", true).glanced = plain
	q.finish(inHand)
	inHand = nil
	if q.pending() != 1 || q.len() != 2 {
		t.Errorf("%d of %d files have no words, want 1 of 2", q.pending(), q.len())
	}
	take(true, "mid", false) // before the newer ones
	take(true, "old", false)
	if _, ok := q.pop(true, false); ok {
		t.Error("the queue holds more than was pushed")
	}
	if done(q, ticket) {
		t.Error("a wait ends while files are in work")
	}
	q.finish(inHand)
	if !done(q, ticket) || len(q.marks) != 0 {
		t.Error("it is not over")
	}
}
