package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// eventually waits until the state is as it should be.
func (b *bench) eventually(what string, ok func(Stats) bool) {
	b.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok(b.w.Stats()) {
		select {
		case <-b.w.Batches(): // a reader there is, always
		case <-tick.C:
		case <-deadline:
			b.Fatalf("%s: %+v", what, b.w.Stats())
		}
	}
}

// grant lets more directories be watched.
func (l *limited) grant(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left += n
}

// seen collects what Changed is told.
type seen struct {
	mu  sync.Mutex
	all []Stats
}

func (s *seen) add(st Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, st)
}

// notices returns the notices told, one where the same was told again.
func (s *seen) notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, st := range s.all {
		if st.Notice != "" && (len(all) == 0 || all[len(all)-1] != st.Notice) {
			all = append(all, st.Notice)
		}
	}
	return all
}

// TestLimitIsToldOnceAndLeft: one notice while the limit is reached, none when
// it is not any more.
func TestLimitIsToldOnceAndLeft(t *testing.T) {
	for _, limit := range []error{syscall.ENOSPC, syscall.EMFILE} {
		t.Run(limit.Error(), func(t *testing.T) {
			dir := t.TempDir()
			for i := range 10 {
				writeFile(t, filepath.Join(dir, fmt.Sprintf("d%d/a.go", i)), "1")
			}
			var sys *limited
			var told seen
			b := watchOn(t, dir, func(o *Options) { o.RetryInterval, o.Changed = 30*time.Millisecond, told.add },
				fake{wrap: func(s system) system {
					sys = &limited{system: s, left: 4, err: limit}
					return sys
				}})
			if s := b.w.Stats(); s.Watches != 4 || s.Polling != 6 {
				t.Errorf("%+v", s)
			}
			sys.grant(3)
			b.eventually("three more", func(s Stats) bool { return s.Watches == 7 && s.Polling == 3 && s.Notice != "" })
			for i := range 10 { // and nothing is missed, wherever it is
				b.write(fmt.Sprintf("d%d/a.go", i), "22")
				b.until(fmt.Sprintf("d%d/a.go", i))
			}
			sys.grant(100)
			b.eventually("all", func(s Stats) bool { return s.Watches == 10 && s.Polling == 0 && s.Notice == "" })
			for i := range 10 {
				b.write(fmt.Sprintf("d%d/a.go", i), "333")
				b.until(fmt.Sprintf("d%d/a.go", i))
			}
			n := told.notices()
			if len(n) != 1 {
				t.Fatalf("%d notices: %q", len(n), n)
			}
			what := map[error]string{syscall.ENOSPC: "fs.inotify.max_user_watches", syscall.EMFILE: "fs.inotify.max_user_instances"}[limit]
			if !strings.Contains(n[0], what) {
				t.Errorf("%q does not name %s", n[0], what)
			}
		})
	}
}

// TestNoInstanceAtFirst: notification comes back when it can be had.
func TestNoInstanceAtFirst(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "p/a.go"), "1")
	var mu sync.Mutex
	refuse := true
	b := watchOn(t, dir, func(o *Options) { o.RetryInterval = 20 * time.Millisecond }, fake{open: func() (system, error) {
		mu.Lock()
		defer mu.Unlock()
		if refuse {
			return nil, syscall.EMFILE
		}
		return openSystem()
	}})
	if s := b.w.Stats(); s.Watches != 0 || s.Polling != 1 || !strings.Contains(s.Notice, "max_user_instances") {
		t.Errorf("%+v", s)
	}
	b.write("p/a.go", "22")
	b.until("p/a.go")
	mu.Lock()
	refuse = false
	mu.Unlock()
	b.eventually("watched", func(s Stats) bool { return s.Watches == 1 && s.Polling == 0 && s.Notice == "" })
	b.write("p/a.go", "333")
	b.until("p/a.go")
}

// TestRemote: what the system does not tell all of is polled, and needs no
// notice.
func TestRemote(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "p/q/a.go"), "1")
	b := watchOn(t, dir, nil, fake{remote: func(string) bool { return true }})
	if s := b.w.Stats(); s.Watches != 0 || s.Polling != 1 || s.Notice != "" {
		t.Errorf("%+v", s)
	}
	b.write("p/q/a.go", "22")
	b.until("p/q/a.go")
	b.write("p/r/s/b.go", "1")
	b.until("p/r/s/b.go")
	b.must(os.Rename(b.path("p/r"), b.path("p/t")))
	b.until("p/r", "p/t/s/b.go")
}

func TestPollOnly(t *testing.T) {
	b := watchOn(t, t.TempDir(), func(o *Options) { o.PollOnly = true }, fake{open: func() (system, error) {
		t.Error("notification was asked for")
		return nil, errors.New("unexpected")
	}})
	b.write("p/a.go", "1")
	b.until("p/a.go")
	b.eventually("polled", func(s Stats) bool { return s.Polling == 1 && s.Watches == 0 && s.Notice == "" })
}

// descriptors counts the open ones of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd")
	}
	return len(entries)
}

