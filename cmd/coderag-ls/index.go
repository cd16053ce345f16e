package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine"
	"coderag-ls/engine/wire"
)

func (a *app) indexCommand() *cobra.Command {
	var dry, force, wait bool
	cmd := &cobra.Command{
		Use:   "index [flags] [PATH...]",
		Short: "Bring the index up to date",
		Long: `Bring the index up to date and wait for it, vectors included. What was done
before an interruption is kept.

With --dry-run, say what would be indexed, what not and why, and how long it
would take, without writing anything.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !force {
				return usagef("paths are for --force: without it, everything that changed is indexed")
			}
			if dry && force {
				return usagef("--dry-run and --force exclude each other")
			}
			if dry {
				return a.dryRun(cmd)
			}
			start := time.Now()
			var vectors time.Duration
			if wait && !force {
				vectors = allVectors
			}
			return a.synced(cmd.Context(), vectors, func(s *session) error {
				if force {
					if err := s.view.Reindex(cmd.Context(), wire.ReindexParams{Paths: args}); err != nil {
						return err
					}
					if _, err := s.view.Sync(cmd.Context(), wire.SyncParams{Vectors: wait}); err != nil {
						return err
					}
				}
				st, err := s.view.Status(cmd.Context())
				if err != nil {
					return err
				}
				if a.json {
					err = a.printJSON(st)
				} else {
					err = a.print(a.statusText(st) + a.out.Paint(terminal.Dim, "in "+duration(time.Since(start))) + "\n")
				}
				return errors.Join(err, kept(st))
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&dry, "dry-run", false, "say what would be done, do nothing")
	f.BoolVar(&force, "force", false, "index again what has not changed: the paths, else everything")
	f.BoolVar(&wait, "vectors", true, "wait for the vectors too")
	a.jsonFlag(cmd)
	return cmd
}

// kept fails where an index was made and could not be kept, which is what the
// command is for.
func kept(st wire.Status) error {
	for _, r := range st.Roots {
		if r.Memory {
			return fmt.Errorf("the index of %s is not kept: %s cannot be written to (--cache-dir names another place)", r.Dir, r.Index)
		}
	}
	return nil
}

func (a *app) dryRun(cmd *cobra.Command) error {
	layers, err := a.layers()
	if err != nil {
		return err
	}
	roots, err := a.workspaceRoots()
	if err != nil {
		return err
	}
	plan, err := engine.PlanIndex(cmd.Context(), engine.Options{Roots: roots, Version: version(), Settings: layers.Settings()})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(plan)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: about %s, %s\n", plural(plan.Files, "file"), bytesText(plan.Bytes), plural(plan.Chunks, "chunk"), duration(time.Duration(plan.EstimatedMilliseconds)*time.Millisecond))
	b.WriteString(a.languages(plan.Languages))
	b.WriteString(a.skipped(plan.Skipped, plan.SkippedFiles))
	return a.print(b.String())
}

// maxLanguages is how many languages are listed for people.
const maxLanguages = 10

// languages lists files by language, most first.
func (a *app) languages(counts map[string]int) string {
	if len(counts) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		if counts[x] != counts[y] {
			return counts[y] - counts[x]
		}
		return strings.Compare(x, y)
	})
	var parts []string
	for i, n := range names {
		if i == maxLanguages {
			parts = append(parts, plural(len(names)-i, "other"))
			break
		}
		name := n
		if name == "" {
			name = "unknown"
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[n]))
	}
	return a.out.Paint(terminal.Dim, "  "+strings.Join(parts, ", ")) + "\n"
}

// maxSkipsShown is how many skipped paths of each reason are listed for people.
const maxSkipsShown = 5

// skipped lists what is not indexed, by reason.
func (a *app) skipped(counts map[string]int, files []wire.SkippedFile) string {
	if len(counts) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Not indexed:\n")
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "  %6d  %s\n", counts[reason], reason)
		shown := 0
		for _, f := range files {
			if f.Reason != reason || shown == maxSkipsShown {
				continue
			}
			shown++
			detail := ""
			if f.Detail != "" {
				detail = "  (" + a.out.Text(f.Detail) + ")"
			}
			b.WriteString(a.out.Paint(terminal.Dim, "          "+a.out.Text(oneLine(f.Path))+detail) + "\n")
		}
		if rest := counts[reason] - shown; rest > 0 && shown > 0 {
			b.WriteString(a.out.Paint(terminal.Dim, fmt.Sprintf("          … and %d more", rest)) + "\n")
		}
	}
	return b.String()
}

// oneLine quotes a path that is no single line of text, as git does.
func oneLine(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }) {
		return path
	}
	return strconv.QuoteToGraphic(path)
}

func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return plural(int(n), "byte")
	}
	value, prefix := float64(n)/unit, "K"
	for _, next := range []string{"M", "G", "T"} {
		if value < unit {
			break
		}
		value, prefix = value/unit, next
	}
	return fmt.Sprintf("%.1f %siB", value, prefix)
}
