package index

import (
	"iter"
	"maps"
	"strings"

	"coderag-ls/engine/file"
)

// covered asks Options.Covered of a file with that hash; before is what is known of
// it.
func (ix *Index) covered(r *root, rel string, hash file.Hash, before known) bool {
	if ix.opts.Covered == nil {
		return false
	}
	covered, told := ix.opts.Covered(r.Root, rel, hash)
	if !told {
		return before.covered() && before.hash == hash
	}
	return covered
}

// Covers reports whether a file (by its workspace path) is found through the
// shared index and not indexed here, and the hash of its text as it was last
// seen.
func (ix *Index) Covers(path string) (hash file.Hash, ok bool) {
	for _, r := range ix.roots {
		rel, in := strings.CutPrefix(path, r.prefix)
		if !in {
			continue
		}
		r.mu.Lock()
		k, have := r.known.get(rel)
		r.mu.Unlock()
		if have && k.covered() {
			return k.hash, true
		}
	}
	return file.Hash{}, false
}

// Covered returns the files that Covers reports, with their hashes, by workspace
// path.
func (ix *Index) Covered() map[string]file.Hash {
	all := map[string]file.Hash{}
	for _, r := range ix.roots {
		r.mu.Lock()
		for rel, k := range r.known.files {
			if k.covered() {
				all[r.workspacePath(rel)] = k.hash
			}
		}
		r.mu.Unlock()
	}
	return all
}

// Recheck tells that Options.Covered may say otherwise than before. Files for
// which it does are looked at in the background: those that are covered leave
// the index, the others are indexed. It returns how many.
func (ix *Index) Recheck() int {
	ix.rechecks.Add(1) // what is looked at now is compared again when it is done
	n := 0
	for _, r := range ix.roots {
		r.mu.Lock()
		rels := maps.Clone(r.known.files)
		r.mu.Unlock()
		n += ix.recheck(r, maps.Keys(rels))
	}
	return n
}

// recheck has files of a root looked at for which Options.Covered says otherwise
// than what is known.
func (ix *Index) recheck(r *root, rels iter.Seq[string]) int {
	var items []*item
	for rel := range rels {
		r.mu.Lock()
		k, have := r.known.get(rel)
		r.mu.Unlock()
		if !have || k.leftOut() || k.covered() == ix.covered(r, rel, k.hash, k) {
			continue
		}
		it := item{root: r, rel: rel}
		it.prio, it.recent = ix.focus.of(spot{r, rel}, k.modTime)
		items = append(items, &it)
	}
	ix.queue.push(items...)
	if len(items) > 0 {
		ix.progress()
	}
	return len(items)
}
