package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// TokenizerVersion changes whenever the same text would give other terms. A
// stored segment of another version is refused.
const TokenizerVersion = 1

const (
	// maxRun is the longest run of letters and digits, in bytes, that is taken for an
	// identifier; longer ones are encoded data.
	maxRun = 128
	// maxNumber is the longest decimal number that is kept, in digits.
	maxNumber = 9
	// minHex is the least length of a bare hexadecimal code; maxHex is a SHA-512's.
	minHex, maxHex = 8, 128
	// exactMark begins every exact term.
	exactMark = '='
)

// Classes of a byte.
const (
	clsSep uint8 = iota
	clsLower
	clsUpper
	clsDigit
	clsUnder
	clsHigh // part of a non-ASCII code point
)

// Tokenizer turns text into terms. It is safe for concurrent use.
type Tokenizer struct {
	class [256]uint8
	stems stemmer
}

// Forget drops what is remembered to be faster.
func (t *Tokenizer) Forget() { t.stems.forget() }

// NewTokenizer returns a tokenizer with an empty stem cache.
func NewTokenizer() *Tokenizer {
	t := &Tokenizer{}
	for c := 0; c < 256; c++ {
		switch {
		case c >= 'a' && c <= 'z':
			t.class[c] = clsLower
		case c >= 'A' && c <= 'Z':
			t.class[c] = clsUpper
		case c >= '0' && c <= '9':
			t.class[c] = clsDigit
		case c == '_':
			t.class[c] = clsUnder
		case c >= utf8.RuneSelf:
			t.class[c] = clsHigh
		}
	}
	return t
}

// next finds the next run at or after i: s[start:end] is an identifier, a
// number, a word, or a pair of neighbouring characters of a script that is
// written without spaces. The search goes on at resume. start is len(s) where
// there is none.
func (t *Tokenizer) next(s string, i int) (start, end, resume int) {
	for {
		for i < len(s) && t.class[s[i]] == clsSep {
			i++
		}
		if i >= len(s) {
			return len(s), len(s), len(s)
		}
		start = i
		for i < len(s) && t.class[s[i]]-1 < clsHigh-1 { // not clsSep, not clsHigh
			i++
		}
		if i >= len(s) || s[i] < utf8.RuneSelf {
			return start, i, i
		}
		if i > start {
			i = wordEnd(t, s, i)
			return start, i, i
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unspaced(r):
			after := i + n
			r2, n2 := utf8.DecodeRuneInString(s[after:])
			if n2 > 0 && unspaced(r2) {
				return start, after + n2, after
			}
			if before, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && unspaced(before) {
				i = after // the second half of the pair before
				continue
			}
			return start, after, after
		case r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			i = wordEnd(t, s, i+n)
			return start, i, i
		}
		i += n
	}
}

// wordEnd is the end of the run that s[i:] goes on with.
func wordEnd(t *Tokenizer, s string, i int) int {
	for i < len(s) {
		if c := t.class[s[i]]; c == clsSep {
			return i
		} else if c != clsHigh {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || unspaced(r) || !(unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) {
			return i
		}
		i += n
	}
	return i
}

// unspaced says whether a character belongs to a script that is written without
// spaces between words, whose text is indexed by pairs of characters.
func unspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == '々'
}

// form is what kind of run a word comes from.
type form uint8

const (
	formPlain    form = iota // one lower-case or capitalised word, as in prose
	formCaps                 // one word in capitals
	formCompound             // an identifier of several parts, or with digits in it
	formCode                 // a hexadecimal code
	formNumber               // decimal digits
	formPair                 // characters of a script without spaces
)

// run is the analysis of one run. It is reused from run to run.
type run struct {
	form form
	// words are the lower-cased parts in order; a part with digits is followed by its pieces.
	words []word
	// ident is the whole run, lower-cased, where it can be an identifier; else "".
	ident string
}

// word is a part of a run, lower-cased and not stemmed.
type word struct {
	text  string
	piece bool // a stretch of letters or digits inside the word before
}

