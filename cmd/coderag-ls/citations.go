package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

func (a *app) citationsCommand() *cobra.Command {
	var check, all bool
	cmd := &cobra.Command{
		Use:   "citations [flags] [PATH...]",
		Short: "List the inserted citations that no longer hold",
		Long: `List the citations "path:start-end sha256:12345678" in the workspace's files whose
lines have moved, have changed or are gone. Every file that is indexed is looked
through, or those at or below the paths; files that ignore files and settings
leave out are neither looked through nor read.`,
		Example: "  coderag-ls citations --check          # in continuous integration: exit code 1 where one does not hold\n  coderag-ls citations --json docs",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := a.checkCitations(cmd.Context(), args, all)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(report)
			} else {
				err = a.print(a.citationsText(report))
			}
			if err == nil && check && report.Drifted > 0 {
				err = errReported
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "end with exit code 1 where a citation does not hold")
	f.BoolVar(&all, "all", false, "list the citations that hold too")
	a.jsonFlag(cmd)
	return cmd
}

// citing is a file that may hold citations.
type citing struct{ abs, path, text string }

// checkCitations looks through the files and checks their citations. The index
// is opened where there are any.
func (a *app) checkCitations(ctx context.Context, paths []string, all bool) (wire.CitationsReport, error) {
	report := wire.CitationsReport{Files: []wire.CitedDocument{}}
	layers, err := a.layers()
	if err != nil {
		return report, err
	}
	roots, err := a.workspaceRoots()
	if err != nil {
		return report, err
	}
	below, err := absolutePaths(paths, roots)
	if err != nil {
		return report, err
	}
	files, scanned, err := findCiting(ctx, roots, layers.Settings(), below)
	report.Scanned = scanned
	if err != nil || len(files) == 0 {
		return report, err
	}
	return report, a.synced(ctx, 0, func(s *session) error {
		for _, f := range files {
			uri := text.URIFromPath(f.abs)
			found, err := s.view.Citations(ctx, wire.CitationsParams{URI: uri, Text: f.text, Instead: true})
			if err != nil {
				return fmt.Errorf("checking the citations of %s: %w", f.path, err)
			}
			one := wire.CitedDocument{URI: uri, Path: f.path, Citations: []wire.CheckedCitation{}}
			for _, c := range found.Citations {
				report.Checked++
				if c.State != wire.CitationExact {
					report.Drifted++
				}
				if all || c.State != wire.CitationExact {
					one.Citations = append(one.Citations, c)
				}
			}
			if len(one.Citations) > 0 {
				report.Files = append(report.Files, one)
			}
		}
		return nil
	})
}

// absolutePaths are the paths of the command line, which must be in the
// workspace.
func absolutePaths(paths []string, roots []file.Root) ([]string, error) {
	var all []string
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("resolving %s: %w", path, err)
		}
		if _, err := os.Stat(abs); err != nil {
			return nil, usagef("looking at %s: %v", path, err)
		}
		if !slices.ContainsFunc(roots, func(r file.Root) bool { return isBelow(abs, r.Dir) }) {
			return nil, usagef("%s is not in the workspace: name its folder with --root", path)
		}
		all = append(all, abs)
	}
	return all, nil
}

// isBelow reports whether a path is a directory or lies below it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// findCiting returns the files at or below the paths, of the whole workspace
// where there are none, that may hold citations, in order, and how many were
// looked through. The index's words are not asked which: reading all files takes
// less time than bringing the index up to date would, where none has any.
func findCiting(ctx context.Context, roots []file.Root, s config.Settings, below []string) (found []citing, scanned int, err error) {
	var files []citing
	seen := map[string]bool{}
	for _, root := range roots {
		rules, err := file.NewRules(root, file.Options{MaxBytes: int64(s.Index.MaxFileBytes), Exclude: s.Index.Exclude, Include: s.Index.Include})
		if err != nil {
			return nil, 0, err
		}
		listing, err := rules.Scan(ctx)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range listing.Entries {
			abs := filepath.Join(root.Dir, filepath.FromSlash(e.Path))
			if seen[abs] || len(below) > 0 && !slices.ContainsFunc(below, func(dir string) bool { return isBelow(abs, dir) }) {
				continue
			}
			seen[abs] = true
			path := e.Path
			if len(roots) > 1 {
				path = root.Name + "/" + path
			}
			files = append(files, citing{abs: abs, path: path})
		}
	}
	next := make(chan *citing)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for f := range next {
				// What cannot be read as text holds no citations.
				if content, err := file.Read(f.abs, int64(s.Index.MaxFileBytes)); err == nil && snippet.Mentions(content.Text) {
					f.text = content.Text
				}
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- &files[i]
	}
	close(next)
	readers.Wait()
	scanned = len(files)
	return slices.DeleteFunc(files, func(f citing) bool { return f.text == "" }), scanned, ctx.Err()
}

// citationsText lists citations for people: where each stands, what it cites,
// and what became of that.
func (a *app) citationsText(r wire.CitationsReport) string {
	var b strings.Builder
	adrift := 0
	for _, f := range r.Files {
		drifted := false
		for _, c := range f.Citations {
			drifted = drifted || c.State != wire.CitationExact
			state, color := c.State, terminal.Warn
			switch c.State {
			case wire.CitationExact:
				color = terminal.Dim
			case wire.CitationMoved:
				state = "moved to " + a.out.Text(oneLine(c.Now.ID))
			case wire.CitationUnknown:
				state = "unknown path"
			}
			fmt.Fprintf(&b, "%s  %s  %s\n", a.place(f.URI, f.Path, c.Line, c.Line),
				a.out.Text(oneLine(fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine))), a.out.Paint(color, state))
		}
		if drifted {
			adrift++
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	if r.Drifted == 0 {
		fmt.Fprintf(&b, "%s in %s, all as they were cited.\n", plural(r.Checked, "citation"), plural(r.Scanned, "file"))
	} else {
		fmt.Fprintf(&b, "%d of %s no longer hold, in %d of %s.\n", r.Drifted, plural(r.Checked, "citation"), adrift, plural(r.Scanned, "file"))
	}
	return b.String()
}
