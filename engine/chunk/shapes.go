package chunk

import "strings"

// controlWords start statements that look like definitions of functions.
func controlWord(s string) bool {
	switch s {
	case "if", "for", "while", "switch", "return", "else", "catch", "do", "try", "throw", "new", "delete", "sizeof", "case", "foreach", "lock", "using", "with", "until", "when", "match", "await", "yield", "typeof", "assert", "elif", "elsif", "unless", "print", "super", "this", "not", "and", "or", "in", "is", "defined", "synchronized", "fixed", "goto", "static_assert", "require", "import":
		return true
	}
	return false
}

// identifierBefore is the identifier that ends at i, and where it starts.
func identifierBefore(s string, i int) (string, int) {
	for i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
		i--
	}
	j := i
	for j > 0 && (wordByte(s[j-1]) || s[j-1] == '~' || s[j-1] == '$') {
		j--
	}
	return s[j:i], j
}

// bracesShape reads a function of the C family: "type name(arguments) {", the
// brace maybe on the next line, the arguments maybe on several.
func bracesShape(line string) (match, bool) {
	text := strings.TrimSpace(line)
	open := strings.IndexByte(text, '(')
	if open <= 0 || strings.ContainsAny(text[:open], "=\"'#.?") || strings.HasSuffix(text, ";") && !strings.Contains(text, "{") {
		return match{}, false
	}
	name, at := identifierBefore(text, open)
	if name == "" || controlWord(name) || name[0] >= '0' && name[0] <= '9' || controlWord(firstWord(text)) {
		return match{}, false
	}
	owner := ""
	before := strings.TrimRight(text[:at], " \t")
	if o, ok := strings.CutSuffix(before, "::"); ok {
		if k := strings.LastIndexAny(o, " \t*&"); k >= 0 {
			owner, before = o[k+1:], o[:k]
		} else {
			owner, before = o, "x"
		}
	}
	last := text[len(text)-1]
	if before == "" || last != '{' && last != ')' && last != ',' && last != '(' && last != '}' && !strings.HasSuffix(text, "const") && !strings.HasSuffix(text, "=>") && !strings.Contains(text, "throws ") && !strings.Contains(text, ") :") {
		return match{}, false
	}
	if before[len(before)-1] == ',' || before[len(before)-1] == '(' || strings.ContainsAny(before, "+-/|!;{}") || last == ',' && line[0] == ' ' && !strings.Contains(before, " ") {
		return match{}, false
	}
	return match{name, withoutArguments(owner), Function}, true
}

// equationsShape reads Haskell's top level: "name :: type" and "name args = ...".
func equationsShape(line string) (match, bool) {
	if line == "" || !(lower(line[0]) || line[0] == '_' || line[0] == '(') {
		return match{}, false
	}
	i := 0
	for i < len(line) && (wordByte(line[i]) || line[i] == '\'') {
		i++
	}
	name, rest := line[:i], strings.TrimLeft(line[i:], " ")
	switch name {
	case "", "import", "module", "where", "infixl", "infixr", "infix", "deriving", "foreign", "default", "if", "let", "in", "case", "of", "do", "then", "else", "port", "exposing":
		return match{}, false
	}
	if strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, ": ") {
		return match{name, "", Function}, true
	}
	if eq := strings.Index(rest, "="); eq >= 0 && (eq+1 == len(rest) || rest[eq+1] != '=') && !strings.ContainsAny(rest[:eq], "<>") {
		return match{name, "", Function}, true
	}
	if strings.Contains(rest, " | ") || strings.HasSuffix(rest, "|") {
		return match{name, "", Function}, true
	}
	return match{}, false
}

// assignedShape reads "name <- function(" (R), "M.name = function(" (Lua).
func assignedShape(line string) (match, bool) {
	text := strings.TrimPrefix(strings.TrimSpace(line), "local ")
	for _, op := range [...]string{"<<-", "<-", "="} {
		left, right, ok := strings.Cut(text, op)
		if !ok {
			continue
		}
		if right = strings.TrimSpace(right); strings.HasPrefix(right, "function") || strings.HasPrefix(right, "\\(") {
			left = strings.Trim(strings.TrimSpace(left), "`\"'")
			if left == "" || strings.ContainsAny(left, " ([{,") {
				return match{}, false
			}
			if op == "=" {
				if k := strings.LastIndexByte(left, '.'); k > 0 {
					return match{left[k+1:], left[:k], Function}, true
				}
			}
			return match{left, "", Function}, true
		}
		if right = firstWord(right); right == "setRefClass" || right == "R6Class" {
			return match{strings.TrimSpace(left), "", Class}, true
		}
	}
	return match{}, false
}

