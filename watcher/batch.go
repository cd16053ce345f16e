package watcher

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// manyPaths is how many paths a batch may have: beyond it a rescan, which costs
// one look at every file, is the cheaper answer.
const manyPaths = 2000

// batch is a batch in the making.
type batch struct {
	paths map[string]bool
	all   bool
	rules bool // an ignore file is among them
	cause string

	first  time.Time      // when it was begun
	repos  map[*repo]bool // that files of it belong to
	held   time.Time      // since when it has been held back for a git command, zero where it is not
	locked bool           // a git command was seen at work
	ready  bool           // it may be sent as it is
}

// rank orders the causes: of several the highest is told.
func rank(cause string) int {
	return slices.Index([]string{"", "check", "files", "overflow", "git", "start"}, cause)
}

func (b *batch) causedBy(cause string) {
	if b.first.IsZero() {
		b.first = time.Now()
	}
	if rank(cause) > rank(b.cause) {
		b.cause = cause
	}
}

// add adds a path, of a file in the work tree of r where that is not nil.
func (b *batch) add(path string, r *repo) {
	if b.paths == nil {
		b.paths = map[string]bool{}
	}
	b.of(r)
	b.causedBy("files")
	b.ready = b.ready && b.paths[path]
	b.paths[path] = true
	base := filepath.Base(path)
	b.rules = b.rules || strings.HasPrefix(base, ".") && strings.HasSuffix(base, "ignore")
	if len(b.paths) > manyPaths {
		b.all = true
		b.paths = map[string]bool{}
	}
}

// of notes a work tree that files of the batch belong to.
func (b *batch) of(r *repo) {
	if r == nil {
		return
	}
	if b.repos == nil {
		b.repos = map[*repo]bool{}
	}
	b.repos[r] = true
}

func (b *batch) rescan(cause string) {
	b.causedBy(cause)
	b.ready = b.ready && b.all
	b.all = true
}

func (b *batch) empty() bool { return !b.all && len(b.paths) == 0 }

func (b *batch) batch() Batch {
	return Batch{Paths: slices.Sorted(maps.Keys(b.paths)), Rescan: b.all, Cause: b.cause}
}

// busy reports whether git commands are at work on the batch's files, and how
// long to wait at most; it is false once that took too long.
func (b *batch) busy(now time.Time, limit time.Duration) (bool, time.Duration) {
	working := false
	for r := range b.repos {
		if r.working(now, limit) {
			working = true
		}
	}
	if !working {
		return false, 0
	}
	if b.held.IsZero() {
		b.held = now
	}
	b.locked = true
	left := limit - now.Sub(b.held)
	if left <= 0 {
		for r := range b.repos {
			r.lostPatience()
		}
		return false, 0
	}
	return true, left
}

// fewPaths are what people save at once.
const fewPaths = 10

// blame finds out whether a git command made the changes. A change of HEAD in
// their time means that one did; so does one that was seen at work, or a new
// index where there are more changes than a person makes.
func (b *batch) blame() (git bool) {
	for r := range b.repos {
		head, index := r.moved(b.first)
		if head || b.locked || index && (b.all || len(b.paths) > fewPaths) {
			b.rescan("git")
			git = true
		}
	}
	return git
}
