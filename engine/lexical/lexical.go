// Package lexical is the code-aware tokenizer and the BM25F inverted index.
//
// Documents are added to a Builder, which becomes an immutable Segment; a
// search runs over several segments at once with common statistics, so that an
// edit costs a small new segment and not a rebuild. It imports no other
// package of the project.
//
// Two kinds of term share the dictionary. Word terms are the lower-cased,
// stemmed words that identifiers and prose are made of: HTTPServer gives "http"
// and "server". Exact terms are whole identifiers, lower-cased and marked with
// "=": "=httpserver", "=send_static_file".
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

// String is the field's lower-case name, as explanations show it.
func (f Field) String() string {
	switch f {
	case Body:
		return "body"
	case Comment:
		return "comment"
	case Name:
		return "name"
	case Path:
		return "path"
	case Defs:
		return "defs"
	case Summary:
		return "summary"
	}
	return "field?"
}

// Span is a half-open byte range of a document's body.
type Span struct{ Start, End int }

// Doc is one document (a chunk) as the Builder takes it. No string is kept
// after Add.
type Doc struct {
	// Body is the text of the lines.
	Body string
	// Comments are the byte ranges of Body that are comments or doc strings, ascending and
	// without overlap. Their tokens count for the Comment field. Ranges outside of
	// Body are cut.
	Comments []Span
	// Prose says that Body is written for people (Markdown, text): English stop
	// words and words under three letters are left out.
	Prose bool
	// Name is the file's base name, Path its directory, slash-separated.
	Name, Path string
	// Defs are the names of the symbols that the chunk defines.
	Defs []string
	// Summary is the doc summary or the Markdown headers.
	Summary string
}
