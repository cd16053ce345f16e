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

// engineServer is a server on the real engine, with its index in a folder of
// the test's and nothing of this machine's settings.
func engineServer(t testing.TB) lsp.Options {
	layers, problems := config.Layers{}.WithFlags(map[string]string{"index.cacheDir": t.TempDir(), "embed.provider": "static"})
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

// TestSessions plays editing sessions on the real engine. Every hit and every
// citation in them is held against the text that the editor shows.
func TestSessions(t *testing.T) {
	lsptest.Run(t, "testdata/sessions/*.txtar", *update, engineServer, nil)
}
