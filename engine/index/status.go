package index

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/wire"
)

// maxSkipped is how many skipped paths a status lists.
const maxSkipped = 1000

// Coverage says how complete and fresh the index is, seen through a snapshot.
func (ix *Index) Coverage(s *Snapshot) wire.Coverage {
	s = s.Local()
	c := wire.Coverage{Skipped: map[string]int{}, Seq: s.Seq, Indexed: s.FileCount()}
	c.Pending = ix.queue.pending()
	// What was in the queue when s was taken may be done by now, and not in s.
	c.Stale = ix.queue.len() > 0 || ix.scans.scanning() || ix.Snapshot().sealed != s.sealed
	for _, r := range ix.roots {
		r.mu.Lock()
		c.Total += r.total()
		for reason, n := range r.skipped {
			c.Skipped[string(reason)] += n
		}
		for reason, n := range r.known.skipped {
			c.Skipped[string(reason)] += n
		}
		c.Skipped[string(file.SkipUnreadable)] += r.known.unreadable
		c.Shared += r.known.covered
		if r.err != "" {
			c.Stale = true
		}
		r.mu.Unlock()
	}
	for _, seen := range ix.withheld() {
		c.Skipped[string(skipMemory)]++ // it stays in Total: the index is not whole
		if !seen {
			c.Pending = max(c.Pending-1, 0)
		}
	}
	maps.DeleteFunc(c.Skipped, func(_ string, n int) bool { return n == 0 })
	c.Indexed += c.Shared
	c.Total = max(c.Total, c.Indexed)
	c.VectorsReady = ix.vectorsReady(s)
	return c
}

// vectorsReady is the share of documents that every model has a vector of.
func (ix *Index) vectorsReady(s *Snapshot) float64 {
	if len(ix.models) == 0 || s.docs == 0 {
		return 1
	}
	least := s.docs
	for i, m := range ix.models {
		n := s.embedded(m)
		if i == len(ix.models)-1 {
			n += ix.unsentDocs(s)
		}
		least = min(least, n)
	}
	return float64(least) / float64(s.docs)
}

// embedded counts the documents that have a vector of a model.
func (s *Snapshot) embedded(m embed.Model) int {
	n := 0
	for i, lists := range s.lists {
		l := listOf(lists, m.Fingerprint)
		switch {
		case l == nil:
		case l.Docs == nil:
			n += liveDocs(s.live[i])
		default:
			for _, d := range l.Docs {
				if s.isLive(i, int(d)) {
					n++
				}
			}
		}
	}
	return n
}

// Status tells the state of the index; the caller adds what it alone knows.
func (ix *Index) Status(s *Snapshot) wire.Status {
	s = s.Local()
	ix.recount()
	st := wire.Status{
		Coverage: ix.Coverage(s), Chunks: s.Len(), Languages: map[string]int{}, Owner: true, SkippedFiles: []wire.SkippedFile{},
		Counters: wire.Counters{
			Batches: ix.counters.batches.Load(), Embedded: ix.counters.embedded.Load(),
			EmbedCacheHits: ix.counters.cacheHits.Load(), Commits: ix.counters.commits.Load(),
		},
		Queues: wire.Queues{Index: ix.queue.len()},
		Model:  wire.ModelInfo{Embedder: ModelNames(ix.models)},
	}
	for _, f := range s.Files() {
		st.Languages[f.Class.Language]++
		st.Symbols += len(f.Symbols)
	}
	unscanned := []string{}
	for _, r := range ix.roots {
		info := r.store.Info()
		st.StoreBytes += info.Bytes
		r.mu.Lock()
		st.Roots = append(st.Roots, wire.RootStatus{Name: r.Name, Dir: r.Dir, Index: r.dir, Memory: r.memory, Error: r.err})
		for _, sk := range r.skips {
			st.SkippedFiles = append(st.SkippedFiles, wire.SkippedFile{Path: r.workspacePath(sk.Path), Reason: string(sk.Reason), Detail: sk.Detail})
		}
		for rel, k := range r.known.files {
			switch {
			case k.leftOut():
				st.SkippedFiles = append(st.SkippedFiles, wire.SkippedFile{Path: r.workspacePath(rel), Reason: string(k.skip), Detail: k.skipDetail})
			case k.unreadable != "":
				st.SkippedFiles = append(st.SkippedFiles, wire.SkippedFile{
					Path: r.workspacePath(rel), Reason: string(file.SkipUnreadable), Detail: k.unreadable + "; it is known as it was, and not shown",
				})
			}
		}
		unscanned = append(unscanned, nonEmpty(r.err)...)
		r.mu.Unlock()
	}
	ix.workState(s, &st)
	slices.SortFunc(st.SkippedFiles, func(a, b wire.SkippedFile) int { return strings.Compare(a.Path, b.Path) })
	st.SkippedFiles = st.SkippedFiles[:min(maxSkipped, len(st.SkippedFiles))]
	ix.mu.Lock()
	defer ix.mu.Unlock()
	st.LastBatch, st.LastError = ix.last, ix.lastError
	st.Watches, st.WatchCap = ix.watches, ix.watchCap
	st.Notices = unscanned
	for _, n := range ix.notices {
		st.Notices = append(st.Notices, n.text)
	}
	st.Notices = append(st.Notices, nonEmpty(ix.watchNotice)...)
	return st
}

