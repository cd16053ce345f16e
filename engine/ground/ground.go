// Package ground holds a language model to its sources while it writes. Text
// comes in as the model makes it; what goes out, sentence by sentence, cites
// only lines that the model was given and that stand as they were given, and
// says of each sentence that its citations do not support it.
//
// What is checked can be checked without judgement: identifiers, code and
// numbers of a sentence must stand in the lines that it cites. A sentence that
// puts the right names together wrongly is not found out.
//
// What a model writes is not trusted otherwise either: pictures, links, markup,
// control characters and secrets do not get through.
package ground

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/wire"
)

// Passage is a run of lines that the model was given.
type Passage struct {
	// Citation cites all of it; Text is its text as it stood when it was read.
	wire.Citation
	// Given is the text as the model got it, secrets replaced; lines correspond.
	Given string
}

// Options are what a Writer works with.
type Options struct {
	Passages []Passage
	// Texts reads the files as they stand when a citation is emitted.
	Texts answer.Texts
	// Text and Citation receive the answer in order; a citation comes before the
	// text that cites it. Either may be nil.
	Text     func(string)
	Citation func(wire.Citation)
	// Clean replaces secrets in what goes out; nil for none.
	Clean func(string) string
}

// Result is a finished answer.
type Result struct {
	Markdown    string
	Citations   []wire.Citation // in order of first appearance
	Dropped     int             // citations that did not hold, or were never given
	Unsupported []string        // sentences that are marked
	Sentences   int             // sentences that were checked
	FollowUps   []string
}

// Writer takes a model's text. It is used by one goroutine.
type Writer struct {
	ctx    context.Context
	opts   Options
	byPath map[string][]Passage // in line order
	given  string               // all passages without white space
	buffer string
	fence  string   // of the block that is being quoted, "" outside
	quoted []string // its lines
	res    Result
	out    strings.Builder
	ids    map[string]bool
	atLine bool // the text so far ends with a line
}

// maxFollowUps is how many follow-up questions are taken.
const maxFollowUps = 3

// followUpMark begins a line that is a follow-up question and no part of the
// answer.
const followUpMark = "FOLLOW-UP:"

// New returns a Writer. ctx is that of reading files.
func New(ctx context.Context, o Options) *Writer {
	w := &Writer{ctx: ctx, opts: o, byPath: map[string][]Passage{}, ids: map[string]bool{}, atLine: true}
	var all strings.Builder
	for _, p := range o.Passages {
		w.byPath[p.Path] = append(w.byPath[p.Path], p)
		all.WriteString(squeeze(p.Text) + "\n" + squeeze(p.Given) + "\n")
	}
	for _, ps := range w.byPath {
		slices.SortFunc(ps, func(a, b Passage) int { return a.StartLine - b.StartLine })
	}
	w.given = all.String()
	return w
}

// Write takes more of the model's text.
func (w *Writer) Write(s string) {
	w.buffer += plain(s)
	for w.step(false) {
	}
}

// Close takes the end of the text and returns the answer.
func (w *Writer) Close() Result {
	for w.step(true) {
	}
	if w.fence != "" { // what the model left open is closed
		w.endFence(w.fence + "\n")
	}
	w.res.Markdown = w.out.String()
	if w.res.Citations == nil {
		w.res.Citations = []wire.Citation{}
	}
	return w.res
}

// Text is what has gone out so far.
func (w *Writer) Text() string { return w.out.String() }

// step emits one unit of the buffer, if it holds a whole one.
func (w *Writer) step(final bool) bool {
	if w.buffer == "" {
		return false
	}
	line, whole := w.line(final)
	if w.fence != "" {
		if whole {
			w.take(len(line))
			w.inFence(line)
		}
		return whole
	}
	if w.atLine {
		if whole && fenceOf(line) != "" {
			w.take(len(line))
			w.beginFence(line)
			return true
		}
		if mark := strings.TrimLeft(line, " \t*-"); whole && strings.HasPrefix(mark, followUpMark) {
			w.take(len(line))
			w.followUp(strings.TrimPrefix(mark, followUpMark))
			return true
		} else if !whole && (strings.HasPrefix(followUpMark, mark) || strings.HasPrefix(mark, followUpMark) || strings.HasPrefix(mark, "`") || strings.HasPrefix(mark, "~")) {
			return false // what it is shows at the line's end
		}
	}
	n := w.sentence(line, whole, final)
	if n == 0 {
		return false
	}
	unit := w.buffer[:n]
	w.take(n)
	w.prose(unit)
	return true
}

// line is the buffer's first line; whole says that all of it is there.
func (w *Writer) line(final bool) (string, bool) {
	if i := strings.IndexByte(w.buffer, '\n'); i >= 0 {
		return w.buffer[:i+1], true
	}
	return w.buffer, final
}

