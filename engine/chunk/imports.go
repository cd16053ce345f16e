package chunk

import "strings"

// imported is an import with the names it is used by in the file.
type imported struct {
	Import
	locals []string
}

func (w *worker) addImport(line int, target string, names, locals []string) {
	target = strings.TrimSpace(target)
	if target == "" {
		return
	}
	m := imported{Import: Import{Target: strings.Clone(target), Line: line}}
	for _, n := range names {
		m.Names = append(m.Names, strings.Clone(n))
	}
	for _, l := range locals {
		if l != "" && l != "_" && l != "." && l != "*" {
			m.locals = append(m.locals, strings.Clone(l))
		}
	}
	w.imports = append(w.imports, m)
}

// importText reads one import statement that starts on the given line.
func (w *worker) importText(line int, s string) {
	switch w.in.Class.Language {
	case "go":
		w.goImports(line, s)
	case "python", "starlark", "cython":
		w.pythonImports(line, s)
	case "javascript", "typescript", "tsx", "jsx", "svelte", "vue", "coffeescript":
		w.ecmaImports(line, s)
	case "c", "c++", "objective-c", "objective-c++", "cuda", "arduino":
		w.includes(line, s)
	case "rust":
		w.rustImports(line, s)
	case "php":
		w.phpImports(line, s)
	default:
		w.dottedImport(line, s)
	}
}

func (w *worker) goImports(line int, s string) {
	for l := range strings.Lines(s) {
		if i := strings.IndexAny(l, "\"`"); i >= 0 {
			if j := strings.IndexByte(l[i+1:], l[i]); j > 0 {
				target := l[i+1 : i+1+j]
				alias := strings.TrimPrefix(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l[:i]), "(")), "import")
				alias = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(alias), "("))
				if alias == "" {
					alias = goPackage(target)
				}
				if !strings.HasPrefix(alias, "//") {
					w.addImport(line, target, nil, []string{alias})
				}
			}
		}
		line++
	}
}

// goPackage guesses the name of a package from its path.
func goPackage(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" && len(base) < len(path) {
		path = path[:len(path)-len(base)-1]
		base = path[strings.LastIndexByte(path, '/')+1:]
	}
	base, _, _ = strings.Cut(base, ".v")
	base = strings.TrimPrefix(base, "go-")
	base = strings.TrimSuffix(base, ".go")
	return strings.TrimSuffix(base[strings.LastIndexByte(base, '-')+1:], "-go")
}

func (w *worker) pythonImports(line int, s string) {
	s = strings.TrimSpace(strings.NewReplacer("(", " ", ")", " ", "\\", " ", "\n", " ", "\r", " ", ";", " ").Replace(withoutLineComments(s, "#")))
	if rest, ok := strings.CutPrefix(s, "from "); ok {
		module, names, ok := strings.Cut(rest, " import ")
		if !ok {
			return
		}
		var all, locals []string
		for n := range strings.SplitSeq(names, ",") {
			name, alias, aliased := cutAlias(n)
			if name == "" {
				continue
			}
			all = append(all, name)
			if aliased {
				name = alias
			}
			locals = append(locals, name)
		}
		w.addImport(line, strings.ReplaceAll(module, " ", ""), all, locals)
		return
	}
	for n := range strings.SplitSeq(strings.TrimPrefix(s, "import "), ",") {
		name, alias, aliased := cutAlias(n)
		if !aliased {
			alias, _, _ = strings.Cut(name, ".")
		}
		w.addImport(line, name, nil, []string{alias})
	}
}

// cutAlias splits "name as alias".
func cutAlias(s string) (name, alias string, ok bool) {
	f := strings.Fields(s)
	switch {
	case len(f) == 0:
		return "", "", false
	case len(f) >= 3 && f[1] == "as":
		return f[0], f[2], true
	}
	return f[0], "", false
}

// withoutLineComments drops what follows the mark on each line.
func withoutLineComments(s, mark string) string {
	if !strings.Contains(s, mark) {
		return s
	}
	var b strings.Builder
	for l := range strings.Lines(s) {
		if i := strings.Index(l, mark); i >= 0 {
			l = l[:i] + "\n"
		}
		b.WriteString(l)
	}
	return b.String()
}

// ecmaImports reads import and export ... from statements and require calls.
func (w *worker) ecmaImports(line int, s string) {
	target, rest := lastString(s)
	if target == "" {
		return
	}
	var names, locals []string
	for _, word := range [...]string{"import", "export", "const", "let", "var", "local", "type "} {
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), word))
	}
	rest = strings.TrimSuffix(strings.TrimSpace(rest), "from")
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune("{},=()\n\r", r) }) {
		part = strings.TrimPrefix(strings.TrimSpace(part), "type ")
		name, alias, aliased := cutAlias(strings.Replace(part, ":", " as ", 1))
		if name == "" || name == "require" || name == "import" || name == "await" {
			continue
		}
		if name != "*" {
			names = append(names, name)
		}
		if aliased {
			name = alias
		}
		locals = append(locals, name)
	}
	w.addImport(line, target, names, locals)
}

