package chunk

import (
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
)

// heading is one header of a document.
type heading struct {
	level int
	text  string
	line  int // the first line of the header
	body  int // the first line after it
}

// fence is a code block's lines, without what opens and closes it.
type fence struct{ first, last int }

// markdown cuts a Markdown document along its H2 and H3 headers, by the rules of
// the indexing design (OYA): an H3 stays with its H2 unless the whole is too
// large, what is still too large is cut into overlapping parts, empty sections
// are left out, long code blocks are truncated in the embedded text. A title
// without text of its own is put over the first section under it, so that it
// can be found and cited.
func (w *worker) markdown() {
	first, title := w.frontMatter()
	headings, fences := w.parseMarkdown(first)
	w.sections(headings, fences, title, first)
}

// deepQuotes reports whether a line opens so many quotes and lists inside each
// other that the Markdown parser, whose time grows with the square of the
// depth, should not see it.
func (w *worker) deepQuotes() bool {
	const deepest = 100
	for n := 1; n <= w.src.count(); n++ {
		line, depth := w.src.line(n), 0
	marks:
		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '>', '-', '+', '*', '.', ')':
				depth++
			case ' ', '\t', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			default:
				break marks
			}
		}
		if depth > deepest && strings.Trim(line, "-* \t") != "" {
			return true
		}
	}
	return false
}

// frontMatter returns the first line after a YAML or TOML block at the top,
// and the title that it gives.
func (w *worker) frontMatter() (after int, title string) {
	mark := strings.TrimRight(strings.TrimPrefix(w.src.line(1), "\ufeff"), " \t")
	if mark != "---" && mark != "+++" {
		return 1, ""
	}
	for n := 2; n <= w.src.count(); n++ {
		line := strings.TrimRight(w.src.line(n), " \t")
		if line == mark || mark == "---" && line == "..." {
			return n + 1, title
		}
		if key, value, ok := strings.Cut(strings.Replace(line, "=", ":", 1), ":"); ok && strings.TrimSpace(key) == "title" {
			title = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return 1, ""
}

// parseMarkdown finds the headers and the code blocks from line first on.
// Headers in quotes and lists are no sections.
func (w *worker) parseMarkdown(first int) (headings []heading, fences []fence) {
	if first > w.src.count() {
		return nil, nil
	}
	offset := w.src.starts[first-1]
	src := []byte(w.src.text[offset:])
	// Block structure is all that is needed: no inline parsers.
	p := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	doc := p.Parse(gmtext.NewReader(src))
	lineOf := func(pos int) int { return w.src.lineAt(offset + min(max(pos, 0), len(src))) }
	var blocks func(n ast.Node, depth int)
	blocks = func(n ast.Node, depth int) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c := c.(type) {
			case *ast.Heading:
				if depth > 0 {
					continue
				}
				h := heading{level: c.Level, line: lineOf(c.Pos())}
				h.body = h.line + 1
				if l := c.Lines(); l != nil && l.Len() > 0 {
					h.line = lineOf(l.At(0).Start)
					last := lineOf(l.At(l.Len() - 1).Start)
					h.body = last + 1
					if line := strings.TrimLeft(w.src.line(last), " "); !strings.HasPrefix(line, "#") || l.Len() > 1 {
						h.body = last + 2 // the line under a setext header
					}
					h.text = headingText(string(l.Value(src)))
				}
				headings = append(headings, h)
			case *ast.FencedCodeBlock, *ast.CodeBlock:
				if l := c.Lines(); l != nil && l.Len() > 0 {
					fences = append(fences, fence{lineOf(l.At(0).Start), lineOf(l.At(l.Len() - 1).Start)})
				}
			default:
				if depth < 20 {
					blocks(c, depth+1)
				}
			}
		}
	}
	blocks(doc, 0)
	return headings, fences
}

// headingText is a header without its marks: closing #s, links, emphasis, anchors.
func headingText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.LastIndex(s, "{#"); i > 0 && strings.HasSuffix(s, "}") {
		s = strings.TrimSpace(s[:i])
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!<>|", s[i+1]) >= 0 {
				i++
			}
			b.WriteByte(s[i])
		case '`', '*':
		case '!':
			if i+1 >= len(s) || s[i+1] != '[' {
				b.WriteByte(s[i])
			}
		case '[':
		case ']':
			if i+1 < len(s) && s[i+1] == '(' {
				if j := strings.IndexByte(s[i:], ')'); j > 0 {
					i += j
				}
			}
		case '<':
			if j := strings.IndexByte(s[i:], '>'); j > 0 {
				i += j
				continue
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.TrimSpace(b.String())
}

