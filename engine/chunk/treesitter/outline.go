package treesitter

/*
#include "walk.h"
*/
import "C"

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Kind is what a definition is.
type Kind string

// The kinds of definitions.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"
	Interface Kind = "interface"
	Type      Kind = "type"
	Variable  Kind = "variable"
	Module    Kind = "module" // namespace, package or module with a body
	Block     Kind = "block"  // a rule or stage that is no definition of a name
)

// Span is a range of bytes, the end excluded.
type Span struct{ Start, End uint32 }

// Empty reports whether the span holds nothing.
func (s Span) Empty() bool { return s.Start >= s.End }

// Def is one definition.
type Def struct {
	Kind Kind
	// Name is where its name stands; empty for a group of definitions that
	// share one declaration (const, var, type ( ... )).
	Name Span
	// Owner is the name of the type a method belongs to where that is not the
	// enclosing definition (a Go receiver).
	Owner Span
	// Span is the whole definition with decorators, attributes and modifiers,
	// without comments before it. Rows count from 0, both inclusive.
	Span
	StartRow, EndRow uint32
	// Sig is where the signature starts, after the decorators; Body is where it
	// ends, 0 where there is no body.
	Sig, Body uint32
	// Doc is a documentation string in the body, or empty.
	Doc Span
	// Parent is the index of the enclosing definition, or -1.
	Parent int
	// Group is what the declaration starts with that a member of a group shares
	// with others, or empty.
	Group Span
	// Extends is set where the definition adds to one that stands elsewhere (impl,
	// extension): it is no symbol.
	Extends bool
	// Extra is set for the second and further names of one declaration.
	Extra bool

	inFunction bool // it is a function or stands in one
}

// Import is one import statement.
type Import struct {
	Span
	Row uint32
}

// Outline is a file's structure. It is valid until the parser's next call.
type Outline struct {
	// Defs are the definitions in the order they start in.
	Defs    []Def
	Imports []Import
	// ErrorBytes is how many bytes the parser could make nothing of.
	ErrorBytes int
	// Separator joins qualified names.
	Separator string

	src   string
	nodes []raw
	g     *grammar
	// By node: the first child, the next and the previous sibling (-1 for none),
	// the innermost definition it stands in or is.
	first, next, prev, owner []int32
	stack                    []int32
	targets                  []int32
}

// Outline parses src and returns its structure. limit is the size in bytes
// above which the inside of a node is looked at although the rules do not ask
// for it: what must be split there. The errors are ErrNoGrammar, ErrDeadline
// and the context's.
func (p *Parser) Outline(ctx context.Context, language, src string, deadline time.Duration, limit int) (*Outline, error) {
	if p.state == nil {
		return nil, ErrNoGrammar
	}
	g, err := p.grammars.get(language)
	if err != nil {
		return nil, err
	}
	nodes, errorBytes, err := p.parse(ctx, g, src, deadline, limit)
	if err != nil {
		return nil, err
	}
	o := &p.out
	o.src, o.g, o.nodes, o.ErrorBytes, o.Separator = src, g, nodes, errorBytes, g.sep
	o.Defs, o.Imports = o.Defs[:0], o.Imports[:0]
	o.link()
	for i := range nodes {
		o.visit(int32(i))
	}
	return o, nil
}

// Trim frees what an unusually large file made the parser keep. The last
// outline is invalid then.
func (p *Parser) Trim() {
	const usual = 1 << 16 // nodes
	if len(p.out.nodes) > usual {
		p.out = Outline{}
		C.walk_trim(p.state)
	}
}

// Break is a row at which a statement or another part of the syntax starts.
type Break struct {
	Row     uint32
	EndRow  uint32
	Depth   uint16 // how many nodes it stands in: outer statements are less deep
	Comment bool   // a comment or attribute: what follows belongs to it
}

