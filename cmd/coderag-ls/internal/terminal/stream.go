package terminal

import (
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// Stream shows Markdown as it comes: prose word by word, headings and code blocks
// once they are complete. Nothing that was shown is changed later, and all of it
// together is what Output.Markdown shows of the whole.
type Stream struct {
	out   *Output
	cites Citations

	line  string // that came so far and is not complete
	blank int    // empty lines that came and are not shown yet: the last ones never are
	any   bool   // a line was shown

	last  string // citation
	fence string // that began the code block, "" outside
	block []string

	row  *row // of the line in work, nil before its first word
	done int  // bytes of the line's text that were shown
}

// Stream begins a text. What it shows is for o.
func (o *Output) Stream(cites Citations) *Stream { return &Stream{out: o, cites: cites} }

// Add takes more of the text and returns what is to be shown now.
func (s *Stream) Add(text string) string {
	var b strings.Builder
	s.line += s.out.Text(text)
	for {
		line, rest, ok := strings.Cut(s.line, "\n")
		if !ok {
			break
		}
		s.complete(&b, line)
		s.line = rest
	}
	if s.line != "" {
		s.partial(&b)
	}
	return b.String()
}

// End returns what is left to be shown.
func (s *Stream) End() string {
	var b strings.Builder
	if s.line != "" || !s.any {
		s.complete(&b, s.line)
		if !s.any && s.blank > 0 { // nothing at all is an empty line
			b.WriteString("\n")
		}
	}
	if s.fence != "" {
		s.code(&b, 0)
	}
	return b.String()
}

// newline writes the empty lines that came before what is shown next.
func (s *Stream) newline(b *strings.Builder) {
	b.WriteString(strings.Repeat("\n", s.blank))
	s.blank, s.any = 0, true
}

// complete shows what was not shown yet of a line.
func (s *Stream) complete(b *strings.Builder, line string) {
	plain := !s.out.colors
	if line == "" && (s.fence == "" || plain) {
		if s.fence != "" {
			s.block = append(s.block, line)
		}
		s.blank++
		return
	}
	if plain {
		s.newline(b)
		b.WriteString(line[s.done:] + "\n")
		s.done = 0
	}
	mark := fenceOf(line)
	switch {
	case s.fence != "" && strings.HasPrefix(mark, s.fence) && strings.Trim(line, " "+s.fence[:1]) == "":
		first, quoted := s.cites.FirstLine(s.last, s.block)
		if !quoted {
			first = 0
		}
		s.code(b, first)
	case s.fence != "":
		s.block = append(s.block, line)
	case mark != "":
		s.fence = mark
	default:
		if all := citation.FindAllString(line, -1); len(all) > 0 {
			s.last = strings.Trim(all[len(all)-1], "[]")
		}
		if !plain {
			s.prose(b, line, len(line))
		}
	}
}

// code shows the code block.
func (s *Stream) code(b *strings.Builder, first int) {
	if s.out.colors {
		s.newline(b)
		s.out.code(b, s.block, first)
	}
	s.fence, s.block = "", nil
}

// partial shows as much of a line as nothing that follows can change.
func (s *Stream) partial(b *strings.Builder) {
	if !s.out.colors {
		if s.done == 0 {
			s.newline(b)
		}
		b.WriteString(s.line[s.done:])
		s.done = len(s.line)
		return
	}
	trimmed := strings.TrimLeft(s.line, " ")
	if s.fence != "" || len(trimmed) < 5 || trimmed[0] == '#' || fenceOf(trimmed) != "" {
		return // it may be anything yet
	}
	_, _, text := s.out.begin(s.line)
	spans := inline.FindAllStringIndex(text, -1)
	upTo := len(text)
	for at := 0; at < len(text); at++ {
		if !strings.HasPrefix(text[at:], "`") && !strings.HasPrefix(text[at:], "**") {
			continue
		}
		closed := slices.IndexFunc(spans, func(span []int) bool { return span[0] <= at && at < span[1] })
		if closed < 0 {
			upTo = at // what begins here may end further on
			break
		}
		at = spans[closed][1] - 1
	}
	for {
		upTo = strings.LastIndexByte(text[:upTo], ' ')
		within := slices.IndexFunc(spans, func(span []int) bool { return span[0] < upTo && upTo < span[1] })
		if within < 0 {
			break
		}
		upTo = spans[within][0]
	}
	if upTo > s.done {
		s.prose(b, s.line, upTo)
	}
}

// prose shows a line's words before an offset in its text; all of them where that
// is the line's end.
func (s *Stream) prose(b *strings.Builder, line string, upTo int) {
	if title, ok := heading(line); ok {
		s.newline(b)
		b.WriteString(s.out.Paint(Heading, title) + "\n")
		return
	}
	first, rest, text := s.out.begin(line)
	upTo = min(upTo, len(text))
	if s.row == nil {
		s.newline(b)
		b.WriteString(first)
		s.row = &row{rest: rest, limit: min(s.out.Width, maxWidth) - uniseg.StringWidth(rest)}
	}
	if upTo > s.done {
		s.row.add(b, s.out.spans(text[s.done:upTo], s.cites))
		s.done = upTo
	}
	if upTo == len(text) {
		b.WriteString("\n")
		s.row, s.done = nil, 0
	}
}
