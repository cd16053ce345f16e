package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/wire"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the index",
		Long:  "Show the state of the index against what is on disk, without waiting until it is up to date.",
		Args:  noArguments,
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
	a.jsonFlag(cmd)
	return cmd
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
	line("store", fmt.Sprintf("%s on disk, %s of memory in use", bytesText(st.StoreBytes), bytesText(st.RSSBytes)))
	if !st.Owner && st.OwnedBy.PID > 0 {
		line("kept by", fmt.Sprintf("pid %d, coderag-ls %s, for %s", st.OwnedBy.PID, a.out.Text(st.OwnedBy.Version), plural(st.OwnedBy.Clients, "client")))
	}
	if len(st.Languages) > 0 {
		line("languages", strings.TrimSpace(a.languages(st.Languages)))
	}
	for _, n := range st.Notices {
		fmt.Fprintf(&b, "  %s %s\n", a.out.Paint(terminal.Warn, "note:"), a.out.Text(n))
	}
	return b.String()
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
