package graph

import (
	"path"
	"slices"
	"strings"
)

// python resolves "import a.b" and "from a.b import name", absolute and
// relative (PEP 328), with packages, namespace packages (PEP 420) and source
// roots that are found by where packages stand.
func (r *resolver) python(from int32, target, name string) node {
	dir := path.Dir(r.t.files[from].Path)
	if name == "*" {
		name = ""
	}
	if rel := strings.TrimLeft(target, "."); rel != target {
		base := dir
		for range len(target) - len(rel) - 1 {
			if base == "." {
				return none
			}
			base = path.Dir(base)
		}
		return r.pythonIn(base, split(rel), name)
	}
	segs := split(target)
	if len(segs) == 0 {
		return none
	}
	root, ok := r.pythonRoot(from, dir, segs[0])
	if !ok {
		return none
	}
	return r.pythonIn(root, segs, name)
}

func split(dotted string) []string {
	if dotted == "" {
		return nil
	}
	return strings.Split(dotted, ".")
}

// pythonIn walks from a directory along the parts of a module's name.
func (r *resolver) pythonIn(at string, segs []string, name string) node {
	for i, s := range segs {
		sub := path.Join(at, s)
		if r.pythonPackage(sub) || r.pythonFile(sub) == none && r.pythonDir(sub) {
			at = sub
			continue
		}
		// A module: what follows is an attribute of it, if anything.
		if m := r.pythonFile(sub); m != none && i+2 >= len(segs) {
			return m
		}
		if i > 0 && i+1 == len(segs) {
			break // an attribute of the package, or made when it is built
		}
		return none
	}
	if name != "" {
		sub := path.Join(at, name)
		if m := r.pythonFile(path.Join(sub, "__init__")); m != none {
			return m
		}
		if m := r.pythonFile(sub); m != none {
			return m
		}
	}
	return r.pythonFile(path.Join(at, "__init__"))
}

func (r *resolver) pythonFile(p string) node {
	for _, e := range [...]string{".py", ".pyx", ".pyi"} {
		if to := r.t.file(p + e); to != none {
			return to
		}
	}
	return none
}

// pythonPackage reports whether a directory is a package with an __init__.
func (r *resolver) pythonPackage(dir string) bool {
	return r.pythonFile(path.Join(dir, "__init__")) != none
}

func (r *resolver) pythonDir(dir string) bool {
	d := r.t.dirs[dir]
	return d != nil && d.python
}

// pythonRoot finds the directory from which a file's absolute imports of a
// top-level module are resolved.
func (r *resolver) pythonRoot(from int32, dir, top string) (string, bool) {
	key := [2]string{dir, top}
	if root, ok := r.roots[key]; ok {
		return root, root != ""
	}
	root := r.findPythonRoot(from, dir, top)
	r.roots[key] = root
	return root, root != ""
}

func (r *resolver) findPythonRoot(from int32, dir, top string) string {
	standard := pythonStandard(top)
	// has tells how well a directory has the module: 2 as a package or a module, 1 as
	// a directory without __init__.
	has := func(dir string) int {
		p := path.Join(dir, top)
		switch {
		case r.pythonPackage(p), r.pythonFile(p) != none:
			return 2
		case !standard && r.pythonDir(p):
			return 1
		}
		return 0
	}
	namespace := ""
	for d := range above(dir) {
		if r.pythonPackage(d) {
			continue // Python looks in directories that are no packages
		}
		for _, sub := range [...]string{"", "src", "lib", "python"} {
			root := path.Join(d, sub)
			switch n := has(root); {
			case n == 2:
				return root
			case n == 1 && namespace == "":
				namespace = root
			}
		}
	}
	if namespace != "" || standard {
		return namespace
	}
	// Elsewhere: packages whose directory is no part of another one.
	var found []int32
	for _, p := range r.t.dirsByName[top] {
		if m := r.pythonFile(path.Join(p, "__init__")); m != none && !r.pythonPackage(path.Dir(p)) {
			found = append(found, m)
		}
	}
	slices.Sort(found)
	if to := r.t.nearest(from, found, nil); to != none {
		return path.Dir(path.Dir(r.t.files[to].Path))
	}
	return ""
}

// pythonStandard reports whether a name is a module of the standard library:
// a directory of that name is not it.
func pythonStandard(name string) bool {
	_, ok := slices.BinarySearch(pythonModules[:], name)
	return ok
}

// pythonModules are modules of the standard library with names that
// directories have, in order (docs.python.org, module index).
var pythonModules = [...]string{
	"abc", "argparse", "array", "ast", "asyncio", "base64", "bisect", "builtins", "bz2", "calendar", "cmd", "code", "codecs", "collections", "compileall",
	"concurrent", "configparser", "contextlib", "copy", "csv", "ctypes", "curses", "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis", "distutils", "doctest",
	"email", "encodings", "enum", "errno", "filecmp", "fnmatch", "fractions", "functools", "gc", "getpass", "gettext", "glob", "graphlib", "gzip", "hashlib",
	"heapq", "hmac", "html", "http", "imaplib", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword", "locale", "logging", "lzma",
	"mailbox", "math", "mimetypes", "mmap", "multiprocessing", "numbers", "operator", "os", "pathlib", "pdb", "pickle", "pkgutil", "platform", "plistlib", "pprint",
	"profile", "pty", "queue", "random", "re", "readline", "resource", "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil",
	"signal", "site", "smtplib", "socket", "sqlite3", "ssl", "stat", "statistics", "string", "struct", "subprocess", "symtable", "sys", "sysconfig", "tarfile",
	"tempfile", "test", "textwrap", "threading", "time", "timeit", "tkinter", "token", "tokenize", "tomllib", "trace", "traceback", "types", "typing", "unicodedata",
	"unittest", "urllib", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "wsgiref", "xml", "xmlrpc", "zipfile", "zlib", "zoneinfo",
}
