package openai

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// joiner joins the texts of events. A server may cut a character in two, as
// bytes or as the halves of a surrogate pair; encoding/json would make each half
// a replacement character.
type joiner struct {
	rest []byte // the beginning of a character
	high rune   // the first half of a surrogate pair, 0 for none
}

// add returns what is complete of a JSON string behind what came before; null
// and anything but a string is nothing.
func (j *joiner) add(literal []byte) string {
	s := strings.TrimSpace(string(literal))
	if len(s) < 2 || s[0] != '"' {
		return ""
	}
	s = s[1 : len(s)-1] // it was checked as JSON
	out := j.rest
	j.rest = nil
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out = j.flush(out)
			out = append(out, s[i])
			i++
			continue
		}
		if s[i+1] != 'u' {
			out = j.flush(out)
			out = append(out, escaped(s[i+1]))
			i += 2
			continue
		}
		n, err := strconv.ParseUint(s[i+2:i+6], 16, 32)
		if err != nil {
			n = utf8.RuneError
		}
		i += 6
		r := rune(n)
		switch {
		case j.high != 0 && utf16.IsSurrogate(r) && r >= 0xdc00:
			out = utf8.AppendRune(out, utf16.DecodeRune(j.high, r))
			j.high = 0
		case utf16.IsSurrogate(r) && r < 0xdc00:
			out = j.flush(out)
			j.high = r
		default:
			out = j.flush(out)
			out = utf8.AppendRune(out, r) // a lone second half becomes a replacement character
		}
	}
	if n := unfinished(out); n > 0 {
		j.rest = append([]byte(nil), out[len(out)-n:]...)
		out = out[:len(out)-n]
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// flush writes a first half that no second one followed.
func (j *joiner) flush(out []byte) []byte {
	if j.high != 0 {
		j.high = 0
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}

// end returns what is left at the end.
func (j *joiner) end() string {
	out := j.flush(j.rest)
	j.rest = nil
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// unfinished is the number of bytes at the end that begin a character.
func unfinished(b []byte) int {
	for n := 1; n <= min(3, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= 0xc0 && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}
