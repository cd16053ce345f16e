package lsptest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coderag-ls/engine/text"
)

// buffer is an open document.
type buffer struct {
	uri      string
	language string
	version  int
	content  string
}

// WorkspaceEdit is what is taken of LSP's: edits of documents.
type WorkspaceEdit struct {
	Changes         map[string][]TextEdit `json:"changes"`
	DocumentChanges []struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version *int   `json:"version"`
		} `json:"textDocument"`
		Edits []TextEdit `json:"edits"`
	} `json:"documentChanges"`
}

// TextEdit is LSP's.
type TextEdit struct {
	Range   text.Range `json:"range"`
	NewText string     `json:"newText"`
}

// URI is a path's, or the argument where that is a URI already.
func URI(pathOrURI string) string {
	if filepath.IsAbs(pathOrURI) {
		return text.URIFromPath(pathOrURI)
	}
	return pathOrURI
}

// Open opens a file, or an untitled document, with the text.
func (e *Editor) Open(pathOrURI, language, content string) {
	b := &buffer{uri: URI(pathOrURI), language: language, version: 1, content: content}
	e.mu.Lock()
	e.buffers[b.uri] = b
	e.mu.Unlock()
	e.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": b.uri, "languageId": language, "version": 1, "text": content,
	}})
}

// OpenFile opens a file as it stands on disk.
func (e *Editor) OpenFile(path string) {
	e.tb.Helper()
	e.Open(path, strings.TrimPrefix(filepath.Ext(path), "."), mustRead(e.tb, path))
}

// Text is an open document's text.
func (e *Editor) Text(pathOrURI string) string {
	e.tb.Helper()
	return e.buffer(pathOrURI).content
}

func (e *Editor) buffer(pathOrURI string) *buffer {
	e.tb.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[URI(pathOrURI)]
	if b == nil {
		e.tb.Fatalf("%s is not open", pathOrURI)
	}
	return b
}

// Change replaces the bytes Start to End of a text.
type Change struct {
	Start, End int
	Text       string
}

// Edit replaces the bytes start to end of an open document, as one
// incremental change.
func (e *Editor) Edit(pathOrURI string, start, end int, newText string) {
	e.tb.Helper()
	e.EditAll(pathOrURI, Change{start, end, newText})
}

// EditAll makes several changes of an open document in one notification; the
// places of each are those of the text that the changes before it left.
func (e *Editor) EditAll(pathOrURI string, changes ...Change) {
	e.tb.Helper()
	b := e.buffer(pathOrURI)
	after := b.content
	var events []any
	for _, c := range changes {
		if c.Start < 0 || c.End < c.Start || c.End > len(after) {
			e.tb.Fatalf("editing %s: bytes %d to %d of %d", pathOrURI, c.Start, c.End, len(after))
		}
		rng := text.Range{Start: positionAt(after, c.Start, e.Encoding), End: positionAt(after, c.End, e.Encoding)}
		events = append(events, map[string]any{"range": rng, "text": c.Text})
		after = after[:c.Start] + c.Text + after[c.End:]
	}
	e.change(b, after, events...)
}

// Replace replaces the first occurrence of old.
func (e *Editor) Replace(pathOrURI, old, newText string) {
	e.tb.Helper()
	at := strings.Index(e.Text(pathOrURI), old)
	if at < 0 {
		e.tb.Fatalf("%s does not hold %q", pathOrURI, old)
	}
	e.Edit(pathOrURI, at, at+len(old), newText)
}

// SetText sends the whole text.
func (e *Editor) SetText(pathOrURI, content string) {
	e.tb.Helper()
	e.change(e.buffer(pathOrURI), content, map[string]any{"text": content})
}

// change sends content changes that lead to a text, or that text as a whole to
// a server that is to be told so.
func (e *Editor) change(b *buffer, after string, changes ...any) {
	if e.config.FullText {
		changes = []any{map[string]any{"text": after}}
	}
	e.mu.Lock()
	b.version++
	b.content = after
	version := b.version
	e.mu.Unlock()
	e.Notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": b.uri, "version": version}, "contentChanges": changes,
	})
}