// recount looks whether the files that were left out are still there, as many of
// them as a status lists: of a file that came and went between two steps of a
// save, and that a scan saw, no event tells.
func (ix *Index) recount() {
	for _, r := range ix.roots {
		if !isDir(r.Dir) {
			continue // it may come back
		}
		var rels []string
		r.mu.Lock()
		for rel := range r.skips {
			rels = append(rels, rel)
		}
		if r.known.leftOut() > 0 {
			for rel, k := range r.known.files {
				if k.leftOut() {
					rels = append(rels, rel)
				}
			}
		}
		r.mu.Unlock()
		for _, rel := range rels[:min(maxSkipped, len(rels))] {
			if _, err := os.Lstat(r.abs(rel)); err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				continue
			}
			r.mu.Lock()
			_, have := r.known.get(rel)
			if skip, listed := r.skips[rel]; listed {
				delete(r.skips, rel)
				r.skipped[skip.Reason]--
			}
			r.mu.Unlock()
			if have {
				ix.queue.push(&item{root: r, rel: rel, prio: prioTouched})
			}
		}
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return []string{}
	}
	return []string{s}
}

// ModelNames names the models for results.
func ModelNames(models []embed.Model) string {
	if len(models) == 0 {
		return "none (lexical only)"
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name
	}
	return strings.Join(names, " + ")
}

// SetWatch records what the watcher reports.
func (ix *Index) SetWatch(watches, limit int, notice string) {
	ix.mu.Lock()
	same := ix.watchNotice == notice
	ix.watches, ix.watchCap, ix.watchNotice = watches, limit, notice
	ix.mu.Unlock()
	if !same {
		ix.changed()
	}
}

// Keep reports whether a path (absolute) is indexed or, for a directory, may
// hold indexed files.
func (ix *Index) Keep(path string, isDir bool) bool {
	r, rel, ok := ix.locate(path)
	return ok && (rel == "." || !isDir && file.IsIgnoreFile(rel) || r.rulesNow().Keep(rel, isDir))
}

// Kept returns the roots whose index is on disk.
func (ix *Index) Kept() []file.Root {
	var kept []file.Root
	for _, r := range ix.roots {
		if !r.memory {
			kept = append(kept, r.Root)
		}
	}
	return kept
}

