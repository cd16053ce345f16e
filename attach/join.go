package attach

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
	"coderag-ls/engine/wire"
)

// Options are what a workspace is opened with.
type Options struct {
	engine.Options

	// Hang is how long an owner may be silent before it counts as hanging,
	// Hello how long a handshake may take, and Patience how long is waited for
	// the owner of a lock to say who it is (it reads the index first); 0 for
	// defaults.
	Hang, Hello, Patience time.Duration

	protocol  int  // for tests: another version
	takesOver bool // somebody had the index open until now
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&o.Hang, 10*time.Second)
	set(&o.Hello, 5*time.Second)
	set(&o.Patience, 20*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.protocol == 0 {
		o.protocol = Protocol
	}
	return o
}

// version is what this process says of itself.
func (o Options) version() version {
	return version{Protocol: o.protocol, Schema: engine.SchemaVersion, Program: o.Version, PID: os.Getpid()}
}

// backend is an index: this process's (owner) or another's (link).
type backend interface {
	newView() backendView
	setSettings(ctx context.Context, s config.Settings) error
	touch(ctx context.Context, cause string, paths []string, rescan bool) error
	setWatch(watches, watchCap int, notice string)
	keep(ctx context.Context, path string, isDir bool) (bool, error)
	directories(ctx context.Context) ([]string, error)
	// who keeps the index, and whether that is this process.
	who() version
	owns() bool
	// gone is closed when nothing can be asked any more.
	gone() <-chan struct{}
	close() error
}

// backendView is a view of a backend.
type backendView interface {
	Close()
	Apply(ctx context.Context, cause string, changes []file.Change) error
	Sync(ctx context.Context, p wire.SyncParams) (wire.SyncResult, error)
	Ask(ctx context.Context, p wire.AskParams, emit func(engine.Event)) (wire.AskResult, error)
	Search(ctx context.Context, p wire.SearchParams) (wire.SearchResult, error)
	Context(ctx context.Context, p wire.AskParams) (wire.ContextResult, error)
	Similar(ctx context.Context, p wire.RangeParams) (wire.SearchResult, error)
	Explain(ctx context.Context, name string, near wire.Document) (wire.ExplainResult, error)
	Symbols(ctx context.Context, path string) ([]engine.SymbolUse, error)
	Citations(ctx context.Context, p wire.CitationsParams) (wire.CitationsResult, error)
	Excerpt(ctx context.Context, p wire.ExcerptParams) (wire.ExcerptResult, error)
	Tree(ctx context.Context, p wire.TreeParams) (wire.TreeResult, error)
	Status(ctx context.Context) (wire.Status, error)
	Reindex(ctx context.Context, p wire.ReindexParams) error
	SetPaused(ctx context.Context, paused bool) error

	text(ctx context.Context, path string) (textResult, error)
	resolve(ctx context.Context, path string) (textResult, error)
}

// lockPause is the time between two attempts to take a lock that is held. An
// attempt loads models and rules; who has the lock needs the processors more.
const lockPause = 250 * time.Millisecond

// maxCopies is how many indexes of one folder there may be at once.
const maxCopies = 16

// joiner finds or becomes the owner of a workspace.
type joiner struct {
	opts    Options
	roots   []file.Root
	s       config.Settings
	notices []string             // what the user should know of it
	waiting map[string]time.Time // since when an index directory's owner is waited for
	hangs   map[int]bool         // processes that did not answer
	next    time.Time            // when to try for the lock again
}

// join returns the index of the roots: another process's where one has it
// open, else this process's. notices say why the folders got an index of their
// own though another process has one. hangs is a process that is known not to
// answer, 0 for none.
func join(ctx context.Context, opts Options, roots []file.Root, s config.Settings, hangs int) (backend, []string, error) {
	j := &joiner{opts: opts, roots: slices.Clone(roots), s: s, waiting: map[string]time.Time{}, hangs: map[int]bool{hangs: true}}
	for i := range j.roots {
		j.roots[i].Copy = 0
	}
	for pause := 5 * time.Millisecond; ; pause = min(pause*3/2, 100*time.Millisecond) {
		b, err := j.try(ctx)
		if b != nil || err != nil {
			return b, j.notices, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(pause + rand.N(pause)): // so that many do not come at once again and again
		}
	}
}