func (w *Writer) take(n int) { w.buffer = w.buffer[n:] }

// emit sends text on.
func (w *Writer) emit(s string) {
	if s == "" {
		return
	}
	w.atLine = strings.HasSuffix(s, "\n")
	w.out.WriteString(s)
	if w.opts.Text != nil {
		w.opts.Text(s)
	}
}

// clean replaces secrets.
func (w *Writer) clean(s string) string {
	if w.opts.Clean != nil {
		return w.opts.Clean(s)
	}
	return s
}

// followUp takes a question to ask next.
func (w *Writer) followUp(line string) {
	q := strings.TrimSpace(w.clean(inert(line)))
	if q == "" || len(q) > 200 || len(w.res.FollowUps) >= maxFollowUps || len(answer.Parse(q, nil)) > 0 {
		return
	}
	w.res.FollowUps = append(w.res.FollowUps, q)
}

// fenceOf is the fence that a line opens, "" for none (CommonMark 4.5).
func fenceOf(line string) string {
	body := strings.TrimLeft(line, " ")
	if len(line)-len(body) > 3 {
		return ""
	}
	for _, c := range []string{"`", "~"} {
		n := len(body) - len(strings.TrimLeft(body, c))
		if n >= 3 && !(c == "`" && strings.Contains(body[n:], "`")) {
			return body[:n]
		}
	}
	return ""
}

func (w *Writer) beginFence(line string) {
	w.fence, w.quoted = fenceOf(line), nil
	info := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "`~"))
	if strings.ContainsFunc(info, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '#' || r == '.')
	}) {
		info = "" // only the name of a language
	}
	w.emit(w.fence + info + "\n")
}

// inFence takes a line of quoted code.
func (w *Writer) inFence(line string) {
	body := strings.TrimSpace(line)
	if strings.HasPrefix(body, w.fence) && strings.Trim(body, w.fence[:1]) == "" {
		w.endFence(w.fence + "\n")
		return
	}
	if !strings.Contains(w.given, squeeze(line)) {
		for _, m := range slices.Backward(answer.Parse("|"+line, nil)) { // "|": else it may begin a block
			if from, to := m.Start-1, m.End-1; strings.IndexByte("[(<", line[from]) >= 0 { // nothing is cited in code that is not the sources'
				line = line[:from] + line[to:]
				w.res.Dropped++
			}
		}
	}
	line = w.clean(line)
	w.quoted = append(w.quoted, line)
	w.emit(strings.TrimSuffix(line, "\n") + "\n")
}

// endFence closes a block and marks one that holds what no passage does.
func (w *Writer) endFence(mark string) {
	w.emit(mark)
	w.fence = ""
	w.res.Sentences++
	for _, line := range w.quoted {
		body := squeeze(line)
		if body == "" || strings.Trim(body, ".…/#*-{}()[];,") == "" || strings.Contains(w.given, body) {
			continue // an ellipsis, braces, or the passages' own
		}
		w.res.Unsupported = append(w.res.Unsupported, strings.TrimSpace(line))
		w.emit("\n" + wire.UnsupportedMark + "\n")
		return
	}
}

// prose emits a sentence: its citations are resolved, its support is checked.
func (w *Writer) prose(unit string) {
	body := strings.TrimRight(unit, " \t\n")
	space := unit[len(body):]
	var out, bare strings.Builder
	var evidence []string
	at := 0
	for _, m := range answer.Parse(body, nil) {
		kind := w.kind(body, m)
		if kind == notCited {
			continue
		}
		before := body[at:m.Start]
		at = m.End
		id, lines := "", ""
		if kind == cited {
			id, lines = w.cite(m)
		}
		if id == "" {
			w.res.Dropped++
			before = strings.TrimRight(before, " ([")
			bare.WriteString(before + " ")
			out.WriteString(before)
			at = closing(body, at)
			continue
		}
		evidence = append(evidence, lines)
		bare.WriteString(before + " ")
		out.WriteString(strings.TrimSuffix(before, "[") + "[" + id + "]") // "[" of several in one pair
		if at < len(body) && body[at] == ']' && body[m.End-1] != ']' {
			at++
		}
	}
	bare.WriteString(body[at:])
	out.WriteString(body[at:])
	text := unlinked(w.clean(inert(balanced(out.String()))))
	if strings.HasSuffix(w.out.String(), "]") && strings.IndexAny(text, "([") == 0 {
		text = " " + text
	}
	if c := classify(bare.String()); c != nothing {
		w.res.Sentences++
		if !supported(bare.String(), evidence, w.opts.Passages, c) {
			w.res.Unsupported = append(w.res.Unsupported, strings.TrimSpace(text))
			if strings.HasSuffix(text, "|") { // a row of a table
				text = strings.TrimSuffix(text, "|") + wire.UnsupportedMark + " |"
			} else {
				text += " " + wire.UnsupportedMark
			}
		}
	}
	w.emit(text + space)
}

