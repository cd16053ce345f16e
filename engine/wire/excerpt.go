package wire

// ExcerptParams ask for lines of an indexed file as they stand.
type ExcerptParams struct {
	// Path is the file's, as citations write it; URI, a file URI, counts where
	// it is "".
	Path string `json:"path,omitempty"`
	URI  string `json:"uri,omitempty"`
	// StartLine and EndLine are 1-based and inclusive; 0 for the first and the
	// last line of the file. An EndLine beyond the file's last line means that one.
	StartLine int `json:"startLine,omitempty"`
	EndLine   int `json:"endLine,omitempty"`
	// Omit are folders and glob patterns of files that are not read (Filters.Omit).
	Omit []string `json:"omit,omitempty"`
}

// ExcerptResult holds lines of a file, like a Citation's.
type ExcerptResult struct {
	URI       string `json:"uri"`
	Path      string `json:"path"`
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Lines     int    `json:"lines"` // of the whole file
	// Text is the lines joined by "\n" without a final newline, SHA256 the hex
	// digest of its UTF-8.
	Text   string `json:"text"`
	SHA256 string `json:"sha256"`
}
