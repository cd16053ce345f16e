package query

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"coderag-ls/engine/lexical"
)

// EntityKind is what a question names.
type EntityKind string

// The kinds of entity.
const (
	Path       EntityKind = "path"       // src/app.py, app.py:12
	Pascal     EntityKind = "pascal"     // ClientSession
	Camel      EntityKind = "camel"      // sendFile
	Snake      EntityKind = "snake"      // add_url_rule, MAX_SIZE
	Dotted     EntityKind = "dotted"     // app.route, std::vector
	Identifier EntityKind = "identifier" // any other word that is meant as a name: `run`, run()
	Hex        EntityKind = "hex"        // 0x884
	Quoted     EntityKind = "quoted"     // "connection reset by peer"
	Error      EntityKind = "error"      // ValueError: bad magic
)

// Entity is one thing that a question names.
type Entity struct {
	Kind EntityKind
	Text string
	// Line is the line that stands after a path, 0 where there is none.
	Line int
	// Start and End are its byte range in the question.
	Start, End int
}

var (
	reQuoted = regexp.MustCompile("`([^`\n]{1,200})`|\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|(?:^|[\\s(])'([^'\n]{2,200})'(?:$|[\\s).,:;?!])")
	// A path has a slash or a file name's extension; a line may follow.
	rePath = regexp.MustCompile(`(?:[A-Za-z]:[\\/]|~?\.{0,2}/)?[\pL\pN_@.+-]+(?:[\\/][\pL\pN_@.+\[\]()-]+)*[\\/]?(?:#L\d+|:line \d+|:\d+|", line \d+|\(\d+\))?`)
	// Python's, and whatever ends in Error or Exception before a colon.
	reError = regexp.MustCompile(`(?m)(?:\b([A-Za-z_][\w.]*(?:Error|Exception|Panic|Warning))|\b(panic|fatal error|error|fatal))(?:\[[\w-]+\])?:[ \t]+(\S[^\n]{2,200})`)
	reName  = regexp.MustCompile(`[\pL_$][\pL\pN_$]*(?:(?:\.|::|->|#)[\pL_$][\pL\pN_$]*)*(?:\(\))?`)
	reHex   = regexp.MustCompile(`\b0[xX][0-9A-Fa-f]+\b`)
	reLine  = regexp.MustCompile(`(?:#L|:line |:|", line |\()(\d+)\)?$`)
	// reFrame are the addresses that Go's and C's stack traces end their frames
	// with, and the arguments of Go's.
	reFrame = regexp.MustCompile(`(?m)[ \t]\+0[xX][0-9A-Fa-f]+$|\((?:(?:0[xX][0-9A-Fa-f]+\??|\.\.\.|\{[^)\n]*\}|\d+)(?:, )?)+\)$|^#\d+[ \t]+0[xX][0-9A-Fa-f]+ in |\[0[xX][0-9A-Fa-f]+\]$`)
)

// named are words that say that the next word is a name.
var named = []string{"function", "func", "method", "class", "struct", "type", "interface", "trait", "enum", "symbol",
	"variable", "constant", "macro", "called", "named", "decorator", "hook", "field", "property", "module", "package"}

