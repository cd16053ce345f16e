package chunk

import (
	"slices"
	"strings"

	"coderag-ls/engine/chunk/treesitter"
)

// def is a definition while the file is cut.
type def struct {
	Symbol
	parent  int  // index of the enclosing definition, or -1
	end     int  // index after the last definition inside
	head    int  // last line of the signature
	group   bool // several definitions in one declaration; no symbol
	extends bool // adds to a type defined elsewhere; no symbol
	extra   bool // a further name of the definition before it
	// document is set for one of several documents in a file (YAML).
	document bool
}

func (d *def) isSymbol() bool { return !d.group && !d.extends && d.Name != "" && d.Kind != Block }

// path is the qualified name.
func (d *def) path(sep string) string { return qualified(d.Parent, d.Name, sep) }

// container reports whether the definition's members are cut apart where it is too large.
func (d *def) container() bool {
	return d.group || d.Kind == Class || d.Kind == Interface || d.Kind == Module || d.Kind == Block
}

// separator joins the qualified names of the file's language.
func (w *worker) separator() string {
	if w.outline != nil {
		return w.outline.Separator
	}
	switch w.in.Class.Language {
	case "c++", "rust", "ruby", "php", "perl", "c":
		return "::"
	}
	return "."
}

// fromOutline takes over the definitions and imports that the syntax tree shows.
func (w *worker) fromOutline(o *treesitter.Outline) {
	for i := range o.Defs {
		w.define(o, &o.Defs[i], i)
	}
	if requiring(w.in.Class.Language) {
		w.requires()
	}
	for _, m := range o.Imports {
		w.importText(int(m.Row)+1, w.src.text[m.Start:m.End])
	}
	slices.SortStableFunc(w.imports, func(a, b imported) int { return a.Line - b.Line })
}

func (w *worker) define(o *treesitter.Outline, t *treesitter.Def, index int) {
	src := w.src.text
	d := def{parent: t.Parent, extends: t.Extends, extra: t.Extra, group: t.Name.Empty()}
	d.Kind = Kind(t.Kind)
	d.StartLine, d.EndLine = int(t.StartRow)+1, int(t.EndRow)+1
	d.NameLine = d.StartLine
	if t.Extra {
		prev := &w.defs[index-1]
		d.Symbol, d.head = prev.Symbol, prev.head
		d.Name = strings.Clone(nameText(src[t.Name.Start:t.Name.End]))
		d.NameLine = w.src.lineAt(int(t.Name.Start))
		d.Exported = w.exported(d.Name, d.Signature)
		w.defs = append(w.defs, d)
		return
	}
	owner := ""
	if !d.group {
		d.NameLine = w.src.lineAt(int(t.Name.Start))
		owner, d.Name = splitName(nameText(src[t.Name.Start:t.Name.End]), w.in.Class.Language)
		d.Name, owner = strings.Clone(d.Name), strings.Clone(owner)
	}
	if !t.Owner.Empty() {
		owner = strings.Clone(src[t.Owner.Start:t.Owner.End])
	}
	for p := t.Parent; p >= 0; p = w.defs[p].parent {
		if !w.defs[p].group {
			d.Parent = w.defs[p].path(o.Separator)
			if len(d.Parent) > maxParent {
				d.Parent = w.defs[p].Parent
			}
			break
		}
	}
	d.Parent = qualified(d.Parent, owner, o.Separator)
	if owner != "" && d.Kind == Function && methodOwner(w.in.Class.Language) {
		d.Kind = Method
	}
	prefix := ""
	if !t.Group.Empty() {
		prefix = strings.TrimSpace(src[t.Group.Start:t.Group.End])
		if strings.ContainsAny(prefix, "(\n\"") {
			prefix = firstWord(prefix)
		}
	}
	body := t.Body
	if body == 0 {
		body = t.End
	}
	d.head = int(t.StartRow) + 1
	if t.Body > 0 {
		end := t.Body
		for end > t.Sig && strings.IndexByte(" \t\n", src[end-1]) >= 0 {
			end--
		}
		d.head = w.src.lineAt(int(max(end, 1)) - 1)
		for d.head > d.NameLine && (w.src.blank(d.head) || w.syntax != nil && w.lineComment(strings.TrimSpace(w.src.line(d.head)))) {
			d.head--
		}
	}
	d.Signature = signature(prefix, w.withoutComments(src[t.Sig:body]), t.Body > 0, d.Kind)
	if d.Kind != Block && !d.group && strings.HasPrefix(d.Signature, "typedef") && !strings.Contains(d.Signature, d.Name) {
		d.Signature = strings.TrimSpace(d.Signature + " " + d.Name) // typedef struct { ... } name
	}
	d.Exported = w.exported(d.Name, d.Signature) || d.parent >= 0 && w.exportedMember(&d)
	w.document(&d, index, t)
	w.defs = append(w.defs, d)
}

