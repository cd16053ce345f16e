package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/file"
	"coderag-ls/engine/store"
)

// SchemaVersion is part of every index directory's name: another version is
// another directory, so that two versions of the program never share one.
const SchemaVersion = 1

// root is one workspace folder with its store.
type root struct {
	file.Root
	prefix string // "" or "name/": what workspace paths of this root begin with
	// aliases are other paths of the same folder.
	aliases []string
	real    string // Dir without symbolic links
	// inner are the folders in it that are roots themselves: what lies below
	// belongs to them.
	inner []inner
	dir   string // the index directory
	store store.Store
	empty bool // the store had no vectors when it was opened: the first batch need not ask for any
	// memory: nothing of the index can be kept on disk.
	memory bool

	mu      sync.Mutex
	rules   *file.Rules
	listing file.Listing
	// skips are the paths that the last scan left out and no worker has looked at
	// since: what a worker says of a file is newer. skipped counts them.
	skips   map[string]file.Skip
	skipped map[file.SkipReason]int
	// unseen are the files of the last scan that no worker has looked at yet.
	unseen map[string]bool
	// since are the files that workers have looked at since the scan that runs now
	// began; nil where none does.
	since  map[string]bool
	known  manifest
	err    string // why the root cannot be scanned, "" where it can
	isAway bool   // err is errAway
	device uint64 // of the folder, as the last scan found it; 0 where that is not known
	// accepted: that the folder is empty was confirmed.
	accepted bool
	// failed are the files whose last commit did not succeed.
	failed map[string]bool
}

// Dir returns the index directory of a root under the cache directory: one per
// schema version, absolute path and Root.Copy.
func Dir(cacheDir string, r file.Root) string {
	sum := sha256.Sum256([]byte(filepath.Clean(r.Dir)))
	name := strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, filepath.Base(r.Dir))
	if r.Copy > 0 {
		name += fmt.Sprintf(".%d", r.Copy)
	}
	return filepath.Join(cacheDir, fmt.Sprintf("v%d", SchemaVersion), name+"-"+hex.EncodeToString(sum[:8]))
}

// files are the options of discovery in a root: what is indexed is never the
// index, whose every change would ask for another.
func (o Options) files(r file.Root) file.Options {
	opts := o.Files
	cache, err := filepath.Abs(o.CacheDir)
	if err != nil {
		return opts
	}
	for _, dir := range []string{filepath.Dir(Dir(cache, r)), filepath.Join(cache, SharedDir)} {
		rel, err := filepath.Rel(r.Dir, dir)
		if err == nil && filepath.IsLocal(rel) {
			literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
			opts.Exclude = append(slices.Clone(opts.Exclude), "/"+literal.Replace(filepath.ToSlash(rel)))
		}
	}
	return opts
}

// workspacePath returns the path that results show.
func (r *root) workspacePath(rel string) string { return r.prefix + rel }

// abs returns the absolute path of a root-relative slash path.
func (r *root) abs(rel string) string { return filepath.Join(r.Dir, filepath.FromSlash(rel)) }

// rel returns the root-relative slash path of an absolute path.
func (r *root) rel(abs string) (string, bool) { return relTo(r.Dir, abs) }

// relTo returns the slash path of an absolute path relative to a directory.
func relTo(dir, abs string) (string, bool) {
	rel, err := filepath.Rel(dir, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// looked notes that a worker looked at a file: what it found is known, and what
// a scan found before counts no more. mu is held.
func (r *root) looked(rel string) {
	delete(r.unseen, rel)
	if r.since != nil {
		r.since[rel] = true
	}
	if skip, ok := r.skips[rel]; ok {
		delete(r.skips, rel)
		r.skipped[skip.Reason]--
	}
}

// hadDir reports whether the last scan found a directory that holds files, be they
// left out. mu is held.
func (r *root) hadDir(rel string) bool {
	if slices.Contains(r.listing.Dirs, rel) {
		return true
	}
	for path := range r.skips {
		if strings.HasPrefix(path, rel+"/") {
			return true
		}
	}
	return false
}

// total is how many files are to be indexed, as far as is known. mu is held.
func (r *root) total() int {
	return len(r.known.files) + len(r.unseen) - r.known.leftOut()
}

// foreign reports whether a root-relative path belongs to another root.
func (r *root) foreign(rel string) bool {
	to, _ := r.owner(rel)
	return to != r
}

// inner is a root that lies in another one.
type inner struct {
	rel  string // of its folder, to the other root
	root *root
}

// owner returns the root that a path of this one belongs to, and the path in it.
func (r *root) owner(rel string) (*root, string) {
	for _, in := range r.inner {
		if rel == in.rel {
			return in.root.owner(".")
		}
		if below, ok := strings.CutPrefix(rel, in.rel+"/"); ok {
			return in.root.owner(below)
		}
	}
	return r, rel
}

// sameDir reports whether two paths are of one directory.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// distinct counts the directories that roots are of.
func distinct(roots []file.Root) int {
	n := 0
	for i, r := range roots {
		if !slices.ContainsFunc(roots[:i], func(o file.Root) bool { return sameDir(o.Dir, r.Dir) }) {
			n++
		}
	}
	return n
}

// rulesNow returns the rules that the last scan made.
func (r *root) rulesNow() *file.Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules
}

// locate returns the root that an absolute path belongs to, of nested ones the
// innermost, and the path in it.
func (ix *Index) locate(abs string) (r *root, rel string, ok bool) {
	longest := 0
	for _, one := range ix.roots {
		for _, dir := range append([]string{one.Dir}, one.aliases...) {
			if p, in := relTo(dir, abs); in && len(dir) > longest {
				r, rel, ok, longest = one, p, true, len(dir)
			}
		}
	}
	if ok {
		r, rel = r.owner(rel)
	}
	return r, rel, ok
}

// canonical returns the path that the index knows a file under.
func (ix *Index) canonical(abs string) string {
	if r, rel, ok := ix.locate(abs); ok {
		return r.abs(rel)
	}
	return abs
}

// nest tells each root which of the others lie in it, as paths or as
// directories.
func (ix *Index) nest() {
	for _, outer := range ix.roots {
		for _, one := range ix.roots {
			if one == outer {
				continue
			}
			rel, ok := relTo(outer.real, one.real)
			if !ok {
				rel, ok = outer.rel(one.Dir)
			}
			if ok && rel != "." {
				outer.inner = append(outer.inner, inner{rel, one})
			}
		}
		// The deepest first: the others pass on what is theirs.
		slices.SortFunc(outer.inner, func(a, b inner) int { return len(b.rel) - len(a.rel) })
	}
}

// absolute returns a root with its directory as an absolute path, which must
// exist.
func absolute(r file.Root) (file.Root, error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return r, fmt.Errorf("resolving workspace folder %s: %w", r.Dir, err)
	}
	r.Dir = dir
	return r, checkRoot(dir)
}

