package static

import (
	"unicode"
	"unicode/utf8"
)

// appendLower appends the word in lowercase by Unicode's full, untailored
// mapping: one code point for each, but for capital I with dot above, which
// becomes two, and capital sigma, which has another form at the end of a word
// (Unicode standard, section 3.13, Final_Sigma).
func appendLower(dst []byte, word string) []byte {
	for i, r := range word {
		switch r {
		case 'İ':
			dst = append(dst, "i\u0307"...)
		case 'Σ':
			if finalSigma(word, i) {
				dst = append(dst, "ς"...)
			} else {
				dst = append(dst, "σ"...)
			}
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return dst
}

// finalSigma tells whether a cased letter comes before the sigma at word[i]
// and none after, modifier letters (the only case-ignorable ones among letters
// and numbers) left out of account.
func finalSigma(word string, i int) bool {
	before := false
	for rest := word[:i]; len(rest) > 0; {
		r, size := utf8.DecodeLastRuneInString(rest)
		if rest = rest[:len(rest)-size]; !unicode.Is(unicode.Lm, r) {
			before = isCased(r)
			break
		}
	}
	if !before {
		return false
	}
	for _, r := range word[i+len("Σ"):] {
		if !unicode.Is(unicode.Lm, r) {
			return !isCased(r)
		}
	}
	return true
}

// isCased is Unicode's derived property Cased.
func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
}

// isDigit tells whether the code point stands for a digit: decimal digits, and
// those in a circle, as superscripts and so on, which have Unicode's
// Numeric_Type=Digit.
func isDigit(r rune) bool {
	if isDecimal(r) {
		return true
	}
	switch {
	case r == 0xB2, r == 0xB3, r == 0xB9, // superscripts
		0x1369 <= r && r <= 0x1371, // Ethiopic
		r == 0x19DA,                // New Tai Lue
		r == 0x2070, 0x2074 <= r && r <= 0x2079, 0x2080 <= r && r <= 0x2089,
		0x2460 <= r && r <= 0x2468, 0x2474 <= r && r <= 0x247C, 0x2488 <= r && r <= 0x2490, // enclosed
		r == 0x24EA, 0x24F5 <= r && r <= 0x24FD, r == 0x24FF,
		0x2776 <= r && r <= 0x277E, 0x2780 <= r && r <= 0x2788, 0x278A <= r && r <= 0x2792, // dingbats
		0x10A40 <= r && r <= 0x10A43, // Kharoshthi
		0x10E60 <= r && r <= 0x10E68, // Rumi
		0x11052 <= r && r <= 0x1105A, // Brahmi
		0x1F100 <= r && r <= 0x1F10A: // with full stop or comma
		return true
	}
	return false
}
