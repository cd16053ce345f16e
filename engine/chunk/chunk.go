// Package chunk cuts a file into chunks: the units that are searched, embedded
// and cited. Code is cut along its syntax tree, Markdown along its sections,
// other text along its paragraphs or structure. Chunking never fails: what
// cannot be parsed is cut by lines.
//
// The chunks of a file cover all its non-blank lines, in order, by exact line
// ranges of the file as it stands. Only sections of Markdown without text, and a
// notebook's outputs and metadata, are in no chunk. Chunks of source code do not
// overlap; the parts of a long Markdown section, and chunks of prose, share the
// lines that the options ask for.
package chunk

import "coderag-ls/engine/file"

// Version changes whenever the same input would give other chunks; files
// indexed with another version are chunked again.
const Version = 3

// Kind is the chunk type.
type Kind string

// The chunk kinds.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"     // class, struct, record, enum, object
	Interface Kind = "interface" // interface, trait, protocol
	Type      Kind = "type"      // alias, typedef, other named type
	Variable  Kind = "variable"  // variables and constants with a block of their own
	Module    Kind = "module"    // imports and loose statements between definitions
	Section   Kind = "section"   // Markdown section
	Block     Kind = "block"     // a structured part of a data file
	Lines     Kind = "lines"     // line fallback and prose
)

// Symbol is a definition found in a file.
type Symbol struct {
	Name   string
	Kind   Kind
	Parent string // the enclosing definition's qualified name, or ""
	// StartLine and EndLine span the definition with its doc comment and
	// decorators; NameLine is where its name stands. 1-based, inclusive.
	StartLine, EndLine, NameLine int
	// Signature is the declaration's head on one line, without its body.
	Signature string
	// Summary is the doc comment's first sentence, or "".
	Summary string
	// DocStart and DocEnd are the doc comment's lines (a docstring's too), 0
	// where there is none.
	DocStart, DocEnd int
	Exported         bool
}

// Import is one import of a file, as written.
type Import struct {
	Target string   // module, package or header path as written
	Names  []string // imported names, where the language lists them
	Line   int
}

// Chunk is one unit of search. It holds no text: the lines are read from the
// file and checked against Hash.
type Chunk struct {
	// ID is hex SHA-256, cut to 32 digits, of path, symbol or header path, ordinal among
	// equals, and content hash: no line numbers in it.
	ID         string
	Path       string // slash-separated, relative to the root
	SourceType file.SourceType
	Kind       Kind
	Language   string
	Name       string   // the main definition's name, a section's header, or ""
	Parent     string   // the enclosing definition's name
	HeaderPath []string // Markdown: document title, H2, H3 ...
	Index      int      // ordinal in the file, from 0
	// StartLine and EndLine are 1-based, inclusive, as the file stands.
	StartLine, EndLine int
	Tokens             int      // len/4 of the text
	Summary            string   // the doc comment's first sentence, else the words of name and signature
	Layer              string   // api, domain, infrastructure, ui, test, config, cli or ""
	Symbols            []string // names defined in the chunk, main one first
	Imports            []string // import targets of the file that the chunk uses, all for a module chunk
	EntryPoints        []string // "GET /users", "main", "cobra: serve" ...
	// Header is text that is put before the lines when the chunk is embedded
	// or searched: "[Document: … | Section: …]" for Markdown, the enclosing
	// signatures for a part of a large definition.
	Header string
	// Part and Parts number the pieces of a split definition, from 1; 0 where it is whole.
	Part, Parts int
	// Truncated lines (what Markdown code blocks have beyond 500 tokens) are left
	// out of the embedded text: 1-based inclusive pairs.
	Truncated [][2]int
	// Hash is SHA-256 of the lines joined by "\n", without a final newline.
	Hash [32]byte
	// EmbedHash is SHA-256 of Tight(Embeddable): chunks that share it have the
	// same vector.
	EmbedHash [32]byte
}

// File is everything chunking learns of one file.
type File struct {
	Chunks  []Chunk
	Symbols []Symbol
	Imports []Import
	// Fallback says why no syntax tree was used ("" where one was): "no
	// grammar", "parse errors", "too large", "generated", "deadline".
	Fallback string
}
