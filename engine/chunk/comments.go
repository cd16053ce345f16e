package chunk

import (
	"strings"
	"sync"
)

// Span is a range of bytes, End excluded.
type Span struct{ Start, End int }

// commentSyntaxes builds the table once: Comments has no receiver to keep it in.
var commentSyntaxes = sync.OnceValue(syntaxes)

// Comments returns where the comments of a text stand, in order. Python's and
// Elixir's strings in triple quotes count as comments, as most are documentation. It is a
// lexer of the language's strings and comments only, and never fails; an unknown
// language has no comments. language is a lower-case linguist name.
func Comments(language, text string) []Span {
	s := commentSyntaxes()[language]
	if s == nil {
		return nil
	}
	return s.comments(text, nil)
}

// What a byte may start.
const (
	mayLine = 1 << iota
	mayBlock
	mayQuote
	mayRaw
	mayChar
	mayRegex
)

// starts tells for each byte what may start there.
func (s *syntax) starts() *[256]uint8 {
	var t [256]uint8
	for _, l := range s.line {
		t[l[0]] |= mayLine
	}
	for _, b := range s.block {
		t[b[0][0]] |= mayBlock
	}
	for _, q := range []byte(s.quotes) {
		t[q] |= mayQuote
	}
	for _, q := range []byte(s.raw) {
		t[q] |= mayRaw
	}
	if s.char {
		t['\''] |= mayChar
	}
	if s.regex {
		t['/'] |= mayRegex
	}
	return &t
}

// comments appends the comments of text to spans.
func (s *syntax) comments(text string, spans []Span) []Span {
	table := s.starts()
	for i := 0; i < len(text); {
		what := table[text[i]]
		if what == 0 {
			i++
			continue
		}
		if what&mayBlock != 0 {
			if end := s.blockEnd(text, i); end > i {
				start := i
				if text[i] == '\n' {
					start++
				}
				spans = append(spans, Span{start, end})
				i = end
				continue
			}
		}
		if what&mayLine != 0 && s.lineStarts(text, i) {
			end := i + strings.IndexAny(text[i:], "\r\n")
			if end < i {
				end = len(text)
			}
			spans = append(spans, Span{i, end})
			i = end
			continue
		}
		if what&(mayQuote|mayRaw) != 0 {
			q := text[i]
			if s.triple && i+2 < len(text) && text[i+1] == q && text[i+2] == q {
				end := closing(text, i+3, text[i:i+3])
				if s.docs && (i == 0 || text[i-1] != '=' && !wordByte(text[i-1]) || isDocPrefix(text, i)) {
					spans = append(spans, Span{i, end})
				}
				i = end
				continue
			}
			end := quoted(text, i, what&mayRaw != 0)
			if end == i+1 && what&mayRaw != 0 {
				table[text[i]] &^= mayRaw // nothing closes it: from here on it quotes nothing
			}
			i = end
			continue
		}
		if what&mayRegex != 0 && regexMayStart(text, i) {
			i = regex(text, i)
			continue
		}
		if what&mayChar != 0 {
			i = character(text, i)
			continue
		}
		i++
	}
	return spans
}

// isDocPrefix reports whether a string's prefix letters (r""", u""") are all that stands before it.
func isDocPrefix(text string, i int) bool {
	j := i
	for j > 0 && strings.IndexByte("rRuUbBfF", text[j-1]) >= 0 {
		j--
	}
	return i-j <= 2 && (j == 0 || !wordByte(text[j-1]) && text[j-1] != '=')
}

func (s *syntax) lineStarts(text string, i int) bool {
	if s.word && i > 0 && text[i-1] != ' ' && text[i-1] != '\t' && text[i-1] != '\n' && text[i-1] != '\r' && text[i-1] != ';' {
		return false
	}
	for _, l := range s.line {
		if strings.HasPrefix(text[i:], l) {
			return true
		}
	}
	return false
}

// blockEnd is the end of the block comment that starts at i, or i where none does.
func (s *syntax) blockEnd(text string, i int) int {
	for _, b := range s.block {
		if !strings.HasPrefix(text[i:], b[0]) {
			continue
		}
		j := i + len(b[0])
		if !s.nested || strings.HasPrefix(b[0], "\n") {
			if k := strings.Index(text[j:], b[1]); k >= 0 {
				return j + k + len(b[1])
			}
			return len(text)
		}
		depth := 1
		for j < len(text) {
			switch {
			case text[j] == b[1][0] && strings.HasPrefix(text[j:], b[1]):
				j += len(b[1])
				if depth--; depth == 0 {
					return j
				}
			case text[j] == b[0][0] && strings.HasPrefix(text[j:], b[0]):
				j += len(b[0])
				depth++
			default:
				j++
			}
		}
		return len(text)
	}
	return i
}

// closing is the position after the next occurrence of end that is not escaped.
func closing(text string, i int, end string) int {
	for {
		k := strings.Index(text[i:], end)
		if k < 0 {
			return len(text)
		}
		k += i
		b := k
		for b > i && text[b-1] == '\\' {
			b--
		}
		if (k-b)%2 == 0 {
			return k + len(end)
		}
		i = k + 1
	}
}

// quoted is the position after the string that starts at i. One that may not
// span lines ends with its line.
func quoted(text string, i int, spans bool) int {
	q := text[i]
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case q:
			return j + 1
		case '\\':
			if q != '`' {
				j++
			}
		case '\n':
			if !spans {
				return j
			}
		}
	}
	if spans {
		return i + 1 // a quote that nothing closes is no string
	}
	return len(text)
}

// character is the position after the character literal at i, or after the
// quote alone where it is none (a lifetime, a type variable, a digit separator).
func character(text string, i int) int {
	if i > 0 && wordByte(text[i-1]) {
		return i + 1
	}
	if i+1 < len(text) && text[i+1] == '\\' {
		for j := i + 2; j < len(text) && j < i+14; j++ {
			if text[j] == '\'' && j > i+2 {
				return j + 1
			}
		}
		return i + 1
	}
	for j := i + 2; j < len(text) && j <= i+5; j++ {
		if text[j] == '\'' {
			return j + 1
		}
	}
	return i + 1
}

func wordByte(b byte) bool { return wordBytes[b] }

// wordBytes are the bytes that words are made of: letters, digits, underscores
// and all that is not ASCII.
var wordBytes = func() (t [256]bool) {
	for b := range t {
		t[b] = b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
	}
	return t
}()

// regexMayStart reports whether a slash at i starts a regular expression
// literal: where an operand is expected.
func regexMayStart(text string, i int) bool {
	j := i
	for j > 0 && (text[j-1] == ' ' || text[j-1] == '\t') {
		j--
	}
	if j == 0 {
		return true
	}
	if wordByte(text[j-1]) {
		for _, w := range [...]string{"return", "typeof", "case", "in", "of"} {
			if strings.HasSuffix(text[:j], w) && (j == len(w) || !wordByte(text[j-len(w)-1])) {
				return true
			}
		}
		return false
	}
	return strings.IndexByte("(,=:[!&|?{};+\n\r", text[j-1]) >= 0
}

// regex is the position after the regular expression literal at i, or after
// the slash where none ends on the line.
func regex(text string, i int) int {
	class := false
	for j := i + 1; j < len(text) && text[j] != '\n' && text[j] != '\r'; j++ {
		switch text[j] {
		case '\\':
			j++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return j + 1
			}
		}
	}
	return i + 1
}
