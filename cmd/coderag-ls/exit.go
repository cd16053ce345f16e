package main

import (
	"context"
	"errors"
	"fmt"

	"coderag-ls/engine"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store"
)

// The exit codes. They are part of the contract: scripts rely on them.
const (
	exitOK          = 0
	exitError       = 1   // something went wrong, or doctor found that something is
	exitUsage       = 2   // unknown command or flag, bad value, no question
	exitNothing     = 3   // nothing relevant was found
	exitLocked      = 4   // another process owns the index and it cannot be shared, or publishes the repository
	exitUnreachable = 5   // the shared index cannot be reached
	exitDenied      = 6   // the shared index denies access
	exitSchema      = 7   // the shared index is another version's
	exitInterrupted = 130 // ended by a signal
)

// usageError is a mistake in how the program was called.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errNothing ends commands that found nothing relevant; they have said so.
var errNothing = errors.New("nothing relevant was found")

// errReported ends commands that failed and have said why.
var errReported = errors.New("failed")

// exitCode returns the code for an error and whether it is to be printed.
func exitCode(ctx context.Context, err error) (code int, print bool) {
	var usage usageError
	var query *engine.QueryError
	switch {
	case err == nil:
		return exitOK, false
	case errors.Is(err, errNothing):
		return exitNothing, false
	case errors.Is(err, errReported):
		return exitError, false
	case errors.As(err, &usage), errors.As(err, &query):
		return exitUsage, true
	case errors.Is(err, sharedindex.ErrUnreachable):
		return exitUnreachable, true
	case errors.Is(err, sharedindex.ErrDenied):
		return exitDenied, true
	case errors.Is(err, sharedindex.ErrSchema):
		return exitSchema, true
	case errors.Is(err, store.ErrLocked), errors.Is(err, sharedindex.ErrPublishing):
		return exitLocked, true
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitInterrupted, false
	}
	return exitError, true
}
