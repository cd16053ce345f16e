package watcher

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watches are the system's notifications and their limits.
type watches struct {
	w        *Watcher
	sys      system            // nil where there are no notifications
	byID     map[fileID]string // the watched directories
	watching int               // how many
	most     int               // how many there may be
	notice   string
	// limited is why no more watches are asked for, nil where they are.
	limited   error
	nextRetry time.Time

	lastLook, lastPoll, nextPoll time.Time
}

// errCap is our own limit.
var errCap = errors.New("as many as may be")

func (s *watches) init(w *Watcher) {
	s.w, s.byID, s.most = w, map[fileID]string{}, limit(w.opts)
}

// open begins to take notifications.
func (s *watches) open() {
	if s.w.opts.PollOnly {
		return
	}
	sys, err := s.w.open()
	if err != nil {
		s.reached(err)
		return
	}
	s.sys = sys
	s.w.wg.Go(func() { s.w.read(sys) })
}

func (s *watches) close() {
	if s.sys == nil {
		return
	}
	if err := s.sys.Close(); err != nil {
		s.w.opts.Logger.Warn("closing the file watcher", "error", err)
	}
}

// watch watches a directory by notification, where that is to be had.
func (t *tree) watch(path string, d *dir) bool {
	s := &t.watches
	if t.w.opts.PollOnly || s.limited != nil {
		return false
	}
	if s.watching >= s.most {
		s.reached(errCap)
		return false
	}
	if d.id.known() {
		// A directory has one watch, whatever it is called: the one of a directory
		// that has been moved is given up, else ending it ended this one.
		if old, had := s.byID[d.id]; had && old != path {
			if was := t.dirs[old]; was != nil {
				t.unwatch(old, was) // the next look finds out what is there now
			}
		}
	}
	switch err := s.sys.Add(path); {
	case err == nil:
		d.watched = true
		s.watching++
		if d.id.known() {
			s.byID[d.id] = path
		}
		return true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false // a look finds out
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		s.reached(err)
	default:
		t.w.opts.Logger.Debug("watching a directory", "dir", path, "error", err)
	}
	return false
}

// unwatch gives a watch back.
func (t *tree) unwatch(path string, d *dir) {
	if !d.watched {
		return
	}
	d.watched, d.modTime = false, 0
	t.watching--
	if t.byID[d.id] == path {
		delete(t.byID, d.id)
	}
	err := t.sys.Remove(path)
	// The system has forgotten what was deleted.
	if err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) && !errors.Is(err, syscall.EINVAL) {
		t.w.opts.Logger.Debug("ending a watch", "dir", path, "error", err)
	}
	if t.limited != nil && t.sys != nil {
		t.limited, t.unsure = nil, true // there is room for one
	}
}

// reached notes a limit: no more watches are asked for until retry.
func (s *watches) reached(err error) {
	s.limited = err
	s.nextRetry = time.Now().Add(s.w.opts.RetryInterval)
	if s.notice == "" {
		s.notice = s.explain(err)
	}
}

func (s *watches) explain(err error) string {
	what := fmt.Sprintf("only %d directories can be watched for changes", s.watching)
	if s.sys == nil {
		what = fmt.Sprintf("directories cannot be watched for changes (%v)", err)
	}
	return fmt.Sprintf("%s; the others are looked at every %v. %s", what, s.w.opts.PollInterval, advice(err))
}

// retry asks for watches again that were refused some time ago.
func (t *tree) retry() {
	if t.limited == nil || time.Now().Before(t.nextRetry) {
		return
	}
	t.most = limit(t.w.opts)
	t.limited = nil
	if t.sys == nil {
		if t.open(); t.sys == nil {
			return
		}
	}
	t.unsure = true
}

// relieved takes the notice back where every directory that should be watched
// is.
func (t *tree) relieved() {
	if t.limited == nil {
		t.notice = ""
	}
}