// closing skips the bracket that closes around a citation which was dropped.
func closing(body string, at int) int {
	if at < len(body) && (body[at] == ']' || body[at] == ')') {
		return at + 1
	}
	return at
}

// The kinds of mentions.
const (
	notCited = iota // no citation: an address with a port, a time
	cited           // of a file that was given
	foreign         // of anything else
)

// kind tells citations from what only looks like one.
func (w *Writer) kind(body string, m answer.Mention) int {
	if w.path(m.Path) != "" {
		return cited
	}
	bracketed := strings.IndexByte("[(<", body[m.Start]) >= 0
	if bracketed || strings.ContainsAny(m.Path, `/\`) || m.EndLine > m.StartLine {
		return foreign
	}
	if i := strings.LastIndexByte(m.Path, '.'); i > 0 && i < len(m.Path)-1 && !strings.Contains(" com org net io dev local ", " "+m.Path[i+1:]+" ") {
		return foreign // a file's name
	}
	return notCited
}

// path is the path of passages that a model means, who may leave out the
// beginning; "" where there is none, or more than one.
func (w *Writer) path(said string) string {
	said = strings.TrimPrefix(said, "./")
	if _, ok := w.byPath[said]; ok {
		return said
	}
	found := ""
	for p := range w.byPath {
		if strings.HasSuffix(p, "/"+said) {
			if found != "" {
				return ""
			}
			found = p
		}
	}
	return found
}

// cite resolves a citation: its lines must have been given, and stand now. It
// returns how it is written, "" where it does not hold, and what its lines say.
func (w *Writer) cite(m answer.Mention) (id, evidence string) {
	path := w.path(m.Path)
	c, given, ok := cut(w.byPath[path], m.StartLine, m.EndLine)
	if !ok {
		return "", ""
	}
	if c, ok = answer.Recheck(w.ctx, w.opts.Texts, c); !ok {
		return "", ""
	}
	if !w.ids[c.ID] {
		w.ids[c.ID] = true
		w.res.Citations = append(w.res.Citations, c)
		if w.opts.Citation != nil {
			w.opts.Citation(c)
		}
	}
	return c.ID, strings.Join([]string{c.Text, given, c.Symbol, c.Path}, "\n")
}

// cut makes the citation of some lines out of passages of one file that hold
// them all.
func cut(passages []Passage, start, end int) (c wire.Citation, given string, ok bool) {
	for i := range passages {
		p := &passages[i]
		if start < p.StartLine || start > p.EndLine {
			continue
		}
		text := strings.Split(p.Text, "\n")
		shown := strings.Split(p.Given, "\n")
		last := p.EndLine
		for j := i + 1; j < len(passages) && last < end && passages[j].StartLine <= last+1; j++ {
			next := &passages[j]
			if next.EndLine <= last {
				continue
			}
			skip := last + 1 - next.StartLine
			text = append(text, strings.Split(next.Text, "\n")[skip:]...)
			shown = append(shown, strings.Split(next.Given, "\n")[skip:]...)
			last = next.EndLine
		}
		if end > last || len(text) < end-p.StartLine+1 || len(shown) < end-p.StartLine+1 {
			continue
		}
		return part(p.Citation, strings.Join(text[start-p.StartLine:end-p.StartLine+1], "\n"), start, end),
			strings.Join(shown[start-p.StartLine:end-p.StartLine+1], "\n"), true
	}
	return wire.Citation{}, "", false
}

// part is a citation of some lines of what c cites.
func part(c wire.Citation, text string, start, end int) wire.Citation {
	c.ID, c.StartLine, c.EndLine, c.Text = answer.ID(c.Path, start, end), start, end, text
	c.SHA256 = hash(text)
	c.Range = wire.Range{Start: wire.Position{Line: start - 1}, End: wire.Position{Line: end}}
	if c.Why == nil {
		c.Why = []string{}
	}
	c.Why = append(slices.Clone(c.Why), "cited by the language model")
	return c
}

// Check reports the citations of a finished answer that no
// longer hold.
func Check(ctx context.Context, texts answer.Texts, citations []wire.Citation) (gone []string) {
	for _, c := range citations {
		if doc, ok := texts.Text(ctx, c.Path); ok {
			if lines, ok := doc.Lines(c.StartLine, c.EndLine); ok && lines == c.Text {
				continue
			}
		}
		gone = append(gone, c.ID)
	}
	return gone
}

// String is for tests' messages.
func (r Result) String() string {
	return fmt.Sprintf("%d citations, %d dropped, %d of %d sentences unsupported", len(r.Citations), r.Dropped, len(r.Unsupported), r.Sentences)
}
