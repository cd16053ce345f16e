package host

import "runtime"

// InBackground runs f on a thread of its own for which the system does less
// than for others: a smaller share of processor and disk time where they are
// scarce, all of them where they are not. Where the system refuses, f runs as
// any other. The thread is never used again: most systems let nobody raise a
// thread's priority. (Go's runtime starts no thread from one that a goroutine is
// locked to, so that no other inherits its priority.)
//
// The share is only somewhat smaller. A thread that the system leaves out for
// long may hold what all others wait for: the Go runtime stops every thread for
// a moment at each collection.
func InBackground(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread is given up with the goroutine
		lower()
		f()
	}()
	<-done
}
