package treesitter

/*
#include "walk.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
)

// Grammars are the supported languages. A language's table is read when it is
// first used. Safe for concurrent use.
type Grammars struct {
	languages map[string]*loaded
}

type loaded struct {
	language
	once    sync.Once
	grammar *grammar
	err     error
}

// NewGrammars returns all languages that have a grammar.
func NewGrammars() *Grammars {
	g := &Grammars{languages: map[string]*loaded{}}
	if C.walk_available() == 0 {
		return g
	}
	for name, l := range languages() {
		g.languages[name] = &loaded{language: l}
	}
	return g
}

// Has reports whether there is a grammar for the language, a lower-case
// linguist name.
func (g *Grammars) Has(language string) bool {
	_, ok := g.languages[language]
	return ok
}

// Languages returns the names of all supported languages, in no order.
func (g *Grammars) Languages() []string {
	var names []string
	for name := range g.languages {
		names = append(names, name)
	}
	return names
}

// NewParser returns a parser for all languages; Close it.
func (g *Grammars) NewParser() *Parser {
	p := &Parser{grammars: g}
	if len(g.languages) > 0 {
		p.state = C.walk_new()
	}
	return p
}

func (g *Grammars) get(name string) (*grammar, error) {
	l, ok := g.languages[name]
	if !ok {
		return nil, ErrNoGrammar
	}
	l.once.Do(func() {
		if l.grammar, l.err = compile(l.grammarPointer(), l.rules); l.err == nil {
			l.grammar.lua = name == "lua"
		}
	})
	if l.err != nil {
		return nil, fmt.Errorf("rules for %s: %w", name, l.err)
	}
	return l.grammar, nil
}

// grammarPointer is the C grammar: the one field of the binding's Language.
func (l *loaded) grammarPointer() unsafe.Pointer {
	lang := l.language.grammar()
	return *(*unsafe.Pointer)(unsafe.Pointer(lang))
}

// The binding's Language must stay a single pointer.
var _ = [1]struct{}{}[unsafe.Sizeof(sitter.Language{})-unsafe.Sizeof(unsafe.Pointer(nil))]

// What a node type is, beside the walk's actions.
const (
	isWrap = 1 << iota
	isGroup
	isImport
	isAttr
	isComment
)

// grammar is a language whose rules are resolved to the grammar's numbers.
type grammar struct {
	language unsafe.Pointer
	sep      string
	actions  []uint8  // by symbol, for the walk
	class    []uint8  // by symbol: isWrap ...
	rules    []*crule // by symbol, nil where it is no definition
	lua      bool     // its scanner's state is global
}

// crule is a rule whose paths are numbers.
type crule struct {
	*rule
	name, body, parent, need []cpath
	refine, says             []crefinement
}

type crefinement struct {
	path cpath
	word string
	kind Kind
}

type cpath []cstep

type cstep struct {
	field   uint16 // 0: any
	symbols []uint16
	or      bool
	repeat  bool
	never   bool // the field or the types are unknown to the grammar
}

// compile resolves the table's names. Node types that the grammar lacks are an
// error: a rule that never fires is a mistake.
func compile(lang unsafe.Pointer, table string) (*grammar, error) {
	s, err := parseSpec(table)
	if err != nil {
		return nil, err
	}
	n := int(C.walk_symbol_count(lang))
	symbols := map[string][]uint16{}
	for i := range n {
		if name := C.walk_symbol_name(lang, C.uint16_t(i)); name != nil {
			s := C.GoString(name)
			symbols[s] = append(symbols[s], uint16(i))
		}
	}
	fields := map[string]uint16{}
	for i := 1; i <= int(C.walk_field_count(lang)); i++ {
		if name := C.walk_field_name(lang, C.uint16_t(i)); name != nil {
			fields[C.GoString(name)] = uint16(i)
		}
	}
	for _, t := range s.types() {
		if len(symbols[t]) == 0 {
			return nil, fmt.Errorf("unknown node type %q", t)
		}
	}
	g := &grammar{language: lang, sep: s.sep, actions: make([]uint8, n), class: make([]uint8, n), rules: make([]*crule, n)}
	mark := func(directive string, action, class uint8) {
		for _, t := range s.directives[directive] {
			for _, sym := range symbols[t] {
				g.actions[sym] |= action
				g.class[sym] |= class
			}
		}
	}
	mark("descend", C.WALK_DESCEND, 0)
	mark("wrap", C.WALK_DESCEND, isWrap)
	mark("group", C.WALK_DESCEND, isGroup)
	mark("import", 0, isImport)
	mark("attr", 0, isAttr)
	mark("comment", C.WALK_DEFINES, isComment)
	mark("skip", C.WALK_SKIP, 0)
	mark("record", C.WALK_RECORD, 0)
	c := compiler{symbols, fields}
	for t, r := range s.rules {
		cr := &crule{rule: r, name: c.paths(r.name), body: c.paths(r.body), parent: c.paths(r.parent), need: c.paths(r.need)}
		for _, ref := range r.refine {
			cr.refine = append(cr.refine, crefinement{c.path(ref.path), "", ref.kind})
		}
		for _, ref := range r.says {
			cr.says = append(cr.says, crefinement{c.path(ref.path), ref.word, ref.kind})
		}
		for _, sym := range symbols[t] {
			g.actions[sym] |= C.WALK_DESCEND | C.WALK_DEFINES
			g.rules[sym] = cr
		}
	}
	return g, nil
}

type compiler struct {
	symbols map[string][]uint16
	fields  map[string]uint16
}

func (c compiler) paths(ps []path) []cpath {
	var out []cpath
	for _, p := range ps {
		out = append(out, c.path(p))
	}
	return out
}

func (c compiler) path(p path) cpath {
	var out cpath
	for _, st := range p {
		cs := cstep{or: st.or, repeat: st.repeat}
		if st.field != "" {
			cs.field = c.fields[st.field]
			cs.never = cs.field == 0
		}
		for _, t := range st.types {
			cs.symbols = append(cs.symbols, c.symbols[t]...)
		}
		out = append(out, cs)
	}
	return out
}