// requires finds the imports that are no import statements: re-exports, and
// require calls whose result gets a name.
func (w *worker) requires() {
	src := w.src.text
	prev := 0 // where the call before ended
	for from := 0; ; {
		i := strings.Index(src[from:], "require")
		if i < 0 {
			break
		}
		i += from
		from = i + len("require")
		line := w.src.lineAt(i)
		start := w.src.starts[line-1]
		s := src[start:i]
		end := strings.IndexAny(src[i:], ")\n;")
		if end > 0 && end < 200 && (strings.HasPrefix(s, "const ") || strings.HasPrefix(s, "let ") || strings.HasPrefix(s, "var ") || strings.HasPrefix(s, "local ")) {
			w.ecmaImports(line, src[max(start, prev):i+end])
			prev = i + end
		}
	}
	for from := 0; ; {
		i := strings.Index(src[from:], "export ")
		if i < 0 {
			break
		}
		i += from
		from = i + len("export ")
		if i > 0 && src[i-1] != '\n' {
			continue
		}
		end := strings.IndexAny(src[i:], ";'\"`")
		if from := strings.LastIndex(src[i:i+max(end, 0)], "from "); end > 0 && from > 0 && src[i+end] != ';' && strings.TrimSpace(src[i+from+5:i+end]) == "" {
			if quote := strings.IndexByte(src[i+end+1:], src[i+end]); quote > 0 {
				w.ecmaImports(w.src.lineAt(i), src[i:i+end+quote+2])
			}
		}
	}
}

// lastString returns the last quoted string of s and what stands before it.
func lastString(s string) (str, before string) {
	j := strings.LastIndexAny(s, "\"'`")
	if j <= 0 {
		return "", s
	}
	i := strings.LastIndexByte(s[:j], s[j])
	if i < 0 {
		return "", s
	}
	return s[i+1 : j], s[:i]
}

func (w *worker) includes(line int, s string) {
	if i := strings.IndexAny(s, "<\""); i >= 0 {
		if j := strings.IndexAny(s[i+1:], ">\"\n"); j > 0 {
			w.addImport(line, s[i+1:i+1+j], nil, nil)
		}
		return
	}
	f := strings.Fields(s)
	if len(f) > 1 { // @import Foundation;
		w.addImport(line, strings.TrimSuffix(f[1], ";"), nil, nil)
	}
}

// rustImports reads a use declaration: each tree of braces is one target.
func (w *worker) rustImports(line int, s string) {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ";"))
	if i := strings.Index(s, "use "); i >= 0 {
		s = s[i+4:]
	} else if i := strings.Index(s, "crate "); i >= 0 {
		s = s[i+6:]
	}
	prefix, tree, braces := strings.Cut(s, "{")
	if !braces {
		name, alias, aliased := cutAlias(s)
		last := name[strings.LastIndexByte(name, ':')+1:]
		if !aliased {
			alias = last
		}
		w.addImport(line, name, nil, []string{alias})
		return
	}
	var names, locals []string
	for part := range strings.FieldsFuncSeq(tree, func(r rune) bool { return strings.ContainsRune("{},\n\r", r) }) {
		name, alias, aliased := cutAlias(part)
		name = strings.TrimSuffix(name, "::")
		last := name[strings.LastIndexByte(name, ':')+1:]
		if last == "self" {
			p := strings.TrimSuffix(prefix, "::")
			last = p[strings.LastIndexByte(p, ':')+1:]
		}
		if last == "" {
			continue
		}
		names = append(names, name)
		if aliased {
			last = alias
		}
		locals = append(locals, last)
	}
	w.addImport(line, strings.TrimSuffix(strings.TrimSpace(prefix), "::"), names, locals)
}

func (w *worker) phpImports(line int, s string) {
	s = strings.TrimSuffix(strings.TrimSpace(s), ";")
	if rest, ok := strings.CutPrefix(s, "use "); ok {
		rest = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(rest), "function "), "const ")
		if prefix, list, braces := strings.Cut(rest, "{"); braces {
			var names []string
			for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), "}"), ",") {
				if name, _, _ := cutAlias(part); name != "" {
					names = append(names, name)
				}
			}
			w.addImport(line, strings.Trim(prefix, "\\ "), names, names)
			return
		}
		for part := range strings.SplitSeq(rest, ",") {
			name, alias, aliased := cutAlias(part)
			name = strings.Trim(name, "\\{} ")
			if !aliased {
				alias = name[strings.LastIndexByte(name, '\\')+1:]
			}
			w.addImport(line, name, nil, []string{alias})
		}
		return
	}
	if target, _ := lastString(s); target != "" {
		w.addImport(line, target, nil, nil)
	}
}

