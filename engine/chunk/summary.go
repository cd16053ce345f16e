package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSummary is where a summary is cut, in bytes.
const maxSummary = 200

// summarise returns the first sentence of a comment or documentation string.
func summarise(comment string, s *syntax) string {
	comment = strings.TrimSpace(comment)
	if s != nil && s.triple {
		comment = unquoted(comment)
	}
	var b strings.Builder
	for line := range strings.Lines(comment) {
		line = plainComment(line, s)
		if line != "" && (line[0] == '@' || line[0] == '\\') {
			word, rest, _ := strings.Cut(line[1:], " ")
			line = ""
			switch word {
			case "brief", "doc", "moduledoc", "summary", "description", "short":
				line = strings.TrimSpace(unquoted(rest))
			}
		}
		if line == "" || directive(line) || !strings.ContainsFunc(line, unicode.IsLetter) {
			if b.Len() > 0 {
				break
			}
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if end := sentenceEnd(line); end > 0 {
			b.WriteString(line[:end])
			break
		}
		b.WriteString(line)
		if b.Len() > maxSummary {
			break
		}
	}
	return strings.TrimSpace(cutRunes(b.String(), maxSummary))
}

// unquoted takes a string literal's prefix letters and quotes off.
func unquoted(s string) string {
	t := strings.TrimLeft(s, "rRuUbBfF~sS")
	if t == "" || t[0] != '"' && t[0] != '\'' {
		return s
	}
	q := t[:1]
	return strings.TrimRight(strings.TrimLeft(t, q), q)
}

// plainComment takes the comment marks and the markup off a line.
func plainComment(line string, s *syntax) string {
	line = strings.TrimSpace(line)
	if s != nil {
		for _, b := range s.block {
			if rest, ok := strings.CutPrefix(line, b[0]); ok {
				line = strings.TrimLeft(rest, "*!|^ \t")
			}
			line = strings.TrimSuffix(line, b[1])
		}
		for _, l := range s.line {
			if rest, ok := strings.CutPrefix(line, l); ok {
				line = strings.TrimLeft(rest, "/!#-;%|^ \t")
				break
			}
		}
		if len(s.block) > 0 && s.block[0][0] == "/*" {
			line = strings.Trim(line, "*")
		}
	}
	if line = strings.TrimSpace(line); strings.Contains(line, "---") || strings.Contains(line, "===") {
		line = strings.Trim(line, "-=+ \t") // a separator with a title in it
	}
	if strings.IndexByte(line, '<') >= 0 {
		line = withoutTags(line)
	}
	return line
}

// directive reports whether a comment's line speaks to tools.
func directive(line string) bool {
	for _, p := range [...]string{"go:", "nolint", "eslint", "prettier", "pylint", "type:", "noqa", "pragma", "clang-format", "+build", "export ", "line ", "extern ", "TODO", "FIXME", "ts-", "rubocop", "shellcheck", "SPDX-License", "Copyright", "frozen_string_literal", "# LANGUAGE", "# INLINE", "# OPTIONS", "# SPECIALI", "# NOINLINE"} {
		if strings.HasPrefix(line, p) {
			return p != "export " && p != "line " && p != "extern " || !strings.Contains(line[len(p):], " ")
		}
	}
	return false
}

// withoutTags drops XML and HTML tags: C#'s <summary>, Java's <p>.
func withoutTags(line string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(line, '<')
		if i < 0 {
			break
		}
		j := strings.IndexByte(line[i:], '>')
		if j < 0 || i+1 >= len(line) || line[i+1] != '/' && !(line[i+1] >= 'a' && line[i+1] <= 'z') || strings.ContainsRune(line[i+1:i+j], '<') {
			b.WriteString(line[:i+1])
			line = line[i+1:]
			continue
		}
		b.WriteString(line[:i])
		if _, ref, ok := strings.Cut(line[i:i+j], "cref=\""); ok { // C#'s <see cref="Type.Name"/>
			ref, _, _ = strings.Cut(ref, "\"")
			b.WriteString(ref[strings.LastIndexAny(ref, ".:")+1:])
		}
		line = line[i+j+1:]
	}
	b.WriteString(line)
	return strings.TrimSpace(b.String())
}

