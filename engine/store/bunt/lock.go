package bunt

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"coderag-ls/engine/store"
)

// lockFile is held by the process that owns the directory; the system lets it go
// when the process ends, however it ends. Its text, "pid <n> since <time>", is for people. It
// begins at the second byte: Windows locks the first against reading.
const lockFile = "LOCK"

// lock takes the directory, or says who has it.
func lock(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockFile)
	l := flock.New(path, flock.SetPermissions(fileMode))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("taking the lock: %w", err)
	}
	if !ok {
		return nil, &store.LockedError{Dir: dir, Owner: owner(path)}
	}
	if err := os.Chmod(path, fileMode); err != nil {
		l.Unlock()
		return nil, fmt.Errorf("taking the lock: %w", err)
	}
	text := fmt.Sprintf("\npid %d since %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	describe(path, text) // on a full disk nothing is written: a nameless owner is one too
	return l, nil
}

// unlock gives the directory back. The file stays: removing it would let two
// processes lock two files of the same name.
func unlock(l *flock.Flock) error {
	describe(l.Path(), "")
	return l.Unlock()
}

// describe replaces the text after the first byte, where that can be done.
func describe(path, text string) {
	f, err := os.OpenFile(path, os.O_WRONLY, fileMode)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Truncate(int64(len(text))) == nil && len(text) > 1 {
		f.WriteAt([]byte(text[1:]), 1)
	}
}

// owner is the text of a lock file.
func owner(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "its owner is unknown"
	}
	defer f.Close()
	b, _ := io.ReadAll(io.NewSectionReader(f, 1, 200))
	if s := strings.Trim(string(b), "\x00\n "); s != "" {
		return s
	}
	return "its owner is unknown"
}
