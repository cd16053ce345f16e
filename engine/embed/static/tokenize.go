package static

import (
	"unicode"
	"unicode/utf8"
)

// tokenizerVersion changes whenever the same text would give other pieces.
const tokenizerVersion = 1

// maxSub is how many code points of a word that is not in the vocabulary are
// cut into pieces; the rest is left out.
const maxSub = 24

// longNumber is the number of digits above which a number that is not in the
// vocabulary has no pieces.
const longNumber = 4

// class is what a byte means to the splitter.
type class uint8

const (
	other class = iota
	lower
	upper
	digit
	wide // part of a code point beyond ASCII
)

// classOf is written as comparisons in the order of how often they hold in
// code; it is inlined.
func classOf(c byte) class {
	switch {
	case c-'a' < 26:
		return lower
	case c >= utf8.RuneSelf:
		return wide
	case c-'A' < 26:
		return upper
	case c-'0' < 10:
		return digit
	}
	return other
}

// appendIDs appends the pieces of text[at:] until ids has limit or more, and
// returns where it stopped, len(text) at the end. A word is a run of lowercase
// letters with at most one capital before it, a run of capitals (without the last where a
// lowercase letter follows it), a run of digits, or a run of letters and
// numbers beyond ASCII; as a regular expression with Unicode classes, the first
// alternative that matches:
//
//	[A-Z]+(?=[A-Z][a-z]) | [A-Z]?[a-z]+ | [A-Z]+ | \d+ | [^\x00-\x7f\W]+
func (v *vocabulary) appendIDs(ids []int32, text string, at, limit int) ([]int32, int) {
	var buf [maxPieceBytes]byte
	i := at
	for i < len(text) && len(ids) < limit {
		start := i
		switch classOf(text[i]) {
		case other:
			i++
			continue
		case lower:
			i = skip(text, i+1, lower)
		case upper:
			i = skip(text, i+1, upper)
			if i < len(text) && classOf(text[i]) == lower {
				if i == start+1 {
					i = skip(text, i+1, lower)
				} else {
					i--
				}
			}
		case digit, wide:
			var ascii bool
			if i, ascii = wideEnd(text, i); !ascii {
				if i == start {
					_, size := utf8.DecodeRuneInString(text[i:])
					i += size
				} else {
					ids = v.appendWide(ids, text[start:i])
				}
				continue
			}
		}
		word := text[start:i]
		if len(word) <= v.start.longest {
			h := uint64(hashSeed)
			key := buf[:len(word)]
			for k := range key {
				// The bit that makes ASCII letters lowercase is set in digits.
				c := word[k] | 0x20
				key[k] = c
				h = (h ^ uint64(c)) * hashMul
			}
			if id := v.start.find(h, key); id >= 0 {
				ids = append(ids, id)
				continue
			}
		}
		if len(word) > longNumber && classOf(word[0]) == digit {
			continue
		}
		key := buf[:min(len(word), maxSub)]
		for k := range key {
			key[k] = word[k] | 0x20
		}
		ids = v.appendPieces(ids, key)
	}
	return ids, i
}

// skip returns where the run of bytes of a class ends.
func skip(text string, i int, c class) int {
	for i < len(text) && classOf(text[i]) == c {
		i++
	}
	return i
}

// wideEnd returns where the word ends that starts at i with a digit or beyond
// ASCII, i itself if no word starts there, and whether it is ASCII only.
func wideEnd(text string, i int) (end int, ascii bool) {
	end = skip(text, i, digit)
	ascii = end > i
	if end == len(text) || classOf(text[end]) != wide {
		return end, ascii
	}
	r, size := utf8.DecodeRuneInString(text[end:])
	in := isAlnum
	if unicode.Is(unicode.Nd, r) {
		in = isDecimal
	} else if ascii {
		return end, true
	}
	for in(r) {
		ascii = false
		end += size
		if end == len(text) {
			break
		}
		r, size = utf8.DecodeRuneInString(text[end:])
	}
	return end, ascii
}

// isAlnum tells whether a word beyond ASCII may hold the code point: letters
// and numbers.
func isAlnum(r rune) bool { return r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.N) }

// isDecimal tells whether the code point is a decimal digit of any script.
func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }

// appendWide appends the pieces of a word beyond ASCII.
func (v *vocabulary) appendWide(ids []int32, word string) []int32 {
	var buf [256]byte // nearly all words fit, so that nothing is allocated
	key := appendLower(buf[:0], word)
	if len(key) <= v.start.longest {
		h := uint64(hashSeed)
		for _, c := range key {
			h = (h ^ uint64(c)) * hashMul
		}
		if id := v.start.find(h, key); id >= 0 {
			return append(ids, id)
		}
	}
	runes, digits, end := 0, true, len(key)
	for i := 0; i < len(key); runes++ {
		if runes == maxSub {
			end = i
		}
		r, size := utf8.DecodeRune(key[i:])
		digits = digits && isDigit(r)
		i += size
	}
	if digits && runes > longNumber {
		return ids
	}
	return v.appendPieces(ids, key[:end])
}
