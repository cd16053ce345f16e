package chunk

import "strings"

// The sizes, in characters, that decide which neighbours share a chunk.
const (
	// tinySize is the size up to which neighbouring definitions are put together.
	tinySize = 320
	// crumbSize is the size up to which loose lines join the definition next to them.
	crumbSize = 160
	// nestedSize is the size from which a function inside a function is cut out of it.
	nestedSize = 400
	// looseSize is the size up to which a variable counts as loose lines.
	looseSize = 400
)

// maxHeader is the length of a header, in bytes, from which on it does not grow
// with deeper nesting.
const maxHeader = 600

// piece is a range of lines on its way to be a chunk.
type piece struct {
	first, last int
	kind        Kind
	def         int  // the definition it is named after, or -1
	owner       int  // the definition whose inside it is a piece of, or -1
	loose       bool // no definition of its own: imports, statements, small variables
	part        bool // one of the parts of def
	run         bool // made of tiny definitions
	number, of  int  // the part it is and how many there are, where known
	truncated   [][2]int
	about       *about // what is known of a piece that no definition names
	header      string // put before its lines
}

// about names a piece of a file that is no source code.
type about struct {
	name, summary string
	path, symbols []string
	language      string // where it is not the file's
}

// enclose finds for each definition where the ones inside it end, and makes
// spans that cross nest.
func (w *worker) enclose() {
	defs := w.defs
	for i := range defs {
		defs[i].end = i + 1
	}
	for i := len(defs) - 1; i >= 0; i-- {
		if p := defs[i].parent; p >= 0 {
			defs[p].end = max(defs[p].end, defs[i].end)
			defs[p].EndLine = max(defs[p].EndLine, defs[i].EndLine)
		}
	}
	last := w.src.count()
	for i := range defs {
		defs[i].EndLine = min(defs[i].EndLine, last)
	}
}

// pack cuts the file into pieces along its definitions.
func (w *worker) pack() {
	w.scope(1, w.src.count(), 0, len(w.defs), -1, "")
	w.merge()
}

// scope cuts lines first to last, in which the definitions lo to hi stand,
// into pieces. owner is the definition that encloses them, or -1.
func (w *worker) scope(first, last, lo, hi, owner int, header string) {
	cur := first
	from := len(w.pieces)
	for i := lo; i < hi; i = w.defs[i].end {
		d := &w.defs[i]
		if d.extra {
			continue
		}
		start, end := max(d.StartLine, first), min(d.EndLine, last)
		if end < cur {
			continue // it shares its lines with what stands before it
		}
		if start < cur && len(w.pieces) > from {
			// It shares its first line: the piece before it takes it in.
			p := &w.pieces[len(w.pieces)-1]
			if p.last == cur-1 && w.src.size(p.first, end) <= w.c.opts.MaxChars {
				p.last = end
				cur = end + 1
				continue
			}
		}
		start = max(start, cur)
		if start > cur {
			w.gap(cur, start-1, owner, header)
		}
		w.definition(i, start, end, owner, header)
		cur = end + 1
	}
	if cur <= last {
		w.gap(cur, last, owner, header)
	}
}

// definition makes the pieces of one definition.
func (w *worker) definition(i, first, last, owner int, header string) {
	d := &w.defs[i]
	size := w.src.size(first, last)
	inner := d.end > i+1
	if d.Kind == Module && inner {
		w.scope(first, last, i+1, d.end, i, header)
		return
	}
	if size <= w.c.opts.MaxChars {
		loose := d.Kind == Variable && size <= looseSize
		if owner >= 0 && loose && w.defs[owner].Kind != Module && !w.defs[owner].group {
			// A field belongs to its class.
			w.pieces = append(w.pieces, piece{first: first, last: last, kind: w.defs[owner].Kind, def: owner, owner: owner, loose: true, part: true, header: header})
			return
		}
		w.pieces = append(w.pieces, piece{first: first, last: last, kind: d.Kind, def: i, owner: owner, loose: loose, header: header})
		return
	}
	if inner && (d.container() || w.hasNested(i)) {
		w.scope(first, last, i+1, d.end, i, w.headerOf(i, header))
		return
	}
	w.split(first, last, piece{kind: d.Kind, def: i, owner: owner, header: header}, w.headerOf(i, header))
}

