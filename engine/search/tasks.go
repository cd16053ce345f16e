package search

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// tasks are the goroutines of one search. One that panics does so in Wait, where
// whoever serves the request recovers it: a question that breaks ends itself
// and not the program.
type tasks struct {
	wg     sync.WaitGroup
	broken atomic.Pointer[string]
}

// Go starts a task.
func (t *tasks) Go(do func()) {
	t.wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				told := fmt.Sprintf("%v\n%s", p, debug.Stack())
				t.broken.CompareAndSwap(nil, &told)
			}
		}()
		do()
	})
}

// Wait waits for all tasks.
func (t *tasks) Wait() {
	t.wg.Wait()
	if told := t.broken.Load(); told != nil {
		panic(*told)
	}
}
