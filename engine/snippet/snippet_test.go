package snippet_test

import (
	"errors"
	"strings"
	"testing"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

func cite(path string, first, last int, language string, lines ...string) wire.Citation {
	content := strings.Join(lines, "\n")
	return wire.Citation{
		Path: path, StartLine: first, EndLine: last, Language: language,
		Text: content, SHA256: text.HexHash(content),
	}
}

// goSource is what most tests insert: two levels of tabs under a common one.
var goSource = cite("store/open.go", 3, 6, "go", "\tif err != nil {", "\t\treturn nil, err", "", "\t}")

// apply inserts and returns the whole text.
func apply(t *testing.T, target string, in snippet.Insertion) string {
	t.Helper()
	if in.Start < 0 || in.End < in.Start || in.End > len(target) {
		t.Fatalf("insertion of %d-%d in %d bytes", in.Start, in.End, len(target))
	}
	return target[:in.Start] + in.Text + target[in.End:]
}

func TestEdit(t *testing.T) {
	head := "store/open.go:3-6 sha256:" + goSource.SHA256[:8]
	tests := []struct {
		name, language, target string
		line                   int
		want                   string
	}{
		{"below a line, with its indentation", "go", "func f() {\n\ta()\n}\n", 2,
			"func f() {\n\ta()\n\t// " + head + "\n\tif err != nil {\n\t\treturn nil, err\n\n\t}\n}\n"},
		{"one step deeper behind an opening brace", "go", "func f() {\n\ta()\n}\n", 1,
			"func f() {\n\t// " + head + "\n\tif err != nil {\n\t\treturn nil, err\n\n\t}\n\ta()\n}\n"},
		{"in place of a blank line", "go", "func f() {\n\ta()\n\n}\n", 3,
			"func f() {\n\ta()\n\t// " + head + "\n\tif err != nil {\n\t\treturn nil, err\n\n\t}\n}\n"},
		{"a blank line's own white space counts", "python", "def f():\n    a()\n        \nb()\n", 3,
			"def f():\n    a()\n        # " + head + "\n        if err != nil {\n            return nil, err\n\n        }\nb()\n"},
		{"tabs become the target's two spaces", "javascript", "function f() {\n  a()\n  if (b) {\n    c()\n  }\n}\n", 2,
			"function f() {\n  a()\n  // " + head + "\n  if err != nil {\n    return nil, err\n\n  }\n  if (b) {\n    c()\n  }\n}\n"},
		{"CRLF stays CRLF", "go", "a\r\nb\r\n", 1,
			"a\r\n// " + head + "\r\nif err != nil {\r\n\treturn nil, err\r\n\r\n}\r\nb\r\n"},
		{"a last line without terminator", "go", "a", 1,
			"a\n// " + head + "\nif err != nil {\n\treturn nil, err\n\n}"},
		{"an empty file", "go", "", 1,
			"// " + head + "\nif err != nil {\n\treturn nil, err\n\n}"},
		{"behind the last terminator", "go", "a\n", 2,
			"a\n// " + head + "\nif err != nil {\n\treturn nil, err\n\n}"},
		{"a line outside the file is its last", "go", "a\nb", 99,
			"a\nb\n// " + head + "\nif err != nil {\n\treturn nil, err\n\n}"},
		{"block comments where there are no line comments", "css", "a {}\n", 1,
			"a {}\n/* " + head + " */\nif err != nil {\n\treturn nil, err\n\n}\n"},
		{"a fence in Markdown", "markdown", "text\n", 1,
			"text\n<!-- " + head + " -->\n```go\nif err != nil {\n\treturn nil, err\n\n}\n```\n"},
		{"no marker in plain text", "", "text\n", 1,
			"text\n" + head + "\nif err != nil {\n\treturn nil, err\n\n}\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, err := snippet.Edit(snippet.Target{Document: text.New(test.target), Language: test.language, Line: test.line}, goSource)
			if err != nil {
				t.Fatal(err)
			}
			got := apply(t, test.target, in)
			if got != test.want {
				t.Fatalf("got\n%q, want\n%q", got, test.want)
			}
			line := text.New(got).Line(in.Line)
			parsed, ok := snippet.Parse(line)
			if !ok || parsed.Path != "store/open.go" || parsed.StartLine != 3 || parsed.EndLine != 6 || !parsed.Matches(goSource.SHA256) {
				t.Errorf("line %d, %q, is read as %+v, %v", in.Line, line, parsed, ok)
			}
			if place := line[parsed.Start:parsed.End]; place != "store/open.go:3-6" {
				t.Errorf("the citation stands at %q", place)
			}
		})
	}
}

