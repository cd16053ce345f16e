package terminal

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// seen is a terminal that knows colours and links, w columns wide.
func seen(w int) *Output {
	return &Output{Writer: &bytes.Buffer{}, Terminal: true, Width: w, colors: true, links: true}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;;[^\x1b]*\x1b\\\\")

// plain is what remains to be read.
func plain(text string) string { return escapes.ReplaceAllString(text, "") }

func TestColoursOnlyWhereWanted(t *testing.T) {
	var b bytes.Buffer
	for _, tt := range []struct {
		mode Mode
		env  func(string) string
		want bool
	}{
		{Auto, env("TERM", "xterm-256color"), false}, // no terminal
		{Always, env("NO_COLOR", "1"), true},         // asked for
		{Never, env(), false},
	} {
		got := New(&b, tt.env, tt.mode).Paint(Bad, "x") != "x"
		if got != tt.want {
			t.Errorf("mode %s: coloured %v, want %v", tt.mode, got, tt.want)
		}
	}
	for style := Bold; style <= Bad; style++ {
		if painted := seen(80).Paint(style, "x"); painted == "x" || plain(painted) != "x" {
			t.Errorf("style %d: %q", style, painted)
		}
	}
}

func TestKnowsLinks(t *testing.T) {
	for _, tt := range []struct {
		env  func(string) string
		want bool
	}{
		{env("TERM", "xterm-256color"), false},
		{env("TERM", "linux"), false},
		{env("TERM_PROGRAM", "vscode"), true},
		{env("TERM_PROGRAM", "Apple_Terminal"), false},
		{env("VTE_VERSION", "7600"), true},
		{env("TERM", "xterm-kitty"), true},
		{env("TERM", "alacritty"), true},
	} {
		if got := knowsLinks(tt.env); got != tt.want {
			t.Errorf("knowsLinks = %v, want %v (TERM=%q)", got, tt.want, tt.env("TERM"))
		}
	}
}

// TestNothingActsOnTheTerminal: file contents cannot move the cursor, set the
// title, or read otherwise than they are.
func TestNothingActsOnTheTerminal(t *testing.T) {
	nasty := "a\x1b]0;owned\x07b\x1b[2Jc\x9bd\re\u202ef\u2066g\x00h\x7f\u2028i"
	o := seen(80)
	for name, text := range map[string]string{
		"text":     o.Text(nasty),
		"clean":    Clean(nasty),
		"markdown": plain(o.Markdown("# "+nasty+"\n\n- "+nasty+"\n\n```\n"+nasty+"\n```\n`"+nasty+"`", none{})),
		"link":     plain(o.Link("file:///"+nasty, "x")),
	} {
		if strings.ContainsAny(text, "\x1b\x07\x00\x7f\r\u009b\u202e\u2066\u2028") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if piped := (&Output{Writer: &bytes.Buffer{}, Width: 80}).Text(nasty); piped != nasty {
		t.Errorf("text for a pipe was changed: %q", piped)
	}
}

// none knows no citations.
type none struct{}

func (none) URI(string) string                      { return "" }
func (none) FirstLine(string, []string) (int, bool) { return 0, false }

// known knows one citation whose lines begin at 7.
type known struct{}

func (known) URI(id string) string { return "file:///w/" + id }
func (known) FirstLine(id string, block []string) (int, bool) {
	return 7, id == "a.go:7-8" && len(block) == 2
}

func TestMarkdown(t *testing.T) {
	text := "# Title\n\n`Total` is **the** sum. [a.go:7-8]\n\n```go\nfunc Total() int {\n\treturn 1\n```\n\n- one\n- two\n\n1. first\n\n> said\n\n````\n```\ninner\n```\n````\n"
	got := plain(seen(80).Markdown(text, known{}))
	want := "Title\n\nTotal is the sum. [a.go:7-8]\n\n  7 │ func Total() int {\n  8 │     return 1\n\n• one\n• two\n\n1. first\n\n│ said\n\n  │ ```\n  │ inner\n  │ ```\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if !strings.Contains(seen(80).Markdown(text, known{}), "\x1b]8;;file:///w/a.go:7-8\x1b\\") {
		t.Error("the citation is no link")
	}
	if piped := (&Output{Writer: &bytes.Buffer{}, Width: 80}).Markdown(text, known{}); piped != text {
		t.Errorf("a pipe does not get the Markdown itself:\n%s", piped)
	}
	if open := plain(seen(80).Markdown("```\nunclosed", none{})); open != "  │ unclosed\n" {
		t.Errorf("unclosed block: %q", open)
	}
}

