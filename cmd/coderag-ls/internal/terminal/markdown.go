package terminal

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

// Citations is what is known of the citations in an answer.
type Citations interface {
	// URI returns the document's URI of a citation such as "a/b.go:1-9", or "".
	URI(citation string) string
	// FirstLine returns the number of a code block's first line where the block
	// quotes the citation that stands before it.
	FirstLine(citation string, block []string) (line int, ok bool)
}

// Markdown shows an answer: headings, lists and quotes line by line, prose set
// to the output's width, quoted code with its line numbers. It knows the
// Markdown that answers are written in, not all of it; what it does not know is
// shown as it stands, and an output without colours gets the Markdown itself.
func (o *Output) Markdown(text string, cites Citations) string {
	s := o.Stream(cites)
	return s.Add(text) + s.End()
}

// code shows a code block, numbered from first unless that is 0.
func (o *Output) code(b *strings.Builder, block []string, first int) {
	digits := len(fmt.Sprint(first + len(block) - 1))
	for i, line := range block {
		gutter := "  │ "
		if first > 0 {
			gutter = fmt.Sprintf("  %*d │ ", digits, first+i)
		}
		b.WriteString(o.Paint(Dim, gutter) + o.Cut(line, o.Width-uniseg.StringWidth(gutter)) + "\n")
	}
}

// fenceOf returns the backticks or tildes that a code block's first or last
// line begins with, "" for other lines.
func fenceOf(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(trimmed) - len(strings.TrimLeft(trimmed, c)); n >= 3 {
			return trimmed[:n]
		}
	}
	return ""
}

// begin shows how one line of Markdown outside of code blocks begins: what
// stands before its first row and the others, and the rest of the line.
func (o *Output) begin(line string) (first, rest, text string) {
	trimmed := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(trimmed)]
	first, rest = indent, indent
	switch marker := listMarker(trimmed); {
	case marker == "- " || marker == "* " || marker == "+ ":
		first, rest, trimmed = indent+"• ", indent+"  ", trimmed[2:]
	case marker != "":
		first, rest, trimmed = indent+marker, indent+strings.Repeat(" ", len(marker)), trimmed[len(marker):]
	case strings.HasPrefix(trimmed, "> "):
		first, trimmed = indent+o.Paint(Dim, "│ "), trimmed[2:]
		rest = first
	}
	return first, rest, trimmed
}

// heading returns the text of a heading.
func heading(line string) (string, bool) {
	trimmed := strings.TrimLeft(line, " ")
	level := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
	if level == 0 || level > 6 || !strings.HasPrefix(trimmed[level:], " ") {
		return "", false
	}
	return strings.TrimSpace(trimmed[level:]), true
}

var ordered = regexp.MustCompile(`^[0-9]{1,3}[.)] `)

func listMarker(line string) string {
	if len(line) > 2 && strings.ContainsRune("-*+", rune(line[0])) && line[1] == ' ' {
		return line[:2]
	}
	return ordered.FindString(line)
}

// word is a piece of text without blanks as it is shown, and its width in columns.
type word struct {
	shown string
	width int
	glued bool // no blank before it
}

// citation finds citations in an answer.
var citation = regexp.MustCompile(`\[[^\]\s]+:[0-9]+(?:-[0-9]+)?\]`)

// inline finds what is styled inside a line: code, bold, citations.
var inline = regexp.MustCompile("`[^`]+`|\\*\\*[^*]+\\*\\*|\\[[^\\]\\s]+:[0-9]+(?:-[0-9]+)?\\]")

func (o *Output) spans(line string, cites Citations) []word {
	var words []word
	glued := true
	add := func(text string, style Style, uri string) {
		for i, part := range strings.Split(text, " ") {
			if i > 0 {
				glued = false
			}
			if part == "" {
				continue
			}
			words = append(words, word{o.Link(uri, o.Paint(style, part)), uniseg.StringWidth(part), glued})
			glued = true
		}
	}
	for line != "" {
		at := inline.FindStringIndex(line)
		if at == nil {
			add(line, Plain, "")
			break
		}
		add(line[:at[0]], Plain, "")
		switch span := line[at[0]:at[1]]; span[0] {
		case '`':
			add(span[1:len(span)-1], Code, "")
		case '*':
			add(span[2:len(span)-2], Bold, "")
		default:
			add("[", Dim, "")
			add(span[1:len(span)-1], Place, cites.URI(span[1:len(span)-1]))
			add("]", Dim, "")
		}
		line = line[at[1]:]
	}
	return words
}

// row sets words in lines of at most a width, as they come.
type row struct {
	rest   string // before each line but the first
	limit  int    // columns
	column int
}

// add writes words; what is glued to each other must come at once.
func (r *row) add(b *strings.Builder, words []word) {
	for i := 0; i < len(words); {
		end, width := i+1, words[i].width
		for end < len(words) && words[end].glued {
			width += words[end].width
			end++
		}
		switch {
		case r.column > 0 && r.column+1+width > r.limit:
			b.WriteString("\n" + r.rest)
			r.column = 0
		case r.column > 0:
			b.WriteString(" ")
			r.column++
		}
		for ; i < end; i++ {
			b.WriteString(words[i].shown)
		}
		r.column += width
	}
}