// hasNested reports whether a definition holds one that is large enough to be
// cut out of it.
func (w *worker) hasNested(i int) bool {
	for j := i + 1; j < w.defs[i].end; j = w.defs[j].end {
		if w.src.size(w.defs[j].StartLine, w.defs[j].EndLine) >= nestedSize {
			return true
		}
	}
	return false
}

// headerOf is what stands before the pieces inside definition i: the
// signatures of what encloses them.
func (w *worker) headerOf(i int, outer string) string {
	sig := w.defs[i].Signature
	if w.defs[i].group {
		sig = firstWord(sig)
	}
	switch {
	case outer == "":
		return sig
	case sig == "" || len(outer) > maxHeader:
		return outer
	}
	return outer + "\n" + sig
}

// gap makes pieces of lines that no definition claims.
func (w *worker) gap(first, last, owner int, header string) {
	first, last, ok := w.src.trim(first, last)
	if !ok {
		return
	}
	p := piece{kind: Module, def: -1, owner: owner, loose: true, header: header}
	if n := len(w.pieces); n > 0 && w.closers(first, last) {
		// What closes a block belongs to what stands before it.
		w.pieces[n-1].last = last
		return
	}
	if owner >= 0 {
		o := &w.defs[owner]
		if first <= o.head {
			p.header = outerHeader(header) // its own signature is in the lines
		}
		if o.Kind != Module {
			p.kind, p.def, p.part = o.Kind, owner, true
		}
	}
	if w.src.size(first, last) <= w.c.opts.MaxChars {
		p.first, p.last = first, last
		w.pieces = append(w.pieces, p)
		return
	}
	w.split(first, last, p, header)
}

// outerHeader is a header without its last line.
func outerHeader(h string) string {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i] == '\n' {
			return h[:i]
		}
	}
	return ""
}

// closers reports whether the lines hold only what closes a block.
func (w *worker) closers(first, last int) bool {
	if last-first > 8 {
		return false
	}
	for n := first; n <= last; n++ {
		line := w.src.line(n)
		if strings.HasPrefix(line, "#endif") {
			continue
		}
		closed := false
		for i := 0; i < len(line); {
			switch c := line[i]; c {
			case ' ', '\t', '}', ')', ']', ';', ',', '\f':
				closed = closed || c == '}'
				i++
			default:
				j := i
				for j < len(line) && wordByte(line[j]) {
					j++
				}
				switch line[i:j] {
				case "end", "fi", "done", "esac":
					i = j
				default:
					if closed && len(line) > i+1 && line[i] == '/' && line[i+1] == '/' {
						i = len(line) // "} // namespace x"
						break
					}
					return false
				}
			}
		}
	}
	return true
}

// merge puts neighbours together that are too small to stand alone.
func (w *worker) merge() {
	limit := w.c.opts.MaxChars
	out := w.pieces[:0]
	for _, p := range w.pieces {
		if len(out) > 0 {
			a := &out[len(out)-1]
			if p.first > a.last && a.owner == p.owner && w.src.size(a.first, p.last) <= limit && w.joins(a, &p) {
				w.join(a, &p)
				continue
			}
			if p.first <= a.last { // it was taken in already
				a.last = max(a.last, p.last)
				continue
			}
		}
		out = append(out, p)
	}
	// Backwards: lines that introduce a definition (a separator comment, the
	// opening of a namespace, a constant) belong to what follows.
	k := len(out)
	for i := len(out) - 1; i >= 0; i-- {
		a := out[i]
		if k < len(out) {
			b := &out[k]
			if a.loose && !b.loose && w.src.size(a.first, a.last) <= crumbSize && w.src.size(a.first, b.last) <= limit &&
				(a.def < 0 || a.kind == Variable && !a.part || w.encloses(a.def, b.def) && !w.headOfType(&a)) && (w.encloses(a.owner, b.owner) || a.owner == b.owner) && (b.kind == Block || a.kind == Variable && !a.part && b.first == a.last+1 || w.opensModule(&a) || w.introduces(a.first, a.last)) {
				b.first = a.first
				if b.part || a.part {
					b.header = a.header
				}
				continue
			}
		}
		k--
		out[k] = a
	}
	w.pieces = append(w.pieces[:0], out[k:]...)
}

