package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSpelled is the most words of a name that is written as words.
const maxSpelled = 4

// spelledOut returns the symbol that a question names in plain words, whole:
// Blueprint for "a blueprint", SessionInterface or session_interface for "the
// session interface". There is none where the question says more than that.
func spelledOut(cleaned string, vocab Vocabulary) []string {
	words := strings.Fields(strings.ToLower(strings.TrimRight(cleaned, "?.! ")))
	for len(words) > 0 && article(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || len(words) > maxSpelled {
		return nil
	}
	for _, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return nil
		}
	}
	last := len(words) - 1
	for _, end := range []string{words[last], strings.TrimSuffix(words[last], "s")} {
		words[last] = end
		pascal := ""
		for _, w := range words {
			pascal += capitalised(w)
		}
		for _, name := range []string{pascal, words[0] + strings.TrimPrefix(pascal, capitalised(words[0])), strings.Join(words, "_"), strings.Join(words, "")} {
			if len(name) > 2 && vocab.Defined(name) {
				return []string{name}
			}
		}
	}
	return nil
}

func article(w string) bool { return w == "a" || w == "an" || w == "the" }

func capitalised(w string) string {
	r, n := utf8.DecodeRuneInString(w)
	return string(unicode.ToUpper(r)) + w[n:]
}
