package file

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Options say which files of a root are indexed. A glob pattern may hold ** for
// any number of directories; one without "/" is matched with the base name, any
// other with the path from the root, and one that names a directory names what
// is below it too.
type Options struct {
	// MaxBytes is the size above which a file is skipped; 0 or less means
	// DefaultMaxBytes.
	MaxBytes int64
	// Exclude are glob patterns of paths that are not indexed. They win over
	// Include.
	Exclude []string
	// Include are glob patterns of paths that are indexed although an ignore
	// file, a built-in exclude or the secret-file rule would skip them. A
	// pattern that starts with "**" or has no "/" does not open directories
	// that are skipped as a whole ("*.py" is not looked for in node_modules),
	// unless it names such a directory itself.
	Include []string
	// NoIgnoreFiles turns .gitignore, .ignore, .coderagignore and
	// .git/info/exclude off.
	NoIgnoreFiles bool
}

// DefaultMaxBytes is the default of Options.MaxBytes: 1 MiB. Source that people
// write is far below it; what is above is data or generated.
const DefaultMaxBytes = 1 << 20

// Rules say which paths of one root are indexed. They are safe for concurrent
// use. What they know of a directory (its ignore files, the build files in it)
// is read once: make new Rules when an ignore file changed or to scan again.
//
// From strongest to weakest: version control directories are never opened;
// Options.Exclude; Options.Include; secret files; .coderagignore, .ignore,
// .gitignore and .git/info/exclude, of which each kind's nearest file decides
// and an earlier kind wins over a later; built-in excludes, which a "!" rule of
// .coderagignore or .ignore lifts. As in git, nothing below a skipped directory
// is found again by a "!" rule.
//
// A repository inside the root (a submodule, a vendored clone) has its own
// .gitignore scope. Where the root lies inside a repository, the ignore files
// between it and the repository's top hold too, unless they ignore the root
// itself.
type Rules struct {
	root    Root
	real    string // the root's directory without symlinks
	opts    Options
	exclude []userGlob
	include []userGlob
	// unread are the ignore files of and above the root that cannot be read.
	unread []Skip

	mu   sync.Mutex
	dirs map[string]*dir // guarded by mu; by path from the root, "." the root
}

// dir is what the rules know of one directory. It does not change once made.
type dir struct {
	path string // from the root, "." for it
	// skip says why nothing below is indexed, "" where it may be.
	skip   SkipReason
	detail string
	// forced is true where only what Options.Include names is indexed.
	forced bool
	never  bool // not even what Options.Include names
	builds buildFiles

	coderag, ignore, git *ruleList
}

// NewRules returns the rules of a root. A directory that does not exist, a root
// that is no directory and a broken glob pattern are errors.
func NewRules(root Root, opts Options) (*Rules, error) {
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if !filepath.IsAbs(root.Dir) {
		return nil, fmt.Errorf("workspace folder %q is not an absolute path", root.Dir)
	}
	root.Dir = filepath.Clean(root.Dir)
	r := &Rules{root: root, opts: opts, dirs: map[string]*dir{}}
	var err error
	if r.exclude, err = compileGlobs(opts.Exclude); err != nil {
		return nil, fmt.Errorf("exclude pattern %w", err)
	}
	if r.include, err = compileGlobs(opts.Include); err != nil {
		return nil, fmt.Errorf("include pattern %w", err)
	}
	entries, err := listRoot(root.Dir)
	if err != nil {
		return nil, err
	}
	if r.real, err = filepath.EvalSymlinks(root.Dir); err != nil {
		return nil, fmt.Errorf("resolving workspace folder %s: %w", root.Dir, err)
	}
	r.dirs["."] = r.top(entries)
	return r, nil
}

