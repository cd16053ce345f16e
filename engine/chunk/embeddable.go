package chunk

import (
	"crypto/sha256"
	"strings"

	"coderag-ls/engine/text"
)

// Embeddable is the text of a chunk that embedders and tokenizers are given:
// its header, and its lines without what is truncated. The path is not in it.
// It is "" where the document does not have the chunk's lines.
func Embeddable(c Chunk, doc *text.Document) string {
	if c.StartLine < 1 || c.EndLine > doc.LineCount() || c.EndLine < c.StartLine {
		return ""
	}
	if c.Header == "" && len(c.Truncated) == 0 {
		s, _ := doc.Lines(c.StartLine, c.EndLine)
		return s
	}
	var b strings.Builder
	b.Grow(len(c.Header) + 1 + doc.LineEnd(c.EndLine) - doc.LineStart(c.StartLine))
	b.WriteString(c.Header)
	add := func(first, last int) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		s, _ := doc.Lines(first, last)
		b.WriteString(s)
	}
	kept(&c, add)
	return b.String()
}

// kept calls add for the ranges of a chunk's lines that are not truncated.
func kept(c *Chunk, add func(first, last int)) {
	line := c.StartLine
	for _, t := range c.Truncated {
		if last := min(t[0]-1, c.EndLine); line <= last {
			add(line, last)
		}
		line = max(line, t[1]+1)
	}
	if line <= c.EndLine {
		add(line, c.EndLine)
	}
}

// embedHash is the hash of what Embeddable gives, tight.
func (w *worker) embedHash(c *Chunk) [32]byte {
	w.tight.reset()
	w.tight.add(c.Header)
	kept(c, func(first, last int) {
		w.tight.gap = true
		w.tight.add(w.src.span(first, last))
	})
	return sha256.Sum256(w.tight.out)
}

// Tight returns a text without the white space that no embedding model of ours
// sees: none at the ends and beside punctuation, one space elsewhere. Texts that
// are the same when tight give the same vector, so that indenting, aligning,
// wrapping and blank lines embed nothing again; the tests of both tokenizers
// hold them to it. A gap after "[" and before "]" stays, for the sake of tokens
// that are written "[CLS]".
func Tight(s string) string {
	var t tightener
	t.add(s)
	return string(t.out)
}

// tightener makes a tight text of pieces.
type tightener struct {
	out []byte
	gap bool // white space stood after out
}

func (t *tightener) reset() { t.out, t.gap = t.out[:0], false }

func (t *tightener) add(s string) {
	for i := 0; i < len(s); {
		if isGap(s[i]) {
			t.gap = true
			i++
			continue
		}
		end := i + 1
		for end < len(s) && !isGap(s[end]) {
			end++
		}
		if n := len(t.out); t.gap && n > 0 && !(closes(t.out[n-1]) || opens(s[i])) {
			t.out = append(t.out, ' ')
		}
		t.out, t.gap = append(t.out, s[i:end]...), false
		i = end
	}
}

// isGap tells white space. Other control characters are none to BERT: it drops
// them and joins what stands around.
func isGap(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isPunctuation tells ASCII punctuation, which is a token of its own to BERT
// and no part of any to the embedded model.
func isPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// opens and closes tell what needs no gap before and after it.
func opens(c byte) bool  { return isPunctuation(c) && c != ']' }
func closes(c byte) bool { return isPunctuation(c) && c != '[' }
