package chunk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Options are the settings of chunking. The zero value of a field means its default.
type Options struct {
	// MaxChars is the most characters of a code chunk (1500).
	MaxChars int
	// MaxParseBytes is the size above which a file is cut by lines without a
	// syntax tree (1 MiB).
	MaxParseBytes int
	// ParseDeadline is how much processor time parsing one file may take before it is cut by
	// lines (2 s).
	ParseDeadline time.Duration
	// MarkdownMaxTokens is the size over which a Markdown section is split (1000),
	// MarkdownPartTokens the size of its parts (500), MarkdownOverlap what
	// neighbouring parts share (100) and CodeBlockTokens the size over which a
	// code block is truncated in the embedded text (500). A token is four
	// characters. The defaults are those of the indexing design (OYA); a negative
	// overlap is none.
	MarkdownMaxTokens, MarkdownPartTokens, MarkdownOverlap, CodeBlockTokens int
	// TextWords is the size of a prose chunk in words (512), TextOverlap what
	// neighbours share (50; negative for none), as in SYN.
	TextWords, TextOverlap int
	// Layers say which architectural layer a path belongs to; the first that
	// matches counts. nil means DefaultLayers.
	Layers []LayerRule
}

func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.MaxChars, 1500)
	def(&o.MaxParseBytes, 1<<20)
	def(&o.MarkdownMaxTokens, 1000)
	def(&o.MarkdownPartTokens, 500)
	def(&o.MarkdownOverlap, 100)
	def(&o.CodeBlockTokens, 500)
	def(&o.TextWords, 512)
	def(&o.TextOverlap, 50)
	if o.ParseDeadline == 0 {
		o.ParseDeadline = 2 * time.Second
	}
	if o.Layers == nil {
		o.Layers = DefaultLayers()
	}
	o.MarkdownOverlap = min(max(o.MarkdownOverlap, 0), o.MarkdownPartTokens/2)
	o.TextOverlap = min(max(o.TextOverlap, 0), o.TextWords/2)
	return o
}

// Digest changes whenever the same file would be chunked otherwise: with the
// options, and with Version.
func (o Options) Digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %+v", Version, o.withDefaults()))
	return hex.EncodeToString(sum[:8])
}
