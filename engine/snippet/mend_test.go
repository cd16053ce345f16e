package snippet_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
)

// languages are one of every comment syntax, and an unknown one.
var languages = []string{
	"go", "python", "c", "css", "html", "xml", "markdown", "lua", "sql", "haskell", "ocaml", "tex", "batchfile", "m4", "fortran",
	"vim script", "clojure", "erlang", "matlab", "ini", "rust", "php", "pascal", "assembly", "yaml", "",
}

// paste inserts cited lines into a text and returns it with the citation.
func paste(t *testing.T, language, target string, line int, source string, lines ...string) (*text.Document, snippet.Placed) {
	t.Helper()
	c := cite("src/a.go", 3, 2+len(lines), source, lines...)
	in, err := snippet.Edit(snippet.Target{Document: text.New(target), Language: language, Line: line}, c)
	if err != nil {
		t.Fatalf("%s: %v", language, err)
	}
	d := text.New(apply(t, target, in))
	p, ok := snippet.At(d, in.Line)
	if !ok {
		t.Fatalf("%s: line %d of %q is no citation", language, in.Line, d.Content())
	}
	return d, p
}

// What was inserted in any language, indentation and line ending is known again
// as what was cited, as long as nobody edits it.
func TestBelowRestores(t *testing.T) {
	sources := [][]string{
		{"\tif err != nil {", "\t\treturn nil, err", "", "\t}"},
		{"def f():", "    if x:", "        return 1", "    return 2"},
		{"      a {", "        b", "      }"},
		{"one line"},
		{"\t\t\tdeep"},
		{"/*", " * aligned", " */"},
	}
	targets := []struct {
		content string
		line    int
	}{
		{"a\n", 1}, {"func f() {\n\ta()\n}\n", 2}, {"func f() {\n  a()\n  if b {\n    c()\n  }\n}\n", 4}, {"class A:\r\n    x = 1\r\n", 2}, {"", 1}, {"a\rb", 1},
	}
	for _, language := range languages {
		for _, source := range sources {
			for _, target := range targets {
				d, p := paste(t, language, target.content, target.line, "go", source...)
				below := snippet.Below(d, p, "")
				if want := strings.Join(source, "\n"); below.Was != want {
					t.Errorf("%q: %q in %q: was %q", language, want, d.Content(), below.Was)
				}
				if len(below.Lines) != len(source) || below.Fenced != (language == "markdown") {
					t.Errorf("%q: %+v", language, below)
				}
				// A letter more, and it is the user's.
				at := d.LineStart(p.Line+1) + len(d.Line(p.Line+1))
				if below.Fenced {
					at = d.LineEnd(p.Line + 2)
				}
				edited := text.New(d.Content()[:at] + "x" + d.Content()[at:])
				if was := snippet.Below(edited, p, "").Was; was != "" {
					t.Errorf("%q: %q was taken for %q", language, edited.Content(), was)
				}
			}
		}
	}
}