// section is a range of lines under a header.
type section struct {
	path        []string // document title, H2, H3
	first, body int      // the header's line and the first after it
	text        int      // the first line of its text, where that is not body
	last        int
	name        string
}

// sections makes the pieces of a document with the given headers. Its text
// starts on line after, below the front matter.
func (w *worker) sections(headings []heading, fences []fence, title string, after int) {
	bounds := headings[:0:0]
	for _, h := range headings {
		if h.level == 1 && title == "" {
			title = h.text
		}
		if h.level <= 3 {
			bounds = append(bounds, h)
		}
	}
	if title == "" {
		base := path.Base(w.in.Path)
		title = strings.TrimSuffix(base, path.Ext(base))
	}
	end := func(i int) int { // the last line under header i alone
		if i+1 < len(bounds) {
			return bounds[i+1].line - 1
		}
		return w.src.count()
	}
	if len(bounds) == 0 {
		w.section(section{path: []string{title}, first: 1, body: 1, text: after, last: w.src.count()}, title, fences)
		return
	}
	if bounds[0].line > 1 {
		w.section(section{path: []string{title}, first: 1, body: 1, text: after, last: bounds[0].line - 1}, title, fences)
	}
	top := title // the H1 that the section stands under
	carry := 0   // a header without text of its own, over the section that follows
	add := func(s section) {
		if carry > 0 {
			s.first, carry = carry, 0
		}
		if !w.section(s, title, fences) && len(s.path) < 3 {
			carry = s.first
		}
	}
	for i := 0; i < len(bounds); {
		h := bounds[i]
		if h.level == 1 {
			top = h.text
			add(section{path: []string{top}, first: h.line, body: h.body, last: end(i), name: h.text})
			i++
			continue
		}
		j := i + 1
		for h.level == 2 && j < len(bounds) && bounds[j].level == 3 {
			j++
		}
		whole := section{path: []string{top, h.text}, first: h.line, body: h.body, last: end(j - 1), name: h.text}
		if j == i+1 || w.sectionTokens(whole.first, whole.last, fences) <= w.c.opts.MarkdownMaxTokens {
			add(whole)
			carry = 0 // a section without text is left out
			i = j
			continue
		}
		whole.last = end(i)
		add(whole)
		for k := i + 1; k < j; k++ {
			h3 := bounds[k]
			add(section{path: []string{top, h.text, h3.text}, first: h3.line, body: h3.body, last: end(k), name: h3.text})
		}
		i = j
	}
}

// section makes the pieces of one section; none where it is empty, which it
// reports.
func (w *worker) section(s section, title string, fences []fence) bool {
	if _, _, ok := w.src.trim(s.body, s.last); !ok {
		return false
	}
	first, last, _ := w.src.trim(s.first, s.last)
	name := s.name
	if name == "" {
		name = s.path[len(s.path)-1]
	}
	path := s.path
	if len(path) == 1 && path[0] == "" {
		path = nil
	}
	p := piece{
		kind: Section, def: -1, owner: -1,
		header: "[Document: " + title + " | Section: " + name + "]",
		about:  &about{name: name, path: path, symbols: codeWords(w.headingSource(s))},
	}
	p.about.summary = w.sectionSummary(s)
	if w.sectionTokens(first, last, fences) <= w.c.opts.MarkdownMaxTokens {
		p.first, p.last = first, last
		p.truncated = w.truncations(first, last, fences)
		w.pieces = append(w.pieces, p)
		return true
	}
	var parts []piece
	for _, r := range w.windows(first, last, w.c.opts.MarkdownPartTokens*charsPerToken, w.c.opts.MarkdownOverlap*charsPerToken, fences) {
		q := p
		var ok bool
		if q.first, q.last, ok = w.src.trim(r[0], r[1]); !ok {
			continue
		}
		q.truncated = w.truncations(q.first, q.last, fences)
		parts = append(parts, q)
	}
	for i := range parts {
		parts[i].number, parts[i].of = i+1, len(parts)
	}
	w.pieces = append(w.pieces, parts...)
	return true
}