// analyse takes a run apart.
func (t *Tokenizer) analyse(s string, r *run) {
	r.words, r.ident, r.form = r.words[:0], "", formPlain
	if len(s) > maxRun {
		return
	}
	if !ascii(s) {
		s = norm.NFKC.String(s)
		if !ascii(s) {
			t.analyseUnicode(s, r)
			return
		}
	}
	lower := strings.ToLower(s)
	switch codeForm(lower) {
	case formCode:
		r.form = formCode
		r.words = append(r.words, word{text: lower})
		return
	case formNumber:
		r.form = formNumber
		if len(lower) >= 2 && len(lower) <= maxNumber {
			r.words = append(r.words, word{text: lower})
		}
		return
	}
	trimmed := strings.Trim(lower, "_")
	if trimmed == "" {
		return
	}
	if t.class[s[0]] != clsDigit {
		r.ident = lower
	}
	parts := 0
	start := 0
	cut := func(end int) {
		if end > start {
			parts++
			t.part(lower[start:end], r)
		}
		start = end
	}
	for i := 0; i < len(s); i++ {
		switch t.class[s[i]] {
		case clsUnder:
			cut(i)
			start = i + 1
		case clsUpper:
			if i == start {
				break
			}
			prev := t.class[s[i-1]]
			if prev == clsLower || prev == clsDigit && !upperRun(t, s[start:i]) {
				cut(i)
			} else if i+1 < len(s) && t.class[s[i+1]] == clsLower && !plural(t, s, i) {
				cut(i)
			}
		}
	}
	cut(len(s))
	switch {
	case parts > 1 || len(trimmed) != len(s) || len(r.words) > 1:
		r.form = formCompound
	case len(s) > 1 && t.class[s[1]] == clsUpper:
		r.form = formCaps
	case strings.ContainsAny(s, "0123456789"):
		r.form = formCompound
	}
}

// plural says whether s[i:] is the last capital of an acronym and a plural s
// ("URLs", "IDs"), which is not the beginning of a word.
func plural(t *Tokenizer, s string, i int) bool {
	return s[i+1] == 's' && (i+2 == len(s) || t.class[s[i+2]] != clsLower)
}

// upperRun says whether a part so far is capitals and digits ("E2").
func upperRun(t *Tokenizer, s string) bool {
	for i := 0; i < len(s); i++ {
		if t.class[s[i]] == clsLower {
			return false
		}
	}
	return t.class[s[0]] == clsUpper
}

// part adds one part and, where it mixes letters and digits, its pieces of two
// and more characters: "sha256" is found by "sha256", "sha" and "256".
func (t *Tokenizer) part(p string, r *run) {
	if digitsOnly(p) {
		if len(p) >= 2 && len(p) <= maxNumber {
			r.words = append(r.words, word{text: p})
		}
		return
	}
	r.words = append(r.words, word{text: p})
	start := 0
	for i := 1; i <= len(p); i++ {
		if i < len(p) && (t.class[p[i]] == clsDigit) == (t.class[p[i-1]] == clsDigit) {
			continue
		}
		if start == 0 && i == len(p) {
			return // letters only
		}
		if n := i - start; n >= 2 && (t.class[p[start]] != clsDigit || n <= maxNumber) {
			r.words = append(r.words, word{text: p[start:i], piece: true})
		}
		start = i
	}
}

// analyseUnicode is analyse for runs with other letters than ASCII's.
func (t *Tokenizer) analyseUnicode(s string, r *run) {
	lower := strings.ToLower(s)
	first, _ := utf8.DecodeRuneInString(s)
	if unspaced(first) {
		r.form = formPair
		r.words = append(r.words, word{text: lower})
		return
	}
	if !unicode.IsNumber(first) {
		r.ident = lower
	}
	parts, start := 0, 0
	cut := func(end int) {
		if end > start {
			parts++
			r.words = append(r.words, word{text: strings.ToLower(s[start:end])})
		}
		start = end
	}
	underscore := false
	var prev rune
	for i, c := range s {
		switch {
		case c == '_':
			underscore = true
			cut(i)
			start = i + 1
		case unicode.IsUpper(c) && i > start:
			after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(c):])
			if !unicode.IsUpper(prev) || unicode.IsLower(after) {
				cut(i)
			}
		}
		prev = c
	}
	cut(len(s))
	if parts > 1 || underscore {
		r.form = formCompound
	}
}

// codeForm tells hexadecimal codes and numbers from words. s is lower case.
func codeForm(s string) form {
	if c := s[0]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
		return formPlain
	}
	if len(s) > 2 && s[0] == '0' && s[1] == 'x' && hexOnly(s[2:]) {
		return formCode
	}
	if digitsOnly(s) {
		return formNumber
	}
	if len(s) >= minHex && len(s) <= maxHex && hexOnly(s) && strings.ContainsAny(s, "0123456789") {
		return formCode
	}
	return formPlain
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func digitsOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func hexOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
