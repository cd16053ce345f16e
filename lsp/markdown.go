package lsp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"coderag-ls/engine/wire"
)

// writer writes a short text as Markdown or as plain text. What comes from the
// repository is escaped: it is data, and stays text.
type writer struct {
	strings.Builder
	markdown bool
}

// text writes repository text on one line, at most n bytes of it.
func (w *writer) text(s string, n int) {
	s = clip(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " "), n)
	if w.markdown {
		s = escapeMarkdown(s)
	}
	w.WriteString(s)
}

// code writes repository text as a block of code.
func (w *writer) code(language, s string) {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	if !w.markdown {
		w.WriteString(s + "\n")
		return
	}
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.ContainsAny(language, " `\n") {
		language = ""
	}
	fmt.Fprintf(w, "%s%s\n%s\n%s\n", fence, language, s, fence)
}

// cite writes a citation, in Markdown as a link to its lines.
func (w *writer) cite(c wire.Citation) {
	if !w.markdown || c.URI == "" {
		w.text(citationID(c), 300)
		return
	}
	// The URI's path is percent-encoded: no character of it ends the link.
	w.WriteString("[")
	w.text(citationID(c), 300)
	fmt.Fprintf(w, "](%s)", lineURI(c.URI, c.StartLine, c.EndLine))
}

// citationID is "path:start-end".
func citationID(c wire.Citation) string {
	return fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine)
}

// lineURI points a URI at lines, in the form that editors open.
func lineURI(uri string, start, end int) string {
	if start == end {
		return fmt.Sprintf("%s#L%d", uri, start)
	}
	return fmt.Sprintf("%s#L%d-L%d", uri, start, end)
}

// escapeMarkdown makes one line of text that Markdown shows as it is. It
// escapes only what would mean something, because some editors show the source.
func escapeMarkdown(s string) string {
	var b strings.Builder
	before := ' '
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		after, _ := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case strings.ContainsRune("\\`*[]<>&~", r),
			r == '_' && (!isIdentifier(before) || !isIdentifier(after) || before == '_' || after == '_'), // not within snake_case
			i == 0 && strings.ContainsRune("#+-=|:", r):                                                  // heading, list, rule, table
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
