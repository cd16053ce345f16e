package graph

import (
	"strings"

	"coderag-ls/engine/chunk"
)

// bases are what a type says that it implements or extends: names without
// their qualifiers and parameters.
type bases struct {
	symbol int32 // of the file's
	names  []string
}

// maxBases bounds the list of one type.
const maxBases = 16

// basesOf reads the inheritance lists of a file's types.
func basesOf(f *File) []bases {
	if f.Language == "go" || !code(f.Language) {
		return nil // methods tell, not words
	}
	var out []bases
	for i := range f.Symbols {
		s := &f.Symbols[i]
		if s.Kind != chunk.Class && s.Kind != chunk.Interface {
			continue
		}
		if names := inherited(family(f.Language), f.Language, s.Signature); len(names) > 0 {
			out = append(out, bases{int32(i), names})
		}
	}
	return out
}

// inherited reads the list of a declaration's head.
func inherited(fam, language, sig string) []string {
	var list string
	switch fam {
	case "python":
		_, rest, ok := strings.Cut(sig, "(")
		if !ok {
			return nil
		}
		list = strings.TrimSuffix(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), ":")), ")")
		list = withoutBrackets(list, "([{", ")]}")
	case "ruby":
		_, list, _ = strings.Cut(sig, "<")
	case "jvm", "js", "php", "dart":
		if language == "kotlin" {
			list = afterColon(withoutBrackets(sig, "<(", ">)"))
			break
		}
		plain := withoutBrackets(sig, "<([{", ">)]}")
		for _, word := range [...]string{" extends ", " implements ", " with ", " permits ", " on "} {
			plain = strings.ReplaceAll(plain, word, " \x00"+word[1:len(word)-1]+" ")
		}
		parts := strings.Split(plain, "\x00")
		for _, p := range parts[1:] {
			word, rest, _ := strings.Cut(p, " ")
			if word != "permits" && word != "on" {
				list += "," + rest
			}
		}
	case "c#", "swift":
		list = afterColon(withoutBrackets(sig, "<([", ">)]"))
	case "c":
		if rest, ok := strings.CutPrefix(strings.TrimSpace(sig), "@"); ok { // Objective-C: its protocols stand in <>
			list = strings.NewReplacer("<", ",", ">", "").Replace(afterColon(rest))
			break
		}
		list = afterColon(strings.ReplaceAll(withoutBrackets(sig, "<(", ">)"), "::", "\x01"))
		list = strings.ReplaceAll(list, "\x01", ".")
	case "rust":
		list = strings.ReplaceAll(afterColon(strings.ReplaceAll(withoutBrackets(sig, "<(", ">)"), "::", ".")), "+", ",")
	default:
		return nil
	}
	if i := strings.Index(list, " where "); i >= 0 {
		list = list[:i]
	}
	var names []string
	for item := range strings.SplitSeq(list, ",") {
		item, _, _ = strings.Cut(strings.TrimSpace(item), " by ")
		item = strings.TrimRight(item, "{: ")
		if strings.Contains(item, "=") || len(names) == maxBases {
			continue // metaclass=M
		}
		if i := strings.LastIndexByte(item, ' '); i >= 0 {
			item = item[i+1:] // public virtual Base
		}
		item = strings.TrimLeft(item[strings.LastIndexAny(item, `.\:`)+1:], "'?~&*@")
		if item == "" || !wordStart(item[0]) {
			continue
		}
		names = append(names, strings.Clone(item))
	}
	return names
}

// afterColon is what follows the first colon that stands alone.
func afterColon(s string) string {
	if i := strings.IndexByte(s, ':'); i >= 0 {
		return s[i+1:]
	}
	return ""
}

// withoutBrackets leaves out what stands in brackets of the given kinds.
func withoutBrackets(s, open, closing string) string {
	var b strings.Builder
	depth := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case strings.IndexByte(open, c) >= 0:
			depth++
		case c == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '='): // an arrow
		case strings.IndexByte(closing, c) >= 0:
			depth = max(0, depth-1)
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func wordStart(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func wordByte(c byte) bool { return wordStart(c) || c >= '0' && c <= '9' }