// try attaches or becomes the owner. It returns neither an index nor an error
// where it should be tried again.
func (j *joiner) try(ctx context.Context) (backend, error) {
	if len(j.roots) == 0 {
		return nil, errors.New("there are no folders to index")
	}
	// Who has the first folder under its name has them all. Most often a
	// record's process lives, and asking it costs less than opening an index.
	if dir, err := engine.IndexDir(j.s, j.roots[0]); err == nil {
		if r, ok := Who(dir); ok && slices.Equal(r.Roots, foldersOf(j.roots)) {
			if l, err := j.connect(ctx, r); err == nil {
				return l, nil
			}
		}
	}
	if time.Now().Before(j.next) {
		return nil, nil
	}
	o, err := own(ctx, j.opts, j.roots, j.s)
	if err == nil {
		return o, nil
	}
	j.next = time.Now().Add(lockPause)
	var locked *store.LockedError
	if !errors.As(err, &locked) {
		return nil, err
	}
	for i := range j.roots {
		if dir, dirErr := engine.IndexDir(j.s, j.roots[i]); dirErr == nil && dir == filepath.Clean(locked.Dir) {
			return j.beside(ctx, i, locked, err)
		}
	}
	return nil, err
}

// connect attaches to the process of a record.
func (j *joiner) connect(ctx context.Context, r Record) (*link, error) {
	if j.hangs[r.PID] {
		return nil, errHangs // it was waited for
	}
	l, err := connect(ctx, j.opts, r.Address, j.roots, j.s)
	if errors.Is(err, errHangs) {
		j.hangs[r.PID] = true
	}
	return l, err
}

// beside decides what to do about a folder whose index another process has.
func (j *joiner) beside(ctx context.Context, i int, locked *store.LockedError, err error) (backend, error) {
	r, ok := Who(locked.Dir)
	// A record may be a dead owner's while the next one opens the index.
	fresh := ok && locked.By(r.PID)
	why := ""
	switch {
	case !fresh:
		if j.wait(locked.Dir) {
			return nil, nil
		}
		why = fmt.Sprintf("another process (%s) has the index of %s and does not share it", locked.Owner, j.roots[i].Dir)
	case !slices.Equal(r.Roots, foldersOf(j.roots)):
		// Two windows whose folders overlap: that is nothing to tell of.
	default:
		l, err := j.connect(ctx, r)
		var mismatch *mismatchError
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &mismatch):
			why = mismatch.reason + ": end that process, or update both to one version"
		case errors.Is(err, errHangs):
			why = fmt.Sprintf("pid %d has the index of %s and does not answer: let it go on, or end it", r.PID, j.roots[i].Dir)
		case j.wait(locked.Dir):
			return nil, nil // it ends, or has just begun
		default:
			why = fmt.Sprintf("pid %d has the index of %s and cannot be reached: %v", r.PID, j.roots[i].Dir, err)
		}
	}
	if why != "" {
		j.notices = append(j.notices, why+". Until then this process keeps a second index of that folder")
		j.opts.Logger.Warn("a second index is kept", "reason", why)
	}
	j.next = time.Time{}
	if j.roots[i].Copy++; j.roots[i].Copy >= maxCopies {
		return nil, err
	}
	return nil, nil
}

// wait reports whether to wait for the owner of an index directory any longer.
func (j *joiner) wait(dir string) bool {
	since, again := j.waiting[dir]
	if !again {
		since = time.Now()
		j.waiting[dir] = since
	}
	return time.Since(since) < j.opts.Patience
}