func TestEditMarkdownIntoMarkdown(t *testing.T) {
	c := cite("docs/a.md", 1, 2, "markdown", "## Title", "```go")
	in, err := snippet.Edit(snippet.Target{Document: text.New("x\n"), Language: "markdown", Line: 1}, c)
	if err != nil {
		t.Fatal(err)
	}
	if want := "x\n<!-- docs/a.md:1-2 sha256:" + c.SHA256[:8] + " -->\n## Title\n```go\n"; apply(t, "x\n", in) != want {
		t.Errorf("got %q, want %q", apply(t, "x\n", in), want)
	}
	c.Language = "text"
	in, err = snippet.Edit(snippet.Target{Document: text.New("x\n"), Language: "markdown", Line: 1}, c)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(in.Text, "\n````text\n## Title\n```go\n````") {
		t.Errorf("the fence does not hold the one inside: %q", in.Text)
	}
}

func TestEditRefuses(t *testing.T) {
	target := func(language string) snippet.Target {
		return snippet.Target{Document: text.New("x\n"), Language: language, Line: 1}
	}
	if _, err := snippet.Edit(target("json"), goSource); !errors.Is(err, snippet.ErrNoComments) {
		t.Errorf("json: %v", err)
	}
	for _, path := range []string{"a*/b.c", "a\nb", " a", ""} {
		c := cite(path, 1, 1, "c", "x")
		if in, err := snippet.Edit(target("css"), c); err == nil {
			t.Errorf("a path that breaks its comment was written: %q", in.Text)
		}
	}
	bad := goSource
	bad.SHA256 = "ABCDEF0123"
	if _, err := snippet.Edit(target("go"), bad); err == nil {
		t.Error("upper-case hex was accepted")
	}
	bad = goSource
	bad.StartLine = 0
	if _, err := snippet.Edit(target("go"), bad); err == nil {
		t.Error("line 0 was accepted")
	}
}