// Holds reports whether a directory (absolute) itself holds indexed files; known
// is false while that may change by work in hand.
func (ix *Index) Holds(dir string) (holds, known bool) {
	known = !ix.scans.scanning() && ix.queue.len() == 0
	r, rel, ok := ix.locate(dir)
	if !ok {
		return false, known
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known.in[rel] > 0, known
}

// Known returns the files (absolute) below any of the directories (absolute)
// that are indexed, left out or being looked at.
func (ix *Index) Known(dirs []string) []string {
	var paths []string
	byRoot := map[*root]map[string]bool{}
	for _, dir := range dirs {
		if r, rel, ok := ix.locate(dir); ok {
			if byRoot[r] == nil {
				byRoot[r] = map[string]bool{}
			}
			byRoot[r][rel] = true
		}
	}
	for r, rels := range byRoot {
		working := ix.queue.inWork(r) // before known is read: what is sealed in between is in one of the two
		r.mu.Lock()
		below := r.known.under(rels)
		if rels["."] {
			below = slices.Collect(maps.Keys(r.known.files))
		}
		r.mu.Unlock()
		for _, rel := range working {
			if rels["."] || inAny(rel, rels) {
				below = append(below, rel)
			}
		}
		for _, rel := range below {
			paths = append(paths, r.abs(rel))
		}
	}
	return paths
}

// Directories returns the absolute directories that hold files to be indexed,
// as the last scan found them.
func (ix *Index) Directories() []string {
	var dirs []string
	for _, r := range ix.roots {
		r.mu.Lock()
		for _, d := range r.listing.Dirs {
			dirs = append(dirs, r.abs(d))
		}
		r.mu.Unlock()
	}
	return dirs
}

// Tokenizer returns the tokenizer that the index was made with.
func (ix *Index) Tokenizer() *lexical.Tokenizer { return ix.tok }

// Embedders returns the models that vectors are made with, in the order of Models.
func (ix *Index) Embedders() []embed.Embedder { return ix.embedders() }

// Models returns the models in use, the inline one first.
func (ix *Index) Models() []embed.Model { return ix.models }

// Resolve turns a workspace path into an absolute path; ok is false where no
// such file exists.
func (ix *Index) Resolve(path string) (string, bool) {
	for _, r := range ix.roots {
		rel, ok := strings.CutPrefix(path, r.prefix)
		if !ok {
			continue
		}
		abs := r.abs(rel)
		if back, ok := r.rel(abs); !ok || back != rel {
			continue // "../" leaves the root
		}
		if info, err := os.Stat(abs); err == nil && info.Mode().IsRegular() {
			return abs, true
		}
	}
	return "", false
}

// Admits turns a workspace path, of which nothing need be true, into the
// absolute path of a file that is indexed or would be if it existed. ok is false
// where the path leaves the workspace, where its rules leave the file out, and
// where a symlink leads there: such a file is not to be read. Of roots whose
// name fits, one that has the file comes first.
func (ix *Index) Admits(path string) (abs string, ok bool) {
	for _, r := range ix.roots {
		rel, in := strings.CutPrefix(path, r.prefix)
		if !in || !filepath.IsLocal(filepath.FromSlash(rel)) {
			continue
		}
		at := r.abs(rel)
		if back, in := r.rel(at); !in || back != rel || r.foreign(rel) || r.rulesNow().Ignored(rel) || r.linked(rel) {
			continue
		}
		if _, err := os.Lstat(at); err == nil {
			return at, true
		}
		if !ok {
			abs, ok = at, true
		}
	}
	return abs, ok
}

// linked reports whether a symlink is on the way from the root to a path in it,
// or at its end.
func (r *root) linked(rel string) bool {
	for i := 0; i <= len(rel); i++ {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		info, err := os.Lstat(r.abs(rel[:i]))
		if err != nil {
			return false // nothing is there
		}
		if info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// Relative returns other workspace paths that a path may stand for, where it was
// written in a workspace with other folders: from, a workspace path, names the
// file in which it was. One of several folders is not prefixed where it is the
// only one, and the other way round.
func (ix *Index) Relative(path, from string) []string {
	if len(ix.roots) == 1 {
		if rel, ok := strings.CutPrefix(path, ix.roots[0].Name+"/"); ok {
			return []string{rel}
		}
		return nil
	}
	for _, r := range ix.roots {
		if strings.HasPrefix(from, r.prefix) {
			return []string{r.prefix + path}
		}
	}
	return nil
}

// WorkspacePath turns an absolute path into a workspace path; ok is false
// outside of the workspace.
func (ix *Index) WorkspacePath(abs string) (string, bool) {
	r, rel, ok := ix.locate(abs)
	if !ok {
		return "", false
	}
	return r.workspacePath(rel), true
}
