package graph

import (
	"path"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
)

// Bounds on looking for calls: they hold for one primary result.
const (
	maxCallLines = 200 // lines that are read for names
	maxNames     = 120 // different names that are looked up
	maxDefined   = 24  // definitions of one name: what is defined more often is any word
	maxMentions  = 200 // chunks that name a symbol
	maxCallers   = 12  // chunks that are read for calls
	maxSymbols   = 2   // symbols of the lines whose callers are looked for
	// leastWeight is how sure a reference must be. One of four unrelated
	// definitions of a name is not.
	leastWeight = 0.3
)

// How sure a name means a definition, by where that stands as seen from the
// reference. It is divided among all definitions that stand as near.
const (
	weightImported = 1.0
	weightBeside   = 0.8 // the same directory or package
	weightAnywhere = 0.5
)

// calls offers what the lines of a place call, and who calls what they define.
func (w *walk) calls(p Place) {
	id, ok := w.g.t.ids[p.Path]
	if !ok || !code(w.g.t.files[id].Language) {
		return
	}
	content, ok := w.text(p.Path)
	if !ok {
		return
	}
	for _, name := range referenced(lines(content, p.StartLine, min(p.EndLine, p.StartLine+maxCallLines-1)), w.g.t.files[id].Language) {
		if w.ctx.Err() != nil {
			return
		}
		d, weight := w.meant(id, name)
		if d.Symbol == nil || d.Path == p.Path {
			continue
		}
		w.offer(step{Related: Related{Path: d.Path, From: p.Path, Kind: Calls, Distance: 1, StartLine: d.Symbol.StartLine, EndLine: d.Symbol.EndLine, Names: []string{name}}, weight: weight})
	}
	w.callers(id, p)
}

// meant is the definition that a name in a file means, with how sure that is;
// without a symbol where none is likely enough.
func (w *walk) meant(from int32, name string) (Definition, float64) {
	defs := w.src.Definitions(name)
	if len(defs) == 0 || len(defs) > maxDefined {
		return Definition{}, 0
	}
	f := &w.g.t.files[from]
	var best Definition
	bestWeight, equal := 0.0, 0
	for _, d := range defs {
		if d.Symbol.Kind == chunk.Variable || d.Symbol.Kind == chunk.Module {
			continue
		}
		if d.Path == f.Path {
			return d, 1 // its own: nearer than all
		}
		to, ok := w.g.t.ids[d.Path]
		if !ok {
			continue
		}
		o := &w.g.t.files[to]
		if family(o.Language) != family(f.Language) || o.Test && !f.Test || o.Minor && !f.Minor {
			continue
		}
		weight := w.g.reach(from, to, d.Symbol.Parent != "")
		if weight < weightImported && !w.speaksOf(f.Path, d.Symbol.Parent) {
			continue
		}
		switch {
		case weight > bestWeight:
			best, bestWeight, equal = d, weight, 1
		case weight == bestWeight && (d.Path != best.Path || d.Symbol.Parent != best.Symbol.Parent):
			equal++
		}
	}
	if equal == 0 || bestWeight/float64(equal) < leastWeight {
		return Definition{}, 0
	}
	return best, bestWeight / float64(equal)
}

// reach is how sure a name in one file means what another one defines, as far as
// their places tell; 0 where it cannot. member tells that the definition belongs
// to a type: then objects carry it to where nothing is imported.
func (g *Graph) reach(from, to int32, member bool) float64 {
	if g.leadsTo(from, to) {
		return weightImported
	}
	a, b := &g.t.files[from], &g.t.files[to]
	beside := path.Dir(a.Path) == path.Dir(b.Path)
	fam := family(a.Language)
	if fam == "jvm" && !beside {
		beside = slices.Equal(plainDirs(a.Path), plainDirs(b.Path)) // the same package among tests
	}
	switch fam {
	case "python", "js", "rust", "dart":
		if !member && fam != "rust" {
			return 0 // a name must be imported
		}
		beside = beside && member
	case "go", "jvm":
		if !member && !beside {
			return 0
		}
	}
	if beside {
		return weightBeside
	}
	return weightAnywhere
}

// speaksOf reports whether a file names the type that a definition belongs to,
// given as a symbol's parent: a method of an unnamed type is as likely another
// one of its name.
func (w *walk) speaksOf(file, parent string) bool {
	if parent == "" {
		return true
	}
	content, ok := w.text(file)
	return ok && strings.Contains(content, parent[strings.LastIndexAny(parent, ".:")+1:])
}

// leadsTo reports whether a file imports another one, or its package.
func (g *Graph) leadsTo(from, to int32) bool {
	n := node(len(g.t.files))
	for _, l := range g.infos[from].links {
		if l.to == to || l.to >= n && slices.Contains(g.t.groupsOf[to], l.to-n) {
			return true
		}
	}
	return false
}