// Breaks calls yield for each node that starts a row, in the order of the text.
func (o *Outline) Breaks(yield func(Break) bool) {
	for i := range o.nodes {
		n := &o.nodes[i]
		if n.flags&nodeFirst == 0 || n.parent < 0 || n.flags&nodeMissing != 0 {
			continue
		}
		if !yield(Break{n.startRow, n.endRow, n.depth, o.class(int32(i))&(isComment|isAttr) != 0}) {
			return
		}
	}
}

// The flags of raw, as in walk.h.
const (
	nodeFirst   = 1
	nodeMissing = 4
)

func (o *Outline) class(i int32) uint8 {
	if s := o.nodes[i].symbol; int(s) < len(o.g.class) {
		return o.g.class[s]
	}
	return 0
}

func (o *Outline) rule(i int32) *crule {
	if s := o.nodes[i].symbol; int(s) < len(o.g.rules) {
		return o.g.rules[s]
	}
	return nil
}

func resize(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/2)
	}
	return s[:n]
}

// link finds each node's neighbours.
func (o *Outline) link() {
	n := len(o.nodes)
	o.first, o.next, o.prev, o.owner = resize(o.first, n), resize(o.next, n), resize(o.prev, n), resize(o.owner, n)
	o.stack = resize(o.stack, n) // the last child so far
	for i := range n {
		o.first[i], o.next[i], o.prev[i], o.owner[i], o.stack[i] = -1, -1, -1, -1, -1
		p := o.nodes[i].parent
		if p < 0 {
			continue
		}
		if last := o.stack[p]; last < 0 {
			o.first[p] = int32(i)
		} else {
			o.next[last], o.prev[i] = int32(i), last
		}
		o.stack[p] = int32(i)
	}
}

// visit makes a definition or an import of a node, if it is one.
func (o *Outline) visit(i int32) {
	n := &o.nodes[i]
	owner := int32(-1)
	if n.parent >= 0 {
		owner = o.owner[n.parent]
	}
	o.owner[i] = owner
	class := o.class(i)
	if class&isImport != 0 {
		o.Imports = append(o.Imports, Import{Span{n.start, n.end}, n.startRow})
	}
	if class&isGroup != 0 && o.members(i) > 1 && !o.inFunction(owner) {
		o.owner[i] = int32(len(o.Defs))
		d := o.def(i, o.rule(o.member(i)).kind, owner)
		d.inFunction = o.inFunction(owner)
		o.Defs = append(o.Defs, d)
		return
	}
	r := o.rule(i)
	if r == nil {
		return
	}
	if len(r.need) > 0 && o.lead(i, r.need) < 0 {
		return
	}
	kind := r.kind
	for _, ref := range r.refine {
		if o.follow(i, ref.path) >= 0 {
			kind = ref.kind
			break
		}
	}
	for _, ref := range r.says {
		if t := o.follow(i, ref.path); t >= 0 && t != i && strings.Contains(ref.word, ","+o.src[o.nodes[t].start:o.nodes[t].end]+",") {
			kind = ref.kind
			break
		}
	}
	if kind == "import" {
		o.Imports = append(o.Imports, Import{Span{n.start, n.end}, n.startRow})
		return
	}
	if kind == "" && len(r.words) == 0 || kind == Variable && !r.local && o.inFunction(owner) || r.top && owner >= 0 {
		return
	}
	names := o.names(i, r)
	if len(names) == 0 {
		return
	}
	d := o.def(i, kind, owner)
	d.Extends = r.extends
	if b := o.lead(i, r.body); b >= 0 && o.nodes[b].start > d.Sig {
		d.Body = o.nodes[b].start
		if r.doc {
			d.Doc = o.docstring(b)
		}
	}
	if p := o.lead(i, r.parent); p >= 0 && o.nodes[p].start < o.nodes[names[0]].start {
		d.Owner = Span{o.nodes[p].start, o.nodes[p].end}
	}
	for _, w := range r.words {
		end := d.Body
		if end == 0 {
			end = d.End
		}
		if hasWord(o.src[d.Sig:end], w.word) {
			d.Kind = w.kind
			break
		}
	}
	switch {
	case d.Kind == "":
		return
	case d.Kind == "extension":
		d.Kind, d.Extends = Class, true
	}
	if d.Kind == Function && owner >= 0 && o.inType(owner) {
		d.Kind = Method
	}
	if !r.flat {
		o.owner[i] = int32(len(o.Defs))
	}
	d.inFunction = o.inFunction(owner) || d.Kind == Function || d.Kind == Method
	if r.joined {
		d.Name = Span{o.nodes[names[0]].start, o.nodes[names[len(names)-1]].end}
		o.Defs = append(o.Defs, d)
		return
	}
	for k, name := range names {
		d.Name, d.Extra = Span{o.nodes[name].start, o.nodes[name].end}, k > 0
		o.Defs = append(o.Defs, d)
	}
}

