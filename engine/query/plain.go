package query

import (
	"slices"
	"strings"
)

// Plain is the question without the names of programming languages that it
// asks about: in a model's eyes they are most of a short question, while all or
// none of a repository's files answer to them. It is the question itself where
// nothing else is left.
func (a *Analysis) Plain() string {
	if len(a.Languages) == 0 {
		return a.Query
	}
	at := reWord.FindAllStringIndex(a.Query, -1)
	words := make([]string, len(at))
	for i, w := range at {
		words[i] = strings.ToLower(a.Query[w[0]:w[1]])
	}
	var b strings.Builder
	last := 0
	for i, w := range at {
		l, ok := languageWords[words[i]]
		if !ok || l.strict && !aboutLanguage(words, i) || !slices.Contains(a.Languages, l.language) {
			continue
		}
		from := w[0]
		if i > 0 && slices.Contains([]string{"in", "using", "with"}, words[i-1]) && strings.TrimSpace(a.Query[at[i-1][1]:w[0]]) == "" {
			from = at[i-1][0]
		}
		b.WriteString(a.Query[last:max(from, last)])
		last = w[1]
	}
	b.WriteString(a.Query[last:])
	if s := strings.Join(strings.Fields(b.String()), " "); s != "" {
		return s
	}
	return a.Query
}
