// Command coderag-ls answers questions about a workspace's code with checked
// citations: as a language server (without arguments, or `serve`) and on the
// command line (`ask`, `search`, ...). Its exit codes are in exit.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"coderag-ls/engine/memory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	if os.Getenv("GOGC") == "" {
		memory.Pace(memory.DefaultBudget)
	}
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}
