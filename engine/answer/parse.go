package answer

import (
	"strconv"
	"strings"
)

// Mention is a citation as it stands in an answer.
type Mention struct {
	Path string
	// StartLine and EndLine are 1-based, inclusive.
	StartLine, EndLine int
	// Start and End are the byte range in the answer, brackets included.
	Start, End int
}

// Parse finds the citations of an answer: [path:12-20], path:12, (path#L1),
// [path#L3-L9] and any mixture of brackets. A path without brackets around it
// counts where known says that there is such a file; known may be nil. Fenced
// blocks are quotations and are not looked at.
func Parse(answer string, known func(path string) bool) []Mention {
	var found []Mention
	for _, span := range prose(answer) {
		found = parseSpan(found, answer, span[0], span[1], known)
	}
	return found
}

// prose returns the byte ranges outside of fenced blocks (CommonMark 4.5).
func prose(s string) [][2]int {
	var spans [][2]int
	start, fence := 0, ""
	for at := 0; at < len(s); {
		end := strings.IndexByte(s[at:], '\n') + 1
		if end == 0 {
			end = len(s) - at
		}
		line := strings.TrimRight(s[at:at+end], "\r\n")
		body := strings.TrimLeft(line, " ")
		mark := fenceOf(body)
		switch {
		case fence == "" && mark != "" && len(line)-len(body) <= 3 && !(mark[0] == '`' && strings.Contains(body[len(mark):], "`")):
			spans = append(spans, [2]int{start, at})
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(body[len(mark):]) == "":
			fence, start = "", at+end
		}
		at += end
	}
	if fence == "" {
		spans = append(spans, [2]int{start, len(s)})
	}
	return spans
}

// fenceOf is the run of three or more backticks or tildes that a line begins
// with.
func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 {
		return ""
	}
	return line[:n]
}

// parseSpan looks for line numbers and reads backwards from each to its path.
func parseSpan(found []Mention, s string, from, to int, known func(string) bool) []Mention {
	for i := from; i < to; i++ {
		n := 0
		switch {
		case s[i] == ':':
			n = 1
		case s[i] == '#' && i+1 < to && (s[i+1] == 'L' || s[i+1] == 'l'):
			n = 2
		default:
			continue
		}
		start, width := number(s[i+n : to])
		if width == 0 {
			continue
		}
		end, next, ranged := start, i+n+width, false
		if e, w := rangeEnd(s[next:to]); w > 0 {
			end, next, ranged = e, next+w, true
		}
		least := from
		if len(found) > 0 {
			least = max(least, found[len(found)-1].End)
		}
		m := Mention{StartLine: start, EndLine: max(start, end), Start: i, End: next}
		if !m.readPath(s, least, to, i, ranged, known) {
			continue
		}
		found = append(found, m)
		i = m.End - 1
	}
	return found
}

// readPath reads the path that ends at i, with the brackets around it.
func (m *Mention) readPath(s string, least, to, i int, ranged bool, known func(string) bool) bool {
	at := i
	for at > least && pathByte(s[at-1]) {
		at--
	}
	// A bracket with a path of several words, as answers write it:
	// [my file.md:3-4].
	if open := strings.LastIndexAny(s[least:i], "[(<\n"); open >= 0 && closes(s[least+open], s, m.End, to) {
		inner := s[least+open+1 : i]
		if inner != "" && strings.TrimSpace(inner) == inner && !strings.ContainsAny(inner, "[]()<>`\"") && !strings.Contains(inner, "://") && plausible(inner) &&
			(at == least+open+1 || known != nil && known(inner) || known == nil && s[least+open] == '[' && ranged) {
			m.Path, m.Start, m.End = inner, least+open, m.End+1
			return true
		}
	}
	path := strings.TrimLeft(s[at:i], "'\"*_-")
	at = i - len(path)
	if path == "" || !plausible(path) {
		return false
	}
	if at > least && s[at-1] == ':' || strings.HasPrefix(path, "//") || at >= 3 && s[at-3:at] == "://" {
		return false // a URL, a time, an address with a port
	}
	if m.End < to && (s[m.End] == ':' || isWord(s[m.End])) && !column(s[m.End:to]) {
		return false
	}
	if known != nil && !known(path) {
		return false
	}
	m.Path, m.Start = path, at
	return true
}

// column reports whether a column follows the line, as compilers write it.
func column(s string) bool {
	if s == "" || s[0] != ':' {
		return false
	}
	_, w := number(s[1:])
	return w > 0 || len(s) == 1 || s[1] == ' ' || s[1] == '\n'
}

// closes reports whether the bracket that opened is closed right behind the
// numbers.
func closes(open byte, s string, end, to int) bool {
	if end >= to {
		return false
	}
	switch open {
	case '[':
		return s[end] == ']'
	case '(':
		return s[end] == ')'
	case '<':
		return s[end] == '>'
	}
	return false
}

// plausible tells paths from numbers and single signs.
func plausible(path string) bool {
	if len(path) > 1024 || strings.ContainsAny(path, "\x00\n\r") {
		return false
	}
	for i := 0; i < len(path); i++ {
		if c := path[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || c == '_' {
			return true
		}
	}
	return false
}

func pathByte(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '[', ']', '(', ')', '<', '>', '`', '"', ',', ';', ':', '#', '|', '*', '{', '}', '\\':
		return false
	}
	return c > ' ' && c != 0x7f
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// maxLine bounds line numbers: longer digits are something else.
const maxLine = 100_000_000

// number reads decimal digits; width is 0 where there is no line number.
func number(s string) (n, width int) {
	for width < len(s) && s[width] >= '0' && s[width] <= '9' {
		width++
	}
	n, err := strconv.Atoi(s[:width])
	if err != nil || n < 1 || n > maxLine {
		return 0, 0
	}
	return n, width
}

// rangeEnd reads "-20", "–20", "-L20".
func rangeEnd(s string) (n, width int) {
	for _, dash := range [...]string{"-", "–", "—"} {
		rest, ok := strings.CutPrefix(s, dash)
		if !ok {
			continue
		}
		mark := len(dash)
		if strings.HasPrefix(rest, "L") || strings.HasPrefix(rest, "l") {
			rest, mark = rest[1:], mark+1
		}
		if n, w := number(rest); w > 0 {
			return n, mark + w
		}
	}
	return 0, 0
}
