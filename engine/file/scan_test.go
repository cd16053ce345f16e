package file_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/file"
)

// checkSkips compares the reasons of some paths; "" is a path that is indexed.
func checkSkips(t *testing.T, l file.Listing, want map[string]file.SkipReason) {
	t.Helper()
	for path, reason := range want {
		entry := slices.Contains(paths(l), path)
		s, _ := skipOf(l, path)
		if entry != (reason == "") || !entry && s.Reason != reason {
			t.Errorf("%s: skip %+v, indexed %v, want %q", path, s, entry, reason)
		}
	}
}

func TestBuiltInExcludes(t *testing.T) {
	dir := tree(t, map[string]string{
		"node_modules/x/index.js":   "x",
		"web/node_modules/y.js":     "x",
		"py/__pycache__/a.py":       "x",
		"py/.venv/lib/a.py":         "x",
		"py/env/pyvenv.cfg":         "x",
		"py/env/lib/a.py":           "x",
		"py/setup.py":               "x",
		"py/build/lib/a.py":         "x",
		"py/pkg.egg-info/PKG-INFO":  "x",
		"rust/Cargo.toml":           "x",
		"rust/target/debug/a.rs":    "x",
		"cached/CACHEDIR.TAG":       "Signature: 8a477f597d28d172789f06886806bc55",
		"cached/a.rs":               "x",
		"go/vendor/modules.txt":     "x",
		"go/vendor/a/a.go":          "x",
		"js/package.json":           "{}",
		"js/dist/bundle.js":         "x",
		"net/a.csproj":              "x",
		"net/obj/a.cs":              "x",
		"net/bin/a.cs":              "x",
		"idea/.idea/workspace.xml":  "x",
		".git/config":               "x",
		".hg/store":                 "x",
		"go/build/build.go":         "x", // packages by these names
		"go/dist/main.go":           "x",
		"go/target/a.go":            "x",
		"go/bin/tool.sh":            "x",
		"src/obj/obj.go":            "x",
		"src/vendor/handwritten.go": "x",
		"src/third_party/lib.c":     "x",
		"src/env/env.go":            "x",
		"src/cache/cache.go":        "x",
		"src/deps/deps.go":          "x",
		".github/workflows/ci.yml":  "x",
	})
	l := scan(t, dir, file.Options{})
	const x = file.SkipExcluded
	checkSkips(t, l, map[string]file.SkipReason{
		"node_modules/x/index.js": x, "web/node_modules/y.js": x, "py/__pycache__/a.py": x, "py/.venv/lib/a.py": x, "py/env/lib/a.py": x,
		"py/build/lib/a.py": x, "py/pkg.egg-info/PKG-INFO": x, "rust/target/debug/a.rs": x, "cached/a.rs": x, "go/vendor/a/a.go": x,
		"js/dist/bundle.js": x, "net/obj/a.cs": x, "net/bin/a.cs": x, "idea/.idea/workspace.xml": x,
		"go/build/build.go": "", "go/dist/main.go": "", "go/target/a.go": "", "go/bin/tool.sh": "", "src/obj/obj.go": "", "src/vendor/handwritten.go": "",
		"src/third_party/lib.c": "", "src/env/env.go": "", "src/cache/cache.go": "", "src/deps/deps.go": "", ".github/workflows/ci.yml": "", "py/setup.py": "",
	})
	for _, s := range l.Skips {
		if strings.HasPrefix(s.Path, ".git/") || s.Path == ".git" || s.Path == ".hg" {
			t.Errorf("version control is listed: %+v", s)
		}
		if s.Detail == "" {
			t.Errorf("%s is skipped without a reason for the user", s.Path)
		}
	}
}

func TestSecrets(t *testing.T) {
	want := map[string]file.SkipReason{}
	for _, p := range []string{".env", ".env.local", ".env.production", "prod.env", "server.pem", "server.KEY", "id_rsa", "id_ed25519.pub", "credentials", "credentials.json",
		"aws/credentials", "secrets.yaml", ".netrc", ".npmrc", ".htpasswd", "cert.p12", "store.jks", "service-account-prod.json", "terraform.tfstate", ".ssh/config", ".gnupg/x"} {
		want[p] = file.SkipSecret
	}
	for _, p := range []string{".env.example", ".env.sample", "env.go", "credentials.go", "CredentialsProvider.java", "credentials_test.py", "secrets.py", "secret.go", "id_map.go", "id_generator.ts", "key.go", "environment.ts", "keys/keys.go"} {
		want[p] = ""
	}
	files := map[string]string{}
	for p := range want {
		files[p] = "x"
	}
	dir := tree(t, files)
	checkSkips(t, scan(t, dir, file.Options{}), want)

	// An ignore file cannot bring them back, the settings can.
	write(t, dir, ".coderagignore", "!.env\n!*.pem\n")
	l := scan(t, dir, file.Options{Include: []string{"aws/credentials", ".env"}})
	checkSkips(t, l, map[string]file.SkipReason{".env": "", "aws/credentials": "", "server.pem": file.SkipSecret, ".env.local": file.SkipSecret})
}

