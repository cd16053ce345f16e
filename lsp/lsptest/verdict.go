package lsptest

import (
	"fmt"
	"time"
)

// Verdict says how an expectation stands.
type Verdict int

// The verdicts.
const (
	Met        Verdict = iota // it holds
	Unmet                     // it does not hold; what was done may still make it true
	Unmeetable                // it does not hold, and nothing under way can change that
)

// patienceForNews is how long an expectation waits for the server to say
// something before it is looked at again without.
const patienceForNews = 50 * time.Millisecond

// patienceForChanges is how long what happened on disk may go unnoticed.
const patienceForChanges = 15 * time.Second

// Expect looks at a condition until it is met, each time that the server has
// said something. check returns a reason with a verdict that is not Met. The
// error says why the condition is not met, at once where it is unmeetable.
func (e *Editor) Expect(check func() (Verdict, string)) error {
	deadline := time.Now().Add(patienceForChanges)
	for {
		e.mu.Lock()
		seen := len(e.received)
		e.mu.Unlock()
		verdict, why := check()
		switch {
		case verdict == Met:
			return nil
		case verdict == Unmeetable:
			return fmt.Errorf("unmeetable: %s", why)
		case time.Now().After(deadline):
			return fmt.Errorf("unmet after %v: %s", patienceForChanges, why)
		case e.hasEnded():
			return fmt.Errorf("the connection ended: %s", why)
		}
		e.awaitNews(seen)
	}
}

// awaitNews returns when more messages were received, soon in any case.
func (e *Editor) awaitNews(seen int) {
	until := time.Now().Add(patienceForNews) // before the timer: it must have passed when that wakes us
	timer := time.AfterFunc(patienceForNews, e.cond.Broadcast)
	defer timer.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.received) == seen && time.Now().Before(until) && !e.hasEnded() {
		e.cond.Wait()
	}
}
