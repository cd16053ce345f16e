package graph

import (
	"path"
	"slices"
	"strings"

	"coderag-ls/engine/chunk"
)

// Bounds on looking for implementations: they hold for one primary result.
const (
	maxTypes   = 3  // types of the lines
	maxMethods = 24 // methods that are compared
	// maxHolders is how many definitions of an interface's rarest method are
	// looked at.
	maxHolders  = 64
	maxEmbedded = 3 // interfaces within interfaces
)

// inheritance offers the interfaces and bases of the types that a place is
// about, and what implements or extends them.
func (w *walk) inheritance(p Place) {
	id, ok := w.g.t.ids[p.Path]
	if !ok || !code(w.g.t.files[id].Language) {
		return
	}
	done := 0
	symbols := w.src.Symbols(p.Path)
	for i := range symbols {
		s := &symbols[i]
		if s.Kind != chunk.Class && s.Kind != chunk.Interface {
			continue
		}
		// The lines hold the type, or are some of its own.
		within := s.StartLine <= p.StartLine && p.EndLine <= s.EndLine
		if !within && (s.NameLine < p.StartLine || s.NameLine > p.EndLine) {
			continue
		}
		if done++; done > maxTypes || w.ctx.Err() != nil {
			return
		}
		if w.g.t.files[id].Language == "go" {
			w.goTypes(id, s)
			continue
		}
		w.stated(id, s)
		if w.g.t.files[id].Language == "rust" {
			w.impls(id, s)
		}
	}
}

// stated offers what declarations' heads say.
func (w *walk) stated(id int32, s *chunk.Symbol) {
	f := &w.g.t.files[id]
	for n, name := range inherited(family(f.Language), f.Language, s.Signature) {
		if d, weight := w.meant(id, name); d.Symbol != nil && d.Symbol.Kind != chunk.Function && d.Symbol.Kind != chunk.Method {
			w.typed(f.Path, d, InterfaceOf, weight-float64(n)/64)
		}
	}
	// Of another type of the same name nothing is said.
	others := 0
	for _, d := range w.src.Definitions(s.Name) {
		if d.Path != f.Path && (d.Symbol.Kind == chunk.Class || d.Symbol.Kind == chunk.Interface) {
			others++
		}
	}
	for by := range w.g.infos {
		for _, b := range w.g.infos[by].bases {
			if int32(by) == id || !slices.Contains(b.names, s.Name) || family(w.g.t.files[by].Language) != family(f.Language) {
				continue
			}
			o := &w.g.t.files[by]
			if others > 0 && !w.g.leadsTo(int32(by), id) && path.Dir(o.Path) != path.Dir(f.Path) || o.Test && !f.Test {
				continue
			}
			t := &o.Symbols[b.symbol]
			w.typed(f.Path, Definition{o.Path, t}, ImplementedBy, w.g.closeness(f.Path, int32(by)))
		}
	}
}

// typed offers a type's definition.
func (w *walk) typed(from string, d Definition, k Kind, weight float64) {
	w.offer(step{Related: Related{Path: d.Path, From: from, Kind: k, Distance: 1, StartLine: d.Symbol.StartLine, EndLine: d.Symbol.EndLine, Names: []string{d.Symbol.Name}}, weight: weight})
}

// impls offers what Rust's impl blocks say: of a type those in its own file, of
// a trait those that name it.
func (w *walk) impls(id int32, s *chunk.Symbol) {
	f := &w.g.t.files[id]
	if s.Kind != chunk.Interface {
		content, _ := w.text(f.Path)
		for line := range strings.Lines(content) {
			if trait, typ, ok := implFor(line); ok && typ == s.Name {
				if d, weight := w.meant(id, trait); d.Symbol != nil && d.Symbol.Kind == chunk.Interface {
					w.typed(f.Path, d, InterfaceOf, weight)
				}
			}
		}
		return
	}
	for _, m := range w.src.Mentions(s.Name, maxMentions) {
		by, ok := w.g.t.ids[m.Path]
		if !ok || w.ctx.Err() != nil || by == id || w.g.t.files[by].Language != "rust" || w.g.t.files[by].Test && !f.Test {
			continue
		}
		content, ok := w.text(m.Path)
		if !ok {
			continue
		}
		for line := range strings.Lines(lines(content, m.StartLine, m.EndLine)) {
			if trait, typ, ok := implFor(line); ok && trait == s.Name {
				w.offer(step{Related: Related{Path: m.Path, From: f.Path, Kind: ImplementedBy, Distance: 1, StartLine: m.StartLine, EndLine: m.EndLine, Names: []string{typ}}, weight: w.g.closeness(f.Path, by)})
			}
		}
	}
}

// implFor reads "impl<T> path::Trait<T> for Type<T>".
func implFor(line string) (trait, typ string, ok bool) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "unsafe ")
	if !strings.HasPrefix(line, "impl") {
		return "", "", false
	}
	plain := strings.Fields(withoutBrackets(line[4:], "<(", ">)"))
	i := slices.Index(plain, "for")
	if i < 1 || i+1 >= len(plain) {
		return "", "", false
	}
	last := func(s string) string { return strings.Trim(s[strings.LastIndexByte(s, ':')+1:], "&{!'") }
	return last(plain[i-1]), last(plain[i+1]), true
}