func TestIncludeAndExclude(t *testing.T) {
	dir := tree(t, map[string]string{
		".gitignore":                   "gen/\n*.log\n",
		"gen/a.go":                     "x",
		"gen/deep/b.go":                "x",
		"gen/deep/c.txt":               "x",
		"a.log":                        "x",
		"node_modules/mine/a.js":       "x",
		"node_modules/mine/dist/b.js":  "x",
		"node_modules/other/a.js":      "x",
		"node_modules/other/README.md": "x",
		"docs/a.md":                    "x",
		"docs/b.md":                    "x",
		"src/skip/a.go":                "x",
		"src/skip/deep/b.go":           "x",
		"src/a_gen.go":                 "x",
		"src/b.go":                     "x",
	})
	const ign, exc = file.SkipIgnored, file.SkipExcluded
	for _, c := range []struct {
		name             string
		include, exclude []string
		want             map[string]file.SkipReason
	}{
		{"a path below", []string{"gen/deep/*.go"}, nil, map[string]file.SkipReason{"gen/deep/b.go": "", "gen/a.go": ign, "gen/deep/c.txt": ign}},
		{"a directory", []string{"gen/deep"}, nil, map[string]file.SkipReason{"gen/deep/b.go": "", "gen/deep/c.txt": "", "gen/a.go": ign}},
		{"a whole tree", []string{"node_modules/mine/**"}, nil, map[string]file.SkipReason{"node_modules/mine/a.js": "", "node_modules/mine/dist/b.js": "", "node_modules/other/a.js": exc}},
		{"a base name", []string{"*.log"}, nil, map[string]file.SkipReason{"a.log": "", "gen/a.go": ign}},
		{"a directory's base name", []string{"node_modules"}, nil, map[string]file.SkipReason{"node_modules/other/a.js": "", "node_modules/mine/a.js": ""}},
		{"anywhere does not open", []string{"**/*.js"}, nil, map[string]file.SkipReason{"node_modules/other/a.js": exc}},
		{"exclude", nil, []string{"docs/b.md", "/src/skip/", "*_gen.go"}, map[string]file.SkipReason{"docs/a.md": "", "docs/b.md": exc, "src/skip/a.go": exc, "src/skip/deep/b.go": exc, "src/a_gen.go": exc, "src/b.go": ""}},
		{"exclude wins", []string{"src/skip/**"}, []string{"src/skip"}, map[string]file.SkipReason{"src/skip/a.go": exc}},
		{"alternatives", nil, []string{"{docs,gen}/**"}, map[string]file.SkipReason{"docs/a.md": exc, "src/b.go": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := file.Options{Include: c.include, Exclude: c.exclude}
			checkSkips(t, scan(t, dir, opts), c.want)
			r := rules(t, dir, opts)
			for path, reason := range c.want {
				if got, _ := r.Decide(path, false); got != reason {
					t.Errorf("Decide(%s) = %q, want %q", path, got, reason)
				}
				// Where a file is kept, the way to it is watched.
				for up := filepath.Dir(path); reason == "" && up != "."; up = filepath.Dir(up) {
					if !r.Keep(up, true) {
						t.Errorf("%s is kept but %s is not", path, up)
					}
				}
			}
		})
	}
	for _, bad := range []string{"[", "a/{b", "x[a-"} {
		if _, err := file.NewRules(file.Root{Dir: dir}, file.Options{Exclude: []string{bad}}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("exclude %q: error %v, want one that names it", bad, err)
		}
	}
}

func TestCoderagignoreLiftsBuiltInExcludes(t *testing.T) {
	dir := tree(t, map[string]string{
		".coderagignore": "!node_modules/\n", ".gitignore": "!__pycache__/\n",
		"node_modules/a.js": "x", "__pycache__/a.py": "x",
	})
	checkSkips(t, scan(t, dir, file.Options{}), map[string]file.SkipReason{"node_modules/a.js": "", "__pycache__/a.py": file.SkipExcluded})
}

