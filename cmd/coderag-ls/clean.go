package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coderag-ls/attach"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/store"
)

func (a *app) cleanCommand() *cobra.Command {
	var all, vanished, list bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Delete indexes",
		Long: `Delete the workspace's index; with --vanished those of folders that no longer
exist, with --all every one. The vectors that worktrees share are kept, but for
those over embed.cacheBytes; --all deletes them, too, and the copies of cited
files of other repositories. Nothing else is touched,
and everything deleted is made again when it is needed. An index that is in use
is kept.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && vanished || list && (all || vanished) {
				return usagef("--all, --vanished and --list exclude each other")
			}
			layers, err := a.layers()
			if err != nil {
				return err
			}
			indexes, err := engine.Indexes(layers.Settings())
			if err != nil {
				return err
			}
			if list {
				return a.listIndexes(layers.Settings(), indexes)
			}
			doomed := map[string]bool{} // by directory, and by folder: one may have several
			if !all && !vanished {
				roots, err := a.workspaceRoots()
				if err != nil {
					return err
				}
				for _, r := range roots {
					dir, err := engine.IndexDir(layers.Settings(), r)
					if err != nil {
						return err
					}
					doomed[dir], doomed[r.Dir] = true, true
				}
			}
			var errs []error
			count, bytes := 0, int64(0)
			for _, ix := range indexes {
				if !all && !doomed[ix.Dir] && !doomed[ix.Root] && (!vanished || !ix.Vanished) {
					continue
				}
				if err := engine.RemoveIndex(cmd.Context(), ix.Dir); err != nil {
					errs = append(errs, inUse(ix.Dir, err))
					continue
				}
				count, bytes = count+1, bytes+ix.Bytes
			}
			noun := "indexes"
			if count == 1 {
				noun = "index"
			}
			vectors, err := cleanVectors(layers.Settings(), all)
			errs = append(errs, err)
			return errors.Join(append(errs, a.print(fmt.Sprintf("deleted %d %s, %s\n%s", count, noun, bytesText(bytes), vectors)))...)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "delete every index")
	f.BoolVar(&vanished, "vanished", false, "delete the indexes of folders that no longer exist")
	f.BoolVar(&list, "list", false, "list the indexes, delete nothing")
	return cmd
}

// inUse says who has the index that cannot be deleted.
func inUse(dir string, err error) error {
	if who, ok := attach.Who(dir); ok && errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("index %s is kept: %w (%s); close that editor or end the process, then clean again", dir, store.ErrLocked, who)
	}
	return err
}

// cleanVectors deletes the shared vectors, or what of them is too much, and says
// what it did; "" where there are none.
func cleanVectors(s config.Settings, all bool) (string, error) {
	if all {
		freed, err := engine.RemoveVectorCache(s)
		text := ""
		if freed > 0 {
			text = fmt.Sprintf("deleted shared vectors, %s\n", bytesText(freed))
		}
		copied, errCopies := engine.RemoveCopies(s)
		if copied > 0 {
			text += fmt.Sprintf("deleted copies of cited files of other repositories, %s\n", bytesText(copied))
		}
		return text, errors.Join(err, errCopies)
	}
	freed, errCollect := engine.CollectVectorCache(s)
	info, err := engine.VectorCache(s)
	text := ""
	if freed > 0 {
		text = fmt.Sprintf("deleted shared vectors that were too much, %s\n", bytesText(freed))
	}
	if info.Bytes > 0 {
		text += fmt.Sprintf("kept shared vectors, %s (--all deletes them)\n", bytesText(info.Bytes))
	}
	return text, errors.Join(errCollect, err)
}

func (a *app) listIndexes(s config.Settings, indexes []engine.IndexInfo) error {
	var b strings.Builder
	for _, ix := range indexes {
		root := ix.Root
		switch {
		case root == "":
			root = "(folder unknown)"
		case ix.Vanished:
			root += " (vanished)"
		}
		fmt.Fprintf(&b, "%10s  %s\n            %s\n", bytesText(ix.Bytes), a.out.Text(root), a.out.Text(ix.Dir))
	}
	if len(indexes) == 0 {
		b.WriteString("There are no indexes.\n")
	}
	vectors, err := engine.VectorCache(s)
	if vectors.Bytes > 0 {
		fmt.Fprintf(&b, "%10s  %s\n            %s\n", bytesText(vectors.Bytes), "vectors that indexes share", a.out.Text(vectors.Dir))
	}
	return errors.Join(err, a.print(b.String()))
}