// headingSource is the header's own lines, with their marks.
func (w *worker) headingSource(s section) string {
	if s.body <= s.first {
		return ""
	}
	return w.src.span(s.first, min(s.body-1, w.src.count()))
}

// sectionSummary is the first sentence of a section's first paragraph.
func (w *worker) sectionSummary(s section) string {
	fenced := false
	from := max(s.body, s.text)
	for n := from; n <= s.last && n < from+30; n++ {
		line := strings.TrimSpace(w.src.line(n))
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced || line == "" || strings.IndexByte("<|#!=-`~[:", line[0]) >= 0 {
			continue
		}
		end := n
		for end < s.last && !w.src.blank(end+1) && end < n+6 {
			end++
		}
		return summarise(headingText(w.src.span(n, end)), nil)
	}
	return ""
}

// charsPerToken is how a token is estimated: len/4.
const charsPerToken = 4

// sectionTokens is the size of lines in tokens without what is truncated.
func (w *worker) sectionTokens(first, last int, fences []fence) int {
	chars := w.src.size(first, last)
	for _, t := range w.truncations(first, last, fences) {
		chars -= w.src.size(t[0], t[1]) + 1
	}
	return chars / charsPerToken
}

// truncations are the lines of code blocks beyond their first CodeBlockTokens.
func (w *worker) truncations(first, last int, fences []fence) [][2]int {
	var out [][2]int
	limit := w.c.opts.CodeBlockTokens * charsPerToken
	for _, f := range fences {
		if f.last < first || f.first > last || w.src.size(f.first, f.last) <= limit {
			continue
		}
		keep := f.first
		for keep < f.last && w.src.size(f.first, keep+1) <= limit {
			keep++
		}
		if from, to := max(keep+1, first), min(f.last, last); from <= to {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// windows cuts lines into ranges of at most size characters (one line at
// least), each starting overlap characters before the end of the one before it.
// Truncated lines do not count.
func (w *worker) windows(first, last, size, overlap int, fences []fence) [][2]int {
	skipped := w.truncations(first, last, fences)
	measure := func(from, to int) int {
		n := w.src.size(from, to)
		for _, t := range skipped {
			if a, b := max(t[0], from), min(t[1], to); a <= b {
				n -= w.src.size(a, b) + 1
			}
		}
		return n
	}
	var out [][2]int
	for start := first; ; {
		end := start
		for end < last && measure(start, end+1) <= size {
			end++
		}
		out = append(out, [2]int{start, end})
		if end >= last {
			return out
		}
		next := end + 1
		for next-1 > start && measure(next-1, end) <= overlap {
			next--
		}
		start = next
	}
}

// codeWords are the code identifiers of a header: what stands in backticks, and
// words written like identifiers.
func codeWords(s string) []string {
	var out []string
	for i, part := range strings.Split(s, "`") {
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool {
			return !(r == '_' || r == '.' || r == ':' || r == '$' || r == '-' || r == '(' || r == ')' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
		}) {
			called := strings.Contains(word, "()")
			word = strings.Trim(strings.TrimSuffix(strings.TrimLeft(word, "(-"), "()"), ".:()-$")
			if j := strings.IndexByte(word, '('); j > 0 {
				word, called = word[:j], true
			}
			if len(word) < 2 || strings.ContainsAny(word, "()-") {
				continue
			}
			if i%2 == 1 && strings.Count(s, "`") > 1 || called || identifierLike(word) {
				out = append(out, strings.Clone(word))
			}
		}
	}
	return distinct(out)
}

// identifierLike reports whether a word has an underscore, a dot or "::" inside, or
// an upper-case letter after a lower-case one.
func identifierLike(word string) bool {
	letters := false
	for i := 0; i < len(word); i++ {
		letters = letters || lower(word[i]) || upper(word[i])
		if i == 0 {
			continue
		}
		if word[i] == '_' && i+1 < len(word) || lower(word[i-1]) && upper(word[i]) {
			return letters
		}
		if word[i] == '.' && i+1 < len(word) && i > 1 && (lower(word[i+1]) || upper(word[i+1])) && (lower(word[i-1]) || upper(word[i-1])) {
			return true
		}
		if word[i] == ':' && word[i-1] == ':' {
			return true
		}
	}
	return false
}