// def is a definition of node i with the span of what wraps it and of the
// attributes before it.
func (o *Outline) def(i int32, kind Kind, owner int32) Def {
	d := Def{Kind: kind, Parent: int(owner)}
	w := i
wrapping:
	for {
		p := o.nodes[w].parent
		if p < 0 {
			break
		}
		group := p
		if o.class(p)&(isGroup|isWrap) == 0 && o.rule(p) == nil && o.nodes[p].parent >= 0 {
			group = o.nodes[p].parent // a list inside a group
		}
		switch {
		case o.class(p)&isWrap != 0:
			w = p
		case o.class(group)&isGroup == 0:
			break wrapping
		case o.members(group) == 1:
			w = group
		default:
			if owner >= 0 && o.Defs[owner].Name.Empty() {
				d.Group = Span{o.nodes[group].start, o.nodes[o.member(group)].start}
			}
			break wrapping
		}
	}
	top := &o.nodes[w]
	d.Span, d.StartRow, d.EndRow, d.Sig = Span{top.start, top.end}, top.startRow, top.endRow, top.start
	// Decorators inside: the signature starts after them.
	for j := w; j < int32(len(o.nodes)) && o.nodes[j].start <= d.Sig; j++ {
		if o.class(j)&isAttr != 0 && o.nodes[j].end <= top.end {
			d.Sig = o.nodes[j].end
			for d.Sig < top.end && (o.src[d.Sig] == ' ' || o.src[d.Sig] == '\t' || o.src[d.Sig] == '\n' || o.src[d.Sig] == '\r') {
				d.Sig++
			}
		}
	}
	// Attributes before.
	row := d.StartRow
	for p := o.prev[w]; p >= 0; p = o.prev[p] {
		c := o.class(p)
		if c&(isAttr|isComment) == 0 || o.nodes[p].endRow+1 < row {
			break
		}
		row = o.nodes[p].startRow
		if c&isAttr != 0 {
			d.Start, d.StartRow = o.nodes[p].start, row
		}
	}
	return d
}

// docstring is the string that the body starts with.
func (o *Outline) docstring(body int32) Span {
	f := o.first[body]
	for f >= 0 && o.class(f)&isComment != 0 {
		f = o.next[f]
	}
	if f < 0 {
		return Span{}
	}
	n := o.nodes[f]
	s := o.src[n.start:n.end]
	for len(s) > 0 && (s[0] == 'r' || s[0] == 'R' || s[0] == 'u' || s[0] == 'U') {
		s = s[1:]
	}
	if s == "" || s[0] != '"' && s[0] != '\'' && !strings.HasPrefix(s, "@moduledoc") {
		return Span{}
	}
	return Span{n.start, n.end}
}

// members counts the definitions of a group, up to two.
func (o *Outline) members(group int32) int {
	count := 0
	for c := o.first[group]; c >= 0 && count < 2; c = o.next[c] {
		if o.rule(c) != nil {
			count++
			continue
		}
		for cc := o.first[c]; cc >= 0 && count < 2; cc = o.next[cc] {
			if o.rule(cc) != nil {
				count++
			}
		}
	}
	return count
}

