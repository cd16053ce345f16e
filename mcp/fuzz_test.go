package mcp

import (
	"net/url"
	"strings"
	"testing"

	"coderag-ls/engine/llm/redact"
)

// FuzzResource: whatever URI a client asks for is read as a path and lines, or
// refused with its name.
func FuzzResource(f *testing.F) {
	for _, s := range []string{"coderag:///a.go#L1-L2", "coderag:///a%20b%23.md#L7", "file:///a.go#L1-2", "coderag:///../x", "coderag:///%zz", "#L1", "coderag:///a#L0", "coderag:///a?b#L1", "coderag:///a#L999999999-L1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		p, err := parseResource(uri)
		if err != nil {
			if base, _, _ := strings.Cut(uri, "#"); !strings.Contains(err.Error(), base) {
				t.Errorf("%q: %v", uri, err)
			}
			return
		}
		if (p.Path == "") == (p.URI == "") || p.StartLine < 0 || p.EndLine < 0 || (p.StartLine == 0) != (p.EndLine == 0) {
			t.Errorf("%q: %+v", uri, p)
		}
		if p.Path != "" && strings.Contains(url.PathEscape(p.Path), "#") {
			t.Errorf("%q: path %q", uri, p.Path)
		}
	})
}

// FuzzMarkdown: replacing secrets in a result's text keeps its lines, and takes
// nothing where there is none.
func FuzzMarkdown(f *testing.F) {
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for _, s := range []string{
		"# A\n\n```go\ntoken := \"" + token + "\"\n```\n[a.go:1-2]\n", "````\n```\n-----BEGIN PRIVATE " + "KEY-----\n```\n````\nafter [b.go:3-4]\n", "   ```\nopen " + token, "`` ` ``\n", "\r\n```\r\n",
	} {
		f.Add(s)
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, s string) {
		c := cleaner{redactor: r}
		out := c.markdown(s)
		if strings.Count(out, "\n") != strings.Count(s, "\n") || (out == s) != (len(c.Redacted) == 0) || strings.Contains(out, `"`+token+`"`) {
			t.Errorf("%q became %q, replaced %v", s, out, c.Redacted)
		}
	})
}
