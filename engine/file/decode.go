package file

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decode returns a file's text as UTF-8 without a byte order mark and the name
// of its encoding, or says what shows that the file is no text. The text may
// share the bytes.
func decode(data []byte) (content, encoding, binaryDetail string) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return decode16(data[2:], binary.LittleEndian, "utf-16le")
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return decode16(data[2:], binary.BigEndian, "utf-16be")
	}
	if bytes.IndexByte(data, 0) >= 0 {
		switch order := guess16(data); order {
		case nil:
			return "", "", "it holds NUL bytes"
		case binary.LittleEndian:
			return decode16(data, order, "utf-16le")
		default:
			return decode16(data, order, "utf-16be")
		}
	}
	if utf8.Valid(data) {
		return asString(data), "utf-8", ""
	}
	return decodeInvalid(data)
}

// decode16 decodes UTF-16. A lone surrogate becomes U+FFFD.
func decode16(data []byte, order binary.ByteOrder, name string) (string, string, string) {
	if len(data)%2 != 0 {
		return "", "", name + " with half a character at its end"
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		if units[i] = order.Uint16(data[2*i:]); units[i] == 0 {
			return "", "", name + " with NUL characters"
		}
	}
	var b strings.Builder
	b.Grow(len(units) + len(units)/8)
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			pair := utf8.RuneError
			if i+1 < len(units) {
				pair = utf16.DecodeRune(r, rune(units[i+1]))
			}
			if r = pair; pair != utf8.RuneError {
				i++
			}
		}
		b.WriteRune(r)
	}
	return b.String(), name, ""
}

// guess16 recognises UTF-16 without a byte order mark by its mostly ASCII
// characters: every second byte is NUL and hardly any other is. It returns nil
// for anything else.
func guess16(data []byte) binary.ByteOrder {
	head := data[:min(len(data), 4096)&^1]
	var nul [2]int
	for i, c := range head {
		if c == 0 {
			nul[i&1]++
		}
	}
	units := len(head) / 2
	switch {
	case len(data)%2 != 0 || units < 4:
		return nil
	case nul[1] >= units*7/10 && nul[0] <= units/50:
		return binary.LittleEndian
	case nul[0] >= units*7/10 && nul[1] <= units/50:
		return binary.BigEndian
	}
	return nil
}

// windows1252 are the characters of the bytes 0x80 to 0x9F, as the WHATWG
// Encoding Standard maps them (undefined ones to themselves). The other bytes
// are Latin-1.
const windows1252 = "\u20AC\u0081\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\u008D\u017D\u008F" +
	"\u0090\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\u009D\u017E\u0178"

// decodeInvalid decodes bytes that are not UTF-8: UTF-8 with some broken
// characters where most of its long ones are well formed, else Windows-1252
// unless there are control characters that no text has.
func decodeInvalid(data []byte) (string, string, string) {
	var controls, broken, long int
	for rest := data; len(rest) > 0; {
		r, n := rune(rest[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(rest)
		}
		switch {
		case r == utf8.RuneError && n == 1:
			broken++
		case n > 1:
			long++
		case r < ' ' && !isTextControl(byte(r)), r == 0x7F:
			controls++
		}
		rest = rest[n:]
	}
	// Compressed and encrypted bytes have about 11 % of these.
	if controls*50 > len(data) {
		return "", "", "it holds control characters"
	}
	var b strings.Builder
	b.Grow(len(data) + 2*(broken+long))
	if long > broken {
		for rest := data; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			b.WriteRune(r)
			rest = rest[n:]
		}
		return b.String(), "utf-8 with errors", ""
	}
	c1 := []rune(windows1252)
	for _, c := range data {
		if 0x80 <= c && c < 0xA0 {
			b.WriteRune(c1[c-0x80])
			continue
		}
		b.WriteRune(rune(c))
	}
	return b.String(), "windows-1252", ""
}

// isTextControl reports whether text files hold the control character: white
// space, backspace (overstriking) and escape (terminal colours).
func isTextControl(c byte) bool {
	return 7 <= c && c <= '\r' || c == 0x1A || c == 0x1B
}
