package file

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Listing is what a scan found, in order of path.
type Listing struct {
	// Entries are the files that are to be indexed.
	Entries []Entry
	// Skips are the files and directories that are not.
	Skips []Skip
	// Dirs are the directories (slash-separated, relative, "." for the root)
	// that hold an entry, directly or below: those worth watching.
	Dirs []string
	// Unreadable are the directories that could not be listed: nothing is
	// known of the files below them, so none may be taken as deleted.
	Unreadable []string
}

// UnderUnreadable reports whether a path lies below a directory that could not
// be listed.
func (l *Listing) UnderUnreadable(rel string) bool {
	for _, dir := range l.Unreadable {
		if dir == "." || strings.HasPrefix(rel, dir+"/") {
			return true
		}
	}
	return false
}

// Scan walks the root.
func (r *Rules) Scan(ctx context.Context) (Listing, error) {
	var l Listing
	err := filepath.WalkDir(r.root.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("scanning %s: %w", p, err)
		}
		rel, _ := filepath.Rel(r.root.Dir, p)
		rel = filepath.ToSlash(rel)
		if reason, detail := r.Decide(rel, d.IsDir()); reason != "" {
			l.Skips = append(l.Skips, Skip{Path: rel, Reason: reason, Detail: detail, Dir: d.IsDir()})
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			l.Dirs = append(l.Dirs, rel)
			return ctx.Err()
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		l.Entries = append(l.Entries, Entry{Path: rel, Size: info.Size(), ModTime: info.ModTime()})
		return nil
	})
	return l, err
}
