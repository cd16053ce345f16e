package file

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Ignore files have the format of gitignore(5). Lines, negation, anchoring and
// directory rules are read here, globbing is doublestar's; a test compares the
// verdicts with those of git check-ignore.

// A verdict is what the ignore rules say of one path.
type verdict int

const (
	unmentioned verdict = iota
	ignored
	unignored // by a "!" rule
)

// ruleList is one ignore file, linked to those of the same kind above it.
type ruleList struct {
	parent *ruleList
	// strip is how many bytes of a path from the root come before the path
	// from this file's directory. For a file above the root, above is what
	// to put in front instead.
	strip int
	above string
	rules []ignoreRule
}

type ignoreRule struct {
	shape   shape
	text    string // what shape compares with
	negated bool
	dirOnly bool
	whole   bool   // compare the path from the ignore file, not the base name
	shown   string // "rule *.log in .gitignore:3"
}

// A shape is how a rule compares; most need no glob.
type shape int

const (
	equal shape = iota
	suffix
	prefix
	glob
)

// match returns what the nearest rule that names the path says. rel is the
// path from the root.
func (l *ruleList) match(rel, base string, isDir bool) (verdict, string) {
	for ; l != nil; l = l.parent {
		whole := rel[min(l.strip, len(rel)):]
		if l.above != "" {
			whole = l.above + rel
		}
		for i := len(l.rules) - 1; i >= 0; i-- {
			r := &l.rules[i]
			if r.dirOnly && !isDir {
				continue
			}
			name := base
			if r.whole {
				name = whole
			}
			if !r.matches(name) {
				continue
			}
			if r.negated {
				return unignored, r.shown
			}
			return ignored, r.shown
		}
	}
	return unmentioned, ""
}

func (r *ignoreRule) matches(name string) bool {
	switch r.shape {
	case equal:
		return name == r.text
	case suffix:
		return strings.HasSuffix(name, r.text)
	case prefix:
		return strings.HasPrefix(name, r.text)
	}
	return doublestar.MatchUnvalidated(r.text, bytewise(name))
}

// bytewise writes every byte as a character of its own: git's "?" and bracket
// expressions stand for a byte, doublestar's for a character.
func bytewise(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// readRules reads an ignore file; shown is its path as the user knows it. A
// file that is not there has no rules.
func readRules(path, shown string) ([]ignoreRule, error) {
	// A device or a FIFO by that name must not be opened.
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	if info.Size() > maxIgnoreFile {
		return nil, fmt.Errorf("reading %s: ignore file of %d bytes is over the limit of %d", path, info.Size(), maxIgnoreFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return parseRules(string(data), shown), nil
}

// maxIgnoreFile bounds what is read of an ignore file, in bytes.
const maxIgnoreFile = 4 << 20

func parseRules(content, shown string) []ignoreRule {
	var rules []ignoreRule
	content = strings.TrimPrefix(content, "\ufeff")
	for n := 1; content != ""; n++ {
		var line string
		line, content, _ = strings.Cut(content, "\n")
		line = strings.TrimSuffix(line, "\r")
		if r, ok := parseRule(line); ok {
			r.shown = fmt.Sprintf("rule %s in %s:%d", line, shown, n)
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(line string) (ignoreRule, bool) {
	if strings.HasPrefix(line, "#") {
		return ignoreRule{}, false
	}
	line = trimSpaces(line)
	var r ignoreRule
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	r.whole = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, `\\`) {
		return r, false // escapes nothing
	}
	switch {
	case !strings.ContainsAny(line, `*?[\`):
		r.shape, r.text = equal, line
	case !r.whole && line[0] == '*' && !strings.ContainsAny(line[1:], `*?[\`):
		r.shape, r.text = suffix, line[1:]
	case !r.whole && !strings.ContainsAny(line[:len(line)-1], `*?[\`):
		if line[len(line)-1] != '*' {
			return globRule(r, line)
		}
		r.shape, r.text = prefix, line[:len(line)-1]
	default:
		return globRule(r, line)
	}
	return r, true
}

func globRule(r ignoreRule, line string) (ignoreRule, bool) {
	text, ok := toDoublestar(line)
	r.shape, r.text = glob, bytewise(text)
	return r, ok && doublestar.ValidatePattern(text)
}

// trimSpaces cuts trailing spaces that no backslash protects.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// toDoublestar writes a gitignore glob for doublestar: braces are no
// alternatives, bracket expressions know POSIX classes and a leading "]", and
// "a/**" does not name a itself. It is false for a glob that is not closed,
// which matches nothing.
func toDoublestar(p string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '\\':
			if i+1 == len(p) {
				return "", false
			}
			b.WriteString(p[i : i+2])
			i += 2
		case '{', '}':
			b.WriteByte('\\')
			b.WriteByte(c)
			i++
		case '[':
			n, ok := bracket(&b, p[i:])
			if !ok {
				return "", false
			}
			i += n
		case '*':
			n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
			atStart := i == 0 || p[i-1] == '/'
			atEnd := i+n == len(p)
			switch {
			case n >= 2 && atStart && atEnd && i > 0:
				b.WriteString("**/*")
			case n >= 2 && atStart && (atEnd || p[i+n] == '/'):
				b.WriteString("**")
			default:
				b.WriteByte('*')
			}
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), true
}

// bracket writes the bracket expression at the start of p and returns its
// length.
func bracket(b *strings.Builder, p string) (int, bool) {
	i := 1
	b.WriteByte('[')
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(p); first = false {
		switch {
		case p[i] == ']' && !first:
			b.WriteByte(']')
			return i + 1, true
		case strings.HasPrefix(p[i:], "[:"):
			end := strings.Index(p[i:], ":]")
			if end < 0 {
				return 0, false
			}
			class, ok := posixClass(p[i+2 : i+end])
			if !ok {
				return 0, false
			}
			b.WriteString(class)
			i += end + 2
		case p[i] == '\\' && i+1 < len(p):
			b.WriteString(p[i : i+2])
			i += 2
		case p[i] == '-' && !first && i+1 < len(p) && p[i+1] != ']':
			b.WriteByte('-')
			i++
		default:
			if strings.IndexByte(`]-\^!`, p[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(p[i])
			i++
		}
	}
	return 0, false
}

// posixClass returns the ASCII members of a POSIX character class as doublestar
// writes them.
func posixClass(name string) (string, bool) {
	switch name {
	case "alnum":
		return "0-9A-Za-z", true
	case "alpha":
		return "A-Za-z", true
	case "blank":
		return " \t", true
	case "cntrl":
		return "\x01-\x1f\x7f", true
	case "digit":
		return "0-9", true
	case "graph":
		return `\!-\~`, true
	case "lower":
		return "a-z", true
	case "print":
		return ` -\~`, true
	case "punct":
		return "\\!-/:-@\\[-`{-~", true
	case "space":
		return " \t\n\v\f\r", true
	case "upper":
		return "A-Z", true
	case "xdigit":
		return "0-9A-Fa-f", true
	}
	return "", false
}
