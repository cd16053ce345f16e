// Package file knows what is in a workspace: which files are indexed and which
// are skipped and why, what a file's text is (transcoded to UTF-8), and what
// language it is written in.
//
// A missing file is data, not an error; an unreadable file is not a deleted
// one.
package file

import "time"

// Root is one workspace folder.
type Root struct {
	// Name is the folder's display name, unique within a workspace. With
	// several roots, workspace paths are prefixed with "Name/".
	Name string
	// Dir is the absolute, cleaned directory.
	Dir string
	// Copy tells the indexes of one folder apart: 0 is the usual one. Where two
	// workspaces that share a folder are open at once, the second keeps another.
	Copy int
}

// Hash is the SHA-256 of a file's UTF-8 text (after transcoding).
type Hash [32]byte

// SourceType says which chunker and which ranking rules fit a file.
type SourceType string

// The source types (PRD section "source types").
const (
	Code     SourceType = "code"
	Markdown SourceType = "markdown"
	Text     SourceType = "text"
)

// Class is what is known of a file that is indexed.
type Class struct {
	// Language is the lower-case linguist name ("go", "c++", "c#",
	// "typescript", "tsx"), or "" where none is known.
	Language   string
	SourceType SourceType
	// Generated files get line chunks without a syntax tree and rank lower.
	Generated bool
	// Test, Vendored, Example, Docs mark paths that ranking treats apart.
	Test, Vendored, Example, Docs bool
}

// SkipReason says why a file or directory is not indexed. It is shown to the
// user as is.
type SkipReason string

// The skip reasons.
const (
	SkipIgnored     SkipReason = "ignored"            // .gitignore, .ignore, .coderagignore
	SkipExcluded    SkipReason = "excluded"           // built-in or configured exclude
	SkipSecret      SkipReason = "secret"             // .env*, *.pem, id_*, ...
	SkipTooLarge    SkipReason = "too large"          // over the size limit
	SkipBinary      SkipReason = "binary"             // NUL bytes or a binary format
	SkipMinified    SkipReason = "minified"           // machine-made, unreadable lines
	SkipNotRegular  SkipReason = "not a regular file" // FIFO, socket, device
	SkipSymlink     SkipReason = "symlink out of the root"
	SkipLinked      SkipReason = "symlink" // its target is found under its own path
	SkipUnreadable  SkipReason = "unreadable"
	SkipUnsupported SkipReason = "unsupported type"
	SkipEmpty       SkipReason = "empty"
	SkipShared      SkipReason = "in the shared index" // found there, as it stands: not left out
)

// SkipError is a file that is not indexed because of what it is. Read returns
// it.
type SkipError struct {
	Path   string
	Reason SkipReason
	// Detail adds what the user needs to act on; may be "".
	Detail string
	// Err is the operating system's error of an unreadable file, else nil.
	Err error
}

func (e *SkipError) Error() string {
	if e.Detail == "" {
		return e.Path + ": " + string(e.Reason)
	}
	return e.Path + ": " + string(e.Reason) + ": " + e.Detail
}

// Unwrap returns the operating system's error.
func (e *SkipError) Unwrap() error { return e.Err }

// Entry is a file that discovery found and that is to be indexed, as far as
// its name and its stat tell. Path is slash-separated, relative to the root.
type Entry struct {
	Path    string
	Size    int64
	ModTime time.Time
}

// Skip is a file or directory that is not indexed.
type Skip struct {
	Path   string
	Reason SkipReason
	// Detail adds what the user needs to act on ("rule *.log in .gitignore:3").
	Detail string
	// Dir is true where a whole directory was skipped.
	Dir bool
}

// ChangeKind is what happened to a path.
type ChangeKind int

// The kinds of change. Opened, Edited and Closed come from an editor's
// buffers; Touched comes from the disk: the path may have changed, appeared or
// gone, and only a look tells.
const (
	Touched ChangeKind = iota
	Opened
	Edited
	Closed
)

// Change is one event for one path. Events are hints: the scan is the truth.
type Change struct {
	// Path is the absolute path.
	Path string
	Kind ChangeKind
	// Text and Version are the buffer's, for Opened and Edited.
	Text    string
	Version int32
	// Language is the editor's language id for Opened; may be "".
	Language string
}