// arrowShape reads JavaScript's "const name = (...) =>", "name = function", and
// methods of a class.
func arrowShape(line string) (match, bool) {
	text := strings.TrimSpace(line)
	for _, p := range [...]string{"export ", "default ", "const ", "let ", "var ", "public ", "private ", "protected ", "static ", "readonly ", "async ", "get ", "set ", "override "} {
		text = strings.TrimPrefix(text, p)
	}
	if left, right, ok := strings.Cut(text, "="); ok {
		right = strings.TrimSpace(right)
		left, _, _ = strings.Cut(left, ":")
		left = strings.TrimSpace(left)
		right = strings.TrimPrefix(right, "async ")
		if left != "" && !strings.ContainsAny(left, " ([{,!<>+-*/\"'") && (strings.HasPrefix(right, "function") || (right != "" && (right[0] == '(' || wordByte(right[0]))) && (strings.Contains(right, "=>") || right == "(")) {
			owner := ""
			if k := strings.LastIndexByte(left, '.'); k > 0 {
				owner, left = strings.TrimSuffix(left[:k], ".prototype"), left[k+1:]
				if owner == "exports" || owner == "module.exports" || owner == "this" {
					owner = ""
				}
			}
			return match{left, owner, Function}, true
		}
		return match{}, false
	}
	open := strings.IndexByte(text, '(')
	if open > 0 && strings.HasSuffix(text, "{") && (line[0] == ' ' || line[0] == '\t') {
		name := strings.TrimPrefix(strings.TrimPrefix(text[:open], "*"), "#")
		if name != "" && !controlWord(name) && name != "function" && !strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) && r != '$' }) && !strings.Contains(text[open:], "=>") && !strings.Contains(text[open:], "function") {
			return match{name, "", Method}, true
		}
	}
	return match{}, false
}

// erlangShape reads "name(Args) ->" and "-record(name,", "-module(name).".
func erlangShape(line string) (match, bool) {
	for prefix, kind := range map[string]Kind{"-record(": Class, "-module(": Module, "-define(": Variable, "-type ": Type} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			if name := firstWord(rest); name != "" {
				return match{name, "", kind}, true
			}
		}
	}
	if line == "" || !lower(line[0]) {
		return match{}, false
	}
	open := strings.IndexByte(line, '(')
	if open <= 0 || strings.ContainsAny(line[:open], " =.") {
		return match{}, false
	}
	return match{line[:open], "", Function}, true
}

// labelShape reads assembly: "label:", Go's "TEXT ·name(SB)", "name PROC".
func labelShape(line string) (match, bool) {
	if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
		rest = strings.TrimLeft(rest, " ·")
		if i := strings.IndexAny(rest, "(<,"); i > 0 {
			name := rest[:i]
			if k := strings.LastIndex(name, "·"); k >= 0 {
				name = name[k+len("·"):]
			}
			return match{name, "", Function}, true
		}
	}
	if line == "" || line[0] == ' ' || line[0] == '\t' || line[0] == '.' && strings.HasPrefix(line, ".L") {
		return match{}, false
	}
	i := 0
	for i < len(line) && (wordByte(line[i]) || strings.IndexByte(".$@?", line[i]) >= 0) {
		i++
	}
	if i > 1 && i < len(line) && line[i] == ':' && strings.Trim(line[:i], "0123456789") != "" {
		return match{line[:i], "", Function}, true
	}
	if f := strings.Fields(line); len(f) > 1 && (strings.EqualFold(f[1], "PROC") || strings.EqualFold(f[1], "MACRO")) {
		return match{f[0], "", Function}, true
	}
	return match{}, false
}

// targetShape reads a makefile's targets and variables.
func targetShape(line string) (match, bool) {
	if line == "" || line[0] == '\t' || line[0] == ' ' || line[0] == '#' || line[0] == '.' && !strings.HasPrefix(line, ".PHONY") {
		return match{}, false
	}
	i := strings.IndexAny(line, ":=")
	if i <= 0 {
		return match{}, false
	}
	if line[i] == '=' || strings.HasPrefix(line[i:], ":=") || strings.HasPrefix(line[i:], "::=") {
		name := firstWord(strings.TrimPrefix(strings.TrimPrefix(line, "export "), "override "))
		return match{name, "", Variable}, name != ""
	}
	name := strings.TrimSpace(line[:i])
	if name == ".PHONY" {
		return match{}, false
	}
	name, _, _ = strings.Cut(name, " ")
	return match{name, "", Function}, name != ""
}

// cmakeShape reads function(name, macro(name, add_library(name and the like.
func cmakeShape(line string) (match, bool) {
	text := strings.TrimSpace(line)
	word, rest, ok := strings.Cut(text, "(")
	if !ok {
		return match{}, false
	}
	kind := Kind("")
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "function", "macro":
		kind = Function
	case "add_executable", "add_library", "add_custom_target", "project":
		kind = Class
	case "option":
		kind = Variable
	default:
		return match{}, false
	}
	name := strings.TrimLeft(rest, " \t\"")
	if i := strings.IndexAny(name, " \t)\""); i >= 0 {
		name = name[:i]
	}
	return match{name, "", kind}, name != ""
}

// objcShape reads Objective-C's "- (type)name:(type)argument" and C's functions.
func objcShape(line string) (match, bool) {
	if line != "" && (line[0] == '-' || line[0] == '+') {
		_, rest, ok := strings.Cut(line, ")")
		if !ok {
			return match{}, false
		}
		name := firstWord(rest)
		return match{name, "", Method}, name != ""
	}
	return bracesShape(line)
}