func TestBelow(t *testing.T) {
	line := "// a.go:1-3 sha256:00000000"
	tests := []struct {
		name, content, want string
		last                int
		fenced              bool
	}{
		{"as many lines as were cited", line + "\na\nb\nc\nd\n", "[a b c]", 4, false},
		{"the end of the text", line + "\na\n", "[a]", 2, false},
		{"nothing below", line, "[]", 1, false},
		{"another citation", line + "\na\n" + line + "\nb\n", "[a]", 2, false},
		{"what stands around it", "\t" + line + "\n\ta\n\n}\n", "[a ]", 3, false},
		{"a fence with more lines", line + "\n~~~go\na\nb\nc\nd\n~~~\ne\n", "[a b c d]", 7, true},
		{"a longer fence", line + "\n````\n```\n````\ne\n", "[```]", 4, true},
		{"a fence without end", line + "\n```\na\nb\n", "[``` a b]", 4, false},
	}
	for _, test := range tests {
		d := text.New(test.content)
		p := snippet.All(d)[0]
		got := snippet.Below(d, p, "")
		if fmt.Sprint(got.Lines) != test.want || got.Last != test.last || got.Fenced != test.fenced || got.First != 2 {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	d := text.New("<!-- a.md:1-3 sha256:00000000 -->\n```go\na\n```\n")
	if got := snippet.Below(d, snippet.All(d)[0], ""); got.Fenced || len(got.Lines) != 3 {
		t.Errorf("Markdown's own fence: %+v", got)
	}
	d = text.New(line + "\n\tfoo(a)\n\tbar(b)\n}\n")
	got := snippet.Below(d, snippet.All(d)[0], "")
	if !got.Like([]string{"foo(a)", "new"}) || got.Like([]string{"}", "", "other"}) {
		t.Error("what is like it is not, or the other way round")
	}
	if within := got.Within([]string{"foo(a)", "new"}); within.Last != 2 || len(within.Lines) != 1 {
		t.Errorf("the user's lines are among the pasted ones: %+v", within)
	}
	if within := got.Within([]string{"foo(a)", "}"}); within.Last != got.Last {
		t.Errorf("pasted lines are cut off: %+v", within)
	}
	if known := snippet.Below(d, snippet.All(d)[0], "  foo(a)\n  bar(b)\n}").Was; known != "  foo(a)\n  bar(b)\n}" {
		t.Errorf("known lines: %q", known)
	}
}

func TestMend(t *testing.T) {
	fresh := cite("src/b.go", 7, 8, "go", "\t\tnew(x) {", "\t\t\ty")
	sha := " sha256:" + fresh.SHA256[:8]
	for _, language := range languages {
		for _, eol := range []string{"\n", "\r\n"} {
			target := strings.ReplaceAll("func 𝛂() {\n  a()\n  if b {\n    c()\n  }\n}\n", "\n", eol)
			d, p := paste(t, language, target, 2, "go", "\told {", "\t\tx", "\t}")
			head := d.Line(p.Line)

			in, err := snippet.Recite(d, p, "src/b.go", 7, 8, fresh.SHA256)
			if err != nil {
				t.Fatalf("%s: %v", language, err)
			}
			recited := strings.Replace(head, head[p.Start:p.End]+" sha256:"+p.SHA8, "src/b.go:7-8"+sha, 1)
			if got, want := apply(t, d.Content(), in), strings.Replace(d.Content(), head, recited, 1); got != want {
				t.Errorf("%s: recited %q, want %q", language, got, want)
			}

			in, err = snippet.Repaste(snippet.Target{Document: d, Language: language}, p, snippet.Below(d, p, ""), fresh)
			if err != nil {
				t.Fatalf("%s: %v", language, err)
			}
			want, _ := paste(t, language, target, 2, "go", fresh.Text)
			wantText := strings.Replace(want.Content(), "src/a.go:3-3 sha256:", "src/b.go:7-8 sha256:", 1)
			wantText = strings.Replace(wantText, text.HexHash(fresh.Text)[:8], fresh.SHA256[:8], 1)
			if got := apply(t, d.Content(), in); got != wantText {
				t.Errorf("%s: pasted again %q, want %q", language, got, wantText)
			}

			got := apply(t, d.Content(), snippet.Unlink(d, p))
			if got != strings.Replace(d.Content(), head+eol, "", 1) || len(snippet.All(text.New(got))) != 0 {
				t.Errorf("%s: unlinked %q", language, got)
			}
		}
	}
}

func TestMendEdges(t *testing.T) {
	d := text.New("a\r\n// a.go:1-1 sha256:00000000")
	p := snippet.All(d)[0]
	if got := apply(t, d.Content(), snippet.Unlink(d, p)); got != "a" {
		t.Errorf("a last line without terminator: %q", got)
	}
	d = text.New("// a.go:1-1 sha256:00000000")
	p = snippet.All(d)[0]
	if got := apply(t, d.Content(), snippet.Unlink(d, p)); got != "" {
		t.Errorf("the only line: %q", got)
	}
	d = text.New("/* a.go:1-1 sha256:00000000 */\n")
	p = snippet.All(d)[0]
	for _, path := range []string{"a*/b.go", "", "a\nb", " a"} {
		if in, err := snippet.Recite(d, p, path, 1, 1, text.HexHash("x")); err == nil {
			t.Errorf("a path that breaks its comment was written: %q", in.Text)
		}
	}
	if _, err := snippet.Recite(d, p, "a.go", 2, 1, text.HexHash("x")); err == nil {
		t.Error("no range of lines was written")
	}
	if _, err := snippet.Edit(snippet.Target{Document: d, Language: "json", Line: 1}, goSource); !errors.Is(err, snippet.ErrNoComments) {
		t.Error(err)
	}
	// Fences in a text that is no Markdown stay.
	d = text.New("a.go:1-1 sha256:00000000\n```\nx\n```\n")
	p = snippet.All(d)[0]
	in, err := snippet.Repaste(snippet.Target{Document: d}, p, snippet.Below(d, p, ""), cite("a.go", 1, 1, "go", "y"))
	if err != nil || !strings.HasSuffix(apply(t, d.Content(), in), "\n```\ny\n```\n") {
		t.Errorf("%q, %v", in.Text, err)
	}
}

func TestInstead(t *testing.T) {
	file := "package a\n\n// f does.\nfunc f() {\n\tone()\n\ttwo()\n\tthree()\n}\n\nfunc g() {\n\tone()\n}\n"
	was := []string{"// f does.", "func f() {", "\tone()", "\ttwo()", "\tthree()", "}"}
	replace := func(old, with string) string { return strings.Replace(file, old, with, 1) }
	tests := []struct {
		name, content string
		was           []string
		start, end    int
		want          string
	}{
		{"a line changed", replace("two()", "2"), was, 3, 8, "3-8"},
		{"a line more", replace("\ttwo()\n", "\ttwo()\n\tmore()\n"), was, 3, 8, "3-9"},
		{"a line less", replace("\ttwo()\n", ""), was, 3, 8, "3-7"},
		{"moved and changed", strings.Repeat("x\n", 90) + replace("two()", "2"), was, 3, 8, "93-98"},
		{"the first line changed", replace("// f does.", "// f did."), was, 3, 8, "3-8"},
		{"the first line went", replace("// f does.\n", ""), was, 3, 8, "3-7"},
		{"the last line changed", replace("\tthree()\n}", "\tthree()\n} // f"), was, 3, 8, "3-8"},
		{"indented now", replace("\tone()\n\ttwo()\n", "\t\tone()\n\t\t2\n"), was, 3, 8, "3-8"},
		{"nothing is alike", "a\nb\nc\nd\n", was, 3, 8, "1-4"},
		{"not known", file, nil, 3, 8, "3-8"},
		{"not known, beyond the end", "a\nb\nc\n", nil, 90, 91, "2-3"},
		{"not known, longer than the text", "a\nb\n", nil, 1, 999_999_999, "1-2"},
	}
	for _, test := range tests {
		start, end, ok := snippet.Instead(text.New(test.content), test.was, test.start, test.end)
		if got := fmt.Sprintf("%d-%d", start, end); !ok || got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	if _, _, ok := snippet.Instead(text.New(""), was, 1, 2); ok {
		t.Error("an empty text has lines")
	}
}

// Whatever the texts, the result is lines of the document.
func TestInsteadStaysInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lines := func(n int) []string {
		var all []string
		for range n {
			all = append(all, []string{"", "}", "a", "bb()", "ccc ddd"}[rng.IntN(5)])
		}
		return all
	}
	for range 2000 {
		d := text.New(strings.Join(lines(1+rng.IntN(12)), "\n") + "x\n")
		first := 1 + rng.IntN(15)
		start, end, ok := snippet.Instead(d, lines(rng.IntN(8)), first, first+rng.IntN(6))
		if !ok || start < 1 || end < start || end > d.LineCount() {
			t.Fatalf("%d-%d, %v of %q", start, end, ok, d.Content())
		}
	}
}

// FuzzMend: whatever a document holds, mending its citations touches what stands
// from the citation to the end of what was pasted, and nothing else.
func FuzzMend(f *testing.F) {
	f.Add("// a.go:1-2 sha256:0123abcd\n\ta\n\tb\nc\n", "x\n\ty", "go")
	f.Add("<!-- a.go:1-2 sha256:0123abcd -->\r\n```go\r\na\r\n```\r\n", "```", "markdown")
	f.Add("  a:9-9 sha256:00000000", "", "")
	f.Add("# a b.py:1-3 sha256:ffffffff\r\r```\n", "\t \n", "python")
	f.Fuzz(func(t *testing.T, content, fresh, language string) {
		d := text.New(content)
		c := cite("new.go", 1, 1+strings.Count(fresh, "\n"), "go", fresh)
		for _, p := range snippet.All(d) {
			below := snippet.Below(d, p, fresh)
			if below.First != p.Line+1 || below.Last < p.Line || below.Last > d.LineCount() {
				t.Fatalf("lines %d-%d of %q", below.First, below.Last, content)
			}
			below.Like([]string{fresh})
			if in, err := snippet.Recite(d, p, c.Path, c.StartLine, c.EndLine, c.SHA256); err == nil {
				if got, ok := snippet.At(text.New(apply(t, content, in)), p.Line); !ok || got.Path != "new.go" || !got.Matches(c.SHA256) {
					t.Fatalf("%q was recited as %+v", content, got)
				}
			} else {
				t.Fatalf("%q: %v", content, err)
			}
			in, err := snippet.Repaste(snippet.Target{Document: d, Language: language}, p, below, c)
			if err != nil || in.Start != d.LineStart(p.Line) || in.End != d.LineEnd(below.Last) {
				t.Fatalf("%q: %+v, %v", content, in, err)
			}
			if got, ok := snippet.At(text.New(apply(t, content, in)), p.Line); !ok || got.Path != "new.go" {
				t.Fatalf("%q was pasted again as %q", content, in.Text)
			}
			in = snippet.Unlink(d, p)
			if gone := content[in.Start:in.End]; strings.TrimSpace(gone) != strings.TrimSpace(d.Line(p.Line)) {
				t.Fatalf("%q of %q was removed", gone, content)
			}
		}
	})
}
