package chunk

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// source is a file's text with its line table. It is reused from file to file.
type source struct {
	text   string
	flat   string // text with lone "\r" turned into "\n"; no offset moves
	starts []int  // by line from 0, and the length of the text at the end
	chars  []int  // characters before each line, its ends counted as one
	plain  bool   // no line ends but "\n"
	buf    []byte
}

// reset reads the lines of a text. A text that ends with a line end has no
// empty line after it.
func (s *source) reset(text string) {
	s.text = text
	s.starts, s.chars = s.starts[:0], s.chars[:0]
	s.plain = strings.IndexByte(text, '\r') < 0
	if s.flat = text; !s.plain {
		s.flat = loneCR(text)
	}
	pos, chars := 0, 0
	for pos < len(text) {
		s.starts, s.chars = append(s.starts, pos), append(s.chars, chars)
		end, next := s.lineEnd(pos)
		chars += utf8.RuneCountInString(text[pos:end]) + 1
		pos = next
	}
	s.starts, s.chars = append(s.starts, len(text)), append(s.chars, chars)
}

// lineEnd returns where the line that starts at pos ends, and where the next one starts.
func (s *source) lineEnd(pos int) (end, next int) {
	i := strings.IndexByte(s.text[pos:], '\n')
	if i < 0 {
		i = len(s.text)
	} else {
		i += pos
	}
	if !s.plain {
		if j := strings.IndexByte(s.text[pos:i], '\r'); j >= 0 {
			j += pos
			if j+1 < len(s.text) && s.text[j+1] == '\n' {
				return j, j + 2
			}
			return j, j + 1
		}
	}
	return i, min(i+1, len(s.text))
}

// count is the number of lines.
func (s *source) count() int { return len(s.starts) - 1 }

// line is the text of a line (from 1) without its end.
func (s *source) line(n int) string {
	from, to := s.starts[n-1], s.starts[n]
	for to > from && (s.text[to-1] == '\n' || s.text[to-1] == '\r') {
		to--
	}
	return s.text[from:to]
}

// span is the flat text of lines first to last, without the last line's end.
func (s *source) span(first, last int) string {
	return s.flat[s.starts[first-1] : s.starts[last-1]+len(s.line(last))]
}

// joined is the lines joined by "\n", without a final one. The result may be
// overwritten by the next call.
func (s *source) joined(first, last int) string {
	if s.plain {
		return s.span(first, last)
	}
	s.buf = s.buf[:0]
	for n := first; n <= last; n++ {
		if n > first {
			s.buf = append(s.buf, '\n')
		}
		s.buf = append(s.buf, s.line(n)...)
	}
	return unsafe.String(unsafe.SliceData(s.buf), len(s.buf))
}

func (s *source) hash(first, last int) [32]byte {
	text := s.joined(first, last)
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text)))
}

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
