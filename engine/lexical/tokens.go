package lexical

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// lowerIdent is an identifier as exact terms write it.
func lowerIdent(s string) string {
	if !ascii(s) {
		s = norm.NFKC.String(s)
	}
	return strings.ToLower(s)
}

// Stem reduces a lower-case word to its stem.
func (t *Tokenizer) Stem(word string) string { return t.stems.stem(word) }

// Stems returns the word terms of a text in order, with repetitions: the stems of its words
// and of the parts of its identifiers. Stop words are left out.
func (t *Tokenizer) Stems(text string) []string {
	var out []string
	var r run
	for i := 0; ; {
		start, end, resume := t.next(text, i)
		if start >= len(text) {
			return out
		}
		i = resume
		t.analyse(text[start:end], &r)
		single := r.form == formPlain || r.form == formCaps
		for _, w := range r.words {
			if len(w.text) == 1 && w.text[0] < 0x80 || single && StopWord(w.text) {
				continue
			}
			out = append(out, t.stems.stem(w.text))
		}
	}
}

// Split takes an identifier apart: its lower-cased parts in order, neither
// stemmed nor filtered ("HTTPServer2" gives "http", "server2", "server").
func (t *Tokenizer) Split(identifier string) []string {
	var out []string
	var r run
	for i := 0; ; {
		start, end, resume := t.next(identifier, i)
		if start >= len(identifier) {
			return out
		}
		i = resume
		t.analyse(identifier[start:end], &r)
		for _, w := range r.words {
			out = append(out, w.text)
		}
	}
}

// Token is a run of a text and the word terms it stands for.
type Token struct {
	Start, End int // byte range
	Stems      []string
	// Exact is the exact term, "" for what is no identifier.
	Exact string
}

// Tokens returns the runs of a text in order, for highlighting and for
// comparing texts. Stop words are among them, without stems.
func (t *Tokenizer) Tokens(text string) []Token {
	var out []Token
	var r run
	for i := 0; ; {
		start, end, resume := t.next(text, i)
		if start >= len(text) {
			return out
		}
		i = resume
		t.analyse(text[start:end], &r)
		tk := Token{Start: start, End: end}
		if r.ident != "" {
			tk.Exact = string(exactMark) + r.ident
		}
		single := r.form == formPlain || r.form == formCaps
		for _, w := range r.words {
			if len(w.text) == 1 && w.text[0] < 0x80 || single && StopWord(w.text) {
				continue
			}
			tk.Stems = append(tk.Stems, t.stems.stem(w.text))
		}
		out = append(out, tk)
	}
}