// zigShape reads "const Name = struct {".
func zigShape(line string) (match, bool) {
	text := strings.TrimPrefix(strings.TrimSpace(line), "pub ")
	rest, ok := strings.CutPrefix(text, "const ")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "var "); !ok || line[0] == ' ' {
			return match{}, false
		}
	}
	name := firstWord(rest)
	_, value, _ := strings.Cut(rest, "=")
	switch firstWord(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(value), "extern "), "packed ")) {
	case "struct", "enum", "union", "opaque", "error":
		return match{name, "", Class}, name != ""
	}
	if line[0] == ' ' || strings.Contains(value, "@import") {
		return match{}, false
	}
	return match{name, "", Variable}, name != ""
}

// nimShape reads the types of a type section: "Name* = object".
func nimShape(line string) (match, bool) {
	name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
	if !ok {
		return match{}, false
	}
	name = firstWord(name)
	switch firstWord(value) {
	case "object", "enum", "tuple", "ref", "distinct", "concept":
		return match{name, "", Class}, name != "" && upper(name[0])
	}
	return match{}, false
}

// juliaShape reads "name(arguments) = expression" at the start of a line.
func juliaShape(line string) (match, bool) {
	open := strings.IndexByte(line, '(')
	if open <= 0 || !wordByte(line[0]) || firstWord(line) != strings.TrimSuffix(line[:open], "!") {
		return match{}, false
	}
	if _, rest, ok := strings.Cut(line, ")"); ok && strings.HasPrefix(strings.TrimSpace(rest), "=") && !strings.HasPrefix(strings.TrimSpace(rest), "==") {
		return match{line[:open], "", Function}, true
	}
	return match{}, false
}

// shellShape reads "name() {".
func shellShape(line string) (match, bool) {
	text := strings.TrimSpace(line)
	i := strings.Index(text, "()")
	if i <= 0 || strings.ContainsAny(text[:i], " \t$\"'=|&;") {
		return match{}, false
	}
	return match{text[:i], "", Function}, true
}

// fortranShape reads "integer function name(" and "type :: name".
func fortranShape(line string) (match, bool) {
	text := strings.ToLower(strings.TrimSpace(line))
	if strings.HasPrefix(text, "end") {
		return match{}, false
	}
	if i := strings.Index(text, "function "); i > 0 && strings.IndexByte(text[i:], '(') > 0 && !strings.ContainsAny(text[:i], "='\"!") {
		name := firstWord(strings.TrimSpace(line)[i+len("function "):])
		return match{name, "", Function}, name != ""
	}
	if rest, ok := strings.CutPrefix(text, "type"); ok && rest != "" && (rest[0] == ' ' || rest[0] == ',' || rest[0] == ':') {
		if i := strings.Index(rest, "::"); i >= 0 {
			rest = rest[i+2:]
		} else if rest[0] != ' ' {
			return match{}, false
		}
		name := firstWord(rest)
		return match{name, "", Class}, name != "" && name != "is"
	}
	return match{}, false
}

// matlabShape reads "function [a, b] = name(c)".
func matlabShape(line string) (match, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "function ")
	if !ok {
		return match{}, false
	}
	if _, right, ok := strings.Cut(rest, "="); ok {
		rest = right
	}
	name := firstWord(rest)
	return match{name, "", Function}, name != ""
}

// fsharpShape reads "let name args =" at the top of a module and "member this.Name".
func fsharpShape(line string) (match, bool) {
	text := strings.TrimSpace(line)
	indented := len(text) < len(strings.TrimRight(line, " \t"))
	for _, p := range [...]string{"static member ", "abstract member ", "member ", "override ", "default ", "abstract "} {
		if rest, ok := strings.CutPrefix(text, p); ok {
			name := rest
			if i := strings.IndexByte(rest, '.'); i > 0 && !strings.ContainsAny(rest[:i], " (") {
				name = rest[i+1:]
			}
			name = firstWord(name)
			return match{name, "", Method}, name != ""
		}
	}
	rest, ok := strings.CutPrefix(text, "let ")
	if !ok || indented && len(line)-len(strings.TrimLeft(line, " ")) > 4 {
		return match{}, false
	}
	for _, m := range [...]string{"rec ", "inline ", "private ", "mutable ", "internal "} {
		rest = strings.TrimPrefix(rest, m)
	}
	name := firstWord(rest)
	left, _, _ := strings.Cut(rest[len(name):], "=")
	if strings.TrimSpace(left) == "" || strings.HasPrefix(strings.TrimSpace(left), ":") {
		return match{name, "", Variable}, name != "" && !indented
	}
	return match{name, "", Function}, name != ""
}

// pascalShape reads "TName = class(TBase)".
func pascalShape(line string) (match, bool) {
	name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
	if !ok {
		return match{}, false
	}
	name = strings.TrimSpace(name)
	switch strings.ToLower(firstWord(value)) {
	case "class", "record", "object", "packed":
		return match{name, "", Class}, firstWord(name) == name && name != ""
	case "interface", "dispinterface":
		return match{name, "", Interface}, firstWord(name) == name && name != ""
	}
	return match{}, false
}