// checkRoot says clearly why a directory cannot be a root.
func checkRoot(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("workspace folder %s does not exist", dir)
	case err != nil:
		return fmt.Errorf("looking at workspace folder %s: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("workspace folder %s is not a directory", dir)
	}
	return nil
}

// manyNew is how many new files make it worth reading each twice: once for
// its words, which are searchable in a fifth of the time, once for the rest.
const manyNew = 1500

// scan compares the disk with what is known and queues what differs. It
// returns how many files were queued.
func (ix *Index) scan(ctx context.Context, r *root) (int, error) {
	if err := r.away(); err != nil {
		return 0, err
	}
	rules, err := file.NewRules(r.Root, ix.opts.files(r.Root))
	if err != nil {
		return 0, fmt.Errorf("reading ignore rules of %s: %w", r.Dir, err)
	}
	r.mu.Lock()
	r.since = map[string]bool{}
	r.mu.Unlock()
	listing, err := rules.Scan(ctx)
	if err != nil {
		return 0, fmt.Errorf("scanning %s: %w", r.Dir, err)
	}
	r.settle(listing)
	listing.Entries = slices.DeleteFunc(listing.Entries, func(e file.Entry) bool { return r.foreign(e.Path) })
	listing.Skips = slices.DeleteFunc(listing.Skips, func(s file.Skip) bool { return r.foreign(s.Path) })
	skips, skipped := make(map[string]file.Skip, len(listing.Skips)), map[file.SkipReason]int{}
	for _, s := range listing.Skips {
		skips[s.Path] = s
		skipped[s.Reason]++
	}
	unseen := map[string]bool{}
	version := ix.chunkVersion()
	snap := ix.Snapshot()
	var items, glances []*item
	inWork := ix.queue.inWork(r) // before known is read: what is sealed in between is in one of the two
	r.mu.Lock()
	gone := r.known.all()
	inHand := make(map[string]bool, len(inWork))
	for _, rel := range inWork {
		gone[rel], inHand[rel] = known{}, true
	}
	for _, e := range listing.Entries {
		k, have := r.known.get(e.Path)
		delete(gone, e.Path)
		if !have {
			unseen[e.Path] = true
		}
		if have && k.size == e.Size && k.modTime == e.ModTime.UnixNano() && k.chunkVersion == version {
			continue
		}
		it := item{root: r, rel: e.Path}
		it.prio, it.recent = ix.focus.of(spot{r, e.Path}, e.ModTime.UnixNano())
		if !have && inHand[e.Path] {
			it.glanced = worded // when its turn comes, what is made of it now is searchable
		}
		items = append(items, &it)
		if snap.File(r.workspacePath(e.Path)) == nil {
			first := it
			first.glance, first.glanced = true, notGlanced
			glances = append(glances, &first)
		}
	}
	for path := range gone {
		if !listing.UnderUnreadable(path) {
			items = append(items, &item{root: r, rel: path, prio: prioTouched})
		}
	}
	for rel := range r.failed {
		items = append(items, &item{root: r, rel: rel, prio: prioScan, force: true})
	}
	for rel := range r.since { // these may have been listed before they went
		if skip, ok := skips[rel]; ok && !rules.Ignored(rel) {
			delete(skips, rel)
			skipped[skip.Reason]--
		}
	}
	r.rules, r.listing, r.skips, r.skipped, r.unseen, r.since = rules, listing, skips, skipped, unseen, nil
	ix.ruled.Add(1)
	r.mu.Unlock()
	if len(glances) >= manyNew {
		ix.queue.push(glances...)
	}
	ix.queue.push(items...)
	return len(items), nil
}

// unwritten notes how the commit of some files went and returns how many files
// of the root wait for one that succeeds: another batch's success is not theirs.
func (r *root) unwritten(records []store.FileRecord, removed []string, failed bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failed && r.failed == nil {
		r.failed = map[string]bool{}
	}
	for i := range records {
		if failed {
			r.failed[records[i].Path] = true
		} else {
			delete(r.failed, records[i].Path)
		}
	}
	for _, rel := range removed {
		if failed {
			r.failed[rel] = true
		} else {
			delete(r.failed, rel)
		}
	}
	return len(r.failed)
}
