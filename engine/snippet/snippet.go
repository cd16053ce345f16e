// Package snippet makes the cited snippets that are inserted into a file, and
// recognises their citation lines again.
//
// A snippet is a citation line in the target's comment syntax, then the cited
// lines in the target's indentation and line endings:
//
//	// internal/store/open.go:12-14 sha256:5f3a09bc
//	if err != nil {
//		return nil, err
//	}
//
// The digits are the first 8 of the cited lines' SHA-256 (wire.Citation), not
// of the inserted text, which is re-indented. Citation lines stay in users'
// files for ever: their form never changes.
package snippet

import (
	"errors"
	"fmt"
	"strings"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Target is where a snippet goes.
type Target struct {
	Document *text.Document
	// Language is the target's lower-case linguist name, as file.Class has it;
	// "" where none is known.
	Language string
	// Line is the 1-based line of the cursor or of the selection's end. Lines
	// outside the document are taken as its first or last.
	Line int
}

// Insertion replaces the bytes Start to End of the target with Text. Line is
// the 1-based line on which the citation line then stands.
type Insertion struct {
	Start, End int
	Text       string
	Line       int
}

// ErrNoComments is returned for languages that have no comments (JSON, CSV): a
// citation line would break the file, and a snippet without one is no proof.
var ErrNoComments = errors.New("the file's language has no comments, so a snippet cannot carry its citation")

// Edit returns the insertion of a cited snippet below the target's line, or in
// place of that line where it is blank. The snippet takes the indentation that
// the place has: that of the line, one step deeper behind an opening bracket.
//
// In Markdown the cited lines stand in a fenced code block, unless they are
// Markdown themselves; in files without a known comment syntax the citation
// line has no comment marker.
func Edit(t Target, c wire.Citation) (Insertion, error) {
	head, err := Line(t.Language, c.Path, c.StartLine, c.EndLine, c.SHA256)
	if err != nil {
		return Insertion{}, err
	}
	at := findPlace(t.Document, t.Line)
	lines := append([]string{head}, body(t, c)...)
	for i, line := range lines {
		if line != "" {
			lines[i] = at.indent + line
		}
	}
	eol := lineEnding(t.Document)
	insertion := Insertion{Start: at.start, End: at.end, Text: strings.Join(lines, eol), Line: at.line}
	if at.after {
		insertion.Text = eol + insertion.Text
	}
	return insertion, nil
}

// body returns the cited lines as they are inserted, but for the place's
// indentation.
func body(t Target, c wire.Citation) []string {
	lines := dedent(strings.Split(c.Text, "\n"))
	if t.Language != "markdown" {
		return reindent(lines, styleOfLines(t.Document.Content()))
	}
	if c.Language == "markdown" {
		return lines
	}
	fence := "```"
	for strings.Contains(c.Text, fence) {
		fence += "`"
	}
	return append(append([]string{fence + fenceInfo(c.Language)}, lines...), fence)
}

// fenceInfo is a language's name as an info string; "" for names that are none.
func fenceInfo(language string) string {
	if strings.ContainsAny(language, " `\t\n") {
		return ""
	}
	return language
}

// Line returns a citation line for a file of the given language, without
// indentation.
func Line(language, path string, startLine, endLine int, sha256 string) (string, error) {
	if len(sha256) < digits || !isHex(sha256[:digits]) {
		return "", fmt.Errorf("citing %s: %q is not a SHA-256 in lower-case hex", path, sha256)
	}
	if startLine < 1 || endLine < startLine {
		return "", fmt.Errorf("citing %s: lines %d-%d are no range of lines", path, startLine, endLine)
	}
	open, closing, err := comment(language)
	if err != nil {
		return "", fmt.Errorf("%w (%s)", err, language)
	}
	line := fmt.Sprintf("%s:%d-%d sha256:%s", path, startLine, endLine, sha256[:digits])
	if open != "" {
		line = open + " " + line
	}
	if closing != "" {
		line += " " + closing
	}
	// The path is the only part that is not ours: a name such as "a*/b" would
	// end the comment it stands in.
	if got, ok := Parse(line); !ok || got.Path != path || closing != "" && strings.Contains(path, closing) {
		return "", fmt.Errorf("a citation of the path %q would not be recognised again", path)
	}
	return line, nil
}

// comment returns the language's markers around a comment of one line; both
// are empty where the language is not known.
func comment(language string) (open, closing string, err error) {
	switch language {
	case "json", "csv", "tsv":
		return "", "", ErrNoComments
	}
	line, block := chunk.CommentSyntax(language)
	if line != "" {
		return line, "", nil
	}
	return block[0], block[1], nil
}

// lineEnding is the document's first line terminator, "\n" where it has none.
func lineEnding(d *text.Document) string {
	content := d.Content()
	if end := d.LineEnd(1); end < len(content) {
		if strings.HasPrefix(content[end:], "\r\n") {
			return "\r\n"
		}
		return content[end : end+1]
	}
	return "\n"
}
