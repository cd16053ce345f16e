// Package terminal writes for people: colours, hyperlinks, Markdown and
// progress where the output is a terminal, plain text where it is not.
package terminal

import (
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/fatih/color"
	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Mode says when something is done.
type Mode string

// The modes.
const (
	Auto   Mode = "auto" // where the output is a terminal that can
	Always Mode = "always"
	Never  Mode = "never"
)

// Output is one output stream and what it can show.
type Output struct {
	io.Writer
	// Terminal is true where a person sees the output as it is written.
	Terminal bool
	// Width is the number of columns; 100 where unknown.
	Width int

	colors bool
	links  bool
}

// Clear puts the cursor into the upper left corner and clears what is below
// (ECMA-48's CUP and ED).
const Clear = "\x1b[H\x1b[J"

// maxWidth bounds how wide text is set, in columns: longer lines are hard to read.
const maxWidth = 100

// New looks at a stream. getenv is os.Getenv or a stand-in. Colours are off
// where NO_COLOR is set (no-color.org) and on terminals that say they are dumb.
func New(w io.Writer, getenv func(string) string, colors Mode) *Output {
	o := &Output{Writer: w, Width: maxWidth}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		o.Terminal = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			o.Width = width
		}
	}
	dumb := getenv("TERM") == "dumb"
	o.colors = colors == Always || colors == Auto && o.Terminal && getenv("NO_COLOR") == "" && !dumb
	o.links = o.colors && o.Terminal && knowsLinks(getenv)
	return o
}

// knowsLinks guesses from the environment whether the terminal shows OSC 8
// hyperlinks. There is no way to ask; others may print rubbish.
func knowsLinks(getenv func(string) string) bool {
	switch getenv("TERM_PROGRAM") {
	case "vscode", "iTerm.app", "WezTerm", "ghostty", "Hyper", "rio":
		return true
	}
	for _, name := range []string{"VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION"} {
		if getenv(name) != "" {
			return true
		}
	}
	kind := getenv("TERM")
	for _, prefix := range []string{"xterm-kitty", "alacritty", "foot", "xterm-ghostty", "wezterm"} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return false
}

// Style is how a piece of text is shown.
type Style int

// The styles.
const (
	Plain Style = iota
	Bold
	Dim
	Heading
	Code
	Place // path:start-end
	Good
	Warn
	Bad
)

// Paint styles text; without colours it returns it as it is.
func (o *Output) Paint(s Style, text string) string {
	if !o.colors || s == Plain || text == "" {
		return text
	}
	attributes := map[Style][]color.Attribute{
		Bold:    {color.Bold},
		Dim:     {color.Faint},
		Heading: {color.Bold, color.FgMagenta},
		Code:    {color.FgYellow},
		Place:   {color.FgCyan, color.Underline},
		Good:    {color.FgGreen},
		Warn:    {color.FgYellow},
		Bad:     {color.FgRed, color.Bold},
	}
	c := color.New(attributes[s]...)
	c.EnableColor() // the library's own look at the process's streams is not asked
	return c.Sprint(text)
}

// Link makes text a hyperlink to a URI where the terminal shows those.
func (o *Output) Link(uri, text string) string {
	if !o.links || uri == "" {
		return text
	}
	return "\x1b]8;;" + Clean(uri) + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// Text returns text that comes from files or questions: on a terminal, what
// would act on it is taken out and tabs become four blanks.
func (o *Output) Text(text string) string {
	if !o.Terminal {
		return text
	}
	return strings.ReplaceAll(Clean(text), "\t", "    ")
}

// Clean replaces control characters other than line feed and tab, and those
// that reorder text (Unicode TR36: they can make code read as what it is not).
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029:
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Cut shortens one line to a number of columns. On other outputs than terminals
// lines stay whole.
func (o *Output) Cut(line string, columns int) string {
	if !o.Terminal || uniseg.StringWidth(line) <= columns {
		return line
	}
	var b strings.Builder
	width, state := 0, -1
	for rest := line; rest != ""; {
		cluster, after, w, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if width+w > columns-1 {
			break
		}
		b.WriteString(cluster)
		width, rest, state = width+w, after, next
	}
	return b.String() + "…"
}
