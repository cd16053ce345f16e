package watcher

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
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
}

func (b *batch) add(path string) {
	if b.paths == nil {
		b.paths = map[string]bool{}
	}
	if b.cause == "" {
		b.cause = "files"
	}
	b.paths[path] = true
	base := filepath.Base(path)
	b.rules = b.rules || strings.HasPrefix(base, ".") && strings.HasSuffix(base, "ignore")
	if len(b.paths) > manyPaths {
		b.all = true
		b.paths = map[string]bool{}
	}
}

func (b *batch) rescan(cause string) {
	if !b.all || b.cause == "files" {
		b.cause = cause
	}
	b.all = true
}

func (b *batch) empty() bool { return !b.all && len(b.paths) == 0 }

func (b *batch) batch() Batch {
	return Batch{Paths: slices.Sorted(maps.Keys(b.paths)), Rescan: b.all, Cause: b.cause}
}
