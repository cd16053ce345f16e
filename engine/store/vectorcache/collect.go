package vectorcache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// found is a segment on disk.
type found struct {
	path    string
	bytes   int64
	changed time.Time
}

// list returns the segments of all models, newest first. What is not there, or
// cannot be read, counts nothing.
func list(dir string) (all []found, total int64, err error) {
	models, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("reading the vector cache: %w", err)
	}
	for _, m := range models {
		if !m.IsDir() || !isName(m.Name()) {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, m.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, 0, fmt.Errorf("reading the vector cache: %w", err)
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil && isSegment(f.Name()) {
				all = append(all, found{filepath.Join(dir, m.Name(), f.Name()), info.Size(), info.ModTime()})
				total += info.Size()
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(b.path, a.path)) })
	return all, total, nil
}

// Size returns how many bytes the cache in a directory takes.
func Size(dir string) (int64, error) {
	_, total, err := list(dir)
	return total, err
}

// Collect removes the segments that were written to least recently until the
// cache takes at most maxBytes, and returns how many bytes were freed. A cache
// in use may be collected: what is gone is made again.
func Collect(dir string, maxBytes int64) (int64, error) {
	all, total, err := list(dir)
	if err != nil {
		return 0, err
	}
	return collect(all, total, maxBytes)
}

func collect(all []found, total, maxBytes int64) (freed int64, err error) {
	var errs []error
	for _, f := range slices.Backward(all) {
		if total-freed <= maxBytes {
			break
		}
		// Where files in use cannot be removed, the next oldest goes.
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("collecting the vector cache: %w", err))
			continue
		}
		freed += f.bytes
	}
	return freed, errors.Join(errs...)
}

// survey keeps the size in bounds, and returns the age from which on segments
// belong to the older half of what may be kept, zero while there is room. It
// looks at the disk once in a while only; writing tells that something is about
// to be written.
func (c *Cache) survey(writing bool) (half time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen && (!writing || c.since < c.blockBytes()) {
		return c.half
	}
	all, total, err := list(c.opts.Dir)
	if err != nil {
		c.tell(err)
		return c.half
	}
	c.seen, c.since, c.half = true, 0, time.Time{}
	kept := int64(0)
	for _, f := range all {
		if kept += f.bytes; kept > c.opts.MaxBytes/2 {
			c.half = f.changed.Add(1)
			break
		}
	}
	if writing && total > c.opts.MaxBytes*3/4 {
		freed, err := collect(all, total, c.opts.MaxBytes*3/4)
		c.log.Debug("the vector cache was full", "freed", freed)
		if err != nil {
			c.tell(err)
		}
	}
	return c.half
}

// Remove deletes the cache in a directory and returns how many bytes were freed.
// Nothing else in it is touched. Processes that use it go on with an empty one.
func Remove(dir string) (freed int64, err error) {
	all, total, err := list(dir)
	if err != nil {
		return 0, err
	}
	freed, err = collect(all, total, -1)
	errs := []error{err}
	models, _ := os.ReadDir(dir)
	for _, m := range models {
		path := filepath.Join(dir, m.Name())
		switch {
		case m.IsDir() && isName(m.Name()):
			claims, _ := filepath.Glob(filepath.Join(path, "[0-9a-f][0-9a-f]"+claimSuffix))
			for _, claim := range claims {
				os.Remove(claim) // it runs out
			}
			os.Remove(path) // unless there is something else in it
		case strings.HasPrefix(m.Name(), slotPrefix):
			// A slot that is held must stay, lest two processes hold one.
			l := flock.New(path)
			if ok, err := l.TryLock(); ok && err == nil {
				os.Remove(path)
			}
			l.Close()
		}
	}
	os.Remove(dir)
	return freed, errors.Join(errs...)
}