// withoutComments drops the lines of a signature that are comments.
func (w *worker) withoutComments(s string) string {
	if w.syntax == nil || strings.IndexByte(s, '\n') < 0 {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if t := strings.TrimSpace(line); t == "" || !w.lineComment(t) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// document finds a definition's documentation: the string in its body or the
// comment before it, which becomes part of its span.
func (w *worker) document(d *def, index int, t *treesitter.Def) {
	// Its first line is at the earliest the one after the definition before it.
	floor, j := 1, index-1
	for j >= 0 && j != d.parent && w.defs[j].parent != d.parent {
		j = w.defs[j].parent
	}
	switch {
	case j >= 0 && j == d.parent:
		floor = w.defs[j].head + 1
	case j >= 0:
		floor = w.defs[j].EndLine + 1
	}
	from, to := w.commentAbove(d.StartLine, floor)
	if from == 0 {
		// Between attributes and the signature.
		if sig := w.src.lineAt(int(t.Sig)); sig > d.StartLine {
			if from, to = w.commentAbove(sig, d.StartLine); from == 0 && w.in.Class.Language == "elixir" {
				from, to = w.docAttribute(d.StartLine, sig-1)
			}
		}
	}
	if from > 0 {
		d.DocStart, d.DocEnd = from, to
		d.StartLine = min(d.StartLine, from)
	}
	if !t.Doc.Empty() {
		d.DocStart, d.DocEnd = w.src.lineAt(int(t.Doc.Start)), w.src.lineAt(int(t.Doc.End)-1)
		d.Summary = summarise(w.src.text[t.Doc.Start:t.Doc.End], w.syntax)
		return
	}
	if from > 0 {
		d.Summary = summarise(w.src.span(from, to), w.syntax)
	}
}

// docAttribute returns the lines of Elixir's @doc between two lines; 0 where
// there is none.
func (w *worker) docAttribute(first, last int) (from, to int) {
	for n := first; n <= last; n++ {
		line := strings.TrimSpace(w.src.line(n))
		if !strings.HasPrefix(line, "@doc") {
			continue
		}
		if strings.Count(line, `"""`) != 1 {
			return n, n
		}
		for to = n + 1; to < last && !strings.Contains(w.src.line(to), `"""`); to++ {
		}
		return n, to
	}
	return 0, 0
}

// commentAbove returns the lines of the comment that ends on the line before n,
// not before line floor; 0 where there is none.
func (w *worker) commentAbove(n, floor int) (from, to int) {
	if w.syntax == nil {
		return 0, 0
	}
	to = n - 1
	for l := n - 1; l >= floor; l-- {
		line := strings.TrimSpace(w.src.line(l))
		if line == "" {
			break
		}
		if w.lineComment(line) {
			from = l
			continue
		}
		start := w.blockComment(l, floor, line)
		if start == 0 {
			break
		}
		from, l = start, start
	}
	if from == 0 {
		return 0, 0
	}
	return from, to
}

// lineComment reports whether a trimmed line is a comment to its end.
func (w *worker) lineComment(line string) bool {
	for _, l := range w.syntax.line {
		if strings.HasPrefix(line, l) {
			return !strings.HasPrefix(line, "#!") && !(l == "#" && strings.HasPrefix(line, "#[") && len(w.syntax.line) > 1)
		}
	}
	return false
}

// blockComment returns the line on which the block comment starts that ends
// with line n, or 0.
func (w *worker) blockComment(n, floor int, line string) int {
	const longest = 400 // lines
	for _, b := range w.syntax.block {
		if strings.HasPrefix(b[0], "\n") || !strings.HasSuffix(line, b[1]) {
			continue
		}
		for l := n; l >= floor && l > n-longest; l-- {
			text := strings.TrimSpace(w.src.line(l))
			if strings.HasPrefix(text, b[0]) {
				return l
			}
			if strings.Contains(text, b[0]) {
				return 0 // code stands before it
			}
		}
	}
	return 0
}

// nameText trims what a declarator puts around a name.
func nameText(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 && len(s) > 80 {
		s = s[:i]
	}
	if strings.HasPrefix(s, "\"") && strings.Contains(s, "\" \"") { // HCL's labels
		s = strings.ReplaceAll(s, "\" \"", ".")
	}
	if strings.HasPrefix(s, "operator") || strings.HasPrefix(s, "(*)") {
		return s
	}
	return strings.Trim(s, "*&() \t\r\n\"'`")
}

// splitName splits what a definition's name says of its owner (C++'s
// A::b, Lua's M.f and M:f, JavaScript's A.prototype.f) from the name itself.
func splitName(name, language string) (owner, last string) {
	switch language {
	case "php":
		return "", strings.TrimPrefix(name, "$")
	case "sql", "plpgsql":
		if i := strings.LastIndexByte(name, '.'); i > 0 {
			return name[:i], strings.Trim(name[i+1:], "\"`[]")
		}
	case "c++", "rust", "c", "ruby":
		depth := 0
		for i := len(name) - 1; i > 0; i-- {
			switch name[i] {
			case '>', ')':
				depth++
			case '<', '(':
				depth--
			case ':':
				if depth <= 0 && name[i-1] == ':' && !strings.HasPrefix(name, "operator") {
					return withoutArguments(name[:i-1]), name[i+1:]
				}
			}
		}
	case "javascript", "typescript", "tsx", "lua":
		if i := strings.LastIndexAny(name, ".:"); i > 0 && i < len(name)-1 {
			owner, last = name[:i], name[i+1:]
			owner = strings.TrimSuffix(owner, ".prototype")
			switch owner {
			case "exports", "module.exports", "this", "self", "window", "global", "globalThis":
				owner = ""
			case "module":
				return "", name
			}
			return owner, last
		}
	}
	return "", name
}

// methodOwner reports whether a function that names its owner is a method.
func methodOwner(language string) bool { return language != "rust" }

// withoutArguments drops template arguments: "C<T>" is "C".
func withoutArguments(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '<':
			depth++
		case s[i] == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func firstWord(s string) string {
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) {
			return s[:i]
		}
	}
	return s
}

// maxParent is the length of a parent's name, in bytes, from which on it does not
// grow with deeper nesting.
const maxParent = 300

// maxSignature is where a signature is cut, in bytes.
const maxSignature = 240

// signature writes a declaration's head on one line.
func signature(prefix, s string, hasBody bool, kind Kind) string {
	if !hasBody {
		switch kind {
		case Class, Interface, Module, Function, Method:
			if i := strings.IndexByte(s, '{'); i > 0 {
				s = s[:i]
			}
		default:
			if i := strings.IndexByte(s, '\n'); i > 0 {
				s = s[:i]
			}
		}
	}
	var b strings.Builder
	b.Grow(min(len(s)+len(prefix)+1, maxSignature))
	b.WriteString(prefix)
	for i := 0; i < len(s) && b.Len() < maxSignature; {
		if s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r' {
			i++
			continue
		}
		j := i
		for j < len(s) && s[j] != ' ' && s[j] != '\t' && s[j] != '\n' && s[j] != '\r' {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s[i:j])
		i = j
	}
	out := b.String()
	if len(out) > maxSignature {
		out = cutRunes(out, maxSignature)
	}
	for {
		t := strings.TrimRight(out, " {:=;")
		t = strings.TrimSuffix(t, "=>")
		if t == out {
			break
		}
		out = t
	}
	return out
}

