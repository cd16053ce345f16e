package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
)

// SchemaVersion is the version of what index directories hold; another version
// is another directory.
const SchemaVersion = index.SchemaVersion

// CacheDir returns the directory that holds the indexes: setting
// index.cacheDir, else "coderag" in the user's cache directory.
func CacheDir(s config.Settings) (string, error) {
	if s.Index.CacheDir != "" {
		return filepath.Abs(s.Index.CacheDir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache directory (set index.cacheDir instead): %w", err)
	}
	return filepath.Join(base, "coderag"), nil
}

// IndexDir returns the index directory of a workspace folder.
func IndexDir(s config.Settings, root file.Root) (string, error) {
	cache, err := CacheDir(s)
	if err != nil {
		return "", err
	}
	return index.Dir(cache, root), nil
}

// rootFile is the file in an index directory that names the folder it is of:
// the directory's own name holds only a digest.
const rootFile = "ROOT"

// recordRoot writes down in a folder's index directory whose it is, so that
// Indexes can tell when the folder has vanished.
func recordRoot(s config.Settings, root file.Root) error {
	dir, err := IndexDir(s, root)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, rootFile)
	if old, err := os.ReadFile(path); err == nil && string(old) == root.Dir {
		return nil
	}
	if err := os.WriteFile(path, []byte(root.Dir), 0o600); err != nil {
		return fmt.Errorf("recording the folder of index %s: %w", dir, err)
	}
	return nil
}

// IndexInfo describes one index directory.
type IndexInfo struct {
	Dir string
	// Root is the workspace folder, "" where that was not recorded.
	Root string
	// Bytes is the size on disk.
	Bytes int64
	// Vanished is true where the folder is known and no longer exists.
	Vanished bool
}

// What index directories look like below the cache directory: nothing else is
// ever listed or removed.
var (
	versionDir = regexp.MustCompile(`^v[0-9]+$`)
	indexDir   = regexp.MustCompile(`-[0-9a-f]{16}$`)
)

// Indexes lists the index directories of all versions, in order of their
// names. A cache directory that does not exist holds none.
func Indexes(s config.Settings) ([]IndexInfo, error) {
	cache, err := CacheDir(s)
	if err != nil {
		return nil, err
	}
	var all []IndexInfo
	versions, err := os.ReadDir(cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the cache directory: %w", err)
	}
	for _, v := range versions {
		if !v.IsDir() || !versionDir.MatchString(v.Name()) {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(cache, v.Name()))
		if err != nil {
			return nil, fmt.Errorf("listing the cache directory: %w", err)
		}
		for _, e := range entries {
			if e.IsDir() && indexDir.MatchString(e.Name()) {
				all = append(all, describe(filepath.Join(cache, v.Name(), e.Name())))
			}
		}
	}
	return all, nil
}

// describe looks at one index directory; what cannot be read counts nothing.
func describe(dir string) IndexInfo {
	info := IndexInfo{Dir: dir}
	if data, err := os.ReadFile(filepath.Join(dir, rootFile)); err == nil {
		info.Root = strings.TrimSpace(string(data))
		_, err := os.Stat(info.Root)
		info.Vanished = errors.Is(err, fs.ErrNotExist)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return info
	}
	for _, f := range files {
		if fi, err := f.Info(); err == nil {
			info.Bytes += fi.Size()
		}
	}
	return info
}

// RemoveIndex deletes an index directory that Indexes or IndexDir named. One
// that another process works on is store.ErrLocked, one that is not there no
// error.
func RemoveIndex(ctx context.Context, dir string) error {
	if !indexDir.MatchString(dir) {
		return fmt.Errorf("%s is no index directory", dir)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	st, err := bunt.Open(ctx, dir, bunt.Options{})
	if errors.Is(err, store.ErrLocked) {
		return err
	}
	if err == nil { // a store that cannot be opened is deleted all the same
		_ = st.Close() // as is one that cannot be closed
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("deleting index %s: %w", dir, err)
	}
	return nil
}
