package lsp

import (
	"context"
	"encoding/json"
	"fmt"

	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

type didOpenParams struct {
	TextDocument struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int32  `json:"version"`
		Text       string `json:"text"`
	} `json:"textDocument"`
}

func (s *server) didOpen(_ context.Context, raw json.RawMessage) error {
	p, err := decodeParams[didOpenParams](raw)
	if err != nil {
		return err
	}
	doc := &document{
		uri: p.TextDocument.URI, path: filePath(p.TextDocument.URI), language: p.TextDocument.LanguageID,
		version: p.TextDocument.Version, text: text.New(p.TextDocument.Text), synced: !lossy(raw),
	}
	s.manager.replace("didOpen", doc, true)
	if !doc.synced {
		return fmt.Errorf("%s is not valid UTF-8: the file on disk is used in its place", doc.uri)
	}
	return nil
}

type didChangeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int32  `json:"version"`
	} `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

// didChange applies edits. One that cannot be right leaves the document out of
// sync: the disk's text is used until the editor sends the whole text again.
func (s *server) didChange(_ context.Context, raw json.RawMessage) error {
	p, err := decodeParams[didChangeParams](raw)
	if err != nil {
		// Whatever was edited, it is not known here.
		s.manager.loseSync(uriOf(raw))
		return err
	}
	before := s.manager.document(p.TextDocument.URI)
	if before == nil {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	after, err := before.edit(p.TextDocument.Version, p.ContentChanges, s.enc)
	if after.synced && lossy(raw) {
		after.synced, err = false, fmt.Errorf("the edit is not valid UTF-8")
	}
	s.manager.replace("didChange", after, false)
	if err != nil {
		return fmt.Errorf("%s: the file on disk is used until the editor sends the whole text again: %w", after.uri, err)
	}
	return nil
}

// uriOf finds the document of parameters that do not decode as a whole.
func uriOf(raw json.RawMessage) string {
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
	}
	_ = json.Unmarshal(raw, &p) // as far as it goes
	return p.TextDocument.URI
}

func (s *server) didClose(_ context.Context, p documentParams) error {
	if s.manager.document(p.TextDocument.URI) == nil {
		return fmt.Errorf("%s is not open", p.TextDocument.URI)
	}
	s.manager.remove("didClose", p.TextDocument.URI)
	return nil
}

// didSave has the disk looked at: the buffer is what it was.
func (s *server) didSave(ctx context.Context, p documentParams) error {
	if path := filePath(p.TextDocument.URI); path != "" {
		s.manager.touch(ctx, "didSave", []string{path})
	}
	return nil
}

// document returns an open document, in sync or not.
func (m *manager) document(uri string) *document {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.docs[uri]
}

// replace puts a document in place of the one with its URI and tells the view.
// reset is true where the text was sent as a whole by didOpen.
func (m *manager) replace(cause string, doc *document, reset bool) {
	defer m.s.drift.documentChanged(doc.uri)
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := m.docs.get(doc.uri) != nil // the view has the buffer
	m.docs = m.docs.with(doc)
	if doc.path == "" {
		return
	}
	change := doc.opened()
	switch {
	case doc.synced && seen && !reset:
		change.Kind = file.Edited
	case !doc.synced && !seen:
		return
	case !doc.synced:
		change = file.Change{Path: doc.path, Kind: file.Closed}
	}
	m.apply(cause, change)
}

// loseSync marks a document's text as unknown.
func (m *manager) loseSync(uri string) {
	if doc := m.document(uri); doc != nil {
		lost := *doc
		lost.synced = false
		m.replace("didChange", &lost, false)
	}
}

func (m *manager) remove(cause, uri string) {
	defer m.s.drift.documentChanged(uri)
	m.mu.Lock()
	defer m.mu.Unlock()
	doc := m.docs[uri]
	m.docs = m.docs.without(uri)
	if doc.path != "" && doc.synced {
		m.apply(cause, file.Change{Path: doc.path, Kind: file.Closed})
	}
}

// touch tells the index that files may have changed on disk. An index that is
// not open yet looks at the disk when it is.
func (m *manager) touch(ctx context.Context, cause string, paths []string) {
	m.mu.Lock()
	ws := m.ws
	m.mu.Unlock()
	if ws == nil || len(paths) == 0 {
		return
	}
	m.s.drift.filesChanged() // citations are read from the disk itself
	if err := ws.Touch(ctx, cause, paths, false); err != nil && ctx.Err() == nil {
		m.s.log.Error("noting changed files", "cause", cause, "error", err)
	}
}
