package lsp

import (
	"maps"
	"unicode/utf8"

	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

// document is an open text document. It is immutable: an edit makes a new one.
type document struct {
	uri      string
	path     string // absolute; "" where the URI names no file
	language string // the editor's language id
	version  int32
	text     *text.Document
	// synced is false from the moment the text is known not to be the
	// editor's, until the editor sends all of it again. Nothing is answered
	// from such a text, and the index has the disk's.
	synced bool
}

// documents are the open documents by URI. A value is never changed.
type documents map[string]*document

// get returns the document of a URI where its text is known.
func (d documents) get(uri string) *document {
	if doc := d[uri]; doc != nil && doc.synced {
		return doc
	}
	return nil
}

// with returns the documents with one replaced.
func (d documents) with(doc *document) documents {
	next := maps.Clone(d)
	if next == nil {
		next = documents{}
	}
	next[doc.uri] = doc
	return next
}

// without returns the documents without one.
func (d documents) without(uri string) documents {
	next := maps.Clone(d)
	delete(next, uri)
	return next
}

// filePath is the absolute path that a URI names, "" where it names none
// (untitled:, git:, a remote host).
func filePath(uri string) string {
	path, err := text.PathFromURI(uri)
	if err != nil {
		return ""
	}
	return path
}

// opened is the change that puts a document's text in front of the disk's.
func (d *document) opened() file.Change {
	return file.Change{Path: d.path, Kind: file.Opened, Text: d.text.Content(), Version: d.version, Language: d.language}
}

// edit returns the document after content changes, in order. The error says
// why the text can no longer be known; the document is then out of sync.
func (d *document) edit(version int32, changes []contentChange, enc text.Encoding) (*document, error) {
	next := *d
	next.version = version
	var failed error
	for _, change := range changes {
		switch {
		case change.Range == nil:
			next.text, next.synced, failed = text.New(change.Text), true, nil
		case next.synced:
			edited, err := next.text.Apply(*change.Range, change.Text, enc)
			if err != nil {
				next.synced, failed = false, err
				continue
			}
			next.text = edited
		}
	}
	return &next, failed
}

// lossy reports whether raw JSON holds bytes that are no UTF-8: decoding has
// replaced them, so columns no longer are the editor's.
func lossy(raw []byte) bool { return !utf8.Valid(raw) }