func TestParse(t *testing.T) {
	good := map[string]snippet.Citation{
		"// a/b.go:12-12 sha256:0123abcd":         {Path: "a/b.go", StartLine: 12, EndLine: 12, SHA8: "0123abcd"},
		"\t  # a.py:1-20 sha256:0123abcd\r\n":     {Path: "a.py", StartLine: 1, EndLine: 20, SHA8: "0123abcd"},
		"/* with space.c:1-2 sha256:0123abcd */":  {Path: "with space.c", StartLine: 1, EndLine: 2, SHA8: "0123abcd"},
		"<!-- ü/日本.md:1-2 sha256:0123abcd -->":    {Path: "ü/日本.md", StartLine: 1, EndLine: 2, SHA8: "0123abcd"},
		"a:b.go:1-2 sha256:0123abcd":              {Path: "a:b.go", StartLine: 1, EndLine: 2, SHA8: "0123abcd"},
		"REM win/a.bat:3-4 sha256:0123abcd":       {Path: "win/a.bat", StartLine: 3, EndLine: 4, SHA8: "0123abcd"},
		"-- q.sql:3-4 sha256:0123abcd":            {Path: "q.sql", StartLine: 3, EndLine: 4, SHA8: "0123abcd"},
		"x sha256:1 y.go:3-4 sha256:0123abcd":     {Path: "x sha256:1 y.go", StartLine: 3, EndLine: 4, SHA8: "0123abcd"},
		"// a/b.go:1-999999999 sha256:0123abcd\n": {Path: "a/b.go", StartLine: 1, EndLine: 999999999, SHA8: "0123abcd"},
	}
	for line, want := range good {
		got, ok := snippet.Parse(line)
		got.Start, got.End = 0, 0
		if !ok || got != want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{
		"", "//", "// a.go:1-2", "// a.go:1 sha256:0123abcd", "// a.go:0-2 sha256:0123abcd", "// a.go:2-1 sha256:0123abcd",
		"// a.go:1-2 sha256:0123abc", "// a.go:1-2 sha256:0123abcde", "// a.go:1-2 sha256:0123ABCD", "// a.go:1-2  sha256:0123abcd",
		"// a.go:1-2 sha256:0123abcd trailing", "// a.go:1-2 sha256:0123abcd ", "//  a.go:1-2 sha256:0123abcd", "// a.go:01-2 sha256:0123abcd",
		`f.Add("/* with space.c:1-2 sha256:0123abcd */")`, "a.go:1-2 sha256:0123abcd */",
		"// a.go:+1-2 sha256:0123abcd", "// :1-2 sha256:0123abcd", "// a.go:1-2 sha256:0123abcd\nmore", "// a.go:1-9999999999 sha256:0123abcd",
	} {
		if got, ok := snippet.Parse(line); ok {
			t.Errorf("%q is taken for %+v", line, got)
		}
	}
}

// FuzzParse: what is recognised is exactly what Line writes, so it can be
// written again.
func FuzzParse(f *testing.F) {
	f.Add("// a/b.go:12-12 sha256:0123abcd")
	f.Add("/* with space.c:1-2 sha256:0123abcd */")
	f.Add("a:1-2 sha256:0123abcd\r")
	f.Add("\t<!-- ü.md:1-2 sha256:ffffffff -->\n")
	f.Fuzz(func(t *testing.T, line string) {
		c, ok := snippet.Parse(line)
		if !ok {
			return
		}
		if c.StartLine < 1 || c.EndLine < c.StartLine || len(c.SHA8) != 8 || c.Path == "" {
			t.Fatalf("%q gave %+v", line, c)
		}
		again, err := snippet.Line("go", c.Path, c.StartLine, c.EndLine, c.SHA8)
		if err != nil {
			t.Fatalf("%q gave %+v, which cannot be written: %v", line, c, err)
		}
		if line[c.Start:c.End] != again[len("// "):strings.LastIndex(again, " sha256:")] {
			t.Fatalf("%q: the citation is %q in %q", line, line[c.Start:c.End], again)
		}
	})
}

// FuzzEdit: an insertion only adds; the rest of the file stays as it is.
func FuzzEdit(f *testing.F) {
	f.Add("func f() {\n\ta()\n}\n", "\tx\n\t\ty", "go", 2)
	f.Add("a\r\n\r\nb", "x", "markdown", 2)
	f.Add("", "", "", 0)
	f.Add("\r\r \n", " \n\t", "python", 3)
	f.Fuzz(func(t *testing.T, target, cited, language string, line int) {
		c := cite("a.go", 1, 1+strings.Count(cited, "\n"), "go", cited)
		in, err := snippet.Edit(snippet.Target{Document: text.New(target), Language: language, Line: line}, c)
		if err != nil {
			return
		}
		got := apply(t, target, in)
		if replaced := target[in.Start:in.End]; strings.Trim(replaced, " \t") != "" {
			t.Fatalf("%q of %q was replaced", replaced, target)
		}
		if _, ok := snippet.Parse(text.New(got).Line(in.Line)); !ok {
			t.Fatalf("line %d of %q is no citation", in.Line, got)
		}
	})
}
