package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/wire"
)

// watchEvery is how often status --watch looks.
const watchEvery = time.Second

func (a *app) statusCommand() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the index",
		Long: `Show the state of the index against what is on disk, without waiting until it is up to date.

With --watch it is shown every second until the program is interrupted; with
--json too, as one line of JSON each time.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			s, err := a.openSession(cmd.Context(), nil)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.close()) }()
			// The first look at the disk tells how many files there are.
			if _, err := s.workspace.Directories(cmd.Context()); err != nil {
				return fmt.Errorf("looking for files: %w", err)
			}
			if watch {
				return a.watchStatus(cmd.Context(), s)
			}
			st, err := s.view.Status(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(st)
			}
			return a.print(a.statusText(st) + a.skipped(st.Coverage.Skipped, st.SkippedFiles))
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again every second")
	a.jsonFlag(cmd)
	return cmd
}

// watchStatus shows the state until ctx ends.
func (a *app) watchStatus(ctx context.Context, s *session) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		st, err := s.view.Status(ctx)
		if err != nil {
			return err
		}
		if err := a.showStatus(st); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// showStatus shows one of many states: on a terminal in the place of the last.
func (a *app) showStatus(st wire.Status) error {
	if a.json {
		st.SkippedFiles = []wire.SkippedFile{} // the same every time, mostly
		return a.printJSONLine(st)
	}
	text := a.statusText(st)
	if a.out.Terminal {
		return a.print(terminal.Clear + text)
	}
	return a.print(text + "\n")
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, but got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func (a *app) statusText(st wire.Status) string {
	var b strings.Builder
	for _, r := range st.Roots {
		fmt.Fprintf(&b, "%s  %s\n", a.out.Paint(terminal.Bold, a.out.Text(r.Name)), a.out.Text(r.Dir))
		if r.Error != "" {
			fmt.Fprintf(&b, "  %s\n", a.out.Paint(terminal.Bad, a.out.Text(r.Error)))
		}
	}
	c := st.Coverage
	line := func(name, value string) { fmt.Fprintf(&b, "  %-9s %s\n", name, value) }
	files := fmt.Sprintf("%d of %d indexed", c.Indexed, c.Total)
	if c.Pending > 0 {
		files += a.out.Paint(terminal.Warn, fmt.Sprintf(", %d pending", c.Pending))
	}
	if n := total(c.Skipped); n > 0 {
		files += fmt.Sprintf(", %d skipped", n)
	}
	line("state", a.stateText(st))
	line("files", files)
	line("chunks", fmt.Sprintf("%d, %s", st.Chunks, plural(st.Symbols, "symbol")))
	model := st.Model.Embedder
	if c.VectorsReady < 1 {
		model += fmt.Sprintf(", vectors %d %%", int(c.VectorsReady*100))
	}
	if st.Queues.Embed > 0 {
		model += fmt.Sprintf(", %s to embed", plural(st.Queues.Embed, "chunk"))
	}
	line("model", model)
	if st.Watches > 0 || st.WatchCap > 0 {
		line("watches", fmt.Sprintf("%d of at most %d", st.Watches, st.WatchCap))
	}
	line("store", bytesText(st.StoreBytes)+" on disk")
	used := bytesText(st.RSSBytes) + " in use"
	if st.MemoryLimitBytes > 0 {
		used += fmt.Sprintf(", limit %s", bytesText(st.MemoryLimitBytes))
	}
	if len(st.MemoryMeasures) > 0 {
		used += a.out.Paint(terminal.Warn, ": "+strings.Join(st.MemoryMeasures, "; "))
	}
	line("memory", used)
	if !st.Owner && st.OwnedBy.PID > 0 {
		line("kept by", fmt.Sprintf("pid %d, coderag-ls %s, for %s", st.OwnedBy.PID, a.out.Text(st.OwnedBy.Version), plural(st.OwnedBy.Clients, "client")))
	}
	a.sharedText(st.Shared, line)
	if len(st.Languages) > 0 {
		line("languages", strings.TrimSpace(a.languages(st.Languages)))
	}
	for _, n := range st.Notices {
		fmt.Fprintf(&b, "  %s %s\n", a.out.Paint(terminal.Warn, "note:"), a.out.Text(n))
	}
	if e := st.LastError; e != nil && !slices.Contains(st.Notices, e.Message) {
		fmt.Fprintf(&b, "  %s %s (%s)\n", a.out.Paint(terminal.Dim, "last error:"), a.out.Text(e.Message), a.out.Text(e.At))
	}
	return b.String()
}

// sharedText tells of the shared index, where one is set.
func (a *app) sharedText(s *wire.SharedStatus, line func(name, value string)) {
	if s == nil {
		return
	}
	at := a.out.Text(strings.Join(s.Endpoints, ", ") + ", tenant " + s.Tenant)
	if !s.Reachable {
		at += ": " + a.out.Paint(terminal.Warn, a.out.Text(s.Degraded))
		if s.Since != "" {
			at += " (since " + s.Since + ")"
		}
	}
	line("shared", at)
	if s.Published > 0 {
		line("", fmt.Sprintf("%s of this workspace are found there, %d are published", plural(s.Covered, "file"), s.Published))
	}
	for i, r := range s.Repositories {
		if i == maxShared {
			line("", fmt.Sprintf("and %d more", len(s.Repositories)-i))
			break
		}
		name := r.Repository
		if r.Folder != "" {
			name += " (this workspace)"
		}
		line("", a.out.Text(fmt.Sprintf("%s: %s", name, repositoryText(r))))
	}
	for _, n := range s.Notices {
		line("", a.out.Paint(terminal.Warn, a.out.Text(n)))
	}
}

// maxShared is how many repositories of the shared index are listed for people.
const maxShared = 10

// stateText tells in words what is going on.
func (a *app) stateText(st wire.Status) string {
	words, style := st.State, terminal.Warn
	switch st.State {
	case wire.StateReady:
		style = terminal.Good
	case wire.StateError:
		style = terminal.Bad
	case wire.StateMemoryLimit:
		words = "waiting for memory"
	}
	parts := []string{a.out.Paint(style, words)}
	if st.Queues.Index > 0 {
		parts = append(parts, fmt.Sprintf("%s at %.0f/s", plural(st.Queues.Index, "file"), st.Rates.Files))
	}
	if st.Queues.Embed > 0 {
		parts = append(parts, fmt.Sprintf("%s to embed at %.0f/s", plural(st.Queues.Embed, "chunk"), st.Rates.Embeds))
	}
	if st.ETASeconds != nil && *st.ETASeconds > 0 {
		parts = append(parts, "about "+(time.Duration(math.Ceil(*st.ETASeconds))*time.Second).String()+" left")
	}
	if st.OnBattery {
		parts = append(parts, "on battery")
	}
	return strings.Join(parts, ", ")
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return a.print("coderag-ls " + version() + "\n")
		},
	}
}