// TestWatchesAreGivenBack: directories that come and go leave nothing.
func TestWatchesAreGivenBack(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(dir, "stays/a.go"), "1")
	var sys *counting
	b := watchOn(t, dir, nil, fake{wrap: func(s system) system {
		sys = &counting{system: s}
		return sys
	}})
	b.eventually("one", func(s Stats) bool { return s.Watches == 1 })
	before := descriptors(t)
	for i := range 150 {
		rel := fmt.Sprintf("d%d/e/f", i%3)
		b.write(rel+"/a.go", "1")
		b.write(fmt.Sprintf("d%d/b.go", i%3), "1")
		b.until(rel + "/a.go")
		if i%5 == 0 {
			b.eventually("watched", func(s Stats) bool { return s.Watches == 3 })
		}
		top := b.path(fmt.Sprintf("d%d", i%3))
		switch i % 3 {
		case 0:
			b.must(os.RemoveAll(top))
		case 1: // out of the workspace
			b.must(os.Rename(top, filepath.Join(elsewhere, fmt.Sprint(i))))
		case 2: // within it, then away
			b.must(os.Rename(top, top+"x"))
			b.must(os.RemoveAll(top + "x"))
		}
		b.eventually("given back", func(s Stats) bool { return s.Watches == 1 })
	}
	if now := descriptors(t); now > before+2 {
		t.Errorf("%d descriptors, were %d", now, before)
	}
	if list := sys.list(); len(list) != 1 {
		t.Errorf("the system still watches %q", list)
	}
}

// counting is a system that tells what it watches.
type counting struct{ system }

func (c *counting) list() []string {
	return c.system.(notifier).Watcher.WatchList()
}

// TestHolds: the index says which directories are worth a watch.
func TestHolds(t *testing.T) {
	dir := t.TempDir()
	for _, rel := range []string{"code/a.go", "media/b.go", "new/c.go"} {
		writeFile(t, filepath.Join(dir, rel), "1")
	}
	var mu sync.Mutex
	known, indexed := false, map[string]bool{"code": true}
	b := watch(t, dir, func(o *Options) {
		o.Holds = func(path string) (bool, bool) {
			mu.Lock()
			defer mu.Unlock()
			return indexed[filepath.Base(path)], known
		}
	})
	if n := b.w.Stats().Watches; n != 3 {
		t.Errorf("%d watches before anything is known, want 3", n)
	}
	mu.Lock()
	known = true
	mu.Unlock()
	b.eventually("code only", func(s Stats) bool { return s.Watches == 1 && s.Polling == 0 })
	b.write("media/b.go", "22") // looked at
	b.until("media/b.go")
	mu.Lock()
	indexed["new"] = true
	mu.Unlock()
	b.write("new/c.go", "22")
	b.until("new/c.go")
	b.eventually("new, too", func(s Stats) bool { return s.Watches == 2 })
	b.write("new/c.go", "333")
	b.until("new/c.go")
}

// TestMovedUnderAnUnwatchedFolder: the watch of a moved directory is that of its
// new name, though nobody told of the move above it.
func TestMovedUnderAnUnwatchedFolder(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a/b/c/x.go"), "1")
	writeFile(t, filepath.Join(dir, "to/y.go"), "1")
	b := watch(t, dir, func(o *Options) { o.PollInterval = 200 * time.Millisecond })
	for i := range 6 {
		from, to := "a/b", "to/b"
		if i%2 == 1 {
			from, to = to, from
		}
		b.must(os.Rename(b.path(from), b.path(to)))
		b.until(to + "/c/x.go")
		b.write(to+"/c/x.go", fmt.Sprint(i, "after the move"))
		b.until(to + "/c/x.go")
		b.eventually("two", func(s Stats) bool { return s.Watches == 2 })
	}
}

func TestHardLinksCallForARescan(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "one/a.go"), "1")
	writeFile(t, filepath.Join(dir, "two/b.go"), "1")
	if err := os.Link(filepath.Join(dir, "one/a.go"), filepath.Join(dir, "two/c.go")); err != nil {
		t.Skip(err)
	}
	b := watch(t, dir, nil)
	b.write("one/a.go", "22")
	b.untilRescan("files")
}

func TestCheck(t *testing.T) {
	b := watch(t, t.TempDir(), func(o *Options) { o.CheckInterval = 50 * time.Millisecond })
	b.untilRescan("check")
	b.untilRescan("check")
}

// TestNoiseHoldsNothingUp: a file that nobody wants is written all the time.
func TestNoiseHoldsNothingUp(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a.go"), "1")
	e := newEvents()
	at := filepath.Join(dir, "server.log")
	e.ignore(at)
	e.add(fsnotify.Event{Name: at, Op: fsnotify.Write})
	if got := e.take(); len(got.ops) != 0 || !got.first.IsZero() {
		t.Errorf("a write to an ignored file: %+v", got)
	}
	e.add(fsnotify.Event{Name: at, Op: fsnotify.Remove}) // a directory may take its place
	if got := e.take(); len(got.ops) != 1 {
		t.Errorf("a removal: %+v", got)
	}
	e.heed()
	e.add(fsnotify.Event{Name: at, Op: fsnotify.Write})
	if got := e.take(); len(got.ops) != 1 {
		t.Errorf("when other files may be kept: %+v", got)
	}
}

// TestManyEventsWaitLonger: the more there is, the longer the quiet must last.
func TestManyEventsWaitLonger(t *testing.T) {
	e := newEvents()
	for i := range 3 * swell {
		e.add(fsnotify.Event{Name: fmt.Sprint("/f", i), Op: fsnotify.Create})
	}
	if wait := e.wait(e.last, 50*time.Millisecond, time.Second); wait != 4*50*time.Millisecond {
		t.Errorf("%v for %d events", wait, 3*swell)
	}
	for i := range 100 * swell {
		e.add(fsnotify.Event{Name: fmt.Sprint("/f", i), Op: fsnotify.Create})
	}
	if wait := e.wait(e.last, 50*time.Millisecond, time.Minute); wait != mostSwell*50*time.Millisecond {
		t.Errorf("%v for very many", wait)
	}
	if wait := e.wait(e.first.Add(time.Hour), 50*time.Millisecond, time.Second); wait != 0 {
		t.Errorf("%v after an hour", wait)
	}
}
