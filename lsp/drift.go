package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"coderag-ls/engine/snippet"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

const (
	// driftQuiet is how long nothing must have changed before citations are
	// checked again, driftMost how long they wait at most.
	driftQuiet = 200 * time.Millisecond
	driftMost  = time.Second
	// maxDriftBytes is the largest document whose citations are checked.
	maxDriftBytes = 4 << 20
	// maxRecheck is how many citations of a document may be adrift for it to be
	// checked again whatever is typed elsewhere: the lines may be there now.
	maxRecheck = 50
)

// drift watches over the citations of the open documents. It checks them in a
// goroutine of its own, some time after the last change of the document, of a
// file that it cites, or of the index; what it finds is published, or the client
// asked to ask for it.
type drift struct {
	s       *server
	wake    chan struct{}      // 1 slot: something changed
	flushes chan chan struct{} // asks for a check now; what is sent is closed after it
	epoch   atomic.Uint64      // grows whenever files on disk, or the index, may have changed

	mu       sync.Mutex // guards all below
	checking string     // the URI of the document that is being checked
	cancel   context.CancelFunc
	pulled   map[string]pulled // what the client asked for last, by URI

	checked map[string]*checkedDocument // the loop's own
}

// checkedDocument is what the citations of a document were checked against.
type checkedDocument struct {
	doc    *document
	view   View
	epoch  uint64
	docs   documents            // all that were open
	cited  map[string]*document // the cited files by path, nil where not open
	adrift int
	shown  string // the diagnostics that the client was told, encoded; "" for none
}

// pulled is an answer to textDocument/diagnostic.
type pulled struct {
	doc *document
	// told are the diagnostics, encoded, that it was answered with, or those
	// for which it was asked to ask again.
	told string
}

func newDrift(s *server) *drift {
	return &drift{
		s: s, wake: make(chan struct{}, 1), flushes: make(chan chan struct{}),
		pulled: map[string]pulled{}, checked: map[string]*checkedDocument{},
	}
}

// documentChanged notes that a document was opened, edited or closed. It is
// called for every keystroke.
func (d *drift) documentChanged(uri string) {
	d.mu.Lock()
	if d.checking == uri && d.cancel != nil {
		d.cancel() // what it finds would be of the past
	}
	d.mu.Unlock()
	signal(d.wake)
}

// filesChanged notes that files on disk, or the index, may have changed.
func (d *drift) filesChanged() {
	d.epoch.Add(1)
	signal(d.wake)
}

// flush returns when the citations are checked as things stand.
func (d *drift) flush(ctx context.Context) {
	done := make(chan struct{})
	select {
	case d.flushes <- done:
	case <-ctx.Done():
		return
	case <-d.s.manager.done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-d.s.manager.done():
	}
}

// run checks citations until ctx ends.
func (d *drift) run(ctx context.Context) {
	for {
		var done chan struct{}
		select {
		case <-ctx.Done():
			return
		case done = <-d.flushes:
		case <-d.wake:
			done = d.settle(ctx)
		}
		if ctx.Err() == nil {
			d.checkAll(ctx)
		}
		if done != nil {
			close(done)
		}
	}
}

// settle waits until nothing changed for a while, or somebody waits.
func (d *drift) settle(ctx context.Context) (flush chan struct{}) {
	quiet, most := time.NewTimer(driftQuiet), time.NewTimer(driftMost)
	defer quiet.Stop()
	defer most.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case flush = <-d.flushes:
			return flush
		case <-quiet.C:
			return nil
		case <-most.C:
			return nil
		case <-d.wake:
			quiet.Reset(driftQuiet)
		}
	}
}

