package lsptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
)

// Try runs f as a test of its own, in a test whose failure it is not, or in a
// program: what f reports as an error is returned. Logs are dropped.
func Try(f func(tb testing.TB)) error {
	ctx, cancel := context.WithCancel(context.Background())
	t := &trial{ctx: ctx}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(t)
	}()
	<-ended
	cancel()
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			break
		}
		last := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		cleaned := make(chan struct{})
		go func() { // it may fail, too
			defer close(cleaned)
			last()
		}()
		<-cleaned
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(t.errs...)
}

// trial is what Try gives.
type trial struct {
	testing.TB // nil: what is not below must not be called
	ctx        context.Context

	mu       sync.Mutex // guards the fields below
	errs     []error
	cleanups []func()
}

func (t *trial) Helper()                   {}
func (t *trial) Log(...any)                {}
func (t *trial) Logf(string, ...any)       {}
func (t *trial) Name() string              { return "trial" }
func (t *trial) Context() context.Context  { return t.ctx }
func (t *trial) Error(args ...any)         { t.fail(fmt.Sprintln(args...)) }
func (t *trial) Errorf(f string, a ...any) { t.fail(fmt.Sprintf(f, a...)) }

func (t *trial) Fatal(args ...any) {
	t.fail(fmt.Sprintln(args...))
	runtime.Goexit()
}

func (t *trial) Fatalf(f string, a ...any) {
	t.fail(fmt.Sprintf(f, a...))
	runtime.Goexit()
}

func (t *trial) Fail()    { t.fail("failed") }
func (t *trial) FailNow() { t.Fatal("failed") }

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.errs) > 0
}

func (t *trial) fail(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errs = append(t.errs, errors.New(why))
}

func (t *trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *trial) TempDir() string {
	dir, err := os.MkdirTemp("", "trial-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