// dottedImport reads what most languages write: a keyword or two and a name
// with dots, maybe with an alias or a list of names.
func (w *worker) dottedImport(line int, s string) {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.TrimRight(s, "; \t\r")
	if target, before := lastString(s); target != "" {
		local := target[strings.LastIndexAny(target, "/.:")+1:]
		if i := strings.IndexByte(before, '='); i > 0 { // local f = require "x"
			f := strings.Fields(before[:i])
			if len(f) > 0 {
				local = f[len(f)-1]
			}
		}
		w.addImport(line, target, nil, []string{local})
		return
	}
	if word, arg, ok := strings.Cut(s, "("); ok && !strings.Contains(word, " ") { // library(x)
		s = strings.TrimSpace(strings.FieldsFunc(arg+" ", func(r rune) bool { return r == ',' || r == ')' })[0])
	}
	f := strings.Fields(s)
	for len(f) > 0 {
		if len(f) > 1 && w.in.Class.Language == "swift" && swiftImportWord(f[0]) {
			f = f[1:]
			continue
		}
		switch strings.TrimSuffix(f[0], ":") {
		case "import", "using", "static", "open", "use", "alias", "require", "include", "global", "qualified", "module", "from", "exposing", "source", ".", "uses", "with", "@import", "Imports", "unit", "namespace", "library", "requireNamespace":
			f = f[1:]
			continue
		}
		break
	}
	if len(f) == 0 {
		return
	}
	local, target := "", f[0]
	if len(f) >= 3 && (f[1] == "as" || f[1] == "=" || f[1] == "=>") {
		local = f[2]
		if f[1] == "=" { // using A = B.C
			local, target = f[0], f[2]
		}
	}
	target, list, braces := strings.Cut(target, "{")
	target = strings.TrimSuffix(strings.Trim(target, "(),:;"), ".")
	var names, locals []string
	if braces {
		for n := range strings.SplitSeq(strings.TrimSuffix(list+" "+strings.Join(f[1:], " "), "}"), ",") {
			if name, _, _ := cutAlias(strings.Trim(n, "{} ")); name != "" {
				names, locals = append(names, name), append(locals, name)
			}
		}
	}
	if local == "" && !braces {
		local = strings.TrimSuffix(target, ".*")
		local = local[strings.LastIndexAny(local, ".:/")+1:]
	}
	w.addImport(line, target, names, append(locals, local))
}

// swiftImportWord reports whether a word of an import declaration stands before
// what is imported: an attribute, an access level, the kind of a declaration.
func swiftImportWord(word string) bool {
	switch word {
	case "typealias", "struct", "class", "enum", "protocol", "let", "var", "func", "public", "package", "internal", "private", "fileprivate":
		return true
	}
	return strings.HasPrefix(word, "@")
}

// used lists in each chunk the imports it uses: all in the chunks of loose
// lines that hold the imports, elsewhere those whose name occurs.
func (w *worker) used(chunks []Chunk) {
	if len(w.imports) == 0 {
		return
	}
	all := make([]string, len(w.imports))
	for i := range w.imports {
		all[i] = w.imports[i].Target
	}
	all = distinct(all)
	names := newNameSet(w.imports)
	var found []string
	for k := range chunks {
		c := &chunks[k]
		if c.Kind == Module && c.StartLine <= w.imports[len(w.imports)-1].Line && c.EndLine >= w.imports[0].Line {
			c.Imports = all
			continue
		}
		names.scan(w.src.span(c.StartLine, c.EndLine))
		found = found[:0]
		for i := range w.imports {
			if names.seen[i] {
				found = append(found, w.imports[i].Target)
			}
		}
		if len(found) > 0 {
			c.Imports = append([]string(nil), distinct(found)...)
		}
	}
}

// nameSet finds which imports a text uses, in one pass over its words.
type nameSet struct {
	lengths [256]uint64 // by first byte: which lengths the names have
	names   []localName
	seen    []bool // by import
}

type localName struct {
	name   string
	target int
}

func newNameSet(imports []imported) *nameSet {
	s := &nameSet{seen: make([]bool, len(imports))}
	for i := range imports {
		for _, l := range imports[i].locals {
			s.names = append(s.names, localName{l, i})
			s.lengths[l[0]] |= 1 << min(len(l), 63)
		}
	}
	return s
}

// scan sets seen for the imports whose names are words of the text.
func (s *nameSet) scan(text string) {
	clear(s.seen)
	for i := 0; i < len(text); {
		if !wordByte(text[i]) {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && wordByte(text[j]) {
			j++
		}
		if s.lengths[text[i]]&(1<<min(j-i, 63)) != 0 {
			word := text[i:j]
			for k := range s.names {
				if s.names[k].name == word {
					s.seen[s.names[k].target] = true
				}
			}
		}
		i = j
	}
}
