// Package lexical is the code-aware tokenizer and the BM25F inverted index.
//
// Documents are added to a Builder, which becomes an immutable Segment; a
// search runs over several segments at once with common statistics, so that an
// edit costs a small new segment and not a rebuild. It imports no other
// package of the project.
package lexical

// Field is one of the parts of a document that are weighted apart.
type Field int

// The fields of a chunk.
const (
	Body    Field = iota // the lines, comments left out
	Comment              // comment tokens of the lines
	Name                 // the file's base name
	Path                 // the directories' names
	Defs                 // names of the symbols that the chunk defines
	Summary              // doc summary, Markdown headers
	NumFields
)
