package query

import (
	"regexp"
	"strings"
)

// leastTitle is how long a title is at least, in bytes: a shorter beginning is an
// abbreviation or a greeting.
const leastTitle = 12

// title is what a longer text is about: what stands before its second line, the
// first item of its list or its second sentence. It is the whole text where
// there is one sentence.
func title(q string) string {
	t := heading(q)
	for at := 0; ; {
		i := strings.Index(t[at:], ". ")
		if i < 0 {
			return t
		}
		if at += i; at >= leastTitle {
			return t[:at]
		}
		at += 2
	}
}

// heading is what stands before a text's second line or the first item of its
// list, as in commit messages and bug reports.
func heading(q string) string {
	for _, end := range []string{"\n", " * "} {
		if i := strings.Index(q, end); i >= leastTitle {
			q = q[:i]
		}
	}
	return strings.TrimSpace(q)
}

// reScope matches the part of a project that a text names first, as subjects of
// commits and issues do: "net/http: ...", "parser, printer: ...", "fix(auth): ...".
var reScope = regexp.MustCompile(`^(?:[a-z]+\(([\w./,\- ]{2,40})\)!?|([A-Za-z][\w./\-]*(?:, ?[\w./\-]+){0,2})):\s`)

// scope is the part of the project that a text begins with, "" where it does
// with none.
func scope(q string) string {
	m := reScope.FindStringSubmatch(q)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}
