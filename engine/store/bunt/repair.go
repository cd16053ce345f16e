package bunt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"coderag-ls/engine/store"
)

// repair leaves a log that buntdb can read, or none. bad says that there are
// values in it whose checksums fail.
func (s *Store) repair() (bad bool, err error) {
	path := s.path(dbFile)
	m, used, marked := s.readMark()
	v, err := inspect(path, m.size)
	if errors.Is(err, fs.ErrNotExist) {
		// A crash may have come between putting the damaged log aside and its successor
		// in its place.
		v, err = inspect(s.path(newFile), m.size)
		switch {
		case err == nil && v.meta == strconv.Itoa(Schema) && !v.torn && !v.damaged:
			if err := os.Rename(s.path(newFile), path); err != nil {
				return false, err
			}
			if err := s.syncDir(); err != nil {
				return false, err
			}
		default:
			v, err = verdict{}, nil
		}
		if marked {
			s.notice = m.compare(v)
		}
		return v.badSums > 0, err
	}
	if err != nil {
		return false, err
	}
	if marked {
		s.notice = m.compare(v)
	}
	schema, unknown := strconv.Atoi(v.meta)
	switch {
	case v.size == 0 && used && !marked:
		s.notice = "The index was empty, though there had been one; everything is indexed again."
		return false, nil
	case v.size == 0 || v.torn && v.sound == 0:
		return false, os.Truncate(path, 0)
	case unknown == nil && schema > Schema:
		return false, fmt.Errorf("opening index %s: %w (schema %d; this program reads %d): use the newer program, or delete the directory to index again",
			s.dir, store.ErrNewer, schema, Schema)
	case unknown == nil && schema == Schema && v.damaged && marked && m.closed && v.sound == m.size:
		// Nothing was written since, so that nothing is lost with what stands
		// behind: zeros, mostly, from a file system that had reserved room.
		if more, err := v.followed(path); err != nil || !more {
			return v.badSums > 0, errors.Join(err, os.Truncate(path, v.sound))
		}
		return false, s.quarantine(v)
	case unknown != nil || v.damaged:
		return false, s.quarantine(v)
	case schema < Schema:
		return false, s.migrate(schema)
	case v.torn:
		return v.badSums > 0, os.Truncate(path, v.sound)
	}
	return v.badSums > 0, nil
}

// quarantine puts a damaged log aside and makes a new one of what is sound in it.
func (s *Store) quarantine(v verdict) error {
	path, fresh := s.path(dbFile), s.path(newFile)
	aside := path + ".damaged-" + s.opts.Now().UTC().Format("20060102T150405.000Z")
	older, err := filepath.Glob(escapeGlob(path) + ".damaged-*")
	if err != nil {
		return err
	}
	n, err := s.salvage(path, fresh, func(string) bool { return true })
	saved := fmt.Sprintf("%d records of it were saved", n)
	if err != nil {
		os.Remove(fresh)
		if isFull(err) {
			return err // with more room, it can be saved
		}
		saved = fmt.Sprintf("nothing of it could be saved (%v)", err)
	}
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("putting the damaged index aside: %w", err)
	}
	if err == nil {
		if err := os.Rename(fresh, path); err != nil {
			return fmt.Errorf("replacing the damaged index: %w", err)
		}
	}
	s.notice = fmt.Sprintf("The index was damaged (from byte %d of %d on) and is built anew; %s. The damaged file is %s.",
		v.sound, v.size, saved, aside)
	for _, o := range older { // one is enough to look at
		os.Remove(o)
	}
	return s.syncDir()
}

// escapeGlob makes a path match itself only.
func escapeGlob(p string) string {
	if runtime.GOOS == "windows" {
		return p // has no escape
	}
	var b []byte
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, p[i])
	}
	return string(b)
}

// migrate keeps the vectors of an older schema: they are expensive, and their form is as old as
// the first. Files are indexed again.
func (s *Store) migrate(from int) error {
	n, err := s.salvage(s.path(dbFile), s.path(newFile), func(key string) bool {
		return len(key) > 0 && (key[:1] == modelChar || key[:1] == vecPrefix)
	})
	if err != nil {
		return fmt.Errorf("migrating from schema %d: %w", from, err)
	}
	if err := os.Rename(s.path(newFile), s.path(dbFile)); err != nil {
		return fmt.Errorf("migrating from schema %d: %w", from, err)
	}
	s.notice = fmt.Sprintf("The index was of an older schema (%d; now %d): files are indexed again, %d records of vectors were kept.", from, Schema, n)
	return s.syncDir()
}
