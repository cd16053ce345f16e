package lsp_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

func TestMain(m *testing.M) {
	// buntdb's own goroutine notices at its next tick, up to a second later,
	// that the database was closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// folder makes a folder of files, name and text in turn.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// start starts a session of a client with one folder on the small workspace.
func start(t testing.TB, client, dir string) (*lsptest.Editor, *lsptest.Workspace) {
	t.Helper()
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{Client: client, Folders: []string{dir}, Server: lsp.Options{Open: w.Open}})
	return e, w
}

// hits searches and returns path:line of all hits.
func hits(t testing.TB, e *lsptest.Editor, query string) []string {
	t.Helper()
	var result wire.SearchResult
	e.MustCall(lsp.MethodSearch, wire.SearchParams{Query: query}, &result)
	places := []string{}
	for _, h := range result.Hits {
		places = append(places, h.Path+": "+h.Text)
	}
	return places
}

// code is the error code of a failed request, 0 where it did not fail.
func code(err error) int {
	if e, ok := err.(*lsptest.Error); ok {
		return e.Code
	}
	return 0
}

// gate lets a test hold a query up and let it go on.
type gate struct {
	entered chan string   // the method, for every query that came to the gate
	open    chan struct{} // closed to let all go on
}

func newGate() *gate { return &gate{entered: make(chan string, 100), open: make(chan struct{})} }

// hold is for lsptest.Workspace.SetBefore: it holds up the methods named.
func (g *gate) hold(methods ...string) func(context.Context, string) error {
	return func(ctx context.Context, method string) error {
		for _, m := range methods {
			if m != method {
				continue
			}
			g.entered <- method
			select {
			case <-g.open:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
}

// panicking is for lsptest.Workspace.SetBefore: requests break. The status is asked
// for in the background as well, whenever the index changes.
func panicking(_ context.Context, method string) error {
	if method == "status" {
		return nil
	}
	panic("out of cheese")
}
