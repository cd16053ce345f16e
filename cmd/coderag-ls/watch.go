package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/wire"
)

func (a *app) watchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Keep the index up to date until interrupted",
		Long: `Keep the index up to date with the files on disk until the program is
interrupted, so that other commands find it ready and attach to it. Each change
of the index is told in a line; with --json it is the status, one line of JSON
each time (docs/wire.md, Status).

Where another process keeps the index, such as an editor's server, this one
stands by and takes over when that ends.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.synced(cmd.Context(), 0, func(s *session) error {
				ctx, cancel := context.WithCancel(cmd.Context())
				var watcher sync.WaitGroup
				watcher.Go(func() {
					keepUp(ctx, s.workspace, s.roots, s.settings, s.log, func(text string) { a.note("note: %s", text) })
				})
				err := a.tellChanges(ctx, s)
				cancel()
				watcher.Wait()
				if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
					return cmd.Context().Err() // what it runs for
				}
				return err
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// tellChanges tells what became of the index until ctx ends.
func (a *app) tellChanges(ctx context.Context, s *session) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var last wire.Status
	for first := true; ; first = false {
		st, err := s.view.Status(ctx)
		if err != nil {
			return err
		}
		if first || st.Coverage.Seq != last.Coverage.Seq || st.State != last.State || st.Watches != last.Watches || st.Owner != last.Owner {
			if err := a.tellChange(st, first || st.Owner != last.Owner); err != nil {
				return err
			}
			last = st
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (a *app) tellChange(st wire.Status, keeper bool) error {
	if a.json {
		st.SkippedFiles = []wire.SkippedFile{}
		return a.printJSONLine(st)
	}
	line := fmt.Sprintf("%s  %s, %d of %s indexed", time.Now().Format(time.TimeOnly), a.stateText(st), st.Coverage.Indexed, plural(st.Coverage.Total, "file"))
	if st.LastBatch.Files > 0 {
		line += a.out.Paint(terminal.Dim, fmt.Sprintf("  last: %s (%s)", plural(st.LastBatch.Files, "file"), a.out.Text(st.LastBatch.Cause)))
	}
	if keeper && !st.Owner && st.OwnedBy.PID > 0 {
		line += a.out.Paint(terminal.Dim, fmt.Sprintf("  kept by pid %d", st.OwnedBy.PID))
	}
	return a.print(line + "\n")
}