func TestWhatIsNoText(t *testing.T) {
	dir := tree(t, map[string]string{
		"logo.PNG": "x", "a.zip": "x", "a.o": "x", "app.min.js": "x", "app.js.map": "x", "empty.go": "",
		"big.go": strings.Repeat("x", 2000), "fits.go": strings.Repeat("x", 1000),
	})
	checkSkips(t, scan(t, dir, file.Options{MaxBytes: 1000}), map[string]file.SkipReason{
		"logo.PNG": file.SkipBinary, "a.zip": file.SkipBinary, "a.o": file.SkipBinary, "app.min.js": file.SkipMinified, "app.js.map": file.SkipMinified,
		"empty.go": file.SkipEmpty, "big.go": file.SkipTooLarge, "fits.go": "",
	})
}

func TestSymlinks(t *testing.T) {
	outside := tree(t, map[string]string{"secret.go": "x"})
	dir := tree(t, map[string]string{"a.go": "x", "sub/b.go": "x"})
	for link, target := range map[string]string{
		"out.go": filepath.Join(outside, "secret.go"), "outdir": outside, "in.go": "a.go", "indir": "sub", "sub/up": "..", "self": "self",
		"loop1": "loop2", "loop2": "loop1", "dangling.go": "nowhere.go", "dotdot": "../..",
	} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	l := scan(t, dir, file.Options{})
	if got := paths(l); !slices.Equal(got, []string{"a.go", "sub/b.go"}) {
		t.Errorf("entries %q", got)
	}
	checkSkips(t, l, map[string]file.SkipReason{
		"out.go": file.SkipSymlink, "outdir": file.SkipSymlink, "dotdot": file.SkipSymlink,
		"in.go": file.SkipLinked, "indir": file.SkipLinked, "sub/up": file.SkipLinked, "self": file.SkipLinked, "loop1": file.SkipLinked, "dangling.go": file.SkipLinked,
	})
	// Nor does a path lead through one.
	r := rules(t, dir, file.Options{})
	for _, path := range []string{"outdir/secret.go", "indir/b.go", "sub/up/a.go"} {
		if !r.Ignored(path) {
			t.Errorf("%s is not ignored", path)
		}
	}
	// A root may be one.
	root := filepath.Join(t.TempDir(), "root")
	must(t, os.Symlink(dir, root))
	l = scan(t, root, file.Options{})
	if got := paths(l); !slices.Equal(got, []string{"a.go", "sub/b.go"}) {
		t.Errorf("entries of a linked root %q", got)
	}
	checkSkips(t, l, map[string]file.SkipReason{"in.go": file.SkipLinked, "out.go": file.SkipSymlink})
}

func TestOddNames(t *testing.T) {
	names := []string{"a b.go", "100%.go", "日本/🎉.go", "quote\".go", "-dash.go", "#x.go", "*.go", "a\tb.go"}
	files := map[string]string{}
	for _, n := range names {
		files[n] = "x"
	}
	dir := tree(t, files)
	bad, badDir := "bad\xff.go", "bad\xfedir/x.go"
	if err := os.WriteFile(filepath.Join(dir, bad), []byte("x"), 0o644); err != nil {
		t.Skipf("the file system takes no such name: %v", err)
	}
	write(t, dir, badDir, "x")
	broken := []string{"new\nline.go", "re\rturn.go", "esc\x1b[31m.go", "sep\u2028arated/x.go"}
	for _, name := range broken {
		write(t, dir, name, "x")
	}
	l := scan(t, dir, file.Options{})
	slices.Sort(names)
	if got := paths(l); !slices.Equal(got, names) {
		t.Errorf("entries %q\nwant %q", got, names)
	}
	want := map[string]file.SkipReason{bad: file.SkipUnsupported, badDir: file.SkipUnsupported}
	for _, name := range broken {
		want[name] = file.SkipUnsupported
	}
	checkSkips(t, l, want)
}

func TestListingOrderAndDirs(t *testing.T) {
	dir := tree(t, map[string]string{
		"b/c/d.go": "x", "a.go": "x", "b-x.go": "x", "b/a.go": "x", "empty/": "", "skipped/x.png": "x", "z/y/x/w.go": "x",
	})
	l := scan(t, dir, file.Options{})
	if got, want := paths(l), []string{"a.go", "b-x.go", "b/a.go", "b/c/d.go", "z/y/x/w.go"}; !slices.Equal(got, want) {
		t.Errorf("entries %q, want %q", got, want)
	}
	if want := []string{".", "b", "b/c", "z", "z/y", "z/y/x"}; !slices.Equal(l.Dirs, want) {
		t.Errorf("dirs %q, want %q", l.Dirs, want)
	}
	info, err := os.Stat(filepath.Join(dir, "a.go"))
	must(t, err)
	if e := l.Entries[0]; e.Size != info.Size() || !e.ModTime.Equal(info.ModTime()) {
		t.Errorf("entry %+v, file %d %v", e, info.Size(), info.ModTime())
	}
}

