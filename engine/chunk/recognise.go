package chunk

import (
	"sort"
	"strings"
)

// recognise finds definitions line by line, without a syntax tree: by the
// keywords that start them, or by their shape. Where one ends follows from the
// indentation.
func (w *worker) recognise() {
	r := recogniserFor(w.in.Class.Language)
	var comments []Span
	if w.syntax != nil {
		comments = w.syntax.comments(w.src.text, nil)
	}
	objc := strings.HasPrefix(w.in.Class.Language, "objective-c")
	type open struct{ def, indent int }
	var stack []open
	lastFilled := 0
	pop := func(indent, end int) {
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			d := &w.defs[stack[len(stack)-1].def]
			d.EndLine = max(d.EndLine, end)
			stack = stack[:len(stack)-1]
		}
	}
	at := 0
	for n := 1; n <= w.src.count(); n++ {
		line := w.src.line(n)
		text := strings.TrimLeft(line, " \t")
		if text == "" || w.src.blank(n) {
			continue
		}
		start := w.src.starts[n-1] + len(line) - len(text)
		for at < len(comments) && comments[at].End <= start {
			at++
		}
		if at < len(comments) && comments[at].Start <= start {
			continue // a comment: it belongs to what follows, if it is its documentation
		}
		indent := 0
		for _, c := range []byte(line[:len(line)-len(text)]) {
			if indent++; c == '\t' {
				indent += 3
			}
		}
		m, ok := r.line(line)
		if text[0] == '@' && objc {
			if indent = -1; text == "@end" { // what stands between is not indented
				pop(-1, n)
				lastFilled = n
				continue
			}
		}
		if !ok {
			if r.isImport(text) {
				pop(indent, lastFilled)
				w.importText(n, text)
			} else if !r.flat {
				w.endAt(text, indent, func(closes bool) {
					if closes {
						pop(indent+1, lastFilled)
						pop(indent, n)
					} else {
						pop(indent, lastFilled)
					}
				})
			}
			lastFilled = n
			continue
		}
		if r.repeats && len(stack) > 0 && w.defs[stack[len(stack)-1].def].Name == m.name {
			lastFilled = n // a further equation of the same function
			continue
		}
		pop(indent, lastFilled)
		d := def{parent: -1, head: n}
		d.Name, d.Kind, d.NameLine, d.StartLine, d.EndLine = strings.Clone(m.name), m.kind, n, n, n
		d.Signature = signature("", text, true, m.kind)
		if len(stack) > 0 {
			d.parent = stack[len(stack)-1].def
			p := &w.defs[d.parent]
			if d.Parent = p.path(w.separator()); len(d.Parent) > maxParent {
				d.Parent = p.Parent
			}
			if d.Kind == Function && (p.Kind == Class || p.Kind == Interface) {
				d.Kind = Method
			}
		}
		if m.owner != "" {
			d.Parent = qualified(d.Parent, strings.Clone(m.owner), w.separator())
		}
		d.Exported = w.exported(d.Name, d.Signature)
		if from, to := w.commentAbove(n, lastFilled+1); from > 0 {
			d.DocStart, d.DocEnd, d.StartLine = from, to, from
			d.Summary = summarise(w.src.span(from, to), w.syntax)
		}
		if d.Kind != Variable || d.parent < 0 || w.defs[d.parent].container() {
			stack = append(stack, open{len(w.defs), indent})
			w.defs = append(w.defs, d)
		}
		lastFilled = n
	}
	pop(-1, lastFilled)
	if requiring(w.in.Class.Language) {
		w.requires()
	}
	sort.SliceStable(w.imports, func(i, j int) bool { return w.imports[i].Line < w.imports[j].Line })
}

// endAt calls end where a line that starts no definition ends those that are
// indented as deep: closes tells whether the line itself is their end.
func (w *worker) endAt(text string, indent int, end func(closes bool)) {
	switch text[0] {
	case '}', ']', ')':
		rest := strings.Trim(text, "}]); \t,")
		if closes := rest == "" || strings.HasPrefix(rest, "//"); closes || text[0] == '}' {
			end(closes) // else the rest of a head: ") int {"
		}
		return
	case '{', '(', '[':
		return
	}
	switch word := firstWord(text); strings.ToLower(word) {
	case "end", "endfunction", "endmodule", "endtask", "endif", "fi", "done", "esac", "endclass":
		end(true)
	case "public", "private", "protected", "contains", "implicit", "implementation", "signals", "default", "case", "var", "begin", "else", "elif", "elsif", "rescue", "ensure", "catch", "finally", "except", "where", "then", "do", "of", "with", "is", "as":
	default:
		end(false)
	}
}