// Save writes an open document to disk.
func (e *Editor) Save(path string) {
	e.tb.Helper()
	if err := os.WriteFile(path, []byte(e.Text(path)), 0o644); err != nil {
		e.tb.Fatal(err)
	}
	e.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": URI(path)}})
}

// Close closes a document.
func (e *Editor) Close(pathOrURI string) {
	e.tb.Helper()
	b := e.buffer(pathOrURI)
	e.mu.Lock()
	delete(e.buffers, b.uri)
	e.mu.Unlock()
	e.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": b.uri}})
}

// Changed tells that files changed on disk, as the client's own watcher does.
func (e *Editor) Changed(paths ...string) {
	var events []FileEvent
	for _, path := range paths {
		events = append(events, FileEvent{URI(path), FileChanged})
	}
	e.Watched(events...)
}

// FileEvent is LSP's.
type FileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

// The types of a FileEvent.
const (
	FileCreated = 1
	FileChanged = 2
	FileDeleted = 3
)

// Watched tells what the client's own watcher saw.
func (e *Editor) Watched(events ...FileEvent) {
	e.Notify("workspace/didChangeWatchedFiles", map[string]any{"changes": events})
}

// Position is where the n-th byte of an open document stands.
func (e *Editor) Position(pathOrURI string, offset int) text.Position {
	e.tb.Helper()
	return positionAt(e.buffer(pathOrURI).content, offset, e.Encoding)
}

// Find is the position of the first occurrence of a text in a document.
func (e *Editor) Find(pathOrURI, what string) text.Position {
	e.tb.Helper()
	at := strings.Index(e.Text(pathOrURI), what)
	if at < 0 {
		e.tb.Fatalf("%s does not hold %q", pathOrURI, what)
	}
	return e.Position(pathOrURI, at)
}

// Apply applies an edit to open documents, each in one step, and tells the
// server.
func (e *Editor) Apply(edit WorkspaceEdit) error {
	if len(edit.Changes) > 0 && len(edit.DocumentChanges) > 0 {
		return fmt.Errorf("an edit with both changes and documentChanges")
	}
	for _, change := range edit.DocumentChanges {
		e.mu.Lock()
		b := e.buffers[change.TextDocument.URI]
		e.mu.Unlock()
		if b == nil {
			return fmt.Errorf("%s is not open", change.TextDocument.URI)
		}
		if v := change.TextDocument.Version; v == nil || *v != b.version {
			return fmt.Errorf("%s: the edit is for another version", b.uri)
		}
		if err := e.applyTo(b, change.Edits); err != nil {
			return err
		}
	}
	for uri, edits := range edit.Changes {
		e.mu.Lock()
		b := e.buffers[uri]
		e.mu.Unlock()
		if b == nil {
			return fmt.Errorf("%s is not open", uri)
		}
		if err := e.applyTo(b, edits); err != nil {
			return err
		}
	}
	return nil
}

// applyTo applies edits to one document, last first, as the protocol has it.
func (e *Editor) applyTo(b *buffer, edits []TextEdit) error {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(x, y TextEdit) int {
		if x.Range.Start.Line != y.Range.Start.Line {
			return y.Range.Start.Line - x.Range.Start.Line
		}
		return y.Range.Start.Character - x.Range.Start.Character
	})
	after := b.content
	var changes []any
	for _, edit := range edits {
		start, err := offsetOf(after, edit.Range.Start, e.Encoding)
		if err != nil {
			return fmt.Errorf("%s: %w", b.uri, err)
		}
		end, err := offsetOf(after, edit.Range.End, e.Encoding)
		if err != nil {
			return fmt.Errorf("%s: %w", b.uri, err)
		}
		after = after[:start] + edit.NewText + after[end:]
		changes = append(changes, map[string]any{"range": edit.Range, "text": edit.NewText})
	}
	e.change(b, after, changes...)
	return nil
}
