package chunk

import "strings"

// scripted reports whether a language is markup around scripts, whose
// definitions are those of the scripts.
func scripted(language string) bool { return language == "svelte" || language == "vue" }

// scripts blanks out all but the contents of the script elements, so that the
// rest can be parsed as a script with every offset in place. It returns the
// grammar that fits.
func scripts(src string) (masked, grammar string) {
	b := []byte(src)
	grammar = "javascript"
	keep := 0 // up to where the text is decided on
	blank := func(to int) {
		for i := keep; i < to; i++ {
			if b[i] != '\n' && b[i] != '\r' {
				b[i] = ' '
			}
		}
	}
	for {
		i := indexFold(src[keep:], "<script")
		if i < 0 {
			break
		}
		open := strings.IndexByte(src[keep+i:], '>')
		if open < 0 {
			break
		}
		tag := src[keep+i : keep+i+open]
		if strings.Contains(tag, `"ts"`) || strings.Contains(tag, "typescript") || strings.Contains(tag, "'ts'") {
			grammar = "typescript"
		}
		if strings.Contains(tag, `"tsx"`) {
			grammar = "tsx"
		}
		from := keep + i + open + 1
		blank(from)
		end := indexFold(src[from:], "</script")
		if end < 0 {
			keep = len(src)
			break
		}
		keep = from + end
	}
	blank(len(src))
	return string(b), grammar
}

// indexFold is strings.Index for an ASCII word in any case.
func indexFold(s, word string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], word[0])
		if i < 0 {
			return -1
		}
		i += from
		if len(s)-i >= len(word) && strings.EqualFold(s[i:i+len(word)], word) {
			return i
		}
		from = i + 1
	}
}
