package snippet

import (
	"strconv"
	"strings"
)

// digits is how many hexadecimal digits of the SHA-256 a citation line has.
const digits = 8

// Citation is what a citation line says.
type Citation struct {
	Path               string
	StartLine, EndLine int
	// SHA8 are the first 8 hexadecimal digits of the cited lines' SHA-256.
	SHA8 string
	// Start and End are the bytes of the line that hold "path:start-end".
	Start, End int
}

// Matches reports whether a hex SHA-256 is the one that the line cites.
func (c Citation) Matches(sha256 string) bool {
	return strings.HasPrefix(sha256, c.SHA8)
}

// Parse recognises a citation line, with or without its line ending. Its form
// is exactly
//
//	[white space] [comment marker, space] path:start-end sha256:12345678 [space, end of comment]
//
// where a comment marker is 1 to 4 punctuation marks, or one of the words REM
// and dnl, and the digits are lower-case; an end of comment stands only where a
// marker does. Anything else is none.
func Parse(line string) (Citation, bool) {
	line = strings.TrimRight(line, "\r\n")
	if strings.ContainsAny(line, "\r\n") {
		return Citation{}, false
	}
	rest := strings.TrimLeft(line, " \t")
	marker, behind, marked := strings.Cut(rest, " ")
	if marked = marked && isMarker(marker); marked {
		rest = behind
	}
	start := len(line) - len(rest)

	at := strings.LastIndex(rest, tag)
	if at < 0 {
		return Citation{}, false
	}
	place := rest[:at]
	sha, closing, closed := strings.Cut(rest[at+len(tag):], " ")
	if !isSHA8(sha) || closed && !(marked && isPunctuation(closing)) {
		return Citation{}, false
	}
	path, first, last, ok := splitPlace(place)
	if !ok {
		return Citation{}, false
	}
	return Citation{Path: path, StartLine: first, EndLine: last, SHA8: sha, Start: start, End: start + len(place)}, true
}

// splitPlace takes "path:start-end" apart.
func splitPlace(place string) (path string, first, last int, ok bool) {
	colon := strings.LastIndexByte(place, ':')
	if colon < 1 {
		return "", 0, 0, false
	}
	path = place[:colon]
	from, to, ok := strings.Cut(place[colon+1:], "-")
	if !ok || path != strings.TrimSpace(path) || strings.ContainsFunc(path, isControl) {
		return "", 0, 0, false
	}
	first, ok1 := lineNumber(from)
	last, ok2 := lineNumber(to)
	return path, first, last, ok1 && ok2 && first <= last
}

// lineNumber parses a positive decimal number without sign or leading zero.
func lineNumber(s string) (int, bool) {
	if s == "" || len(s) > 9 || s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

func isMarker(s string) bool { return s == "REM" || s == "dnl" || isPunctuation(s) }

func isPunctuation(s string) bool {
	if len(s) < 1 || len(s) > 4 {
		return false
	}
	for i := range len(s) {
		if !strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rune(s[i])) {
			return false
		}
	}
	return true
}

func isSHA8(s string) bool { return len(s) == digits && isHex(s) }

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isControl(r rune) bool { return r < ' ' || r == 0x7F }