// listRoot lists a root, with errors that a user can act on.
func listRoot(abs string) ([]fs.DirEntry, error) {
	info, err := os.Stat(abs)
	switch {
	case os.IsNotExist(err):
		return nil, fmt.Errorf("workspace folder %s does not exist: %w", abs, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("looking at workspace folder %s: %w", abs, err)
	case !info.IsDir():
		return nil, fmt.Errorf("workspace folder %s is not a directory", abs)
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return nil, fmt.Errorf("listing workspace folder %s: %w", abs, err)
	}
	return entries, nil
}

// Ignored reports whether the file at a slash-separated path from the root is
// not indexed because of its name or place.
func (r *Rules) Ignored(rel string) bool {
	reason, _ := r.Decide(rel, false)
	return reason != ""
}

// Keep reports whether a path may be indexed or, for a directory, hold what is:
// a watcher asks it which directories to watch. rel is slash-separated from the
// root.
func (r *Rules) Keep(rel string, isDir bool) bool {
	reason, _ := r.Decide(rel, isDir)
	if reason == "" || !isDir {
		return reason == ""
	}
	return r.find(path.Clean(rel)).forced
}

// Decide says why the file or directory at a slash-separated path from the root
// is not indexed because of its name or place, with the rule that says so; the
// reason is "" where it is. Neither the path nor its parents need to exist.
func (r *Rules) Decide(rel string, isDir bool) (SkipReason, string) {
	rel = path.Clean(rel)
	switch {
	case rel == ".":
		return "", ""
	case rel == "..", strings.HasPrefix(rel, "../"), strings.HasPrefix(rel, "/"):
		return SkipExcluded, "outside the workspace folder"
	case isDir:
		d := r.find(rel)
		return d.skip, d.detail
	}
	parent, base := path.Split(rel)
	return r.decide(r.find(path.Clean(parent)), rel, base, false)
}

// find returns what is known of a directory, reading it and those above it
// where they were not read before.
func (r *Rules) find(rel string) *dir {
	r.mu.Lock()
	d := r.dirs[rel]
	r.mu.Unlock()
	if d != nil {
		return d
	}
	parent, base := path.Split(rel)
	up := r.find(path.Clean(parent))
	abs := r.abs(rel)
	info, err := os.Lstat(abs)
	switch {
	case err != nil:
		// Nothing is there yet: what its name says now, and no memory of it.
		d, _ = r.open(up, rel, base, nil)
		return d
	case info.Mode()&fs.ModeSymlink != 0:
		d, _ = r.open(up, rel, base, nil)
		if d.skip == "" || d.forced {
			d = &dir{path: rel, never: true}
			d.skip, d.detail = r.link(abs)
		}
	default:
		var entries []fs.DirEntry
		if reason, _ := r.decide(up, rel, base, true); reason == "" {
			entries, _ = os.ReadDir(abs)
		}
		d, _ = r.open(up, rel, base, entries)
	}
	r.remember(d)
	return d
}

func (r *Rules) remember(d *dir) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dirs[d.path] = d
}

func (r *Rules) abs(rel string) string { return filepath.Join(r.root.Dir, filepath.FromSlash(rel)) }

// breaksLine reports whether a character of a name would break the line that
// cites it, or act on the terminal that shows it.
func breaksLine(c rune) bool {
	return unicode.IsControl(c) && c != '\t' || c == '\u2028' || c == '\u2029'
}

// decide says what the rules of the directory up say of a name in it.
func (r *Rules) decide(up *dir, rel, base string, isDir bool) (SkipReason, string) {
	switch {
	case up.never:
		return up.skip, up.detail
	case isVCS(base):
		return SkipExcluded, "version control"
	case !utf8.ValidString(base):
		return SkipUnsupported, "the name is not UTF-8 and cannot be cited: rename it"
	case strings.ContainsFunc(base, breaksLine):
		return SkipUnsupported, "the name holds control characters and cannot be cited: rename it"
	}
	if p, ok := matchGlobs(r.exclude, rel, base); ok {
		return SkipExcluded, "exclude pattern " + p
	}
	if up.skip != "" && !up.forced {
		return up.skip, up.detail
	}
	if _, ok := matchGlobs(r.include, rel, base); ok {
		return "", ""
	}
	if up.skip != "" {
		return up.skip, up.detail
	}
	if isDir && secretDir(base) {
		return SkipSecret, "named " + base
	}
	if !isDir {
		if p := secretFile(base); p != "" {
			return SkipSecret, "named like " + p
		}
	}
	lists := [...]*ruleList{up.coderag, up.ignore, up.git}
	lift := false
	for i, l := range lists {
		v, rule := l.match(rel, base, isDir)
		if v == ignored {
			return SkipIgnored, rule
		}
		if v == unignored {
			lift = i < 2
			break
		}
	}
	if isDir {
		if why := excludedDir(base, up.builds); why != "" && !lift {
			return SkipExcluded, why
		}
		return "", ""
	}
	if what := binaryFile(base); what != "" {
		return SkipBinary, what
	}
	if what := machineFile(base); what != "" && !lift {
		return SkipMinified, what
	}
	return "", ""
}

// open returns what there is to know of a directory with these entries, and
// which of its ignore files cannot be read: their rules are then missing.
func (r *Rules) open(up *dir, rel, base string, entries []fs.DirEntry) (*dir, []Skip) {
	d := &dir{path: rel}
	d.skip, d.detail = r.decide(up, rel, base, true)
	if d.skip != "" {
		d.never = up.never || isVCS(base) || d.skip == SkipUnsupported
		if _, excluded := matchGlobs(r.exclude, rel, base); excluded {
			d.never = true
		}
		d.forced = !d.never && reachable(r.include, rel)
		return d, nil
	}
	_, wanted := matchGlobs(r.include, rel, base)
	d.coderag, d.ignore, d.git = up.coderag, up.ignore, up.git
	var found [3]bool
	nested := false
	for _, e := range entries {
		name := e.Name()
		d.builds |= buildFile(name)
		if why := excludedAround(base, name); why != "" && !wanted {
			d.skip, d.detail = SkipExcluded, why
			d.forced = reachable(r.include, rel)
			return d, nil
		}
		for i, f := range ignoreFiles {
			found[i] = found[i] || name == f
		}
		nested = nested || name == ".git"
	}
	if r.opts.NoIgnoreFiles {
		return d, nil
	}
	return d, r.addLists(d, found, nested)
}
