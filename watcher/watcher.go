// Package watcher tells which paths of a workspace may have changed on disk. It
// uses the operating system's notifications and polls the directories that
// these cannot serve. What it reports are hints: a path in a batch may not have
// changed, and only a look at the disk tells what became of it. The watcher
// knows nothing of what is done with its batches.
package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options say what is watched. The zero value of each but Roots has a default.
type Options struct {
	// Roots are the absolute directories that are watched with all below them.
	Roots []string
	// Keep reports whether a path (absolute) is worth reporting and, for a
	// directory, worth watching. It is called concurrently with everything
	// else and must be quick. nil keeps all. Git's own directories are watched
	// for a change of branch whatever Keep says, and never below.
	Keep func(path string, isDir bool) bool
	// Debounce is how long nothing must happen before a batch is made; 0 means
	// 50 ms, in which an editor's atomic save is over.
	Debounce time.Duration
	// MaxDelay is how long a batch is put off while changes keep coming; 0
	// means 500 ms. A git command that holds the index lock puts it off longer,
	// up to ten times MaxDelay, so that a change of branch is one batch.
	MaxDelay time.Duration
	// PollInterval is how often the directories that cannot be watched are
	// listed; 0 means 2 s. Where a round takes longer than a twentieth of it,
	// the next one waits in proportion.
	PollInterval time.Duration
	// MaxWatches bounds the directories watched by notification, the rest is
	// polled; 0 means three quarters of what the system grants the user.
	MaxWatches int
	// Logger takes the notice of a reached limit and errors of the system; nil
	// drops them.
	Logger *slog.Logger
}

// Batch is a set of paths that may have changed.
type Batch struct {
	// Paths are absolute, sorted and unique: files that may have changed,
	// appeared or gone, and directories that have gone with all below them.
	Paths []string
	// Rescan is true where anything may have changed; Paths need not be all.
	Rescan bool
	// Cause says what happened, for people: "files", "git", "overflow" or
	// "start".
	Cause string
}

// Stats are the state of a watcher.
type Stats struct {
	// Watches is the number of directories watched by notification, Cap how
	// many may be, and Polling the number of those that are listed instead.
	Watches, Cap, Polling int
	// Notice says what the user should know and can do about it; "" where all
	// is well.
	Notice string
}

// Watcher watches until it is closed.
type Watcher struct {
	opts    Options
	sys     system
	batches chan Batch
	events  *events
	refresh chan struct{}
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	tree *tree // of the process goroutine only

	mu    sync.Mutex
	stats Stats // guarded by mu
}

// system is the operating system's notification, fsnotify.Watcher but for
// tests.
type system interface {
	Add(dir string) error
	Remove(dir string) error
	Close() error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
}

type notifier struct{ *fsnotify.Watcher }

func (n notifier) Events() <-chan fsnotify.Event { return n.Watcher.Events }
func (n notifier) Errors() <-chan error          { return n.Watcher.Errors }

// New watches the roots until ctx ends or Close is called. Directories are
// added in the background: a first batch with Rescan, of Cause "start", tells
// that from then on nothing is missed.
func New(ctx context.Context, opts Options) (*Watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		// No notification at all (EMFILE at the first instance): poll.
		return start(ctx, opts, unserved{err: err})
	}
	return start(ctx, opts, notifier{fs})
}

// unserved is a system that watches nothing.
type unserved struct{ err error }

func (u unserved) Add(string) error            { return u.err }
func (unserved) Remove(string) error           { return nil }
func (unserved) Close() error                  { return nil }
func (unserved) Events() <-chan fsnotify.Event { return nil }
func (unserved) Errors() <-chan error          { return nil }

