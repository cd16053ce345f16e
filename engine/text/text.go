// Package text is the only code that counts columns. It turns byte offsets
// into lines and LSP positions and back, knows every line ending, and converts
// between file paths and URIs.
//
// Lines end at "\n", "\r\n" or a lone "\r". Line numbers are 1-based and
// inclusive, as citations write them; LSP positions are 0-based.
package text

// Encoding is an LSP position encoding: what one character of a
// Position.Character counts.
type Encoding string

// The encodings that LSP 3.17 defines.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	UTF32 Encoding = "utf-32"
)

// Position is an LSP position: both fields are 0-based, Character counts
// units of the negotiated Encoding.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is an LSP range: End is exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}
