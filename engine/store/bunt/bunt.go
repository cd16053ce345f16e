// Package bunt keeps an index in buntdb, an in-memory key/value store with an
// append-only log. It is the only importer of buntdb.
//
// A directory holds
//
//	LOCK                    whose process owns the directory (lock.go)
//	index.db                buntdb's log
//	index.db.damaged-<time> a log that could not be read, the latest one
//	index.db.new            a log that is being written; may be removed
//	index.db.mark           what of the log was made durable last (mark.go)
//
// Keys of the log, and their values (after a CRC-32C of key and value):
//
//	"!"                     schema version, decimal; the first record of the log
//	"f" path                a file with all its chunks, symbols and imports (record.go)
//	"m" model               a model's fingerprint; model is SHA-256 of it, cut to 8 bytes
//	"v" model key           a vector: scale and int8 values; key is 32 bytes (vector.go)
//
// buntdb writes the commands of a transaction in no particular order and
// without a frame, so that a crash may leave any part of one. Nothing here depends on two
// records of a transaction: a file is one record, and a record is there with a
// sound checksum or it is not there. A model's record is written and
// acknowledged before the first vector of the model.
//
// buntdb trusts its log. Before it gets to see one, log.go checks it: a record
// cut off at the end is what a crash leaves, and is removed; other damage puts
// the log aside and a new one is written of the records that are sound.
package bunt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/tidwall/buntdb"

	"coderag-ls/engine/store"
)

// Schema is the version of the keys and values. It changes whenever older ones
// cannot be read as they are: files are then indexed again, vectors stay.
const Schema = 2

const (
	dbFile   = "index.db"
	newFile  = dbFile + ".new"
	dirMode  = 0o700
	fileMode = 0o600

	metaKey    = "!"
	filePrefix = "f"
	modelChar  = "m"
	vecPrefix  = "v"

	// maxUpdate bounds the bytes of one transaction: buntdb keeps the room for the
	// largest.
	maxUpdate = 4 << 20
)

// Options are the settings of a store. The zero value is the default.
type Options struct {
	// Now is the clock that names damaged files; nil means time.Now.
	Now func() time.Time
	// Fsync makes a file or directory durable; nil means (*os.File).Sync.
	Fsync func(*os.File) error
}

// Store is a store.Store in one directory.
type Store struct {
	dir  string
	opts Options
	lock *flock.Flock

	// mu is held for reading by every use of db and for writing where it is replaced or closed.
	mu     sync.RWMutex
	db     *buntdb.DB
	log    *os.File // index.db, for fsync: buntdb has none to call
	closed bool
	broken error // set when buntdb gave up half-way

	// writing is held by what changes the store, before mu.
	writing sync.Mutex

	flusher flusher
	lost    atomic.Pointer[error] // why what was written may not be on disk, nil where it may be

	marking sync.Mutex // guards what was summed of the log (mark.go)
	summed  int64
	sum     uint32

	stats   sync.Mutex
	files   int
	vectors int
	live    int64 // bytes of the records that are not replaced
	damaged map[string]struct{}
	notice  string
	models  map[string]bool // known to be stored
}

var _ store.Store = (*Store)(nil)

// Open opens the store in dir and makes both where there are none. It returns
// store.ErrLocked where another process has it and store.ErrNewer where it cannot read it; a
// damaged or older store is replaced and Info.Notice tells of it.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Fsync == nil {
		opts.Fsync = (*os.File).Sync
	}
	if err := makeDir(dir, opts.Fsync); err != nil {
		return nil, openError(dir, err)
	}
	if err := restrict(dir, dirMode); err != nil {
		return nil, openError(dir, err)
	}
	l, err := lock(dir)
	if err != nil {
		return nil, openError(dir, err)
	}
	s := &Store{dir: dir, opts: opts, lock: l, damaged: map[string]struct{}{}, models: map[string]bool{}}
	bad, err := s.repair()
	if err == nil {
		os.Remove(s.path(newFile)) // of a Shrink that did not come to its end
		err = s.load(bad)
	}
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		unlock(l)
		return nil, openError(dir, err)
	}
	if len(s.damaged) > 0 {
		s.sweep(ctx)
		if s.notice == changed {
			s.notice = "" // it is counted what
		}
	}
	return s, nil
}

// begin makes what was opened durable and starts to keep it so.
func (s *Store) begin() error {
	fi, err := s.log.Stat()
	if err == nil {
		err = errors.Join(s.opts.Fsync(s.log), s.syncDir())
	}
	if err != nil {
		return errors.Join(err, s.db.Close(), s.log.Close())
	}
	s.writeMark(fi.Size(), false)
	s.flusher.start(s.flush)
	return nil
}

// sweep removes the records that failed their check, so that they are told of
// once. They stay counted until they are stored again.
func (s *Store) sweep(ctx context.Context) {
	found := maps.Clone(s.damaged)
	w := s.writer(ctx)
	for key := range found {
		if key != "" && w.delete(key) != nil {
			break // on a full disk: the next start does it
		}
	}
	_ = w.flush()
	s.damaged = found
}

// syncDir makes renames in the store's directory durable.
func (s *Store) syncDir() error { return syncDir(s.dir, s.opts.Fsync) }

// makeDir makes a directory and those above it, durably.
func makeDir(dir string, fsync func(*os.File) error) error {
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		return nil
	}
	up := filepath.Dir(dir)
	if up != dir {
		if err := makeDir(up, fsync); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, dirMode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			// Another process made it just now, or it is no directory.
			return os.MkdirAll(dir, dirMode)
		}
		return err
	}
	return syncDir(up, fsync)
}

