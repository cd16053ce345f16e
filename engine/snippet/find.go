package snippet

import "coderag-ls/engine/text"

// Find finds the cited lines in a document as it stands: where they were
// cited, or else the nearest place that has the same number of lines with the
// same SHA-256. matches is asked with 64 hex digits.
func Find(d *text.Document, startLine, endLine int, matches func(sha256 string) bool) (start int, ok bool) {
	if startLine < 1 || endLine < startLine {
		return 0, false
	}
	count := endLine - startLine + 1
	last := d.LineCount() - count + 1 // the last line that may start the range
	at := func(start int) bool {
		lines, ok := d.Lines(start, start+count-1)
		return ok && matches(text.HexHash(lines))
	}
	for distance := 0; startLine-distance >= 1 || startLine+distance <= last; distance++ {
		if at(startLine + distance) {
			return startLine + distance, true
		}
		if distance > 0 && at(startLine-distance) {
			return startLine - distance, true
		}
	}
	return 0, false
}