// TestWidths: prose is set, code is cut, to the terminal's columns.
func TestWidths(t *testing.T) {
	words := strings.Repeat("word `code span` 漢字かな ", 30)
	text := words + "\n\n- " + words + "\n\n```\n" + strings.Repeat("漢x", 80) + "\n```\n"
	for _, width := range []int{20, 40, 80, 100} {
		for line := range strings.Lines(plain(seen(width).Markdown(text, none{}))) {
			if w := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("width %d: a line of %d columns: %q", width, w, line)
			}
		}
	}
	o := seen(80)
	for _, tt := range []struct {
		line    string
		columns int
		want    string
	}{{"short", 10, "short"}, {"0123456789", 10, "0123456789"}, {"0123456789x", 10, "012345678…"}, {"漢漢漢", 5, "漢漢…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"x", 0, "…"}} {
		if got := o.Cut(tt.line, tt.columns); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.line, tt.columns, got, tt.want)
		}
	}
}

// TestProgressEnds: closing takes the goroutine away, whatever was set, and
// what ended at once was not shown.
func TestProgressEnds(t *testing.T) {
	for _, o := range []*Output{seen(80), {Writer: &bytes.Buffer{}, Width: 80}} {
		p := NewProgress(o)
		for i := range int64(1000) {
			p.Set(Step{Label: "indexing", Unit: "files", Done: i, Total: 1000})
		}
		p.Close()
	}
}

// TestProgressShows draws steps of every kind as a bar and as lines.
func TestProgressShows(t *testing.T) {
	steps := []Step{
		{Label: "looking for files", Unit: "files"},
		{Label: "looking for files", Unit: "files", Done: 10},
		{Label: "indexing", Unit: "files", Done: 3, Total: 10},
		{Label: "indexing", Unit: "files", Done: 3, Total: 20},
		{Label: "indexing", Unit: "files", Done: 20, Total: 20},
		{Label: "downloading", Unit: "B", Done: 1 << 20, Total: 1 << 22},
	}
	var bar, lines bytes.Buffer
	show, hide := (&Progress{out: &Output{Writer: &bar, Terminal: true, Width: 80}}).bar()
	p := &Progress{out: &Output{Writer: &lines, Width: 80}}
	for _, s := range steps {
		show(s)
		p.line(s)
	}
	hide()
	if text := bar.String(); !strings.Contains(text, "indexing") || !strings.Contains(text, "3/20") {
		t.Errorf("bar: %q", text)
	}
	if want := "looking for files\nlooking for files: 10 files\nindexing: 3 of 10 files\nindexing: 3 of 20 files\nindexing: 20 of 20 files\ndownloading: 1048576 of 4194304 B\n"; lines.String() != want {
		t.Errorf("lines:\n%s", lines.String())
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# T\n\n- `a b` **c** [x.go:1-2]\n```go\ncode\n```\n", 20)
	f.Add("````\n```\n~~~\n> q\n1) x\n", 1)
	f.Add("\x1b[31m[\x00:1]`", 0)
	f.Fuzz(func(t *testing.T, text string, width int) {
		got := plain(seen(width).Markdown(text, known{}))
		if strings.ContainsAny(got, "\x1b\x07\x00\x7f") {
			t.Errorf("%q", got)
		}
	})
}