// sentenceEnd is where the first sentence of a line ends, or 0 where it goes on.
func sentenceEnd(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '.', '!', '?':
			if i+1 == len(line) {
				return i + 1
			}
			if line[i+1] != ' ' || i < 2 {
				continue
			}
			next, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[i+1:], " "))
			if !unicode.IsLower(next) && !abbreviation(line[:i]) {
				return i + 1
			}
		}
	}
	if strings.HasSuffix(line, "。") {
		return len(line)
	}
	return 0
}

// abbreviation reports whether a dot after s is part of "e.g.", "i.e." and the like.
func abbreviation(s string) bool {
	for _, a := range [...]string{"e.g", "i.e", "etc", "vs", "cf", " v", "Mr", "Dr", "No"} {
		if strings.HasSuffix(s, a) {
			return true
		}
	}
	return false
}

// introduction is the first sentence of the comment or string that introduces a
// file, where it stands in the given lines; a licence introduces nothing.
func (w *worker) introduction(first, last int) string {
	if w.syntax == nil {
		return ""
	}
	const far = 80 // lines
	text := w.src.span(first, min(last, first+far))
	spans := w.syntax.comments(text, nil)
	for i := 0; i < len(spans); {
		j := i // comments on following lines are one
		for j+1 < len(spans) && strings.TrimSpace(text[spans[j].End:spans[j+1].Start]) == "" && strings.Count(text[spans[j].End:spans[j+1].Start], "\n") < 2 {
			j++
		}
		comment := text[spans[i].Start:spans[j].End]
		i = j + 1
		if lower := strings.ToLower(comment); strings.Contains(lower, "copyright") || strings.Contains(lower, "licen") || strings.HasPrefix(comment, "#!") && len(comment) < 80 {
			continue
		}
		if s := summarise(comment, w.syntax); len(s) > 8 && strings.Contains(s, " ") {
			return s
		}
	}
	return ""
}

// wordsOf is the summary of a chunk without documentation: the words of its
// name and signature, or of its first names.
func (w *worker) wordsOf(c *Chunk, def int) string {
	var b strings.Builder
	if def >= 0 && !w.defs[def].group {
		d := &w.defs[def]
		appendWords(&b, d.Name)
		appendWords(&b, d.Signature)
	} else {
		for i, name := range c.Symbols {
			if i == 12 {
				break
			}
			appendWords(&b, name)
		}
		for i, name := range c.Imports {
			if i == 12 || len(c.Symbols) > 0 {
				break
			}
			if i == 0 {
				b.WriteString("imports")
			}
			appendWords(&b, name)
		}
	}
	return b.String()
}

// appendWords adds the words of an identifier or a signature in lower case,
// camelCase and snake_case split, those left out that are there already.
func appendWords(b *strings.Builder, s string) {
	for i := 0; i < len(s) && b.Len() < maxSummary; {
		if !wordByte(s[i]) || s[i] == '_' {
			i++
			continue
		}
		j := i + 1
		for j < len(s) && wordByte(s[j]) && s[j] != '_' {
			if upper(s[j]) && (!upper(s[j-1]) || j+1 < len(s) && lower(s[j+1])) {
				break
			}
			j++
		}
		word := s[i:j]
		i = j
		if len(word) < 2 {
			continue
		}
		word = strings.ToLower(word)
		if containsWord(b.String(), word) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
}

func upper(b byte) bool { return b >= 'A' && b <= 'Z' }
func lower(b byte) bool { return b >= 'a' && b <= 'z' }

// containsWord reports whether a list of words separated by blanks holds the word.
func containsWord(list, word string) bool {
	if word == "" {
		return false
	}
	for {
		i := strings.Index(list, word)
		if i < 0 {
			return false
		}
		j := i + len(word)
		if (i == 0 || list[i-1] == ' ') && (j == len(list) || list[j] == ' ') {
			return true
		}
		list = list[j:]
	}
}
