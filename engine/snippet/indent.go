package snippet

import (
	"strings"

	"coderag-ls/engine/text"
)

// place is where a snippet goes.
type place struct {
	start, end int    // bytes that are replaced
	after      bool   // start is a line's end: a line ending comes first
	indent     string // of the snippet's lines
	line       int    // 1-based line of the snippet's first line
}

// findPlace finds the place below the 1-based line n, or of line n itself
// where it is blank.
func findPlace(d *text.Document, n int) place {
	n = max(1, min(n, lspLines(d)))
	line := d.Line(n)
	if !isBlank(line) {
		return place{start: d.LineEnd(n), end: d.LineEnd(n), after: true, indent: indentBelow(d, n), line: n + 1}
	}
	indent := line // blank: white space only
	if indent == "" {
		indent = indentAround(d, n)
	}
	return place{start: d.LineStart(n), end: d.LineEnd(n), indent: indent, line: n}
}

// lspLines counts lines as editors do: behind a final terminator stands one
// more.
func lspLines(d *text.Document) int {
	n := d.LineCount()
	if d.LineEnd(n) < len(d.Content()) || n == 0 {
		n++
	}
	return n
}

// indentBelow is the indentation of something put below a line.
func indentBelow(d *text.Document, n int) string {
	line := d.Line(n)
	indent := leading(line)
	if trimmed := strings.TrimRight(line, " \t"); strings.ContainsAny(trimmed[len(trimmed)-1:], "{([:") {
		indent += styleOfLines(d.Content()).unit()
	}
	return indent
}

// indentAround is the indentation of a blank line: what the lines around it
// suggest.
func indentAround(d *text.Document, n int) string {
	indent := ""
	for above := n - 1; above >= 1; above-- {
		if !isBlank(d.Line(above)) {
			indent = indentBelow(d, above)
			break
		}
	}
	for below := n + 1; below <= d.LineCount(); below++ {
		if line := d.Line(below); !isBlank(line) {
			if in := leading(line); len(in) > len(indent) {
				indent = in
			}
			break
		}
	}
	return indent
}

// style is how a text is indented: one step is a tab, or some spaces.
type style struct {
	tabs   bool
	spaces int  // width of a step of spaces, at least 1
	known  bool // the text has indented lines
}

func (s style) unit() string {
	if s.tabs {
		return "\t"
	}
	return strings.Repeat(" ", s.spaces)
}

// styleOfLines finds the style of a text by how the indentation grows from one
// line to the next; four spaces where nothing tells.
func styleOfLines(content string) style {
	var grown [9]int // by the number of spaces that were added
	tabs, before := 0, 0
	// The first lines tell enough: this runs for every insertion.
	for line := range strings.Lines(content[:min(len(content), 64<<10)]) {
		line = strings.TrimRight(line, "\r\n")
		if isBlank(line) {
			continue
		}
		in := leading(line)
		if strings.HasPrefix(in, "\t") {
			tabs++
			before = 0
			continue
		}
		if add := len(in) - before; add > 1 && add < len(grown) {
			grown[add]++
		}
		before = len(in)
	}
	s := style{spaces: 4}
	most := 0
	for width, count := range grown {
		if count > most {
			s.spaces, most = width, count
		}
	}
	s.tabs = tabs > most
	s.known = tabs+most > 0
	return s
}

// dedent removes the white space that all lines that are not blank start with,
// and the white space of blank ones.
func dedent(lines []string) []string {
	common, first := "", true
	for _, line := range lines {
		if isBlank(line) {
			continue
		}
		in := leading(line)
		if first {
			common, first = in, false
			continue
		}
		for !strings.HasPrefix(in, common) {
			common = common[:len(common)-1]
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		if !isBlank(line) {
			out[i] = line[len(common):]
		}
	}
	return out
}

// reindent turns the lines' indentation into the target's style, where both
// are known and differ. Spaces beyond whole steps, which align, are kept.
func reindent(lines []string, target style) []string {
	source := styleOfLines(strings.Join(lines, "\n"))
	if !source.known || !target.known || source.tabs == target.tabs && (source.tabs || source.spaces == target.spaces) {
		return lines
	}
	return restep(lines, source, target)
}

// restep writes whole steps of one style's indentation as steps of another's.
func restep(lines []string, source, target style) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		in := leading(line)
		steps, rest := 0, in
		for strings.HasPrefix(rest, source.unit()) {
			steps, rest = steps+1, rest[len(source.unit()):]
		}
		out[i] = strings.Repeat(target.unit(), steps) + rest + line[len(in):]
	}
	return out
}

func isBlank(line string) bool { return strings.TrimLeft(line, " \t") == "" }

func leading(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }
