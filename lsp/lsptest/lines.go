package lsptest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"coderag-ls/engine/text"
)

// What an editor knows of lines and columns. None of it is the product's own
// code, so that both agree with the protocol and not just with each other.

// newline is the length of the line end that a text begins with, 0 for none.
func newline(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case strings.HasPrefix(s, "\n"), strings.HasPrefix(s, "\r"):
		return 1
	}
	return 0
}

// lineStarts are the offsets at which the lines of a text begin.
func lineStarts(s string) []int {
	starts := []int{0}
	for i := 0; i < len(s); {
		n := newline(s[i:])
		if n > 0 {
			starts = append(starts, i+n)
		}
		i += max(n, 1)
	}
	return starts
}

// linesOf are lines first to last (from 1, inclusive) joined by "\n"; ok is
// false where the text has fewer.
func linesOf(s string, first, last int) (lines string, ok bool) {
	all := strings.Split(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n")
	if first < 1 || last < first || last > len(all) {
		return "", false
	}
	return strings.Join(all[first-1:last], "\n"), true
}

// width is what a character counts in an encoding.
func width(r rune, enc text.Encoding) int {
	switch {
	case enc == text.UTF8:
		return utf8.RuneLen(r)
	case enc == text.UTF16 && r >= 1<<16:
		return 2
	}
	return 1
}

// positionAt is where a byte of a text stands.
func positionAt(s string, offset int, enc text.Encoding) text.Position {
	p := text.Position{}
	start := 0
	for i, at := range lineStarts(s) {
		if at <= offset {
			p.Line, start = i, at
		}
	}
	for _, r := range s[start:offset] {
		p.Character += width(r, enc)
	}
	return p
}

// offsetOf is the byte at a position.
func offsetOf(s string, p text.Position, enc text.Encoding) (int, error) {
	starts := lineStarts(s)
	if p.Line < 0 || p.Line >= len(starts) {
		return 0, fmt.Errorf("line %d of %d", p.Line, len(starts))
	}
	at, left := starts[p.Line], p.Character
	for left > 0 && at < len(s) && newline(s[at:]) == 0 {
		r, n := utf8.DecodeRuneInString(s[at:])
		at, left = at+n, left-width(r, enc)
	}
	return at, nil // a column behind the line's end is its end
}

// splits reports whether a text cannot be parted at an offset: within a
// character or a line end.
func splits(s string, at int) bool {
	return at > 0 && at < len(s) && (!utf8.RuneStart(s[at]) || s[at-1] == '\r' && s[at] == '\n')
}
