package chunk

import (
	"slices"
	"strings"
	"unicode/utf8"

	"coderag-ls/engine/text"
)

// source is a file's text, its lines ended by "\n" alone, with its line table.
// Nothing but lines leaves this package, so that the offsets of the file as it
// stands do not matter. It is reused from file to file.
type source struct {
	text   string
	starts []int // by line from 0, and the length of the text at the end
	chars  []int // characters before each line, its end counted as one
}

// reset reads the lines of a text. A text that ends with a line end has no
// empty line after it.
func (s *source) reset(content string) {
	if strings.IndexByte(content, '\r') >= 0 {
		content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\r", "\n")
	}
	s.text = content
	s.starts, s.chars = s.starts[:0], s.chars[:0]
	pos, chars := 0, 0
	for pos < len(content) {
		s.starts, s.chars = append(s.starts, pos), append(s.chars, chars)
		end := strings.IndexByte(content[pos:], '\n')
		if end < 0 {
			end = len(content)
		} else {
			end += pos
		}
		chars += utf8.RuneCountInString(content[pos:end]) + 1
		pos = min(end+1, len(content))
	}
	s.starts, s.chars = append(s.starts, len(content)), append(s.chars, chars)
}

// count is the number of lines.
func (s *source) count() int { return len(s.starts) - 1 }

// line is the text of a line (from 1) without its end.
func (s *source) line(n int) string {
	from, to := s.starts[n-1], s.starts[n]
	if to > from && s.text[to-1] == '\n' {
		to--
	}
	return s.text[from:to]
}

// span is lines first to last joined by "\n", without a final one.
func (s *source) span(first, last int) string {
	return s.text[s.starts[first-1] : s.starts[last-1]+len(s.line(last))]
}

// hash is the SHA-256 of lines first to last.
func (s *source) hash(first, last int) [32]byte { return text.Hash(s.span(first, last)) }

// size is how many characters the lines have, a line end between two counted as one.
func (s *source) size(first, last int) int {
	if last < first {
		return 0
	}
	return s.chars[last] - s.chars[first-1] - 1
}

// lineAt is the line (from 1) that the byte stands in.
func (s *source) lineAt(offset int) int {
	i, found := slices.BinarySearch(s.starts[:s.count()], offset)
	if found {
		return i + 1
	}
	return max(i, 1)
}

// blank reports whether the line holds nothing but blanks.
func (s *source) blank(n int) bool {
	for i := s.starts[n-1]; i < s.starts[n]; i++ {
		switch s.text[i] {
		case ' ', '\t', '\n', '\r', '\f', '\v':
		default:
			return blankRunes(s.line(n))
		}
	}
	return true
}

// blankRunes is blank for lines that are not plainly so: a byte order mark and
// Unicode blanks count as nothing.
func blankRunes(line string) bool {
	return line[0] >= 0x80 && strings.Trim(line, " \t\f\v\u00a0\u2028\u2029\u3000\ufeff") == ""
}

// trim narrows a range of lines to its first and last line that are not
// blank; ok is false where all are.
func (s *source) trim(first, last int) (int, int, bool) {
	for first <= last && s.blank(first) {
		first++
	}
	for last >= first && s.blank(last) {
		last--
	}
	return first, last, first <= last
}
