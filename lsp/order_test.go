package lsp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

func ask(query string) lsp.AskParams {
	return lsp.AskParams{AskParams: wire.AskParams{SearchParams: wire.SearchParams{Query: query}}}
}

// A slow answer delays neither typing nor other questions, and can be
// cancelled all the while.
func TestAskTypeCancel(t *testing.T) {
	dir := folder(t, "a.go", "before\n")
	e, w := start(t, lsptest.VSCode, dir)
	e.OpenFile(dir + "/a.go")
	g := newGate()
	w.SetBefore(g.hold("ask"))
	slow := e.Send(lsp.MethodAsk, ask("before"))
	<-g.entered

	e.Replace(dir+"/a.go", "before", "after")
	if got := hits(t, e, "after"); !slices.Equal(got, []string{"a.go: after"}) {
		t.Errorf("while asking, the edited text has %q", got)
	}
	slow.Cancel()
	if err := slow.Wait(nil); code(err) != cancelled {
		t.Errorf("the cancelled question: %v", err)
	}
	// A cancellation that comes too late, or for nothing, does nothing.
	slow.Cancel()
	e.Notify("$/cancelRequest", map[string]any{"id": "no such"})
	if got := hits(t, e, "after"); len(got) != 1 {
		t.Errorf("after it: %q", got)
	}
}

// A request that is cancelled before its turn comes is answered and not run.
func TestCancelBeforeStart(t *testing.T) {
	dir := folder(t, "a.go", "x\n")
	e, w := start(t, lsptest.VSCode, dir)
	e.MustCall(lsp.MethodStatus, nil, nil) // the index is open
	g := newGate()
	var ran atomic.Bool
	w.SetBefore(func(ctx context.Context, method string) error {
		if method == "ask" {
			ran.Store(true)
		}
		return g.hold("apply")(ctx, method)
	})
	e.OpenFile(dir + "/a.go") // is held up: nothing behind it has its turn
	<-g.entered
	queued := e.Send(lsp.MethodAsk, ask("x"))
	queued.Cancel()
	second := e.Send(lsp.MethodSearch, wire.SearchParams{Query: "x"})
	close(g.open)
	if err := queued.Wait(nil); code(err) != cancelled {
		t.Errorf("the cancelled request: %v", err)
	}
	if err := second.Wait(nil); err != nil {
		t.Errorf("the other request: %v", err)
	}
	if ran.Load() {
		t.Error("the cancelled request was run")
	}
}

func TestConcurrentRequests(t *testing.T) {
	dir := folder(t, "a.go", "x\n")
	e, w := start(t, lsptest.VSCode, dir)
	g := newGate()
	w.SetBefore(g.hold("ask"))
	var all []*lsptest.Pending
	for range 50 {
		all = append(all, e.Send(lsp.MethodAsk, ask("x")))
	}
	for range all {
		<-g.entered // all run at the same time
	}
	close(g.open)
	for i, p := range all {
		var result wire.AskResult
		if err := p.Wait(&result); err != nil || len(result.Citations) != 1 {
			t.Errorf("question %d: %v, %d citations", i, err, len(result.Citations))
		}
	}
}

// Every request sees all edits before it and, because it is held up until
// later ones were made, not an older text.
func TestRequestsSeeEditsBeforeThem(t *testing.T) {
	dir := folder(t, "a.go", "v0\n")
	e, _ := start(t, lsptest.VSCode, dir)
	path := dir + "/a.go"
	e.OpenFile(path)
	for i := 1; i <= 100; i++ {
		e.Edit(path, 0, len(e.Text(path)), fmt.Sprintf("v%d\n", i))
		if got := hits(t, e, "v"); !slices.Equal(got, []string{fmt.Sprintf("a.go: v%d", i)}) {
			t.Fatalf("after edit %d: %q", i, got)
		}
	}
}

