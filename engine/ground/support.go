package ground

import (
	"strings"
	"unicode"

	"coderag-ls/engine/text"
)

func hash(s string) string { return text.HexHash(s) }

// class is what of a unit must be supported.
type class int

const (
	nothing class = iota // a heading, an introduction to a list, a question
	claim
	// admission says that the sources do not tell; only what it names is checked.
	admission
)

// classify tells claims from what carries the text.
func classify(s string) class {
	body := strings.TrimSpace(s)
	item := strings.TrimLeft(strings.TrimLeft(body, "-*+>0123456789.) \t"), " ")
	switch {
	case item == "", strings.HasPrefix(body, "#"), strings.Trim(body, "-*_=|: ") == "":
		return nothing
	case strings.HasSuffix(body, ":"), strings.HasSuffix(body, ":**"), strings.HasSuffix(body, "**:"), strings.HasSuffix(body, "："):
		if len(tokens(item).all()) == 0 {
			return nothing
		}
		return admission // it may name, and what it names must be somewhere
	case strings.HasPrefix(body, "**") && strings.HasSuffix(body, "**") && strings.Count(body, "**") == 2:
		return admission
	case strings.HasSuffix(body, "?"):
		return admission
	}
	low := strings.ToLower(body)
	if strings.HasPrefix(low, "based on the available codebase context") || strings.HasPrefix(low, "the sources do not") || strings.HasPrefix(low, "the given sources do not") {
		return admission
	}
	if strings.HasPrefix(body, "|") && !strings.ContainsFunc(body, unicode.IsLetter) {
		return nothing
	}
	words := 0
	for range strings.FieldsSeq(item) {
		words++
	}
	if words < 3 && len(tokens(item).all()) == 0 && !strings.ContainsFunc(item, func(r rune) bool { return r > 0x2e80 }) {
		return nothing // "In short." of a text in words with spaces
	}
	return claim
}

// said is what of a sentence can be looked up.
type said struct {
	names   []string // identifiers and parts of dotted ones
	quotes  []string // code, white space taken out
	numbers []string
}

func (s said) all() []string {
	return append(append(append([]string{}, s.names...), s.quotes...), s.numbers...)
}

// tokens takes a sentence's identifiers, code and numbers.
func tokens(s string) said {
	var out said
	for i, span := range strings.Split(s, "`") {
		if i%2 == 1 {
			out.code(span)
			continue
		}
		for _, q := range doubleQuoted(span) {
			if strings.ContainsAny(q, "_(){}=;/\\") || len(strings.Fields(q)) > 1 {
				out.quotes = append(out.quotes, squeeze(q))
			}
		}
		for _, word := range strings.FieldsFunc(span, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune(`,;!?"'“”‘’*|[]{}<>`, r)
		}) {
			called := strings.HasSuffix(word, "()")
			for _, part := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(":=/", r) }) {
				out.word(strings.Trim(part, ".()"), called)
			}
		}
	}
	return out
}

// code takes a code span.
func (s *said) code(span string) {
	span = strings.TrimSpace(span)
	bare := strings.TrimSuffix(span, "()")
	if bare == "" {
		return
	}
	if strings.ContainsFunc(bare, func(r rune) bool { return !(isName(r) || strings.ContainsRune(".:#*&@$-/", r)) }) {
		s.quotes = append(s.quotes, squeeze(bare))
		return
	}
	s.names = append(s.names, parts(bare)...)
}

// parts are those of a dotted name.
func parts(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !isName(r) })
}

func isName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// word takes a word outside of code where it looks like code or is a number.
func (s *said) word(word string, called bool) {
	if word == "" {
		return
	}
	if n := strings.TrimRight(word, "%smxKMGB"); n != "" && strings.Trim(n, "0123456789._,") == "" {
		if digits := strings.Trim(n, "._,"); len(digits) > 1 { // 1 to 9 also count things
			s.numbers = append(s.numbers, strings.ReplaceAll(strings.ReplaceAll(digits, ",", ""), "_", ""))
		}
		return
	}
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !isName(r) && r != '-' }) {
		if called || codelike(part) {
			s.names = append(s.names, part)
		}
	}
}

// codelike: snake_case, camelCase and names with digits inside are identifiers
// wherever they stand.
func codelike(word string) bool {
	if strings.Contains(strings.Trim(word, "_"), "_") {
		return true
	}
	if strings.Contains(word, "-") {
		return false
	}
	small, humps := false, 0
	for _, r := range word {
		if unicode.IsUpper(r) && small {
			humps++
		}
		small = unicode.IsLower(r)
	}
	return humps > 0 && !known(word)
}

// known are names of things that prose writes with capitals inside.
func known(word string) bool {
	switch word {
	case "GitHub", "GitLab", "JavaScript", "TypeScript", "OpenAI", "PostgreSQL", "MySQL", "GraphQL", "WebSocket", "WebSockets", "YouTube", "LaTeX", "macOS", "iOS", "NumPy", "PyPI", "OAuth", "DevOps", "JSONs", "URLs", "APIs", "IDs", "UUIDs", "VMs", "PRs":
		return true
	}
	return false
}

// doubleQuoted are the texts between double quotes.
func doubleQuoted(s string) []string {
	var all []string
	for i, q := range strings.Split(strings.NewReplacer("“", `"`, "”", `"`).Replace(s), `"`) {
		if i%2 == 1 {
			all = append(all, q)
		}
	}
	return all
}

// supported checks a sentence against the lines that it cites.
func supported(s string, evidence []string, passages []Passage, c class) bool {
	t := tokens(s)
	if c == admission {
		evidence = nil
		for _, p := range passages {
			evidence = append(evidence, p.Text, p.Given, p.Symbol, p.Path)
		}
	} else if len(evidence) == 0 {
		return false
	}
	if len(t.all()) == 0 {
		return true
	}
	all := strings.Join(evidence, "\n")
	tight := squeeze(all)
	for _, name := range t.names {
		if !holdsName(all, name) {
			return false
		}
	}
	for _, q := range t.quotes {
		if !strings.Contains(tight, q) {
			return false
		}
	}
	for _, n := range t.numbers {
		if !holdsName(strings.NewReplacer("_", "", ",", "").Replace(all), n) {
			return false
		}
	}
	return true
}

// holdsName reports whether a text holds a name as a whole word.
func holdsName(s, name string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		before, after := ' ', ' '
		for _, r := range s[max(0, from-4):from] {
			before = r
		}
		for _, r := range s[to:min(len(s), to+4)] {
			after = r
			break
		}
		if !isName(before) && !isName(after) {
			return true
		}
		at = to
	}
}

// squeeze takes the white space out.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
