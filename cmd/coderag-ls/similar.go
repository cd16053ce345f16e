package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// placePattern is a file with lines behind it, as citations write them.
var placePattern = regexp.MustCompile(`^(.+):([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?$`)

func (a *app) similarCommand() *cobra.Command {
	var top, lines int
	var why bool
	cmd := &cobra.Command{
		Use:   "similar [flags] FILE[:START[-END]]",
		Short: "Rank the places that are like a file or lines of it",
		Long: `Rank the places that are like a file or lines of it: copies, variants, the same
thing done elsewhere. The file is one of the workspace, relative to the working
directory or to the workspace. The index is brought up to date first.`,
		Example: "  coderag-ls similar engine/view.go\n  coderag-ls similar --top-k 5 engine/view.go:40-62",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("%s takes one file, with or without lines (FILE:10-20), but got %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case lines < 0:
				return usagef("--lines cannot be negative")
			case cmd.Flags().Changed("top-k") && top < 1:
				return usagef("--top-k %d is less than 1", top)
			}
			return a.synced(cmd.Context(), someVectors, func(s *session) error {
				d, err := documentOf(args[0], s)
				if err != nil {
					return err
				}
				start := time.Now()
				r, err := s.view.Similar(cmd.Context(), wire.RangeParams{Document: d, TopK: top})
				if err != nil {
					return err
				}
				return a.tellHits(r, lines, why, time.Since(start))
			})
		},
	}
	cmd.Flags().IntVarP(&top, "top-k", "k", 0, "how many hits to look at (default: setting search.topK)")
	cmd.Flags().IntVarP(&lines, "lines", "n", 3, "show at most this many `lines` of each hit, 0 for none")
	cmd.Flags().BoolVar(&why, "why", false, "say why each hit was found, and its score")
	a.jsonFlag(cmd)
	return cmd
}

// documentOf finds the file that an argument means, and its lines.
func documentOf(arg string, s *session) (wire.Document, error) {
	name, from, to := arg, 0, 0
	if m := placePattern.FindStringSubmatch(arg); m != nil {
		if _, err := os.Stat(arg); err != nil { // else that is the file's name
			name = m[1]
			from, _ = strconv.Atoi(m[2]) // the pattern takes nothing else
			to = from
			if m[3] != "" {
				to, _ = strconv.Atoi(m[3])
			}
		}
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return wire.Document{}, fmt.Errorf("resolving %s: %w", name, err)
	}
	if _, err := os.Stat(abs); err != nil {
		in, ok := s.view.Resolve(filepath.ToSlash(name))
		if !ok {
			return wire.Document{}, usagef("there is no file %s, neither here nor in the workspace", name)
		}
		abs = in
	}
	d := wire.Document{URI: text.URIFromPath(abs)}
	content, ok := s.view.Text(s.ctx, abs)
	if !ok {
		return d, usagef("%s is no file that is indexed here; `coderag-ls status` says what is left out", name)
	}
	if from > 0 {
		count := text.New(content).LineCount()
		if to < from || from > count {
			return d, usagef("%s has %d lines, but %d to %d were asked for", name, count, from, to)
		}
		d.Range = &wire.Range{Start: wire.Position{Line: from - 1}, End: wire.Position{Line: min(to, count)}}
	}
	return d, errors.Join(s.ctx.Err())
}
