package ground

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"coderag-ls/engine/answer"
)

// longest is how many bytes without an end are held back: then they count as a
// sentence.
const longest = 2000

// sentence returns the length of the buffer's first sentence with the space
// behind it, 0 where its end has not come. A citation behind the full stop
// belongs to it. A sentence ends at its line's end at the latest.
func (w *Writer) sentence(line string, whole, final bool) int {
	body := strings.TrimRight(line, "\n")
	row := strings.HasPrefix(strings.TrimSpace(body), "|") || strings.HasPrefix(strings.TrimSpace(body), "#")
	if !row {
		code := false
		depth := 0
		for i := 0; i < len(body); {
			r, size := utf8.DecodeRuneInString(body[i:])
			switch {
			case r == '`':
				code = !code
			case code:
			case r == '[' || r == '(':
				depth++
			case (r == ']' || r == ')') && depth > 0:
				depth--
			case depth == 0 && ends(body, i, r, size):
				n, known := behind(body, i+size, whole || final)
				if !known {
					return 0
				}
				if n > 0 {
					return n
				}
			}
			i += size
		}
	}
	switch {
	case whole:
		return len(line)
	case len(body) > longest && !row:
		return len(body)
	}
	return 0
}

// ends reports whether the sign at i ends a sentence, as far as can be told
// without what follows it.
func ends(s string, i int, r rune, size int) bool {
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?':
	default:
		return false
	}
	if i+size < len(s) && s[i+size] != ' ' && s[i+size] != '\t' {
		return false // a name, a number, an ellipsis
	}
	word := s[strings.LastIndexAny(s[:i], " \t(")+1 : i]
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "z.b", "d.h", "bzw", "ca", "no", "fig":
		return false
	}
	return !(r == '.' && strings.TrimFunc(word, unicode.IsDigit) == "" && strings.TrimSpace(s[:i-len(word)]) == "") // "1. " begins an item
}

// behind looks at what follows a sentence's end at i: where citations do, they
// belong to it. n is where the sentence ends with the space behind it, 0 where
// this is no end; known is false where more text is needed to tell.
func behind(s string, i int, whole bool) (n int, known bool) {
	for {
		j := i
		for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
			j++
		}
		if j == len(s) {
			if !whole {
				return 0, false
			}
			return 0, true // the line's end is the sentence's
		}
		if s[j] != '[' && s[j] != '(' {
			return j, true
		}
		end := strings.IndexAny(s[j:], "])")
		if end < 0 {
			if !whole && len(s)-j < 400 {
				return 0, false
			}
			return j, true
		}
		if len(answer.Parse(s[j:j+end+1], nil)) == 0 {
			return j, true
		}
		i = j + end + 1
		for i < len(s) && (s[i] == '.' || s[i] == ',' || s[i] == ';') {
			i++
		}
	}
}

// plain removes what acts on terminals and renderers without being seen:
// controls, and the signs that turn the direction of text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == utf8.RuneError:
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r == 0x200b, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
			return -1
		}
		return r
	}, s)
}

// inert takes the effect from Markdown outside code: pictures, links and HTML
// become text. A link's address is dropped with what it may carry away.
func inert(s string) string {
	if !strings.ContainsAny(s, "<!]") {
		return s
	}
	var out strings.Builder
	code := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '`':
			code = !code
			out.WriteByte(c)
		case code:
			out.WriteByte(c)
		case c == '<' && i+1 < len(s) && (s[i+1] == '/' || s[i+1] == '!' || s[i+1] == '?' || s[i+1] >= 'a' && s[i+1] <= 'z' || s[i+1] >= 'A' && s[i+1] <= 'Z'):
			out.WriteString("&lt;")
		case c == '!' && i+1 < len(s) && s[i+1] == '[': // no picture
		case c == ']' && i+1 < len(s) && s[i+1] == '(':
			out.WriteByte(c)
			depth := 0
			for i++; i < len(s); i++ {
				if s[i] == '(' {
					depth++
				} else if s[i] == ')' {
					if depth--; depth == 0 {
						break
					}
				}
			}
		case c == ']' && i+1 < len(s) && (s[i+1] == ':' && strings.HasPrefix(strings.TrimSpace(s), "[") || s[i+1] == '['): // no reference
			out.WriteString("] ")
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// balanced leaves code spans that begin and end in s, so that what is code for
// us is code for whoever renders it: runs of backticks become one, and the last
// of an odd number an apostrophe.
func balanced(s string) string {
	if !strings.Contains(s, "`") {
		return s
	}
	for strings.Contains(s, "``") {
		s = strings.ReplaceAll(s, "``", "`")
	}
	if i := strings.LastIndexByte(s, '`'); strings.Count(s, "`")%2 == 1 {
		s = s[:i] + "'" + s[i+1:]
	}
	return s
}

// unlinked parts what would be a link or a picture only now that something
// between was dropped.
func unlinked(s string) string {
	if !strings.ContainsAny(s, "]!") {
		return s
	}
	var out strings.Builder
	code := false
	for i := range len(s) {
		out.WriteByte(s[i])
		if s[i] == '`' {
			code = !code
		}
		if !code && i+1 < len(s) && (s[i] == ']' && (s[i+1] == '(' || s[i+1] == '[') || s[i] == '!' && s[i+1] == '[') {
			out.WriteByte(' ')
		}
	}
	return out.String()
}