// entities finds what a question names, in order of appearance and without
// repetition.
func (an *Analyzer) entities(q string, vocab Vocabulary) []Entity {
	var found []Entity
	taken := make([]bool, len(q))
	free := func(start, end int) bool { return !slices.Contains(taken[start:end], true) }
	add := func(kind EntityKind, text string, start, end, line int) {
		for i := start; i < end; i++ {
			taken[i] = true
		}
		for _, e := range found {
			if e.Text == text && e.Kind == kind && e.Line == line {
				return
			}
		}
		found = append(found, Entity{Kind: kind, Text: text, Start: start, End: end, Line: line})
	}
	for _, m := range reError.FindAllStringSubmatchIndex(q, -1) {
		// The words of the message stay free: they may name things.
		if m[2] >= 0 {
			found = append(found, Entity{Kind: Error, Text: strings.TrimSpace(q[m[6]:m[7]]), Start: m[6], End: m[7]})
			add(nameKind(q[m[2]:m[3]]), q[m[2]:m[3]], m[2], m[3], 0)
		} else {
			found = append(found, Entity{Kind: Error, Text: strings.TrimSpace(q[m[6]:m[7]]), Start: m[6], End: m[7]})
		}
	}
	for _, m := range reQuoted.FindAllStringSubmatchIndex(q, -1) {
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 || !free(m[g], m[g+1]) {
				continue
			}
			in := strings.TrimSpace(q[m[g]:m[g+1]])
			switch {
			case in == "" || isPath(in, vocab):
			case reName.FindString(in) == in:
				add(nameKind(in), strings.TrimSuffix(in, "()"), m[g], m[g+1], 0)
			default:
				add(Quoted, in, m[g], m[g+1], 0)
			}
		}
	}
	for _, m := range rePath.FindAllStringIndex(q, -1) {
		start, end := m[0], m[1]
		raw := q[start:end]
		line := 0
		if l := reLine.FindStringSubmatchIndex(raw); l != nil {
			line, _ = strconv.Atoi(raw[l[2]:l[3]])
			raw = raw[:l[0]]
		}
		trimmed := strings.TrimRight(raw, ".,)]")
		if !free(start, start+len(trimmed)) || !isPath(trimmed, vocab) {
			continue
		}
		add(Path, strings.TrimPrefix(strings.ReplaceAll(trimmed, `\`, "/"), "./"), start, start+len(trimmed), line)
	}
	frames := reFrame.FindAllStringIndex(q, -1)
	for _, m := range reHex.FindAllStringIndex(q, -1) {
		inFrame := slices.ContainsFunc(frames, func(f []int) bool { return f[0] <= m[0] && m[1] <= f[1] })
		if free(m[0], m[1]) && !inFrame {
			add(Hex, q[m[0]:m[1]], m[0], m[1], 0)
		}
	}
	an.namesIn(q, vocab, free, add)
	slices.SortStableFunc(found, func(a, b Entity) int { return a.Start - b.Start })
	return found
}

// namesIn finds identifiers.
func (an *Analyzer) namesIn(q string, vocab Vocabulary, free func(int, int) bool, add func(EntityKind, string, int, int, int)) {
	matches := reName.FindAllStringIndex(q, -1)
	before := ""
	for i, m := range matches {
		raw := q[m[0]:m[1]]
		prev := before
		before = strings.ToLower(raw)
		if !free(m[0], m[1]) {
			continue
		}
		name := strings.TrimSuffix(raw, "()")
		kind := nameKind(name)
		switch kind {
		case Dotted:
			// "e.g." and a missing space after a full stop are no names.
			if !dottedName(name, vocab) {
				continue
			}
		case Pascal:
			if onlyCapitals(name) && !vocab.Defined(name) {
				continue // an acronym of prose: HTTP, JSON
			}
		case Identifier:
			lower := strings.ToLower(name)
			alone := len(matches) == 1
			marked := name != raw || slices.Contains(named, prev) || strings.HasPrefix(raw, "$")
			capital := unicode.IsUpper([]rune(name)[0]) && i > 0
			switch {
			case lexical.QueryStopWord(lower) && !alone && name == raw:
				continue
			case alone || name != raw:
			case capital && vocab.Defined(name):
			case marked && !lexical.Keyword(lower) && !slices.Contains(named, lower) && vocab.Defined(name):
			case asksForName(q, m[0], m[1]) && vocab.Defined(name):
			default:
				continue
			}
		}
		add(kind, name, m[0], m[1], 0)
	}
}

// asksForName reports whether the word stands where a question puts a name:
// "where is run defined", "callers of run", "what does run do".
func asksForName(q string, start, end int) bool {
	before := strings.ToLower(q[max(0, start-24):start])
	after := strings.ToLower(q[end:min(len(q), end+16)])
	for _, p := range [...]string{"where is ", "where are ", "usages of ", "usage of ", "callers of ", "references to ", "definition of ",
		"who calls ", "who uses ", "what calls ", "what uses ", "implementation of ", "what is ", "calls to ", "uses of "} {
		if strings.HasSuffix(before, p) {
			return true
		}
	}
	if strings.HasSuffix(before, ", in ") || strings.HasSuffix(before, "\n    at ") {
		return true // a stack trace
	}
	if strings.HasSuffix(before, "what does ") || strings.HasSuffix(before, "how does ") {
		return strings.HasPrefix(after, " do") || strings.HasPrefix(after, " work")
	}
	return false
}

// nameKind tells the form of an identifier.
func nameKind(s string) EntityKind {
	if strings.ContainsAny(s, ".#") || strings.Contains(s, "::") || strings.Contains(s, "->") {
		return Dotted
	}
	trimmed := strings.Trim(s, "_$")
	lower, upper, humps := false, false, 0
	var last rune
	for i, r := range trimmed {
		switch {
		case unicode.IsUpper(r):
			upper = true
			if i > 0 && !unicode.IsUpper(last) {
				humps++
			}
		case unicode.IsLower(r):
			lower = true
		}
		last = r
	}
	switch {
	case strings.Contains(trimmed, "_") || trimmed != s && trimmed != "" && strings.Contains(s, "_"):
		return Snake
	case upper && (humps > 0 || !lower && len(trimmed) > 1 || midCapital(trimmed)):
		if unicode.IsUpper([]rune(trimmed)[0]) {
			return Pascal
		}
		return Camel
	case humps > 0:
		return Camel
	}
	return Identifier
}

// midCapital reports whether a run of capitals is followed by a word: URLParser.
func midCapital(s string) bool {
	r := []rune(s)
	for i := 1; i+1 < len(r); i++ {
		if unicode.IsUpper(r[i-1]) && unicode.IsUpper(r[i]) && unicode.IsLower(r[i+1]) && r[i+1] != 's' {
			return true
		}
	}
	return false
}

func onlyCapitals(s string) bool { return !strings.ContainsFunc(s, unicode.IsLower) }

func dottedName(s string, vocab Vocabulary) bool {
	if strings.Contains(s, "::") || strings.Contains(s, "->") || strings.Contains(s, "#") {
		return true
	}
	parts := strings.Split(s, ".")
	for _, p := range parts {
		if len(p) < 2 {
			return false
		}
	}
	// "works.It": a sentence's end without a space.
	last := parts[len(parts)-1]
	if strings.EqualFold(last, "js") {
		return vocab.Defined(last) // Node.js, Next.js
	}
	return !(len(parts) == 2 && unicode.IsUpper([]rune(last)[0]) && nameKind(last) == Identifier && !vocab.Defined(last))
}

// extension reports whether s, without its dot, is an extension of files that
// questions name.
func extension(s string) bool {
	switch strings.ToLower(s) {
	case "go", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "rs", "rb", "java", "kt", "kts", "scala", "swift", "c", "h", "cc", "cpp", "cxx", "hpp",
		"cs", "php", "lua", "zig", "hs", "ml", "ex", "exs", "erl", "clj", "dart", "r", "jl", "pl", "pm", "sh", "bash", "zsh", "fish", "ps1", "bat",
		"sql", "html", "htm", "css", "scss", "less", "vue", "svelte", "md", "mdx", "rst", "txt", "adoc", "json", "jsonc", "yaml", "yml", "toml", "ini", "cfg",
		"conf", "xml", "proto", "graphql", "tf", "gradle", "cmake", "mk", "mod", "sum", "lock", "env", "properties", "ipynb", "csproj", "sln", "vim", "el", "nix":
		return true
	}
	return false
}

// doubtful reports whether an extension is as often an attribute's name:
// request.json, process.env.
func doubtful(s string) bool {
	switch strings.ToLower(s) {
	case "json", "html", "env", "conf", "lock", "c", "h", "r", "sql", "css", "xml", "mod", "sum", "properties", "proto", "fish":
		return true
	}
	return false
}

// isPath tells a path from a word, a dotted name and a fraction ("and/or").
func isPath(s string, vocab Vocabulary) bool {
	s = strings.TrimPrefix(strings.ReplaceAll(s, `\`, "/"), "./")
	base := s[strings.LastIndexByte(s, '/')+1:]
	if strings.ContainsAny(s, " \t") {
		return false
	}
	dot := strings.LastIndexByte(base, '.')
	if dot > 0 && doubtful(base[dot+1:]) && !strings.Contains(s, "/") {
		return vocab.HasFile(s)
	}
	if dot >= 0 && extension(base[dot+1:]) {
		// "Next.js" and "Node.js" in prose are products unless such a file exists.
		return strings.Contains(s, "/") || !unicode.IsUpper([]rune(base)[0]) || !strings.HasSuffix(base, ".js") || vocab.HasFile(s)
	}
	switch base {
	case "Makefile", "Dockerfile", "README", "LICENSE", "CHANGELOG", "Rakefile", "Gemfile", "Jenkinsfile", "Procfile":
		return true
	}
	if !strings.Contains(s, "/") || len(s) < 3 || strings.HasPrefix(s, "/") && strings.Count(s, "/") < 2 {
		return false
	}
	return strings.HasSuffix(s, "/") && len(s) > 3 || vocab.HasFile(strings.Trim(s, "/"))
}

// names are the symbols to look up for the entities.
func names(entities []Entity) []string {
	var out []string
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, e := range entities {
		switch e.Kind {
		case Pascal, Camel, Snake, Identifier:
			add(strings.TrimLeft(e.Text, "$"))
		case Dotted:
			parts := strings.FieldsFunc(e.Text, func(r rune) bool { return strings.ContainsRune(".:->#", r) })
			for i := len(parts) - 1; i >= 0; i-- {
				add(parts[i])
			}
		}
	}
	return out
}
