package snippet

import (
	"fmt"
	"strings"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Recite returns the edit that has a citation line cite other lines: path,
// numbers and digits are replaced, everything else on the line stays.
func Recite(d *text.Document, p Placed, path string, startLine, endLine int, sha256 string) (Insertion, error) {
	line := d.Line(p.Line)
	next, err := recited(line, p.Citation, path, startLine, endLine, sha256)
	if err != nil {
		return Insertion{}, err
	}
	// The line without what is the same at both ends: cursors and marks in it
	// stay where they are.
	end := p.Citation.End + len(tag) + digits
	at := d.LineStart(p.Line)
	return Insertion{Start: at + p.Start, End: at + end, Text: next[p.Start : len(next)-(len(line)-end)], Line: p.Line}, nil
}

// recited is a citation line with another citation in it.
func recited(line string, c Citation, path string, startLine, endLine int, sha256 string) (string, error) {
	if len(sha256) < digits || !isHex(sha256[:digits]) {
		return "", fmt.Errorf("citing %s: %q is not a SHA-256 in lower-case hex", path, sha256)
	}
	behind := line[c.End+len(tag)+digits:]
	next := fmt.Sprintf("%s%s:%d-%d%s%s%s", line[:c.Start], path, startLine, endLine, tag, sha256[:digits], behind)
	closing := strings.TrimSpace(behind)
	if got, ok := Parse(next); !ok || got.Path != path || got.StartLine != startLine || got.EndLine != endLine || closing != "" && strings.Contains(path, closing) {
		return "", fmt.Errorf("a citation of the path %q would not be recognised again", path)
	}
	return next, nil
}

// Repaste returns the edit that replaces a citation line and what was pasted
// below it by a citation of c and its lines, in the same indentation, line
// endings and comment. It is one edit, undone in one step.
func Repaste(t Target, p Placed, pasted Pasted, c wire.Citation) (Insertion, error) {
	line := t.Document.Line(p.Line)
	head, err := recited(line, p.Citation, c.Path, c.StartLine, c.EndLine, c.SHA256)
	if err != nil {
		return Insertion{}, err
	}
	lines := []string{head}
	indent := leading(line)
	if pasted.Fenced && t.Language != "markdown" {
		lines = append(lines, t.Document.Line(pasted.First))
	}
	for _, l := range body(t, c) {
		if l != "" {
			l = indent + l
		}
		lines = append(lines, l)
	}
	if pasted.Fenced && t.Language != "markdown" {
		lines = append(lines, t.Document.Line(pasted.Last))
	}
	return Insertion{
		Start: t.Document.LineStart(p.Line), End: t.Document.LineEnd(max(p.Line, pasted.Last)),
		Text: strings.Join(lines, lineEnding(t.Document)), Line: p.Line,
	}, nil
}

// Unlink returns the edit that removes a citation line and leaves what stands
// below it.
func Unlink(d *text.Document, p Placed) Insertion {
	start, end := d.LineStart(p.Line), d.LineStart(p.Line+1)
	if end == d.LineEnd(p.Line) && p.Line > 1 { // the last line, without terminator
		start = d.LineEnd(p.Line - 1)
	}
	return Insertion{Start: start, End: end, Line: p.Line}
}