// cutRunes cuts s to at most n bytes without splitting a character.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// exported reports whether a name can be seen from other files, as far as the
// declaration tells.
func (w *worker) exported(name, signature string) bool {
	if name == "" {
		return false
	}
	switch w.in.Class.Language {
	case "go":
		c := name[0]
		return c >= 'A' && c <= 'Z' || c >= 0x80 && strings.ToLower(name[:1]) != name[:1]
	case "python", "starlark", "dart", "gdscript":
		return name[0] != '_'
	case "javascript", "typescript", "tsx", "jsx":
		return strings.Contains(signature, "export")
	case "java", "c#":
		return hasWord(signature, "public")
	case "rust", "zig":
		return hasWord(signature, "pub")
	case "c", "c++", "objective-c":
		return !hasWord(signature, "static")
	case "kotlin", "scala", "swift", "php":
		return !hasWord(signature, "private") && !hasWord(signature, "protected") && !hasWord(signature, "fileprivate")
	case "elixir":
		return !strings.HasPrefix(signature, "defp ") && !strings.HasPrefix(signature, "defmacrop ")
	case "lua":
		return !strings.HasPrefix(signature, "local ")
	}
	return true
}

// exportedMember reports whether a member is exported because what it is in is:
// members of interfaces, and of classes where members are public if nothing is said.
func (w *worker) exportedMember(d *def) bool {
	p := &w.defs[d.parent]
	if !p.Exported || d.Name == "" || d.Name[0] == '#' || hasWord(d.Signature, "private") || hasWord(d.Signature, "protected") {
		return false
	}
	switch w.in.Class.Language {
	case "javascript", "typescript", "tsx":
		return p.Kind == Class || p.Kind == Interface
	case "java", "c#", "rust":
		return p.Kind == Interface
	}
	return false
}

// requiring reports whether a language imports by calling require.
func requiring(language string) bool {
	switch language {
	case "javascript", "typescript", "tsx", "jsx", "svelte", "vue", "lua", "luau":
		return true
	}
	return false
}

// hasWord reports whether s holds the word.
func hasWord(s, word string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		i += from
		j := i + len(word)
		if (i == 0 || !wordByte(s[i-1])) && (j == len(s) || !wordByte(s[j])) {
			return true
		}
		from = i + 1
	}
}
