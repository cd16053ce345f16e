package snippet

import (
	"strings"

	"coderag-ls/engine/text"
)

// fenceOf returns the backquotes or tildes with which a line opens a fenced
// code block of Markdown, "" where it opens none (CommonMark 0.31, 4.5).
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	fence := line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	if len(fence) < 3 || fence[0] == '`' && strings.Contains(line[len(fence):], "`") {
		return ""
	}
	return fence
}

// maxFenced is how many lines a fence is looked for.
const maxFenced = 5000

// closingFence returns the line, from the 1-based one on, that closes a fenced
// block, 0 where none does.
func closingFence(d *text.Document, from int, fence string) int {
	for n := from; n <= min(d.LineCount(), from+maxFenced); n++ {
		line := strings.Trim(d.Line(n), " \t")
		if len(line) >= len(fence) && strings.Trim(line, fence[:1]) == "" {
			return n
		}
	}
	return 0
}
