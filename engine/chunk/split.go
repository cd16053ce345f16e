package chunk

// noBreak is the depth of a line at which nothing starts.
const noBreak = 1 << 30

// innerBreak is the depth from which on lines count that no node starts on.
const innerBreak = 1 << 20

// lineBreak tells how deep in the syntax the thing is nested that starts on a
// line: a split before an outer statement is better than before an inner one.
type lineBreak struct {
	depth   int
	comment bool
	end     int // the last line of a comment
}

// split cuts lines that are too many for one piece into parts of about equal
// size, before the outermost statements. The parts after the first get the
// given header.
func (w *worker) split(first, last int, p piece, header string) {
	p.part = true
	w.breaksOf()
	limit := w.c.opts.MaxChars
	for start := first; start <= last; {
		rest := w.src.size(start, last)
		end := last
		if rest > limit {
			target := limit
			if rest < 2*limit {
				target = rest/2 + rest/16 // two parts of about the same size
			}
			end = w.cutAt(start, last, min(target, limit))
		}
		q := p
		q.first, q.last = start, end
		var ok bool
		if q.first, q.last, ok = w.src.trim(start, end); ok {
			w.pieces = append(w.pieces, q)
			p.header = header
		}
		start = end + 1
	}
}

// cutAt returns the last line of a part that starts at line start and has about
// target characters.
func (w *worker) cutAt(start, last, target int) int {
	limit := w.c.opts.MaxChars
	best, bestDepth, bestOff := 0, noBreak, 0
	for n := start + 1; n <= last; n++ {
		size := w.src.size(start, n-1)
		if size > limit && best > 0 {
			break
		}
		if size > limit { // no place so far: the last line that fits, one at least
			return max(start, n-2)
		}
		if size < target/2 && n < last {
			if best == 0 && w.src.size(start, n) > limit {
				return n - 1
			}
			continue
		}
		depth := w.breaks[n].depth
		off := max(size-target, target-size)
		if best == 0 || depth < bestDepth || depth == bestDepth && off < bestOff {
			best, bestDepth, bestOff = n-1, depth, off
		}
	}
	if best == 0 {
		return start
	}
	return best
}

// breaksOf finds what starts on each line, once per file.
func (w *worker) breaksOf() {
	if w.broken {
		return
	}
	w.broken = true
	n := w.src.count() + 2
	if cap(w.breaks) < n {
		w.breaks = make([]lineBreak, n)
	}
	w.breaks = w.breaks[:n]
	for i := range w.breaks {
		w.breaks[i] = lineBreak{depth: noBreak}
	}
	w.indentBreaks()
	if w.outline == nil {
		return
	}
	for b := range w.outline.Breaks {
		line := int(b.Row) + 1
		if line >= n {
			continue
		}
		if lb := &w.breaks[line]; int(b.Depth) < lb.depth {
			*lb = lineBreak{int(b.Depth), b.Comment, int(b.EndRow) + 1}
		}
	}
	// A comment stays with what follows it.
	for i := 1; i < n-1; i++ {
		if b := w.breaks[i]; b.comment && b.depth < noBreak {
			for next := b.end + 1; next < n && w.breaks[next].depth == b.depth; {
				follows := w.breaks[next]
				w.breaks[next].depth = noBreak - 1
				if !follows.comment {
					break
				}
				next = follows.end + 1
			}
		}
	}
}

// indentBreaks takes the indentation for the depth; a line after a blank one is
// a better place than another, one that only closes a block is none.
func (w *worker) indentBreaks() {
	afterBlank := true
	for n := 1; n <= w.src.count(); n++ {
		if w.src.blank(n) {
			afterBlank = true
			continue
		}
		line := w.src.line(n)
		depth := 0
		for _, c := range []byte(line) {
			if c == ' ' {
				depth++
			} else if c == '\t' {
				depth += 4
			} else {
				break
			}
		}
		depth = innerBreak + 2*depth
		if !afterBlank {
			depth++
		}
		if !w.closers(n, n) {
			w.breaks[n] = lineBreak{depth: depth}
		}
		afterBlank = false
	}
}
