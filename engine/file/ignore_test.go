package file_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/file"
)

// gitFiles returns the files that git does not ignore.
func gitFiles(t testing.TB, dir string) []string {
	t.Helper()
	out := strings.Split(git(t, dir, "ls-files", "--others", "--exclude-standard", "-z"), "\x00")
	out = out[:len(out)-1]
	slices.Sort(out)
	return out
}

// TestIgnoreRulesAreGits compares the verdicts on random trees with random
// rules, nested and negated, with git's own. ("f**/x" is left out: git 2.39 takes
// it for "f/**/x" or not by where its buffers lie.)
func TestIgnoreRulesAreGits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "foo", "bar", "foobar", "a.b", "x.log", "y.log", "b c", "q{1,2}", "[z]", "é", "tr ", "!ex", "#h", "a-b", "A", "9"}
	parts := []string{"a", "b", "foo", "bar", "*", "**", "?", "*.log", "x.*", "fo*", "*ar", "[ab]", "[!a]*", "[^b]", "[a-f]oo", "f[]o]o", "[[:alpha:]]", "[[:upper:][:digit:]]",
		"a.b", "b c", `b\ c`, "q{1,2}", "q{1", `\[z]`, "[[]z]", "é", "?*", "**o", "a**b", `tr\ `, `\!ex`, `\#h`, "[", "[a", `x\`, "a-b", "a[-+]b", "*-*", "A", "***"}
	for round := range rounds() {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		var dirs []string
		var grow func(at string, depth int)
		grow = func(at string, depth int) {
			dirs = append(dirs, at)
			for range 1 + r.IntN(6) {
				name := names[r.IntN(len(names))]
				path := at + name
				if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
					continue
				}
				if depth < 3 && r.IntN(3) > 0 {
					must(t, os.Mkdir(filepath.Join(dir, path), 0o755))
					grow(path+"/", depth+1)
					continue
				}
				write(t, dir, path, "x")
			}
		}
		grow("", 0)
		shown := ""
		for range 1 + r.IntN(3) {
			at := dirs[r.IntN(len(dirs))]
			var lines strings.Builder
			for range 1 + r.IntN(5) {
				lines.WriteString(randomRule(r, parts))
			}
			name := ".gitignore"
			if at == "" && r.IntN(4) == 0 {
				name = ".git/info/exclude"
			}
			write(t, dir, at+name, lines.String())
			shown += fmt.Sprintf("%s%s: %q\n", at, name, lines.String())
		}
		want, got := gitFiles(t, dir), paths(scan(t, dir, file.Options{}))
		if !slices.Equal(got, want) {
			without := func(a, b []string) []string {
				return slices.DeleteFunc(slices.Clone(a), func(p string) bool { return slices.Contains(b, p) })
			}
			t.Errorf("round %d, rules\n%sfound though git ignores them: %q\nmissing: %q", round, shown, without(got, want), without(want, got))
			if t.Failed() && round > 0 {
				return
			}
		}
		// One path at a time, with nothing read before, says the same.
		one := rules(t, dir, file.Options{})
		must(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, p)
			if err == nil && d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			if err == nil && !d.IsDir() {
				if ignored := one.Ignored(filepath.ToSlash(rel)); ignored == slices.Contains(want, filepath.ToSlash(rel)) {
					t.Errorf("rules\n%sIgnored(%q) = %v", shown, rel, ignored)
				}
			}
			return err
		}))
	}
}

func randomRule(r *rand.Rand, parts []string) string {
	var b strings.Builder
	if r.IntN(3) == 0 {
		b.WriteByte('!')
	}
	if r.IntN(4) == 0 {
		b.WriteByte('/')
	}
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(parts[r.IntN(len(parts))])
	}
	if r.IntN(4) == 0 {
		b.WriteByte('/')
	}
	b.WriteString([]string{"\n", "\n", "\n", "\r\n", " \n", "  \r\n", "\n\n", "\n# no rule\n"}[r.IntN(8)])
	return b.String()
}

func TestIgnoreFileKinds(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore":       "*.gen\nlogs/\n",
		".ignore":          "*.tmp\n!keep.gen\n",
		".coderagignore":   "*.secretish\n!keep.tmp\n",
		"a.gen":            "x",
		"keep.gen":         "x",
		"a.tmp":            "x",
		"keep.tmp":         "x",
		"a.secretish":      "x",
		"sub/.gitignore":   "!a.gen\n",
		"sub/a.gen":        "x",
		"sub/b.gen":        "x",
		"logs/a.go":        "x",
		"logs/.gitignore":  "!*\n",
		"main.go":          "x",
		"deep/logs/b.go":   "x",
		"deep/logs2/b.go":  "x",
		"deep/.gitignore":  "\ufefflogs2/\r\n",
		"deep/.gitignore2": "logs2/",
	})
	l := scan(t, dir, file.Options{})
	want := []string{".coderagignore", ".gitignore", ".ignore", "deep/.gitignore", "deep/.gitignore2", "keep.gen", "keep.tmp", "main.go", "sub/.gitignore", "sub/a.gen"}
	if got := paths(l); !slices.Equal(got, want) {
		t.Errorf("entries %q\nwant %q", got, want)
	}
	for path, detail := range map[string]string{
		"a.gen":           "rule *.gen in .gitignore:1",
		"logs/a.go":       "rule logs/ in .gitignore:2",
		"deep/logs/b.go":  "rule logs/ in .gitignore:2",
		"deep/logs2/b.go": "rule logs2/ in deep/.gitignore:1",
		"a.tmp":           "rule *.tmp in .ignore:1",
		"a.secretish":     "rule *.secretish in .coderagignore:1",
	} {
		if s, ok := skipOf(l, path); !ok || s.Reason != file.SkipIgnored || s.Detail != detail {
			t.Errorf("skip of %s = %+v, want ignored by %q", path, s, detail)
		}
	}
	if got := paths(scan(t, dir, file.Options{NoIgnoreFiles: true})); len(got) != 18 {
		t.Errorf("without ignore files %d entries, want all 18: %q", len(got), got)
	}
}

func TestNestedRepositoriesHaveTheirOwnScope(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore":            "*.gen\n/skipped/\n",
		".coderagignore":        "*.all\n",
		"a.gen":                 "x",
		"nested/a.gen":          "x",
		"nested/a.all":          "x",
		"nested/b.own":          "x",
		"nested/.gitignore":     "*.own\n",
		"nested/deep/c.gen":     "x",
		"nested/d.info":         "x",
		"skipped/.gitignore":    "",
		"skipped/e.go":          "x",
		"module/f.gen":          "x",
		"module/g.shared":       "x",
		"module/.git":           "gitdir: ../.git/modules/module\n",
		"other/.git":            "nonsense",
		"other/h.gen":           "x",
		".git/HEAD":             "ref: refs/heads/main\n",
		"plain/i.gen":           "x",
		".git/modules/module/x": "",
	})
	write(t, dir, "nested/.git/info/exclude", "*.info\n")
	write(t, dir, "skipped/.git/HEAD", "x")
	write(t, dir, ".git/modules/module/info/exclude", "*.shared\n")
	want := []string{".coderagignore", ".gitignore", "module/f.gen", "nested/.gitignore", "nested/a.gen", "nested/deep/c.gen", "other/h.gen"}
	if got := paths(scan(t, dir, file.Options{})); !slices.Equal(got, want) {
		t.Errorf("entries %q\nwant %q", got, want)
	}
}

// TestLinkedWorkTree finds info/exclude of the repository that a linked work
// tree belongs to.
func TestLinkedWorkTree(t *testing.T) {
	base := t.TempDir()
	main, linked := filepath.Join(base, "main"), filepath.Join(base, "linked")
	write(t, main, "a.go", "x")
	git(t, main, "init", "-q")
	git(t, main, "add", ".")
	git(t, main, "commit", "-qm", "one")
	git(t, main, "worktree", "add", "-q", linked)
	write(t, main, ".git/info/exclude", "*.local\n")
	write(t, linked, "b.local", "x")
	write(t, linked, "c.go", "x")
	if got := paths(scan(t, linked, file.Options{})); !slices.Equal(got, []string{"a.go", "c.go"}) {
		t.Errorf("entries %q", got)
	}
}

// TestRootInsideARepository follows the ignore files above the root.
func TestRootInsideARepository(t *testing.T) {
	dir := tree(t, map[string]string{
		".git/info/exclude":   "*.local\n",
		".gitignore":          "*.gen\n/sub/pkg/only/\n",
		".ignore":             "*.tmp\n",
		"sub/.gitignore":      "/pkg/anchored.go\n!keep.gen\n",
		"sub/pkg/anchored.go": "x",
		"sub/pkg/a.go":        "x",
		"sub/pkg/a.gen":       "x",
		"sub/pkg/keep.gen":    "x",
		"sub/pkg/a.local":     "x",
		"sub/pkg/a.tmp":       "x",
		"sub/pkg/only/b.go":   "x",
	})
	if got := paths(scan(t, filepath.Join(dir, "sub", "pkg"), file.Options{})); !slices.Equal(got, []string{"a.go", "keep.gen"}) {
		t.Errorf("entries %q", got)
	}
	// Whoever opens an ignored directory wants to see it.
	if got := paths(scan(t, filepath.Join(dir, "sub", "pkg", "only"), file.Options{})); !slices.Equal(got, []string{"b.go"}) {
		t.Errorf("entries of an ignored root %q", got)
	}
}

func TestIsIgnoreFile(t *testing.T) {
	for path, want := range map[string]bool{
		".gitignore": true, "a/b/.ignore": true, "/x/.coderagignore": true, "/r/.git/info/exclude": true,
		"gitignore": false, "a/.gitignore/b": false, ".dockerignore": false,
	} {
		if got := file.IsIgnoreFile(path); got != want {
			t.Errorf("IsIgnoreFile(%q) = %v", path, got)
		}
	}
}

// FuzzIgnoreRules wants any ignore file to be read and applied without a panic.
func FuzzIgnoreRules(f *testing.F) {
	for _, s := range []string{"*.log\n!a\n", "[[:alpha:]]/**/x\\ \n", "{a,b}\r\n/\n//\n!\n", "[a-\n[]-a]\n\\", "***/[^/]?"} {
		f.Add(s, "a/b c/x.log")
	}
	f.Fuzz(func(t *testing.T, content, path string) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(content), 0o644))
		r := rules(t, dir, file.Options{})
		reason, detail := r.Decide(path, false)
		if (reason == "") != !r.Ignored(path) {
			t.Errorf("Decide = %q, %q and Ignored = %v", reason, detail, r.Ignored(path))
		}
	})
}

// rounds is how many random trees are compared.
func rounds() int {
	if testing.Short() {
		return 20
	}
	return 60
}