// checkAll checks the documents whose citations may have other answers now.
func (d *drift) checkAll(ctx context.Context) {
	epoch := d.epoch.Load()
	d.s.manager.mu.Lock()
	docs, view := d.s.manager.docs, d.s.manager.view
	d.s.manager.mu.Unlock()
	for uri, before := range d.checked {
		if docs[uri] == nil {
			d.publish(before, &document{uri: uri, text: text.New("")}, nil)
			delete(d.checked, uri)
		}
	}
	d.mu.Lock()
	maps.DeleteFunc(d.pulled, func(uri string, _ pulled) bool { return docs[uri] == nil })
	d.mu.Unlock()

	byPath := map[string]*document{}
	for _, doc := range docs {
		if doc.path != "" {
			byPath[doc.path] = doc
		}
	}
	outdated := false
	for _, uri := range slices.Sorted(maps.Keys(docs)) {
		doc, before := docs[uri], d.checked[uri]
		if before != nil && before.holds(doc, view, epoch, docs, byPath) {
			continue
		}
		if before == nil && !d.s.mayDrift(doc) {
			continue // nothing to say, nothing to take back
		}
		found, ok := d.check(ctx, doc, view)
		if !ok {
			continue // it was changed again, which wakes the loop
		}
		now := &checkedDocument{doc: doc, view: view, epoch: epoch, docs: docs, cited: map[string]*document{}}
		if before != nil {
			now.shown = before.shown
		}
		for _, c := range found {
			if path := filePath(c.URI); path != "" {
				now.cited[path] = byPath[path]
			}
			if c.State != wire.CitationExact {
				now.adrift++
			}
		}
		d.checked[uri] = now
		if d.publish(now, doc, found) {
			outdated = true
		}
	}
	if outdated {
		d.s.background.Go(func() {
			if err := d.s.conn.Call(d.s.manager.ctx, "workspace/diagnostic/refresh", nil, nil); err != nil && d.s.manager.ctx.Err() == nil {
				d.s.log.Warn("asking for new diagnostics", "error", err)
			}
		})
	}
}

// holds reports whether nothing changed that a document's citations depend on.
func (c *checkedDocument) holds(doc *document, view View, epoch uint64, docs documents, byPath map[string]*document) bool {
	if c.doc != doc || c.view != view || c.epoch != epoch {
		return false
	}
	for path, open := range c.cited {
		if byPath[path] != open {
			return false
		}
	}
	return c.adrift == 0 || c.adrift > maxRecheck || maps.Equal(c.docs, docs)
}

// mayDrift reports whether a document may have citations to be checked.
func (s *server) mayDrift(doc *document) bool {
	return doc.synced && s.settings().LSP.CitationDrift && len(doc.text.Content()) <= maxDriftBytes && snippet.Mentions(doc.text.Content())
}

// check checks a document's citations. It is false where the document was
// changed meanwhile.
func (d *drift) check(ctx context.Context, doc *document, view View) ([]wire.CheckedCitation, bool) {
	if view == nil || !d.s.mayDrift(doc) {
		return nil, true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.mu.Lock()
	d.checking, d.cancel = doc.uri, cancel
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.checking, d.cancel = "", nil
		d.mu.Unlock()
	}()
	if d.s.manager.document(doc.uri) != doc {
		return nil, false
	}
	result, err := view.Citations(ctx, wire.CitationsParams{URI: doc.uri, Text: doc.text.Content()})
	if err != nil {
		if ctx.Err() == nil {
			d.s.log.Warn("checking citations", "uri", doc.uri, "error", err)
			return nil, true
		}
		return nil, false
	}
	return result.Citations, true
}

// publish shows what was found to a client that is told; for one that asks it
// reports whether it should ask again.
func (d *drift) publish(c *checkedDocument, doc *document, found []wire.CheckedCitation) (outdated bool) {
	diagnostics := d.s.driftDiagnostics(doc, found)
	encoded := ""
	if len(diagnostics) > 0 {
		data, err := json.Marshal(diagnostics)
		if err != nil {
			d.s.log.Error("encoding diagnostics", "error", err)
			return false
		}
		encoded = string(data)
	}
	if d.s.caps.pullsDiagnostics() {
		d.mu.Lock()
		defer d.mu.Unlock()
		// One that has not asked about this text yet is about to.
		last, ok := d.pulled[doc.uri]
		if !ok || last.doc != doc || last.told == encoded {
			return false
		}
		last.told = encoded
		d.pulled[doc.uri] = last
		return true
	}
	if encoded == c.shown {
		return false
	}
	c.shown = encoded
	params := publishDiagnosticsParams{URI: doc.uri, Diagnostics: diagnostics}
	if d.s.caps.diagnosticVersions() && encoded != "" {
		params.Version = &doc.version
	}
	d.s.conn.Notify("textDocument/publishDiagnostics", params)
	return false
}