// callers offers the chunks that name what the lines of a place define.
func (w *walk) callers(id int32, p Place) {
	f := &w.g.t.files[id]
	done := 0
	for _, s := range w.src.Symbols(p.Path) {
		if s.NameLine < p.StartLine || s.NameLine > p.EndLine || s.Kind == chunk.Variable || s.Kind == chunk.Module || len(s.Name) < 3 || constructor(s.Name) {
			continue
		}
		if done++; done > maxSymbols || w.ctx.Err() != nil {
			return
		}
		defined := len(w.src.Definitions(s.Name))
		if defined > maxDefined {
			continue
		}
		var found []step
		for _, m := range w.src.Mentions(s.Name, maxMentions) {
			by, ok := w.g.t.ids[m.Path]
			if !ok || by == id || family(w.g.t.files[by].Language) != family(f.Language) {
				continue
			}
			weight := w.g.reach(by, id, s.Parent != "")
			if weight < weightImported {
				weight /= float64(max(1, defined))
			}
			if weight < leastWeight || w.declared(m) {
				continue
			}
			kind := CalledBy
			if w.g.t.files[by].Test && !f.Test {
				if kind = TestFor; slices.Contains(w.g.infos[by].tests, id) {
					weight += 2 // its test by name too
				}
			}
			found = append(found, step{Related: Related{Path: m.Path, From: p.Path, Kind: kind, Distance: 1, StartLine: m.StartLine, EndLine: m.EndLine, Names: []string{s.Name}}, weight: weight + w.g.closeness(p.Path, by)})
		}
		// To name it is not to call it: imports and comments do as well.
		slices.SortStableFunc(found, compareSteps)
		for _, u := range found[:min(maxCallers, len(found))] {
			content, ok := w.text(u.Path)
			if by := w.g.t.ids[u.Path]; !ok || !w.g.leadsTo(by, id) && !w.speaksOf(u.Path, s.Parent) {
				continue
			}
			if slices.Contains(referenced(lines(content, u.StartLine, u.EndLine), f.Language), s.Name) {
				w.offer(u)
			}
		}
	}
}

// declared reports whether a mention stands in a Go interface, whose methods
// look like calls and are no symbols.
func (w *walk) declared(m Mention) bool {
	if path.Ext(m.Path) != ".go" {
		return false
	}
	return slices.ContainsFunc(w.src.Symbols(m.Path), func(s chunk.Symbol) bool {
		return s.Kind == chunk.Interface && s.StartLine <= m.StartLine && m.EndLine <= s.EndLine
	})
}

// constructor reports whether a name says nothing about what it makes.
func constructor(name string) bool {
	switch name {
	case "constructor", "init", "initialize", "main", "new", "__init__", "__construct", "deinit", "setUp", "tearDown":
		return true
	}
	return strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

// lines are the lines first to last of a text, 1-based and inclusive.
func lines(s string, first, last int) string {
	line, start := 1, -1
	for i := 0; i <= len(s); i++ {
		if line == first && start < 0 {
			start = i
		}
		if i == len(s) || s[i] == '\n' {
			if line == last && start >= 0 {
				return s[start:i]
			}
			line++
		}
	}
	if start < 0 {
		return ""
	}
	return s[start:]
}

// referenced are the names that code calls or builds on, each once, in order:
// identifiers before a bracket, and those that look like types. Comments and
// strings do not count, as far as a glance tells them.
func referenced(code, language string) []string {
	hash := false
	switch family(language) {
	case "python", "ruby", "shell", "elixir", "perl", "r", "php", "nix", "julia":
		hash = true
	}
	var names []string
	seen := map[string]bool{}
	for i := 0; i < len(code) && len(names) < maxNames; {
		c := code[i]
		if (i == 0 || code[i-1] == '\n') && importing(code[i:]) {
			i = endOf(code, i, "\n")
			continue
		}
		switch {
		case c == '/' && strings.HasPrefix(code[i:], "//") && !hash, c == '#' && hash, c == '-' && strings.HasPrefix(code[i:], "-- ") && !hash:
			i = endOf(code, i, "\n")
		case c == '/' && strings.HasPrefix(code[i:], "/*"):
			i = endOf(code, i+2, "*/")
		case strings.HasPrefix(code[i:], `"""`):
			i = endOf(code, i+3, `"""`)
		case c == '"' || c == '`' || c == '\'' && (hash || language == "php" || family(language) == "js"):
			i = endOfString(code, i)
		case wordStart(c):
			j := i + 1
			for j < len(code) && wordByte(code[j]) {
				j++
			}
			word := code[i:j]
			rest := strings.TrimLeft(code[j:min(j+16, len(code))], " \t")
			called := strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "!(") || strings.HasPrefix(rest, "::")
			if len(word) > 2 && (called || word[0] >= 'A' && word[0] <= 'Z') && !seen[word] {
				seen[word] = true
				names = append(names, word)
			}
			i = j
		case c >= '0' && c <= '9':
			for i < len(code) && (wordByte(code[i]) || code[i] == '.') {
				i++
			}
		default:
			i++
		}
	}
	return names
}

// importing reports whether a text begins with an import: to name something
// there is not to use it.
func importing(s string) bool {
	s = strings.TrimLeft(s[:min(len(s), 40)], " \t")
	for _, word := range [...]string{"import ", "from ", "use ", "pub use ", "using ", "require", "#include", "export {", "export *", "export type {"} {
		if strings.HasPrefix(s, word) {
			return true
		}
	}
	return false
}

// endOf is the offset behind the next mark, the text's end where there is none.
func endOf(s string, from int, mark string) int {
	if from > len(s) {
		return len(s)
	}
	if i := strings.Index(s[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(s)
}

// endOfString is the offset behind a string that begins at i. One in simple
// quotes ends with its line.
func endOfString(s string, i int) int {
	quote := s[i]
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case quote:
			return j + 1
		case '\n':
			if quote != '`' {
				return j
			}
		}
	}
	return len(s)
}
