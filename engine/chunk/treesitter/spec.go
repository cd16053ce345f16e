package treesitter

import (
	"fmt"
	"strings"
)

// A language's rules are a small table of text, one node type or a comma-separated
// list of them per line:
//
//	function_declaration  function
//	type_spec             type  kind=type:struct_type>class  kind=type:interface_type>interface
//	@group                type_declaration const_declaration
//
// A line without @ makes the node a definition of that kind. Options:
//
//	name=PATHS    where the name stands (default the field "name")
//	body=PATHS    where the body starts and the signature ends (default the field "body")
//	parent=PATHS  the name of what the definition belongs to, where it is not the enclosing definition
//	kind=PATH>K   the kind is K where PATH leads to a node
//	need=PATHS    it is a definition only where this leads to a node
//	word=W>K      the kind is K where the signature holds the word W
//	says=PATH>W>K the kind is K where the text of the node that PATH leads to is one of the words W
//	flat          definitions inside do not belong to it
//	extends       it adds to something defined elsewhere: no symbol, but its members' parent
//	many          every node that name leads to is a name of its own
//	joined        all nodes that name leads to are one name, with what stands between them
//	top           it is a definition only where no other encloses it
//	doc           the first string in the body is its documentation
//	local         it counts inside functions too, though it is a variable
//
// The kind "-" is no definition unless a kind=, word= or says= option matches; the kind
// "import" is an import; "extension" is a class that extends. PATHS are
// alternatives separated by "|"; a path's steps are separated by "/"; a step is a
// field's name, or ":" and node types separated by ",", or "field:types" for
// both, or "field~types" for the field and, where there is none, a child of one
// of the types; a step that ends in "*" is repeated as long as it leads on.
//
// The directives list node types:
//
//	@descend  look at the children (done for definitions and what is named here only)
//	@wrap     its single definition takes its span (export, decorators, templates)
//	@group    one that holds a single definition gives it its span, one that holds
//	          several is a definition without a name
//	@import   an import
//	@attr     a decorator or attribute before a definition, which belongs to it
//	@comment  a comment
//	@skip     not looked at
//	@record   a word of the language that a name= leads to
//	@sep      not node types: the separator of qualified names ("." if absent)
type spec struct {
	rules      map[string]*rule
	directives map[string][]string
	sep        string
}

// rule is one definition line.
type rule struct {
	kind    Kind
	name    []path
	body    []path
	parent  []path
	need    []path
	refine  []refinement
	words   []refinement
	says    []refinement
	flat    bool
	extends bool
	many    bool
	joined  bool
	top     bool
	doc     bool
	local   bool
}

type refinement struct {
	path path
	word string // words separated by "," for says=
	kind Kind
}

type path []step

// step leads from a node to one of its children: by field or by type, by both,
// or by type where the field leads nowhere (or).
type step struct {
	field  string
	types  []string
	or     bool
	repeat bool
}

// parseSpec reads a table of rules.
func parseSpec(table string) (*spec, error) {
	s := &spec{rules: map[string]*rule{}, directives: map[string][]string{}, sep: "."}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "//") {
			continue
		}
		if directive, ok := strings.CutPrefix(words[0], "@"); ok {
			switch directive {
			case "descend", "wrap", "group", "import", "attr", "comment", "skip", "record":
				s.directives[directive] = append(s.directives[directive], words[1:]...)
			case "sep":
				s.sep = words[1]
			default:
				return nil, fmt.Errorf("rule %q: unknown directive", strings.TrimSpace(line))
			}
			continue
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("rule %q: no kind", strings.TrimSpace(line))
		}
		r := &rule{kind: Kind(words[1]), name: parsePaths("name"), body: parsePaths("body")}
		if words[1] == "-" {
			r.kind = ""
		}
		for _, opt := range words[2:] {
			if err := r.option(opt); err != nil {
				return nil, fmt.Errorf("rule %q: %w", strings.TrimSpace(line), err)
			}
		}
		for t := range strings.SplitSeq(words[0], ",") {
			s.rules[t] = r
		}
	}
	return s, nil
}

func (r *rule) option(opt string) error {
	key, value, _ := strings.Cut(opt, "=")
	switch key {
	case "name":
		r.name = parsePaths(value)
	case "body":
		r.body = parsePaths(value)
	case "parent":
		r.parent = parsePaths(value)
	case "need":
		r.need = parsePaths(value)
	case "kind", "word":
		what, kind, ok := strings.Cut(value, ">")
		if !ok {
			return fmt.Errorf("option %q has no kind", opt)
		}
		if key == "word" {
			r.words = append(r.words, refinement{word: what, kind: Kind(kind)})
		} else {
			r.refine = append(r.refine, refinement{path: parsePath(what), kind: Kind(kind)})
		}
	case "says":
		f := strings.Split(value, ">")
		if len(f) != 3 {
			return fmt.Errorf("option %q is not PATH>WORDS>KIND", opt)
		}
		r.says = append(r.says, refinement{path: parsePath(f[0]), word: "," + f[1] + ",", kind: Kind(f[2])})
	case "joined":
		r.joined = true
	case "top":
		r.top = true
	case "flat":
		r.flat = true
	case "extends":
		r.extends = true
	case "many":
		r.many = true
	case "doc":
		r.doc = true
	case "local":
		r.local = true
	default:
		return fmt.Errorf("unknown option %q", opt)
	}
	return nil
}

func parsePaths(s string) []path {
	var out []path
	for alt := range strings.SplitSeq(s, "|") {
		out = append(out, parsePath(alt))
	}
	return out
}

func parsePath(s string) path {
	var p path
	for word := range strings.SplitSeq(s, "/") {
		var st step
		word, st.repeat = strings.CutSuffix(word, "*")
		types := ""
		if st.field, types, st.or = strings.Cut(word, "~"); !st.or {
			st.field, types, _ = strings.Cut(word, ":")
		}
		if types != "" {
			st.types = strings.Split(types, ",")
		}
		p = append(p, st)
	}
	return p
}

// types returns every node type that has a rule or a directive.
func (s *spec) types() []string {
	var out []string
	for t := range s.rules {
		out = append(out, t)
	}
	for _, d := range s.directives {
		out = append(out, d...)
	}
	return out
}
