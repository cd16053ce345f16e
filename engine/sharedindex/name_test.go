package sharedindex_test

import (
	"strings"
	"testing"

	"coderag-ls/engine/sharedindex"
)

func TestF1NameOfURL(t *testing.T) {
	for url, want := range map[string]string{
		"https://github.com/spf13/cobra.git":              "github.com/spf13/cobra",
		"https://user:token@GitHub.com:8443/spf13/cobra/": "github.com/spf13/cobra",
		"git@github.com:spf13/cobra.git":                  "github.com/spf13/cobra",
		"ssh://git@host:2222/a/b.git\n":                   "host/a/b",
		"host:a/b":                                        "host/a/b",
		"/srv/git/a.git":                                  "",
		"../a":                                            "",
		"file:///srv/git/a.git":                           "",
		`C:\git\a`:                                        "",
		"":                                                "",
		"https://host/a b":                                "",
		"https://host/../../etc":                          "",
	} {
		if got, ok := sharedindex.NameOfURL(url); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v; want %q", url, got, ok, want)
		}
	}
	for _, bad := range []string{"", "a b", "../a", "a//b", "a@b", "a:b", "/a", strings.Repeat("a", 600), "a\x00b", "a*"} {
		if sharedindex.CheckName(bad) == nil {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}
