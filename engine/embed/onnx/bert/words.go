// Package bert turns text into the token ids of an uncased BERT vocabulary,
// the same ids that the reference implementation (Hugging Face tokenizers,
// BertNormalizer, BertPreTokenizer and WordPiece with tokenizer.json of
// all-MiniLM-L6-v2) gives.
//
// Normalising and splitting are done here, because github.com/sugarme/tokenizer
// differs from the reference on accents, Unicode white space and control
// characters, and panics on text that is not valid UTF-8. Its WordPiece model
// gets clean words only.
package bert

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// splitter cuts text into normalised words: control characters dropped,
// decomposed (NFD) without accents, lower case, cut at white space and around
// punctuation and CJK characters.
type splitter struct {
	word       []byte // the word so far
	tail       []mark // combining characters after word, not yet in order
	start, end int    // where the word comes from, in bytes of the text
	yield      func(word []byte, start, end int) bool
	stopped    bool
}

// mark is a combining character that is kept, with its combining class.
type mark struct {
	r     rune
	class uint8
}

// split calls yield for each word of text[from:to] in order, with the range
// of the text that it came from, until yield returns false.
func split(text string, from, to int, yield func(word []byte, start, end int) bool) {
	s := splitter{yield: yield}
	for i := from; i < to && !s.stopped; {
		if c := text[i]; c < utf8.RuneSelf {
			s.ascii(c, i)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:to])
		s.rune(r, text[i:i+n], i)
		i += n
	}
	s.flush()
}

// flush hands out the word that has been collected.
func (s *splitter) flush() {
	s.order()
	if len(s.word) == 0 {
		return
	}
	if !s.stopped && !s.yield(s.word, s.start, s.end) {
		s.stopped = true
	}
	s.word = s.word[:0]
}

// order appends the pending combining characters to the word.
func (s *splitter) order() {
	for _, m := range s.tail {
		s.word = utf8.AppendRune(s.word, m.r)
	}
	s.tail = s.tail[:0]
}

// begin notes that text[at:to] becomes part of the current word.
func (s *splitter) begin(at, to int) {
	if len(s.word) == 0 && len(s.tail) == 0 {
		s.start = at
	}
	s.end = to
}

func (s *splitter) ascii(c byte, at int) {
	switch {
	case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.flush()
		return
	case c < ' ' || c == 0x7f:
		return
	default: // punctuation
		s.flush()
		s.begin(at, at+1)
		s.word = append(s.word, c)
		s.flush()
		return
	}
	s.order()
	s.begin(at, at+1)
	s.word = append(s.word, c)
}

// rune takes one character outside ASCII, raw as it stands in the text at at.
func (s *splitter) rune(r rune, raw string, at int) {
	switch {
	case r == utf8.RuneError || isOther(r):
		return
	case unicode.IsSpace(r):
		s.flush()
		return
	}
	cjk := isCJK(r)
	if cjk {
		s.flush()
	}
	var buffer [32]byte
	rest := buffer[:0]
	if r == undecomposed {
		rest = append(rest, raw...)
	} else {
		rest = norm.NFD.AppendString(rest, raw)
	}
	for len(rest) > 0 {
		d, n := utf8.DecodeRune(rest)
		class := norm.NFD.Properties(rest).CCC()
		rest = rest[n:]
		s.decomposed(d, class, at, at+len(raw))
	}
	if cjk {
		s.flush()
	}
}

// decomposed takes one character of the NFD form. Canonical ordering matters
// only for the few combining characters that are not dropped.
func (s *splitter) decomposed(r rune, class uint8, at, to int) {
	if class == 0 {
		s.order()
	}
	if isAccent(r) {
		return
	}
	r = toLower(r)
	switch {
	case unicode.IsSpace(r):
		s.flush()
	case isPunctuation(r):
		s.flush()
		s.begin(at, to)
		s.word = utf8.AppendRune(s.word, r)
		s.flush()
	case class == 0:
		s.begin(at, to)
		s.word = utf8.AppendRune(s.word, r)
	default:
		s.begin(at, to)
		i := len(s.tail)
		for i > 0 && s.tail[i-1].class > class {
			i--
		}
		s.tail = append(s.tail, mark{})
		copy(s.tail[i+1:], s.tail[i:])
		s.tail[i] = mark{r, class}
	}
}

// Words returns the normalised words of text, before they are cut into
// pieces. Special tokens are not recognised.
func Words(text string) []string {
	var words []string
	split(text, 0, len(text), func(word []byte, _, _ int) bool {
		words = append(words, string(word))
		return true
	})
	return words
}