// Documents that are opened while the index still is opening are in front of
// it when it is.
func TestOpenWhileOpening(t *testing.T) {
	dir := folder(t, "a.go", "disk\n", "b.go", "disk\n")
	w := &lsptest.Workspace{}
	opening, goOn := make(chan struct{}), make(chan struct{})
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Server: lsp.Options{
		Open: func(ctx context.Context, o engine.Options) (lsp.Workspace, error) {
			close(opening)
			<-goOn
			return w.Open(ctx, o)
		},
	}})
	<-opening
	e.OpenFile(dir + "/a.go")
	e.Replace(dir+"/a.go", "disk", "buffer")
	e.OpenFile(dir + "/b.go")
	e.Close(dir + "/b.go")
	waiting := e.Send(lsp.MethodSearch, wire.SearchParams{Query: "buffer"})
	given := e.Send(lsp.MethodSearch, wire.SearchParams{Query: "buffer"})
	given.Cancel()
	if err := given.Wait(nil); code(err) != cancelled {
		t.Errorf("a cancelled wait for the index: %v", err)
	}
	close(goOn)
	var result wire.SearchResult
	if err := waiting.Wait(&result); err != nil || len(result.Hits) != 1 {
		t.Errorf("%v, %v", result.Hits, err)
	}
	if got := w.Applied(); !slices.Equal(got, []string{"opened: opened a.go"}) {
		t.Errorf("applied: %q", got)
	}
}

// Where the index cannot be opened, status and messages say why, and nothing
// else fails.
func TestOpenFails(t *testing.T) {
	dir := folder(t, "a.go", "x\n")
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Server: lsp.Options{
		Open: func(context.Context, engine.Options) (lsp.Workspace, error) {
			return nil, fmt.Errorf("opening %s: %w", "the store", os.ErrPermission)
		},
	}})
	if err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "x"}, nil); code(err) != requestFailed || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("%v", err)
	}
	var status wire.Status
	e.MustCall(lsp.MethodStatus, nil, &status)
	if len(status.Notices) != 1 || !strings.Contains(status.Notices[0], "permission denied") {
		t.Errorf("notices: %q", status.Notices)
	}
	e.Await("window/showMessage", nil)
	e.Open(dir+"/a.go", "go", "x")
	if hover := hoverAt(t, e, dir+"/a.go", e.Find(dir+"/a.go", "x")); hover != "" {
		t.Errorf("hover: %v", hover)
	}
}

// An index that could not be opened is tried again later, not at every
// request.
func TestOpenAgain(t *testing.T) {
	dir := folder(t, "a.go", "x\n")
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int32
		w := &lsptest.Workspace{}
		e := lsptest.Start(t, lsptest.Config{Client: lsptest.Minimal, Folders: []string{dir}, Server: lsp.Options{
			Open: func(ctx context.Context, o engine.Options) (lsp.Workspace, error) {
				if attempts.Add(1) < 3 {
					return nil, errors.New("the index is in use")
				}
				return w.Open(ctx, o)
			},
		}})
		e.OpenFile(dir + "/a.go")
		for _, want := range []struct {
			attempts int32
			fails    bool
		}{{1, true}, {1, true}, {2, true}, {2, true}, {3, false}, {3, false}} {
			err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "x"}, nil)
			if got := attempts.Load(); got != want.attempts || (err != nil) != want.fails {
				t.Errorf("%d attempts, %v; want %+v", got, err, want)
			}
			time.Sleep(1500 * time.Millisecond) // of the bubble's own time
		}
		if got := w.Applied(); !slices.Equal(got, []string{"opened: opened a.go"}) {
			t.Errorf("applied: %q", got)
		}
	})
}

func TestTouch(t *testing.T) {
	dir := folder(t, "a.go", "x\n")
	e, w := start(t, lsptest.VSCode, dir)
	e.MustCall(lsp.MethodStatus, nil, nil)
	e.OpenFile(dir + "/a.go")
	e.Save(dir + "/a.go")
	e.Changed(dir+"/b.go", "untitled:c", dir+"/d e.go")
	e.MustCall(lsp.MethodStatus, nil, nil)
	var names []string
	for _, path := range w.Touched() {
		names = append(names, filepath.Base(path))
	}
	if !slices.Equal(names, []string{"a.go", "b.go", "d e.go"}) {
		t.Errorf("touched: %q", names)
	}
}

// BenchmarkKeystroke is one edit of a 4,000-line document and a request that
// sees it: what the server adds to typing.
func BenchmarkKeystroke(b *testing.B) {
	dir := folder(b, "a.go", strings.Repeat("a line of an ordinary length in a file\n", 4000))
	e, _ := start(b, lsptest.Neovim, dir)
	path := dir + "/a.go"
	e.OpenFile(path)
	for b.Loop() {
		e.Edit(path, 50_000, 50_000, "x")
		hoverAt(b, e, path, text.Position{Line: 0, Character: 6}) // a blank: nothing is searched
	}
}
