package graph

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
)

// maxTested bounds how many files one test file is about by its name.
const maxTested = 2

// subjects enters a file under the names that tests call it by: its own, and
// those with its directories' names before it.
func (t *tables) subjects(id int32, f *File) {
	fam := family(f.Language)
	p := strings.TrimSuffix(f.Path, path.Ext(f.Path))
	if standsForDirectory(path.Base(p)) {
		p = path.Dir(p)
	}
	name := ""
	for range 3 {
		if p == "." {
			return
		}
		name = plainName(path.Base(p)) + name
		key := stemKey{fam, name}
		if l := t.bySubject[key]; len(l) == 0 || l[len(l)-1] != id {
			t.bySubject[key] = append(l, id)
		}
		p = path.Dir(p)
	}
}

// standsForDirectory reports whether a file of that name is known by its
// directory's.
func standsForDirectory(stem string) bool {
	switch stem {
	case "index", "__init__", "mod", "init", "lib":
		return true
	}
	return false
}

// plainName is a name in lower case without what joins its words.
func plainName(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c != '_' && c != '-' && c != '.' && c != ' ' {
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// subjectNames are the names that a test file may be about, the likeliest
// first: its own without what marks tests, then with words left off at the end.
func subjectNames(f *File) []string {
	s := stem(f.Path)
	if standsForDirectory(s) || s == "conftest" || s == "setup" {
		return nil
	}
	switch family(f.Language) {
	case "go":
		return []string{strings.TrimSuffix(s, "_test")}
	}
	for cut := true; cut; {
		cut = false
		for _, mark := range [...]string{"test_", "test-", "tests_", "spec_", "unit_"} {
			if t := strings.TrimPrefix(s, mark); t != s && t != "" {
				s, cut = t, true
			}
		}
		for _, mark := range [...]string{".test", ".spec", "_test", "_tests", "_spec", "_unittest", "-test", "-tests", "-spec", ".e2e", ".unit", ".bench", ".d", ".browser", ".node",
			"Test", "Tests", "TestCase", "Spec", "Specs", "IT", "_bench", "_prop", "_loom"} {
			if t := strings.TrimSuffix(s, mark); t != s && t != "" {
				s, cut = t, true
			}
		}
		if t := strings.TrimPrefix(s, "Test"); t != s && t != "" && unicode.IsUpper(rune(t[0])) {
			s, cut = t, true
		}
	}
	names := []string{s}
	for rest := withoutLastWord(s); len(rest) >= 4; rest = withoutLastWord(rest) {
		names = append(names, rest)
	}
	return names
}

// withoutLastWord cuts off the last word of an identifier.
func withoutLastWord(s string) string {
	for i := len(s) - 1; i > 0; i-- {
		if c := s[i]; c == '_' || c == '-' || c == '.' {
			return s[:i]
		} else if c >= 'A' && c <= 'Z' && (s[i-1] < 'A' || s[i-1] > 'Z') {
			return s[:i]
		}
	}
	return ""
}

// tested are the files that a test file is about by its name: nearest by where
// both stand, those that it imports before others.
func (r *resolver) tested(id int32) []int32 {
	f := &r.t.files[id]
	if !f.Test || !code(f.Language) {
		return nil
	}
	if f.Language == "go" {
		dir := path.Dir(f.Path)
		for _, name := range subjectNames(f) {
			for s := name; s != ""; s, _ = cutLast(s, '_') { // x_linux_test.go
				if to := r.t.file(path.Join(dir, s+".go")); to != none && to != id {
					return []int32{to}
				}
			}
		}
		return nil
	}
	imported := func(c int32) bool {
		for _, l := range r.infos[id].links {
			if l.to == c || int(l.to) >= len(r.t.files) && slices.Contains(r.t.groupsOf[c], l.to-int32(len(r.t.files))) {
				return true
			}
		}
		return false
	}
	for n, name := range subjectNames(f) {
		candidates := r.t.bySubject[stemKey{family(f.Language), plainName(name)}]
		type scored struct {
			id    int32
			score int
		}
		var found []scored
		for _, c := range candidates {
			s := mirror(f.Path, r.t.files[c].Path)*4 + common(f.Path, r.t.files[c].Path)
			in := imported(c)
			if in {
				s += 16
			}
			if r.t.files[c].Minor && !f.Minor {
				s -= 16
			}
			if c == id || n > 0 && s < 4 || n > 0 && !in && mirror(f.Path, r.t.files[c].Path) == 0 {
				continue // part of a name says little
			}
			found = append(found, scored{c, s})
		}
		slices.SortStableFunc(found, func(a, b scored) int {
			return cmp.Or(b.score-a.score, strings.Count(r.t.files[a.id].Path, "/")-strings.Count(r.t.files[b.id].Path, "/"))
		})
		var out []int32
		for _, s := range found {
			if (s.score == found[0].score || pair(&r.t.files[s.id], &r.t.files[found[0].id])) && len(out) < maxTested {
				out = append(out, s.id)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// pair reports whether two files are a header and what it declares.
func pair(a, b *File) bool {
	return family(a.Language) == "c" && strings.TrimSuffix(a.Path, path.Ext(a.Path)) == strings.TrimSuffix(b.Path, path.Ext(b.Path))
}

func cutLast(s string, sep byte) (before, after string) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// mirror counts how many directories two paths have in common from the end,
// those left out that only say that tests or sources stand there.
func mirror(a, b string) int {
	x, y := plainDirs(a), plainDirs(b)
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

func plainDirs(p string) []string {
	return slices.DeleteFunc(strings.Split(path.Dir(p), "/"), func(s string) bool {
		switch strings.ToLower(s) {
		case ".", "test", "tests", "__tests__", "spec", "specs", "src", "source", "sources", "lib", "main", "unit", "commontest", "commonmain", "jvmtest", "jvmmain":
			return true
		}
		return false
	})
}
