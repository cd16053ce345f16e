package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

// foldersOf returns the workspace folders of a session's start; none is a
// session about single files.
func foldersOf(p initializeParams) []workspaceFolder {
	switch {
	case len(p.WorkspaceFolders) > 0:
		return p.WorkspaceFolders
	case p.RootURI != nil && *p.RootURI != "":
		return []workspaceFolder{{URI: *p.RootURI}}
	case p.RootPath != nil && filepath.IsAbs(*p.RootPath):
		return []workspaceFolder{{URI: text.URIFromPath(*p.RootPath)}}
	}
	return nil
}

// rootsOf returns the folders that can be indexed, with unique names, and what
// is to be said of the others.
func rootsOf(folders []workspaceFolder) (roots []file.Root, notes []string) {
	home, _ := os.UserHomeDir()
	names := map[string]bool{}
	for _, folder := range folders {
		dir := filePath(folder.URI)
		if dir == "" {
			notes = append(notes, fmt.Sprintf("%s is not indexed: it is no local folder", folder.URI))
			continue
		}
		dir = filepath.Clean(dir)
		switch info, err := os.Stat(dir); {
		case errors.Is(err, fs.ErrNotExist):
			notes = append(notes, fmt.Sprintf("%s is not indexed: it does not exist", dir))
			continue
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s is not indexed: %v", dir, err))
			continue
		case !info.IsDir():
			notes = append(notes, fmt.Sprintf("%s is not indexed: it is no folder", dir))
			continue
		case filepath.Dir(dir) == dir, dir == home:
			notes = append(notes, fmt.Sprintf("%s is not indexed: it holds more than a project; open the project's own folder", dir))
			continue
		}
		if err := readable(dir); err != nil {
			notes = append(notes, fmt.Sprintf("%s is not indexed: it cannot be read: %v", dir, err))
			continue
		}
		if slices.ContainsFunc(roots, func(r file.Root) bool { return r.Dir == dir }) {
			continue
		}
		roots = append(roots, file.Root{Name: uniqueName(names, folder.Name, dir), Dir: dir})
	}
	return roots, notes
}

// readable says why a folder cannot be listed.
func readable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		err = nil // it is empty
	}
	return errors.Join(err, f.Close())
}

// uniqueName returns a folder's name as paths are prefixed with it.
func uniqueName(taken map[string]bool, name, dir string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r < ' ' {
			return '-'
		}
		return r
	}, name), " ")
	if name == "" || name == "." || name == ".." {
		name = filepath.Base(dir)
	}
	unique := name
	for n := 2; taken[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	taken[unique] = true
	return unique
}

type didChangeWorkspaceFoldersParams struct {
	Event struct {
		Added   []workspaceFolder `json:"added"`
		Removed []workspaceFolder `json:"removed"`
	} `json:"event"`
}

func (s *server) didChangeWorkspaceFolders(_ context.Context, p didChangeWorkspaceFoldersParams) error {
	s.manager.want(func() {
		kept := slices.DeleteFunc(slices.Clone(s.manager.folders), func(f workspaceFolder) bool {
			return slices.ContainsFunc(p.Event.Removed, func(r workspaceFolder) bool { return r.URI == f.URI })
		})
		s.manager.folders = append(kept, p.Event.Added...)
	})
	return nil
}
