package text

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestURIRoundTrip(t *testing.T) {
	for _, p := range []string{
		"/", "/a", "/a b/c", "/100%/%41", "/日本/🎉.go", "/new\nline", "/tab\t", "/a#b?c", "/c:/x", "/invalid\xff\xfe", `/back\slash`,
		"/a+b&c=d;e,f", "/[x]{y}", "/~user", "//double", "/a//b", "/quote\"'",
	} {
		uri := uriFromPath(p, false)
		for _, c := range uri {
			if c <= ' ' || c > '~' {
				t.Errorf("URI of %q is %q: not all printable ASCII", p, uri)
			}
		}
		if got, err := pathFromURI(uri, false); err != nil || got != p {
			t.Errorf("%q -> %s -> %q, %v", p, uri, got, err)
		}
	}
}

func TestPathFromURI(t *testing.T) {
	for _, c := range []struct {
		uri     string
		windows bool
		want    string
	}{
		{"file:///a/b.go", false, "/a/b.go"},
		{"FILE:///a", false, "/a"},
		{"file://localhost/a", false, "/a"},
		{"file:/a", false, "/a"},
		{"file:///a%20b%25%F0%9F%8E%89", false, "/a b%🎉"},
		{"file:///a+b", false, "/a+b"},
		{"file:///a#L10", false, "/a"},
		{"file:///a%23L10", false, "/a#L10"},
		{"file:///c:/x", false, "/c:/x"},
		{"file:///c%3A/x/y.go", true, `C:\x\y.go`},
		{"file:///C:/x", true, `C:\x`},
		{"file:///d:", true, `D:\`},
		{"file://server/share/x%20y", true, `\\server\share\x y`},
		{"file://localhost/C:/x", true, `C:\x`},
	} {
		if got, err := pathFromURI(c.uri, c.windows); err != nil || got != c.want {
			t.Errorf("pathFromURI(%q, windows %v) = %q, %v, want %q", c.uri, c.windows, got, err, c.want)
		}
	}
}

func TestPathFromURIErrors(t *testing.T) {
	for uri, says := range map[string]string{
		"untitled:Untitled-1":      `"untitled"`,
		"git:/a/b.go?%7B%7D":       `"git"`,
		"vscode-remote://ssh/home": `"vscode-remote"`,
		"/a/b.go":                  "not a URI",
		`C:\x`:                     `"C"`,
		"":                         "not a URI",
		"file:":                    "no absolute path",
		"file://":                  "no absolute path",
		"file:a/b":                 "no absolute path",
		"file:///a%zz":             "decoding",
		"file:///a%":               "decoding",
		"file:///a%00b":            "NUL",
		"file://server/share":      `"server"`,
	} {
		got, err := pathFromURI(uri, false)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("pathFromURI(%q) = %q, %v, want an error that says %s", uri, got, err, says)
		}
	}
}

func TestURIFromWindowsPath(t *testing.T) {
	for path, want := range map[string]string{
		`c:\a b\x.go`:              "file:///C:/a%20b/x.go",
		`C:\`:                      "file:///C:/",
		`\\server\share\é`:         "file://server/share/%C3%A9",
		`\\?\C:\long`:              "file:///C:/long",
		`\\?\UNC\server\share\x`:   "file://server/share/x",
		`\\server`:                 "file://server/",
		"C:/forward/slash#1.go":    "file:///C:/forward/slash%231.go",
		`D:\per%cent\new` + "\n":   "file:///D:/per%25cent/new%0A",
		`E:\日本`:                    "file:///E:/%E6%97%A5%E6%9C%AC",
		`F:\` + "\U0001F389" + `\`: "file:///F:/%F0%9F%8E%89/",
	} {
		uri := uriFromPath(path, true)
		if uri != want {
			t.Errorf("uriFromPath(%q) = %s, want %s", path, uri, want)
		}
	}
	for _, path := range []string{`C:\a b\x.go`, `\\server\share\x`, `Z:\日本\🎉.go`, `C:\100%`} {
		if got, err := pathFromURI(uriFromPath(path, true), true); err != nil || got != path {
			t.Errorf("%q came back as %q, %v", path, got, err)
		}
	}
}

func TestURIOfRealFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%.go")
	if got, err := PathFromURI(URIFromPath(path)); err != nil || got != path {
		t.Errorf("on %s %q came back as %q, %v", runtime.GOOS, path, got, err)
	}
}

func FuzzURI(f *testing.F) {
	for _, s := range []string{"/a b", "file:///c%3A/x", "file://h/p?q#f", `C:\x`, "/\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, windows := range []bool{false, true} {
			// As a URI: whatever it gives is a path that comes back.
			if p, err := pathFromURI(s, windows); err == nil {
				again, err := pathFromURI(uriFromPath(p, windows), windows)
				if !windows && (err != nil || again != p) {
					t.Errorf("%q -> %q -> %q, %v", s, p, again, err)
				}
			}
		}
		// As a path: every absolute one without NUL comes back.
		if p := "/" + s; !strings.Contains(p, "\x00") {
			if again, err := pathFromURI(uriFromPath(p, false), false); err != nil || again != p {
				t.Errorf("%q -> %q, %v", p, again, err)
			}
		}
	})
}
