// Package watcher tells which paths of a workspace may have changed on disk. It
// watches the directories that hold indexed files by the operating system's
// notifications and looks at the others now and then; so it does where
// notifications are not to be had. What it reports are hints: a path in a batch
// may not have changed, and only a look at the disk tells what became of it. The
// watcher knows nothing of what is done with its batches.
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
	// directory, worth going into. It is called concurrently with everything
	// else and must be quick. nil keeps all.
	Keep func(path string, isDir bool) bool
	// Holds reports whether a directory itself holds files that are indexed;
	// known is false as long as that is not sure. A directory that holds none is
	// not watched but looked at: only its own time is, and that of what Keep
	// keeps in it. Where nothing is known, and for nil, a directory holds files
	// if there is one in it that is kept and not empty.
	Holds func(dir string) (holds, known bool)
	// Known returns the files (absolute) below the directories that somebody has
	// told of, be it not the watcher: one that was there only between two looks at
	// a directory that is not watched is reported as gone then. May be nil.
	Known func(dirs []string) []string
	// Debounce is how long nothing must happen before a batch is made; 0 means
	// 50 ms, in which an editor's atomic save is over. The more there is in the
	// batch, the longer, up to ten times that.
	Debounce time.Duration
	// MaxDelay is how long a batch is put off while changes keep coming; 0
	// means 500 ms. It grows with the batch as Debounce does.
	MaxDelay time.Duration
	// GitHold bounds how long a batch is held back while a git command works on
	// its work tree, so that a change of branch is one batch; 0 means 10 s.
	GitHold time.Duration
	// PollInterval is how often the directories are listed that should be watched
	// and cannot be; 0 means 2 s. Where a round takes longer than a twentieth of
	// it, the next one waits in proportion. Directories without indexed files are
	// looked at every 500 ms, or at PollInterval where that is less or where
	// nothing has happened for a minute.
	PollInterval time.Duration
	// PollOnly has no notifications used at all.
	PollOnly bool
	// CheckInterval is the time between two batches of Cause "check", which call
	// for a rescan in a quiet moment, to find what no event told; 0 means 5 min.
	CheckInterval time.Duration
	// RetryInterval is the time after which more watches are tried when the
	// system has refused some; 0 means 10 s.
	RetryInterval time.Duration
	// MaxWatches bounds the directories watched by notification, the rest is
	// polled; 0 means three quarters of what the system grants the user.
	MaxWatches int
	// Changed is called with the state whenever it has changed, never
	// concurrently, and first when all directories were visited. May be nil.
	Changed func(Stats)
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
	// Cause says what happened, for people: "files", "git", "overflow", "check"
	// or "start".
	Cause string
}

// Stats are the state of a watcher.
type Stats struct {
	// Watches is the number of directories watched by notification, Cap how
	// many may be, and Polling the number of those that hold indexed files and
	// are listed instead, for the limit or for their file system.
	Watches, Cap, Polling int
	// Notice says what the user should know and can do about a reached limit; ""
	// where all is well. It stays the same for as long as the limit is reached.
	Notice string
}

// Watcher watches until it is closed.
type Watcher struct {
	opts    Options
	open    func() (system, error)
	remote  func(dir string) bool // a file system that does not tell all changes
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

func openSystem() (system, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return notifier{n}, nil
}

// New watches the roots until ctx ends or Close is called. Directories are
// visited in the background: a first batch with Rescan, of Cause "start", tells
// that from then on nothing is missed. Without any notification (EMFILE at the
// first instance) everything is polled.
func New(ctx context.Context, opts Options) (*Watcher, error) {
	return start(ctx, opts, openSystem, remote)
}

func start(ctx context.Context, opts Options, open func() (system, error), remote func(string) bool) (*Watcher, error) {
	roots := make([]string, len(opts.Roots))
	for i, root := range opts.Roots {
		if !filepath.IsAbs(root) {
			return nil, fmt.Errorf("watching %q: not an absolute path", root)
		}
		if info, err := os.Stat(root); err != nil {
			return nil, fmt.Errorf("watching %s: %w", root, err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("watching %s: not a directory", root)
		}
		roots[i] = filepath.Clean(root)
	}
	opts.Roots = roots
	opts = opts.withDefaults()
	run, cancel := context.WithCancel(ctx)
	w := &Watcher{
		opts: opts, open: open, remote: remote, batches: make(chan Batch), events: newEvents(),
		refresh: make(chan struct{}, 1), cancel: cancel, stats: Stats{Cap: limit(opts)},
	}
	w.tree = newTree(w)
	w.wg.Go(func() { w.process(run) })
	return w, nil
}

func (o Options) withDefaults() Options {
	if o.Keep == nil {
		o.Keep = func(string, bool) bool { return true }
	}
	if o.Holds == nil {
		o.Holds = func(string) (bool, bool) { return false, false }
	}
	if o.Known == nil {
		o.Known = func([]string) []string { return nil }
	}
	for d, otherwise := range map[*time.Duration]time.Duration{
		&o.Debounce: 50 * time.Millisecond, &o.MaxDelay: 500 * time.Millisecond, &o.GitHold: 10 * time.Second,
		&o.PollInterval: 2 * time.Second, &o.CheckInterval: 5 * time.Minute, &o.RetryInterval: 10 * time.Second,
	} {
		if *d <= 0 {
			*d = otherwise
		}
	}
	if o.Changed == nil {
		o.Changed = func(Stats) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// limit is how many directories may be watched now: the system's limit may
// change.
func limit(o Options) int {
	switch {
	case o.PollOnly:
		return 0
	case o.MaxWatches > 0:
		return o.MaxWatches
	}
	return systemLimit()
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

// read drains a system's events: it never waits for anything else, so that the
// kernel's queue stays short.
func (w *Watcher) read(sys system) {
	events, errs := sys.Events(), sys.Errors()
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

// publish makes the tree's state visible.
func (w *Watcher) publish() {
	now := w.tree.stats()
	w.mu.Lock()
	before := w.stats
	w.stats = now
	w.mu.Unlock()
	if now.Notice != before.Notice {
		if now.Notice != "" {
			w.opts.Logger.Warn(now.Notice)
		} else {
			w.opts.Logger.Info("every directory is watched again")
		}
	}
	if now != before {
		w.opts.Changed(now)
	}
}
