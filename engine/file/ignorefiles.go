package file

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// ignoreFiles are the names of ignore files, the strongest first.
var ignoreFiles = [3]string{".coderagignore", ".ignore", ".gitignore"}

// IsIgnoreFile reports whether a path names a file that holds ignore rules: a
// change of one calls for new Rules and a scan.
func IsIgnoreFile(p string) bool {
	p = filepath.ToSlash(p)
	base := path.Base(p)
	for _, f := range ignoreFiles {
		if base == f {
			return true
		}
	}
	return strings.HasSuffix(p, ".git/info/exclude")
}

// addLists puts a directory's own ignore files in front of those above it and
// returns those that cannot be read.
func (r *Rules) addLists(d *dir, found [3]bool, nested bool) (unread []Skip) {
	abs := r.abs(d.path)
	strip, shown := 0, ""
	if d.path != "." {
		strip, shown = len(d.path)+1, d.path+"/"
	}
	if nested {
		d.git = nil
		if exclude := gitExclude(abs); exclude != "" {
			unread = addList(unread, &d.git, &ruleList{strip: strip}, exclude, shown+".git/info/exclude")
		}
	}
	for i, list := range [3]**ruleList{&d.coderag, &d.ignore, &d.git} {
		if !found[i] {
			continue
		}
		unread = addList(unread, list, &ruleList{strip: strip}, filepath.Join(abs, ignoreFiles[i]), shown+ignoreFiles[i])
	}
	return unread
}

// addList reads an ignore file in front of a list, or adds it to those that
// cannot be read.
func addList(unread []Skip, list **ruleList, l *ruleList, file, shown string) []Skip {
	rules, err := readRules(file, shown)
	if err != nil {
		return append(unread, Skip{Path: shown, Reason: SkipUnreadable, Detail: "its rules are not followed: " + cause(err)})
	}
	if len(rules) > 0 {
		l.parent, l.rules = *list, rules
		*list = l
	}
	return unread
}

// top returns the root's directory, with the ignore files above it where it
// lies inside a repository.
func (r *Rules) top(entries []fs.DirEntry) *dir {
	d := &dir{path: "."}
	var found [3]bool
	nested := false
	for _, e := range entries {
		d.builds |= buildFile(e.Name())
		for i, f := range ignoreFiles {
			found[i] = found[i] || e.Name() == f
		}
		nested = nested || e.Name() == ".git"
	}
	if r.opts.NoIgnoreFiles {
		return d
	}
	if !nested {
		r.addAbove(d)
	}
	r.unread = append(r.unread, r.addLists(d, found, nested)...)
	return d
}

// addAbove adds the ignore files from the repository's top down to the root's
// parent.
func (r *Rules) addAbove(d *dir) {
	var above []string // nearest first
	for at := filepath.Dir(r.root.Dir); ; at = filepath.Dir(at) {
		above = append(above, at)
		if isWorkTree(at) {
			break
		}
		if at == filepath.Dir(at) {
			return // in no repository
		}
	}
	var lists [3]*ruleList
	var unread []Skip
	for i := len(above) - 1; i >= 0; i-- {
		rel, err := filepath.Rel(above[i], r.root.Dir)
		if err != nil {
			return // on another volume
		}
		rel = filepath.ToSlash(rel)
		if i == len(above)-1 {
			if exclude := gitExclude(above[i]); exclude != "" {
				unread = addList(unread, &lists[2], &ruleList{above: rel + "/"}, exclude, exclude)
			}
		}
		for k := range lists {
			file := filepath.Join(above[i], ignoreFiles[k])
			unread = addList(unread, &lists[k], &ruleList{above: rel + "/"}, file, file)
		}
		// What ignores the way to the root was not meant for who opens it.
		step, _, _ := strings.Cut(rel, "/")
		for k := range lists {
			v, _ := lists[k].matchAbove(step, rel)
			if v == ignored {
				return
			}
			if v == unignored {
				break
			}
		}
	}
	r.unread = unread
	d.coderag, d.ignore, d.git = lists[0], lists[1], lists[2]
}

// matchAbove is match for the directory step below the list's nearest file, on
// the way to the root at rel from that file.
func (l *ruleList) matchAbove(step, rel string) (verdict, string) {
	for ; l != nil; l = l.parent {
		whole := strings.TrimSuffix(l.above, rel+"/") + step
		one := ruleList{rules: l.rules}
		if v, rule := one.match(whole, step, true); v != unmentioned {
			return v, rule
		}
	}
	return unmentioned, ""
}
