package lsp

import (
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/text"
)

// comments finds the comments of a document, line by line. It knows a
// language's comment markers and nothing of its strings: a marker in a string
// starts a comment for it, which makes a link or an action too many at worst.
type comments struct {
	line  string
	block [2]string
	all   bool // the whole text reads like a comment: prose
}

func commentsOf(language string) comments {
	switch language {
	case "", "markdown", "restructuredtext", "asciidoc", "org":
		return comments{all: true}
	}
	line, block := chunk.CommentSyntax(language)
	return comments{line: strings.TrimSpace(line), block: block}
}

// span returns the byte of a line from which on it is a comment, len(line)
// where none is, and whether a block comment goes on behind it.
func (c comments) span(line string, inBlock bool) (from int, goesOn bool) {
	if c.all {
		return 0, false
	}
	from = len(line)
	if inBlock {
		from = 0
	}
	rest, at := line, 0
	for {
		if inBlock {
			i := strings.Index(rest, c.block[1])
			if i < 0 {
				return from, true
			}
			at += i + len(c.block[1])
			rest, inBlock = line[at:], false
			continue
		}
		lineAt, blockAt := indexOf(rest, c.line), indexOf(rest, c.block[0])
		switch {
		case lineAt < 0 && blockAt < 0:
			return from, false
		case lineAt >= 0 && (blockAt < 0 || lineAt < blockAt || lineAt == blockAt && len(c.line) >= len(c.block[0])):
			return min(from, at+lineAt), false
		}
		from = min(from, at+blockAt)
		at += blockAt + len(c.block[0])
		rest, inBlock = line[at:], true
	}
}

func indexOf(s, marker string) int {
	if marker == "" {
		return -1
	}
	return strings.Index(s, marker)
}

// at returns the text of the comment that touches the 1-based line, without
// its markers, and the comment's last line; "" where the line has none. Lines
// that are nothing but comment belong together.
func (c comments) at(d *text.Document, n int) (words string, last int) {
	if c.all || n < 1 || n > d.LineCount() {
		return "", n
	}
	froms := make([]int, d.LineCount()+1)
	inBlock := false
	for i := 1; i <= d.LineCount(); i++ {
		froms[i], inBlock = c.span(d.Line(i), inBlock)
	}
	whole := func(i int) bool {
		return i >= 1 && i <= d.LineCount() && froms[i] < len(d.Line(i)) && strings.TrimSpace(d.Line(i)[:froms[i]]) == ""
	}
	if froms[n] >= len(d.Line(n)) {
		return "", n
	}
	first, last := n, n
	if whole(n) {
		for whole(first - 1) {
			first--
		}
		for whole(last + 1) {
			last++
		}
	}
	var parts []string
	for i := first; i <= last; i++ {
		parts = append(parts, c.strip(d.Line(i)[froms[i]:]))
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " "), last
}

// strip takes the markers off a line of a comment, and the word that marks
// work to do.
func (c comments) strip(line string) string {
	line = strings.TrimSpace(line)
	for _, marker := range []string{c.block[0], c.line, "*"} {
		if marker != "" {
			line = strings.TrimSpace(strings.TrimPrefix(line, marker))
		}
	}
	if c.line != "" {
		line = strings.TrimLeft(line, c.line+"!") // ///, ##, //!
	}
	if c.block[1] != "" {
		line = strings.TrimSuffix(line, c.block[1])
	}
	line = strings.TrimSpace(line)
	for _, mark := range []string{"TODO", "FIXME", "HACK", "XXX", "BUG", "NOTE"} {
		rest, ok := strings.CutPrefix(line, mark)
		if !ok {
			continue
		}
		if strings.HasPrefix(rest, "(") { // TODO(name)
			if _, behind, ok := strings.Cut(rest, ")"); ok {
				rest = behind
			}
		}
		if rest == "" || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, " ") {
			return strings.TrimSpace(strings.TrimPrefix(rest, ":"))
		}
	}
	return line
}