// goTypes offers the interfaces that a Go type implements, or the types that
// implement an interface, by the names of their methods.
func (w *walk) goTypes(id int32, s *chunk.Symbol) {
	f := &w.g.t.files[id]
	if s.Kind == chunk.Interface {
		methods := w.interfaceMethods(f.Path, s, 0)
		if len(methods) == 0 {
			return
		}
		// The rarest method's holders, if they have all the others.
		var rarest []Definition
		for _, m := range methods {
			defs := slices.DeleteFunc(slices.Clone(w.src.Definitions(m)), func(d Definition) bool { return receiver(d.Symbol) == "" })
			if rarest == nil || len(defs) < len(rarest) {
				rarest = defs
			}
			if len(defs) == 0 {
				return
			}
		}
		for _, d := range rarest[:min(maxHolders, len(rarest))] {
			to, ok := w.g.t.ids[d.Path]
			if !ok || w.g.t.files[to].Test && !f.Test {
				continue
			}
			typ := receiver(d.Symbol)
			if w.hasMethods(path.Dir(d.Path), typ, methods) {
				w.typed(f.Path, w.goType(d, typ), ImplementedBy, w.g.closeness(f.Path, to))
			}
		}
		return
	}
	// The interfaces that hold one of its methods are found by the word.
	own := w.methodsOf(path.Dir(f.Path), s.Name)
	seen := map[*chunk.Symbol]bool{}
	for _, m := range own[:min(len(own), maxMethods)] {
		if w.ctx.Err() != nil {
			return
		}
		for _, at := range w.src.Mentions(m, maxMentions) {
			to, ok := w.g.t.ids[at.Path]
			if !ok || w.g.t.files[to].Language != "go" || w.g.t.files[to].Test && !f.Test {
				continue
			}
			symbols := w.src.Symbols(at.Path)
			for i := range symbols {
				t := &symbols[i]
				if t.Kind != chunk.Interface || t.StartLine > at.EndLine || t.EndLine < at.StartLine || seen[t] {
					continue
				}
				seen[t] = true
				methods := w.interfaceMethods(at.Path, t, 0)
				if len(methods) > 0 && !slices.ContainsFunc(methods, func(m string) bool { return !slices.Contains(own, m) }) {
					w.typed(f.Path, Definition{at.Path, t}, InterfaceOf, float64(len(methods))+w.g.closeness(f.Path, to))
				}
			}
		}
	}
}

// goType is the definition of a method's receiver, the method's own where it is
// not found.
func (w *walk) goType(method Definition, typ string) Definition {
	for _, d := range w.src.Definitions(typ) {
		if path.Dir(d.Path) == path.Dir(method.Path) && d.Symbol.Parent == "" {
			return d
		}
	}
	return method
}

// methodsOf are the methods of a type of a package, in order of files.
func (w *walk) methodsOf(dir, typ string) []string {
	d := w.g.t.dirs[dir]
	if d == nil {
		return nil
	}
	var out []string
	for _, i := range d.files {
		f := &w.g.t.files[i]
		if f.Language != "go" {
			continue
		}
		for k := range f.Symbols {
			if s := &f.Symbols[k]; s.Kind == chunk.Method && receiver(s) == typ {
				out = append(out, s.Name)
			}
		}
	}
	return out
}

func (w *walk) hasMethods(dir, typ string, methods []string) bool {
	own := w.methodsOf(dir, typ)
	return !slices.ContainsFunc(methods, func(m string) bool { return !slices.Contains(own, m) })
}

// receiver is the type that a Go method belongs to, "" where it is none.
func receiver(s *chunk.Symbol) string {
	rest, ok := strings.CutPrefix(s.Signature, "func (")
	if !ok || s.Kind != chunk.Method {
		return ""
	}
	recv, _, ok := strings.Cut(rest, ")")
	if !ok {
		return ""
	}
	if i := strings.IndexByte(recv, '['); i >= 0 {
		recv = recv[:i]
	}
	return strings.TrimLeft(recv[strings.LastIndexByte(recv, ' ')+1:], "*")
}

// interfaceMethods reads the methods of a Go interface, with those of embedded
// ones of its package; nil where one of them is elsewhere or it has type terms.
func (w *walk) interfaceMethods(file string, s *chunk.Symbol, depth int) []string {
	content, ok := w.text(file)
	if !ok || depth == maxEmbedded {
		return nil
	}
	var methods []string
	braces := 0
	for line := range strings.Lines(lines(content, s.NameLine, s.EndLine)) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
		opens := strings.Count(line, "{") - strings.Count(line, "}")
		if braces == 1 && line != "" && line[0] != '}' {
			name := line
			if i := strings.IndexFunc(line, func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) }); i >= 0 {
				name = line[:i]
			}
			rest := strings.TrimSpace(line[len(name):])
			switch {
			case strings.HasPrefix(rest, "(") && name != "":
				methods = append(methods, name)
			case rest == "" && name != "": // embedded, of the same package
				var of []string
				for _, d := range w.src.Definitions(name) {
					if path.Dir(d.Path) == path.Dir(file) && d.Symbol.Kind == chunk.Interface && d.Symbol.Name != s.Name {
						of = w.interfaceMethods(d.Path, d.Symbol, depth+1)
					}
				}
				if len(of) == 0 {
					return nil
				}
				methods = append(methods, of...)
			default:
				return nil // another package's, or a constraint
			}
		}
		braces += opens
	}
	if len(methods) > maxMethods {
		return nil
	}
	return methods
}