func TestBadRoots(t *testing.T) {
	dir := tree(t, map[string]string{"file": "x"})
	for root, says := range map[string]string{
		filepath.Join(dir, "nowhere"): "does not exist",
		filepath.Join(dir, "file"):    "not a directory",
		"relative/path":               "not an absolute path",
	} {
		_, err := file.NewRules(file.Root{Dir: root}, file.Options{})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), root) {
			t.Errorf("NewRules(%s): %v, want %q and the path", root, err, says)
		}
	}
	r := rules(t, dir, file.Options{})
	must(t, os.RemoveAll(dir))
	if _, err := r.Scan(t.Context()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("scan of a root that went: %v", err)
	}
}

func TestCancelledScan(t *testing.T) {
	dir := tree(t, map[string]string{"a/b.go": "x"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rules(t, dir, file.Options{}).Scan(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestPathsThatDoNotExist: rules hold for a file before it is there and after
// it has gone.
func TestPathsThatDoNotExist(t *testing.T) {
	dir := tree(t, map[string]string{".gitignore": "gen/\n", "src/.gitignore": "*.out\n"})
	r := rules(t, dir, file.Options{})
	for path, want := range map[string]bool{
		"new/deep/a.go": false, "gen/a.go": true, "src/a.out": true, "src/sub/a.out": true, "src/a.go": false, "node_modules/a.js": true, "x/.env": true,
		"../outside.go": true, "/etc/passwd": true, ".git/config": true, "a/.git/config": true, "a/../.git/HEAD": true,
	} {
		if got := r.Ignored(path); got != want {
			t.Errorf("Ignored(%q) = %v", path, got)
		}
	}
	if r.Ignored("new/a.txt") {
		t.Fatal("new/a.txt is ignored")
	}
	// What was not there is looked at again.
	write(t, dir, "new/.gitignore", "*.txt\n")
	if !r.Ignored("new/a.txt") {
		t.Error("the ignore file of a new directory is not followed")
	}
}

// TestScanAndDecideAgree looks at every path of a busy tree both ways.
func TestScanAndDecideAgree(t *testing.T) {
	files := map[string]string{".gitignore": "*.tmp\n/out/\n!keep.tmp\n", "b/.ignore": "*.md\n", "c/.git/HEAD": "x", "c/.gitignore": "x*\n", "d/pyvenv.cfg": "x", "go.mod": "x"}
	for _, d := range []string{"", "a/", "b/", "c/", "d/", "out/", "a/node_modules/", "a/out/", "b/c/"} {
		for _, f := range []string{"a.go", "x.tmp", "keep.tmp", "r.md", ".env", "x.png", "xyz", "a.min.js"} {
			files[d+f] = "x"
		}
	}
	dir := tree(t, files)
	opts := file.Options{Include: []string{"out/keep.tmp", "b/r.md"}, Exclude: []string{"a/xyz"}}
	l := scan(t, dir, opts)
	r := rules(t, dir, opts)
	for path := range files {
		reason, detail := r.Decide(path, false)
		s, skipped := skipOf(l, path)
		if kept := slices.Contains(paths(l), path); kept != (reason == "") {
			t.Errorf("%s: in the listing %v, Decide %q %s", path, kept, reason, detail)
		} else if !kept && !strings.Contains(path, ".git/") && (!skipped || s.Reason != reason || s.Detail != detail) {
			t.Errorf("%s: listing %+v, Decide %q %q", path, s, reason, detail)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	for i := range 20000 {
		d := filepath.Join(dir, fmt.Sprintf("d%d/e%d", i%40, i%400))
		if i < 400 {
			must(b, os.MkdirAll(d, 0o755))
		}
		must(b, os.WriteFile(filepath.Join(d, fmt.Sprintf("f%d.go", i)), []byte("package x\n"), 0o644))
	}
	must(b, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(strings.Repeat("*.log\nbuild/\n/a/b/*.c\n!x\nfoo*\n**/z/*.k\n", 5)), 0o644))
	b.ReportAllocs()
	for b.Loop() {
		r, err := file.NewRules(file.Root{Dir: dir}, file.Options{})
		must(b, err)
		l, err := r.Scan(b.Context())
		must(b, err)
		if len(l.Entries) != 20001 {
			b.Fatal(len(l.Entries))
		}
	}
}