// match is a definition that a line starts.
type match struct {
	name, owner string
	kind        Kind
}

// recogniser knows how a language's definitions start.
type recogniser struct {
	keywords  map[string]Kind
	modifiers map[string]bool
	imports   []string
	shape     func(line string) (match, bool) // tried where no keyword starts the line
	fold      bool                            // keywords in any case
	flat      bool                            // bodies are not indented: a definition ends where the next one starts
	repeats   bool                            // functions are written as several equations
	extra     string                          // what names may hold beside letters, digits and underscores
}

// line reads one line.
func (r *recogniser) line(line string) (match, bool) {
	text := strings.TrimLeft(line, " \t")
	for rest := text; rest != ""; {
		word := keywordAt(rest)
		if word == "" {
			break
		}
		key := word
		if r.fold {
			key = strings.ToLower(word)
		}
		if kind, ok := r.keywords[key]; ok {
			if name, owner := r.nameAfter(rest[len(word):]); name != "" && r.keywords[name] == "" {
				return match{name, owner, kind}, true
			}
		}
		if !r.modifiers[key] {
			break
		}
		rest = strings.TrimLeft(rest[len(word):], " \t")
		if strings.HasPrefix(rest, "(") && (key == "pub" || key == "extern" || key == "private" || key == "internal") { // pub(crate)
			if i := strings.IndexByte(rest, ')'); i > 0 {
				rest = strings.TrimLeft(rest[i+1:], " \t")
			}
		}
		if strings.HasPrefix(rest, `"`) { // extern "C"
			if i := strings.IndexByte(rest[1:], '"'); i > 0 {
				rest = strings.TrimLeft(rest[i+2:], " \t")
			}
		}
	}
	if r.shape != nil {
		return r.shape(line)
	}
	return match{}, false
}

// keywordAt is the word that s starts with; one may start with @, ( or -.
func keywordAt(s string) string {
	i := 0
	if s[0] == '@' || s[0] == '(' || s[0] == '-' || s[0] == '.' || s[0] == '#' {
		i = 1
	}
	j := i
	for j < len(s) && (wordByte(s[j]) || s[j] == '-' && i == 1 && s[0] == '(') {
		j++
	}
	if j == i {
		return ""
	}
	return s[:j]
}

// nameAfter reads the name after a keyword. A receiver or a template's
// arguments in parentheses may stand before it; "A.b" and "A::b" name an owner.
func (r *recogniser) nameAfter(s string) (name, owner string) {
	if s == "" || wordByte(s[0]) {
		return "", ""
	}
	s = strings.TrimLeft(s, " \t!*&")
	if strings.HasPrefix(s, "(") {
		i := strings.IndexByte(s, ')')
		if i < 0 {
			return "", ""
		}
		if recv := s[1:i]; i+1 < len(s) && s[i+1] == ' ' && recv != "" { // Go's receiver
			f := strings.FieldsFunc(recv, func(c rune) bool { return strings.ContainsRune(" *[", c) })
			if len(f) > 1 {
				owner = f[1]
			}
			s = strings.TrimLeft(s[i+1:], " \t")
		} else {
			s = s[1:] // (define (name
		}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'' || s[0] == '`') {
		if i := strings.IndexByte(s[1:], s[0]); i > 0 {
			return s[1 : i+1], owner
		}
		return "", ""
	}
	i := 0
	for i < len(s) && (wordByte(s[i]) || strings.IndexByte(r.extra, s[i]) >= 0 || (s[i] == '.' || s[i] == ':' && i+2 < len(s) && (s[i+1] == ':' || i > 0 && s[i-1] == ':')) && i > 0 && i+1 < len(s) && (wordByte(s[i+1]) || s[i+1] == ':')) {
		i++
	}
	name = strings.TrimRight(s[:i], ":.-")
	if k := strings.LastIndexAny(name, ".:"); k > 0 {
		owner, name = strings.TrimRight(name[:k], ":"), name[k+1:]
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", ""
	}
	return name, owner
}

func (r *recogniser) isImport(text string) bool {
	for _, p := range r.imports {
		if strings.HasPrefix(text, p) && (len(text) == len(p) || !wordByte(text[len(p)]) || strings.IndexByte(" \"(", p[len(p)-1]) >= 0) {
			return true
		}
	}
	return false
}
