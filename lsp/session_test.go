package lsp_test

import (
	"context"
	"testing"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

var update = lsptest.Update()

// engineServer is a server on the real engine, with its index in a folder and
// nothing of this machine's settings.
func engineServer(t testing.TB, cache string) lsp.Options {
	layers, problems := config.Layers{}.WithFlags(map[string]string{
		"index.cacheDir": cache, "embed.provider": "static",
		// The index that is compared has nothing open, and nobody edited its files.
		"search.proximity": "0", "search.recency": "0",
	})
	for _, p := range problems {
		t.Fatal(p)
	}
	return lsp.Options{
		Version:  "test",
		Settings: layers,
		Open: func(ctx context.Context, o engine.Options) (lsp.Workspace, error) {
			e, err := engine.Open(ctx, o)
			if err != nil {
				return nil, err
			}
			return lsp.FromEngine(e), nil
		},
	}
}

// TestSessions plays editing sessions on the real engine, in one mode. The
// program's own tests play them in all.
func TestSessions(t *testing.T) {
	lsptest.Host{Server: engineServer, Modes: lsptest.Modes()[:1], Update: *update}.Run(t, "testdata/sessions/*.txtar")
}