// member is a group's first definition, the group itself where it has none.
func (o *Outline) member(group int32) int32 {
	for c := o.first[group]; c >= 0; c = o.next[c] {
		if o.rule(c) != nil {
			return c
		}
		for cc := o.first[c]; cc >= 0; cc = o.next[cc] {
			if o.rule(cc) != nil {
				return cc
			}
		}
	}
	return group
}

// inFunction reports whether a definition is a function or stands in one.
func (o *Outline) inFunction(d int32) bool { return d >= 0 && o.Defs[d].inFunction }

// inType reports whether the innermost definition that is no group is a type.
func (o *Outline) inType(d int32) bool {
	for d >= 0 && o.Defs[d].Name.Empty() {
		d = int32(o.Defs[d].Parent)
	}
	return d >= 0 && (o.Defs[d].Kind == Class || o.Defs[d].Kind == Interface)
}

// lead follows the first path that leads anywhere; -1 where none does.
func (o *Outline) lead(i int32, paths []cpath) int32 {
	for _, p := range paths {
		if t := o.follow(i, p); t >= 0 {
			return t
		}
	}
	return -1
}

// follow goes down a path to the first node it leads to; -1 where it leads nowhere.
func (o *Outline) follow(i int32, p cpath) int32 {
	for k := range p {
		st := &p[k]
		for {
			c := o.child(i, st, -1)
			if c < 0 && !st.repeat {
				return -1
			}
			if c < 0 {
				break
			}
			i = c
			if !st.repeat {
				break
			}
		}
	}
	return i
}

// child is the first child after the given one (-1: from the start) that a step leads to.
func (o *Outline) child(i int32, st *cstep, after int32) int32 {
	if st.never && !st.or {
		return -1
	}
	from := o.first[i]
	if after >= 0 {
		from = o.next[after]
	}
	if st.or {
		for c := from; c >= 0 && !st.never; c = o.next[c] {
			if o.nodes[c].field == st.field {
				return c
			}
		}
	}
	for c := from; c >= 0; c = o.next[c] {
		if !st.or && st.field != 0 && o.nodes[c].field != st.field {
			continue
		}
		if len(st.symbols) > 0 && !slices.Contains(st.symbols, o.nodes[c].symbol) {
			continue
		}
		return c
	}
	return -1
}

// names are the nodes that hold a definition's names.
func (o *Outline) names(i int32, r *crule) []int32 {
	o.targets = o.targets[:0]
	for _, p := range r.name {
		if len(p) == 0 {
			continue
		}
		for c := o.child(i, &p[0], -1); c >= 0; c = o.child(i, &p[0], c) {
			rest := p[1:]
			if p[0].repeat {
				rest = p
			}
			t := o.follow(c, rest)
			if t < 0 || o.nodes[t].start == o.nodes[t].end {
				continue
			}
			if r.joined {
				o.targets = append(o.targets, t)
				continue
			}
			if !r.many {
				return append(o.targets, t)
			}
			o.leaves(t)
		}
		if len(o.targets) > 0 {
			break
		}
	}
	return o.targets
}

// leaves collects the names in a pattern.
func (o *Outline) leaves(i int32) {
	if o.first[i] < 0 {
		o.targets = append(o.targets, i)
		return
	}
	for c := o.first[i]; c >= 0; c = o.next[c] {
		if o.class(c)&isComment == 0 {
			o.leaves(c)
		}
	}
}

// hasWord reports whether s holds the word w.
func hasWord(s, w string) bool {
	for i := 0; i+len(w) <= len(s); i++ {
		if s[i:i+len(w)] == w && (i == 0 || !wordByte(s[i-1])) && (i+len(w) == len(s) || !wordByte(s[i+len(w)])) {
			return true
		}
	}
	return false
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