func start(ctx context.Context, opts Options, sys system) (*Watcher, error) {
	roots := make([]string, len(opts.Roots))
	for i, root := range opts.Roots {
		if !filepath.IsAbs(root) {
			return nil, errors.Join(fmt.Errorf("watching %q: not an absolute path", root), sys.Close())
		}
		if info, err := os.Stat(root); err != nil {
			return nil, errors.Join(fmt.Errorf("watching %s: %w", root, err), sys.Close())
		} else if !info.IsDir() {
			return nil, errors.Join(fmt.Errorf("watching %s: not a directory", root), sys.Close())
		}
		roots[i] = filepath.Clean(root)
	}
	opts.Roots = roots
	if opts.Keep == nil {
		opts.Keep = func(string, bool) bool { return true }
	}
	if opts.Debounce <= 0 {
		opts.Debounce = 50 * time.Millisecond
	}
	if opts.MaxDelay <= 0 {
		opts.MaxDelay = 500 * time.Millisecond
	}
	if opts.PollInterval <= 0 {
		opts.PollInterval = 2 * time.Second
	}
	if opts.MaxWatches <= 0 {
		opts.MaxWatches = systemLimit()
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	run, cancel := context.WithCancel(ctx)
	w := &Watcher{
		opts: opts, sys: sys, batches: make(chan Batch), events: newEvents(),
		refresh: make(chan struct{}, 1), cancel: cancel, stats: Stats{Cap: opts.MaxWatches},
	}
	w.tree = newTree(w)
	w.wg.Go(w.read)
	w.wg.Go(func() { w.process(run) })
	return w, nil
}

// Batches returns the channel of batches; it is closed by Close and by the end
// of the context. A reader may be as slow as it likes: what happens meanwhile
// becomes part of the next batch.
func (w *Watcher) Batches() <-chan Batch { return w.batches }

// Stats returns the state.
func (w *Watcher) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Refresh asks Keep about every directory again: call it when what Keep says
// has changed. It returns at once. After an ignore file changed (a name of the
// form ".*ignore") and after a batch with Rescan the watcher does so by itself,
// one second and five seconds after the batch was taken.
func (w *Watcher) Refresh() {
	select {
	case w.refresh <- struct{}{}:
	default: // one is waiting already
	}
}

// Close ends watching and waits until its goroutines have ended.
func (w *Watcher) Close() error {
	w.cancel()
	w.wg.Wait()
	return nil
}

// read drains the system's events: it never waits for anything else, so that
// the kernel's queue stays short.
func (w *Watcher) read() {
	events, errs := w.sys.Events(), w.sys.Errors()
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.events.add(e)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.opts.Logger.Warn("watching files", "error", err)
			}
			w.events.lost()
		}
	}
}

// process turns events into batches.
func (w *Watcher) process(ctx context.Context) {
	defer close(w.batches)
	defer func() {
		if err := w.sys.Close(); err != nil {
			w.opts.Logger.Warn("closing the file watcher", "error", err)
		}
	}()
	next := &batch{}
	w.tree.start(ctx)
	next.rescan("start")
	w.publish()

	due := time.NewTimer(w.opts.Debounce)
	defer due.Stop()
	poll := time.NewTimer(w.opts.PollInterval)
	defer poll.Stop()
	again := time.NewTimer(time.Hour) // for Keep to follow what was told
	again.Stop()
	defer again.Stop()
	var later []time.Duration
	armed := true
	for {
		var out chan Batch
		var ready Batch
		if !next.empty() {
			out, ready = w.batches, next.batch()
		}
		select {
		case <-ctx.Done():
			return
		case out <- ready:
			if next.all || next.rules {
				later = []time.Duration{time.Second, 4 * time.Second}
				again.Reset(later[0])
			}
			next = &batch{}
			continue
		case <-again.C:
			w.tree.resync(ctx, next)
			if later = later[1:]; len(later) > 0 {
				again.Reset(later[0])
			}
		case <-w.events.wake:
			if !armed {
				armed = true
				due.Reset(w.opts.Debounce)
			}
			continue
		case <-due.C:
			now := time.Now()
			wait := w.events.wait(now, w.opts.Debounce, w.opts.MaxDelay)
			if wait > 0 {
				due.Reset(wait)
				continue
			}
			armed = false
			seen, lost := w.events.take()
			w.tree.apply(ctx, seen, next)
			if lost {
				w.tree.resync(ctx, next)
				next.rescan("overflow")
			}
		case <-poll.C:
			took := w.tree.poll(ctx, next)
			poll.Reset(max(w.opts.PollInterval, 20*took))
		case <-w.refresh:
			w.tree.resync(ctx, next)
		}
		w.publish()
	}
}

// publish makes the tree's state visible to Stats.
func (w *Watcher) publish() {
	s := w.tree.stats()
	w.mu.Lock()
	before := w.stats.Notice
	w.stats = s
	w.mu.Unlock()
	if s.Notice != "" && before == "" {
		w.opts.Logger.Warn(s.Notice)
	}
}
