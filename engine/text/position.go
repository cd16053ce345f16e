package text

import (
	"fmt"
	"unicode/utf8"
)

// Offset returns the byte offset of a position.
//
// A character past the line's end is the line's end, as LSP has it; one inside
// a character of several units is that character's start. The line after the
// last is the text's end, because a range of whole lines ends there (see
// LSPRange). A line beyond that, or a negative number, is an error. An unknown
// encoding counts as UTF16, LSP's default.
func (d *Document) Offset(p Position, enc Encoding) (int, error) {
	starts := d.index()
	switch {
	case p.Line < 0 || p.Character < 0:
		return 0, fmt.Errorf("position %d:%d is negative", p.Line, p.Character)
	case p.Line == len(starts):
		return len(d.content), nil
	case p.Line > len(starts):
		return 0, fmt.Errorf("position %d:%d is outside the text, which has %d lines", p.Line, p.Character, len(starts))
	}
	from, to := starts[p.Line], d.LineEnd(p.Line+1)
	if p.Character >= to-from {
		// A byte is at least one unit in no encoding but UTF-8, and no
		// character has more units than bytes.
		return to, nil
	}
	line := d.content[from:to]
	at, left := 0, p.Character
	for at < len(line) {
		size, units := measure(line[at:], enc)
		if units > left {
			break
		}
		at, left = at+size, left-units
	}
	return from + at, nil
}

// PositionAt returns the position of a byte offset. Offsets outside the text
// are taken as its ends; one inside a character is that character's start, one
// inside a line's terminator is the line's end. An unknown encoding counts as
// UTF16, LSP's default.
func (d *Document) PositionAt(offset int, enc Encoding) Position {
	offset = max(0, min(offset, len(d.content)))
	n := d.lineIndex(offset)
	line := d.content[d.LineStart(n+1):d.LineEnd(n+1)]
	rest := min(offset-d.LineStart(n+1), len(line))
	character := 0
	for at := 0; at < rest; {
		size, units := measure(line[at:], enc)
		if at+size > rest {
			break
		}
		at, character = at+size, character+units
	}
	return Position{Line: n, Character: character}
}

// measure returns how many bytes the first character of a text that is not
// empty has, and how many units of the encoding.
func measure(s string, enc Encoding) (size, units int) {
	if s[0] < utf8.RuneSelf {
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case enc == UTF8:
		return size, size
	case enc != UTF32 && r > 0xFFFF:
		return size, 2
	}
	return size, 1
}

// Apply returns the document with a range replaced, one LSP content change. A
// range outside the text, or one that ends before it starts, is an error.
func (d *Document) Apply(r Range, newText string, enc Encoding) (*Document, error) {
	start, err := d.Offset(r.Start, enc)
	if err != nil {
		return nil, fmt.Errorf("applying an edit: start: %w", err)
	}
	end, err := d.Offset(r.End, enc)
	if err != nil {
		return nil, fmt.Errorf("applying an edit: end: %w", err)
	}
	if end < start {
		return nil, fmt.Errorf("applying an edit: the range %d:%d-%d:%d ends before it starts",
			r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
	}
	return New(d.content[:start] + newText + d.content[end:]), nil
}

// LSPRange returns the range of the lines startLine to endLine, 1-based and
// inclusive, with the last one's terminator. It holds in every encoding.
func LSPRange(startLine, endLine int) Range {
	return Range{Start: Position{Line: startLine - 1}, End: Position{Line: endLine}}
}
