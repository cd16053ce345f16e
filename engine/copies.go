package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/sharedindex"
)

// copies are the read-only files in which editors open what is cited of other
// repositories. A nil one makes none.
type copies struct {
	dir       string // "" where there is no place for them
	most      int64
	checkouts map[string]string // folders by repository
	link      string

	mu    sync.Mutex
	bytes int64 // on disk, -1 where that is not known
}

// copiesDir is the folder of the copies below a cache directory.
func copiesDir(cacheDir string) string {
	return filepath.Join(cacheDir, fmt.Sprintf("v%d", SchemaVersion), "repositories")
}

func newCopies(cacheDir string, s config.Shared) (*copies, error) {
	c := &copies{most: int64(s.CopyBytes), checkouts: map[string]string{}, link: s.WebLink, bytes: -1}
	if cacheDir != noCacheDir {
		c.dir = copiesDir(cacheDir)
	}
	for _, pair := range s.Checkouts {
		name, dir, ok := strings.Cut(pair, "=")
		name, dir = strings.TrimSpace(name), strings.TrimSpace(dir)
		switch {
		case !ok || sharedindex.CheckName(name) != nil:
			return nil, fmt.Errorf("setting shared.checkouts: %q is not REPOSITORY=FOLDER", pair)
		case !filepath.IsAbs(dir):
			return nil, fmt.Errorf("setting shared.checkouts: the folder %q of %s is not absolute", dir, name)
		}
		c.checkouts[name] = filepath.Clean(dir)
	}
	return c, nil
}

// RemoveCopies deletes the copies of cited files of other repositories and returns how many
// bytes were freed. They are made again when they are cited.
func RemoveCopies(s config.Settings) (freed int64, err error) {
	cache, err := CacheDir(s)
	if err != nil {
		return 0, err
	}
	dir := copiesDir(cache)
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read counts nothing
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				freed += info.Size()
			}
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return 0, fmt.Errorf("deleting copies of cited files: %w", err)
	}
	return freed, nil
}

// root is the folder that stands for a repository at a commit. It need not exist.
func (c *copies) root(repository, commit string) string {
	dir := c.dir
	if dir == "" {
		dir = copiesDir(os.TempDir()) // no file is made there
	}
	return filepath.Join(dir, filepath.FromSlash(repository)+"@"+url.PathEscape(commit))
}

// open returns the file in which a read file is opened: the local checkout's where
// that has the same text, else a copy, which is made.
func (c *copies) open(r *sharedindex.Read) (string, error) {
	rel := filepath.FromSlash(r.Path)
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s of %s has no usable path", r.Path, r.Repository)
	}
	if dir := c.checkouts[r.Repository]; dir != "" {
		path := filepath.Join(dir, rel)
		if content, err := file.Read(path, int64(len(r.Text))*4+4); err == nil && content.Hash == r.Record.Hash {
			return path, nil
		}
	}
	path := filepath.Join(c.root(r.Repository, r.Commit), rel)
	if c.dir == "" {
		return path, errors.New("there is no cache directory to keep it in")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if data, err := os.ReadFile(path); err == nil && string(data) == r.Text {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // only the order of removal depends on it
		return path, nil
	}
	if err := c.write(path, r.Text); err != nil {
		return path, fmt.Errorf("keeping a copy of %s of %s: %w", r.Path, r.Repository, err)
	}
	return path, nil
}

// resolve finds the copy of a path that results show, such as
// repository@commit:dir/file.go.
func (c *copies) resolve(path string) (string, bool) {
	name, rel, ok := strings.Cut(path, ":")
	repository, commit, at := strings.Cut(name, "@")
	if !ok || !at || c.dir == "" || sharedindex.CheckName(repository) != nil || !filepath.IsLocal(filepath.FromSlash(rel)) {
		return "", false
	}
	abs := filepath.Join(c.root(repository, commit), filepath.FromSlash(rel))
	info, err := os.Stat(abs)
	return abs, err == nil && info.Mode().IsRegular()
}

// write writes a file so that whoever opens it sees all of it. mu is held.
func (c *copies) write(path, content string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".copy-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(content)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Chmod(tmp.Name(), 0o400); err != nil {
		return err
	}
	_ = os.Chmod(path, 0o600) // Windows replaces no read-only file
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	if c.bytes >= 0 {
		c.bytes += int64(len(content))
	}
	if c.bytes < 0 || c.bytes > c.most {
		return c.trim(path)
	}
	return nil
}

// trim removes the copies that were opened longest ago, down to three quarters of what they may
// take, but not the one at path. mu is held.
func (c *copies) trim(path string) error {
	type copied struct {
		path string
		info fs.FileInfo
	}
	var all []copied
	var bytes int64
	err := filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it went meanwhile, or is none of ours
		}
		if info, err := d.Info(); err == nil {
			all, bytes = append(all, copied{p, info}), bytes+info.Size()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if bytes > c.most {
		slices.SortFunc(all, func(a, b copied) int {
			return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), strings.Compare(a.path, b.path))
		})
		for _, one := range all {
			if bytes <= c.most/4*3 {
				break
			}
			if one.path == path {
				continue
			}
			_ = os.Chmod(one.path, 0o600)
			if os.Remove(one.path) == nil {
				bytes -= one.info.Size()
				_ = os.Remove(filepath.Dir(one.path)) // only where it is empty
			}
		}
	}
	c.bytes = bytes
	return nil
}

// webLink fills in the template of web links, "" where none is set.
func (c *copies) webLink(r *sharedindex.Read, start, end int) string {
	if c.link == "" {
		return ""
	}
	segments := strings.Split(r.Path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.NewReplacer(
		"{repository}", r.Repository, "{commit}", url.PathEscape(r.Commit), "{path}", strings.Join(segments, "/"),
		"{start}", strconv.Itoa(start), "{end}", strconv.Itoa(end),
	).Replace(c.link)
}
