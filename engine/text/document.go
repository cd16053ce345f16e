package text

import (
	"sort"
	"strings"
	"sync"
)

// Document is one immutable text with its line index. It is safe for
// concurrent use. The zero value is not valid: use New.
//
// The text may hold anything: bytes that are no UTF-8 count as one character
// each.
type Document struct {
	content string

	once   sync.Once
	starts []int // byte offset of every line's start, as LSP counts lines: "" has one, "a\n" two
	cr     bool  // the text holds a "\r"
}

// New returns the document of a text. The line index is built on first use.
func New(content string) *Document { return &Document{content: content} }

// Content returns the whole text.
func (d *Document) Content() string { return d.content }

// LineCount returns how many lines can be cited: a text's final line
// terminator starts no line of its own, so "a\n" has 1 and "" has 0.
func (d *Document) LineCount() int {
	starts := d.index()
	if starts[len(starts)-1] == len(d.content) {
		return len(starts) - 1
	}
	return len(starts)
}

// Line returns the 1-based line without its terminator, "" where there is no
// such line.
func (d *Document) Line(n int) string {
	return d.content[d.LineStart(n):d.LineEnd(n)]
}

// Lines returns the lines start to end, 1-based and inclusive, without their
// terminators and joined by "\n" with none at the end: the text that a
// citation of these lines stands for. It is false where the document does not
// have all of them.
func (d *Document) Lines(start, end int) (string, bool) {
	if start < 1 || end < start || end > d.LineCount() {
		return "", false
	}
	if !d.cr {
		return d.content[d.LineStart(start):d.LineEnd(end)], true
	}
	var b strings.Builder
	b.Grow(d.LineEnd(end) - d.LineStart(start))
	for n := start; n <= end; n++ {
		if n > start {
			b.WriteByte('\n')
		}
		b.WriteString(d.Line(n))
	}
	return b.String(), true
}

// LineStart returns the byte offset of the 1-based line's first byte: 0 for
// lines before the first, the text's length for lines after the last.
func (d *Document) LineStart(n int) int {
	starts := d.index()
	switch {
	case n < 1:
		return 0
	case n > len(starts):
		return len(d.content)
	}
	return starts[n-1]
}

// LineEnd returns the byte offset behind the 1-based line's last byte, before
// its terminator: 0 for lines before the first, the text's length for lines
// after the last.
func (d *Document) LineEnd(n int) int {
	starts := d.index()
	switch {
	case n < 1:
		return 0
	case n >= len(starts):
		return len(d.content)
	}
	end := starts[n] - 1
	if d.content[end] == '\n' && end > starts[n-1] && d.content[end-1] == '\r' {
		end--
	}
	return end
}

// LineAt returns the 1-based line that holds the byte at offset; a terminator
// belongs to the line that it ends. Offsets outside the text are taken as its
// first or last byte, and an empty text's line is 1.
func (d *Document) LineAt(offset int) int {
	return max(1, min(d.lineIndex(offset)+1, d.LineCount()))
}

// lineIndex returns the 0-based line, as LSP counts, that offset lies in.
func (d *Document) lineIndex(offset int) int {
	starts := d.index()
	return max(0, sort.SearchInts(starts, offset+1)-1)
}

// index returns the line starts.
func (d *Document) index() []int {
	d.once.Do(d.build)
	return d.starts
}

// build finds the line starts. Most texts have no "\r" and take the first
// loop, which is IndexByte's speed.
func (d *Document) build() {
	s := d.content
	starts := make([]int, 1, strings.Count(s, "\n")+2)
	cr := strings.IndexByte(s, '\r')
	if cr < 0 {
		for at := 0; ; {
			i := strings.IndexByte(s[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
			starts = append(starts, at)
		}
		d.starts = starts
		return
	}
	d.cr = true
	next := func(b byte, from int) int {
		if i := strings.IndexByte(s[from:], b); i >= 0 {
			return from + i
		}
		return len(s)
	}
	lf := next('\n', 0)
	for min(lf, cr) < len(s) {
		var at int
		switch {
		case cr+1 == lf && lf < len(s):
			at = lf + 1
		default:
			at = min(lf, cr) + 1
		}
		starts = append(starts, at)
		if lf < at {
			lf = next('\n', at)
		}
		if cr < at {
			cr = next('\r', at)
		}
	}
	d.starts = starts
}