// openError says what failed and what to do about it.
func openError(dir string, err error) error {
	switch {
	case errors.Is(err, store.ErrLocked), errors.Is(err, store.ErrNewer):
		return err
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("opening index %s: the directory cannot be written to: %w", dir, err)
	}
	return fmt.Errorf("opening index %s: %w", dir, full(err))
}

// full marks errors that mean a full disk or quota.
func full(err error) error {
	if err != nil && !errors.Is(err, store.ErrFull) && isFull(err) {
		return fmt.Errorf("%w: %w; what was stored before is kept: make room and try again", store.ErrFull, err)
	}
	return err
}

// restrict takes from a file's mode what others may do with it.
func restrict(path string, mode fs.FileMode) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if fi.Mode().Perm()&^mode == 0 || runtime.GOOS == "windows" {
		return nil
	}
	return os.Chmod(path, mode)
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

func metaValue() string {
	return seal(metaKey, append(make([]byte, sumSize), strconv.Itoa(Schema)...))
}

// load opens the log with buntdb. The caller has s for itself. bad asks to look
// for values whose checksums fail.
func (s *Store) load(bad bool) error {
	path := s.path(dbFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	db, err := s.openDB(path)
	if err != nil {
		f.Close()
		return err
	}
	s.db, s.log = db, f
	if err := s.count(bad); err != nil {
		f.Close()
		db.Close()
		return err
	}
	return nil
}

func (s *Store) openDB(path string) (*buntdb.DB, error) {
	if err := restrict(path, fileMode); err != nil {
		return nil, err
	}
	db, err := buntdb.Open(path)
	if err != nil {
		return nil, err
	}
	err = db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Never, AutoShrinkDisabled: true})
	if err == nil {
		err = db.Update(func(tx *buntdb.Tx) error {
			if _, err := tx.Get(metaKey); err == nil {
				return nil
			}
			_, _, err := tx.Set(metaKey, metaValue(), nil)
			return err
		})
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// count takes stock after opening.
func (s *Store) count(bad bool) error {
	s.files, s.vectors, s.live = 0, 0, 0
	clear(s.models)
	return s.db.View(func(tx *buntdb.Tx) error {
		return tx.Ascend("", func(key, value string) bool {
			s.live += recordSize(key, value)
			if bad && !sound(key, value) {
				s.damaged[key] = struct{}{}
			}
			if key == "" {
				return true
			}
			switch key[:1] {
			case filePrefix:
				s.files++
			case vecPrefix:
				s.vectors++
			case modelChar:
				if sound(key, value) {
					s.models[value[sumSize:]] = true
				}
			}
			return true
		})
	})
}

// recordSize is the length of a set command in the log.
func recordSize(key, value string) int64 {
	digits := func(n int) int { return len(strconv.Itoa(n)) }
	return int64(len("*3\r\n$3\r\nset\r\n$\r\n\r\n$\r\n\r\n") + len(key) + len(value) + digits(len(key)) + digits(len(value)))
}

// use runs fn with the database, unless the store is closed or broken.
func (s *Store) use(ctx context.Context, fn func(db *buntdb.DB) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.state(); err != nil {
		return err
	}
	return fn(s.db)
}

// state says why the store cannot be used. The caller holds mu or stats.
func (s *Store) state() error {
	if s.closed {
		return store.ErrClosed
	}
	s.stats.Lock()
	defer s.stats.Unlock()
	return s.broken
}

// update runs a transaction. buntdb panics where it can neither finish nor
// undo a write and then keeps its locks: the store is unusable from then on.
func (s *Store) update(db *buntdb.DB, fn func(tx *buntdb.Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("index %s gave up in the middle of a write (%v): restart to recover it", s.dir, p)
			s.stats.Lock()
			s.broken = err
			s.stats.Unlock()
		}
	}()
	err = db.Update(fn)
	s.flusher.wake()
	return full(err)
}

// Info tells size and state.
func (s *Store) Info() store.Info {
	info := store.Info{Dir: s.dir}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return info
	}
	if fi, err := s.log.Stat(); err == nil {
		info.Bytes = fi.Size()
	}
	s.stats.Lock()
	defer s.stats.Unlock()
	info.Garbage = max(0, info.Bytes-s.live)
	info.Files, info.Vectors, info.Damaged, info.Notice = s.files, s.vectors, len(s.damaged), s.notice
	return info
}

// spoil counts a record that failed its check.
func (s *Store) spoil(key string) {
	s.stats.Lock()
	defer s.stats.Unlock()
	s.damaged[key] = struct{}{}
}

// Close makes everything durable and gives the directory back.
func (s *Store) Close() error {
	s.flusher.stop()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	broken := s.state()
	s.closed = true
	err := s.opts.Fsync(s.log)
	if lost := s.lost.Load(); err == nil && lost != nil {
		err = *lost
	}
	if fi, e := s.log.Stat(); e == nil && err == nil && broken == nil {
		s.writeMark(fi.Size(), true)
	}
	if broken == nil {
		if e := s.db.Close(); err == nil {
			err = e
		}
	} else {
		err = nil // was told before; buntdb may still hold its locks
	}
	s.log.Close()
	if e := unlock(s.lock); err == nil {
		err = e
	}
	s.db = nil
	if err != nil {
		return fmt.Errorf("closing index %s: %w", s.dir, full(err))
	}
	return nil
}