// opensModule reports whether a piece is no more than the head of a module or
// namespace.
func (w *worker) opensModule(p *piece) bool {
	return p.owner >= 0 && w.defs[p.owner].Kind == Module && p.last <= w.defs[p.owner].head
}

// headOfType reports whether a piece is the head of a class or interface, which
// keeps a chunk of its own.
func (w *worker) headOfType(p *piece) bool {
	d := &w.defs[p.def]
	return (d.Kind == Class || d.Kind == Interface) && !d.extends && p.first <= d.head
}

// encloses reports whether definition a is b or stands around it. -1 encloses all.
func (w *worker) encloses(a, b int) bool {
	for level := 0; b >= 0 && level < 32; level++ {
		if a == b {
			return true
		}
		b = w.defs[b].parent
	}
	return a < 0
}

// introduces reports whether loose lines belong to what follows: comments, and
// the opening of what encloses it.
func (w *worker) introduces(first, last int) bool {
	for n := first; n <= last; n++ {
		line := trimBlanks(w.src.line(n))
		if line == "" || w.syntax != nil && (w.lineComment(line) || line[0] == '*' || len(line) > 1 && line[0] == '/' && line[1] == '*') {
			continue
		}
		switch line[len(line)-1] {
		case '{', ':', '(', '[':
			continue
		}
		if line[0] == '@' || strings.HasPrefix(line, "#!") || line[0] == '[' || strings.HasPrefix(line, "#if") || strings.HasPrefix(line, "#[") || strings.HasPrefix(line, "#else") {
			continue
		}
		return false
	}
	return true
}

// joins reports whether two neighbours of one scope share a chunk.
func (w *worker) joins(a, b *piece) bool {
	sizeA, sizeB := w.src.size(a.first, a.last), w.src.size(b.first, b.last)
	switch {
	case a.kind == Block && b.kind == Block:
		// Keys are grouped up to the limit, documents are kept apart.
		return a.def < 0 || b.def < 0 || !w.defs[a.def].document && !w.defs[b.def].document
	case a.part && b.part && a.def == b.def:
		return a.loose && b.loose || sizeA <= crumbSize || sizeB <= crumbSize
	case a.loose && b.loose:
		// Imports and constants are told apart where both are worth a chunk.
		return a.kind == b.kind || sizeA <= tinySize || sizeB <= tinySize
	case a.part || b.part:
		return false
	case !a.loose && b.loose:
		// A statement right after a definition (a registration, an assertion).
		return sizeB <= crumbSize && b.first == a.last+1 && !w.introduces(b.first, b.last)
	case a.loose:
		return false
	}
	return w.tiny(b) && w.tinyRun(a) && w.src.size(a.first, b.last) <= w.c.opts.MaxChars/2
}

// tiny reports whether a piece is one small definition; a class with members is
// none.
func (w *worker) tiny(p *piece) bool {
	if p.def >= 0 && (w.defs[p.def].Kind == Class || w.defs[p.def].Kind == Interface) && !w.defs[p.def].extends && w.defs[p.def].end > p.def+1 {
		return false
	}
	return w.src.size(p.first, p.last) <= tinySize
}

// tinyRun reports whether a piece is tiny or made of tiny definitions only.
func (w *worker) tinyRun(p *piece) bool { return p.run || w.tiny(p) }

// join puts b into a.
func (w *worker) join(a, b *piece) {
	if a.loose && !b.loose {
		a.kind, a.def, a.loose, a.part = b.kind, b.def, false, b.part
	} else if a.loose && b.loose && a.kind != b.kind && !a.part {
		if a.kind == Module || b.kind == Module {
			a.kind, a.def = Module, -1
		}
	}
	a.run = !a.loose && !b.loose
	a.last = b.last
}

func trimBlanks(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}
