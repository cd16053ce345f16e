package index

import (
	"iter"
	"maps"
	"path"
	"strings"

	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
)

// known is a manifest line: enough to tell whether a file changed.
type known struct {
	hash         file.Hash
	size         int64
	modTime      int64
	chunkVersion string
	skip         file.SkipReason
	skipDetail   string
	// unreadable says why the file cannot be read now, "" where it can: what was
	// indexed of it stays.
	unreadable string
}

// covered reports whether the file is found through the shared index, and not
// indexed here.
func (k known) covered() bool { return k.skip == file.SkipShared }

// leftOut reports whether the file is not to be found.
func (k known) leftOut() bool { return k.skip != "" && !k.covered() }

func knownOf(rec *store.FileRecord) known {
	return known{
		hash: rec.Hash, size: rec.Size, modTime: rec.ModTime, chunkVersion: rec.ChunkVersion,
		skip: rec.Skip, skipDetail: rec.SkipDetail,
	}
}

// manifest is what the store and the pipeline know of each path of a root, with
// the sums that are asked for often.
type manifest struct {
	files   map[string]known
	below   map[string]int          // per directory, how many files lie below it
	in      map[string]int          // per directory ("." the root), how many files lie in it that are not left out
	skipped map[file.SkipReason]int // files that are known and not searchable
	covered int                     // files that are found through the shared index
	// unreadable counts the files that are searchable and cannot be shown now.
	unreadable int
}

func newManifest() manifest {
	return manifest{
		files: map[string]known{}, below: map[string]int{}, in: map[string]int{},
		skipped: map[file.SkipReason]int{},
	}
}

func (m *manifest) get(rel string) (known, bool) {
	k, ok := m.files[rel]
	return k, ok
}

func (m *manifest) put(rel string, k known) {
	if old, had := m.files[rel]; had {
		m.sum(rel, old, -1)
	} else {
		for dir := range parents(rel) {
			m.below[dir]++
		}
	}
	m.sum(rel, k, 1)
	m.files[rel] = k
}

func (m *manifest) remove(rel string) {
	old, had := m.files[rel]
	if !had {
		return
	}
	delete(m.files, rel)
	m.sum(rel, old, -1)
	for dir := range parents(rel) {
		if m.below[dir]--; m.below[dir] == 0 {
			delete(m.below, dir)
		}
	}
}

func (m *manifest) sum(rel string, k known, by int) {
	if k.leftOut() {
		m.skipped[k.skip] += by
		return
	}
	if k.covered() {
		m.covered += by
	}
	if k.unreadable != "" {
		m.unreadable += by
	}
	dir := path.Dir(rel)
	if m.in[dir] += by; m.in[dir] == 0 {
		delete(m.in, dir)
	}
}

// leftOut returns how many files are known and not searchable.
func (m *manifest) leftOut() int {
	n := 0
	for _, skipped := range m.skipped {
		n += skipped
	}
	return n
}

// all returns a copy of what is known.
func (m *manifest) all() map[string]known { return maps.Clone(m.files) }

// under returns the known paths below any of the directories.
func (m *manifest) under(dirs map[string]bool) []string {
	n := 0
	for dir := range dirs {
		n += m.below[dir]
	}
	if n == 0 {
		return nil // no need to look at every path
	}
	paths := make([]string, 0, n)
	for rel := range m.files {
		if inAny(rel, dirs) {
			paths = append(paths, rel)
		}
	}
	return paths
}

// inAny reports whether a path lies below one of the directories.
func inAny(rel string, dirs map[string]bool) bool {
	for dir := range parents(rel) {
		if dirs[dir] {
			return true
		}
	}
	return false
}

// parents yields the directories that a path lies in, without the root.
func parents(rel string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := strings.LastIndexByte(rel, '/'); i > 0; i = strings.LastIndexByte(rel[:i], '/') {
			if !yield(rel[:i]) {
				return
			}
		}
	}
}
