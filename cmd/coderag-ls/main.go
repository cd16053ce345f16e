// Command coderag-ls answers questions about a workspace's code with checked
// citations: as a language server (without arguments, or `serve`) and on the
// command line (`ask`, `search`, ...). Its exit codes are in exit.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent makes the collector run earlier than Go's 100 does: indexing Go's
// own sources (9,643 files) peaks at 493 MB instead of 574 MB for a tenth more
// processor time; 25 gives 416 MB for 14 % more. A server lies in memory all
// day and indexes seconds of it.
const gcPercent = 50

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}
