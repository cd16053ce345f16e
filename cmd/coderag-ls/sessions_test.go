package main

import (
	"io"
	"log/slog"
	"testing"

	"coderag-ls/engine/config"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
	"coderag-ls/metrics"
)

// sessionHost is the server as this program puts it together, with its index in
// a folder and nothing of this machine's settings.
func sessionHost(t testing.TB) lsptest.Host {
	return lsptest.Host{
		Modes:  lsptest.Modes(),
		Update: *update,
		Server: func(tb testing.TB, cache string) lsp.Options {
			layers, problems := config.Layers{}.WithFlags(map[string]string{
				"index.cacheDir": cache, "embed.provider": "static",
				// The index that is compared has nothing open, and nobody edited its files.
				"search.proximity": "0", "search.recency": "0",
			})
			for _, p := range problems {
				t.Fatal(p)
			}
			a := &app{stdin: nil, stdout: io.Discard, stderr: io.Discard, flags: map[string]string{}}
			a.open()
			return a.serverOptions(layers, slog.New(slog.DiscardHandler), metrics.New("test", nil))
		},
	}
}

// TestSessions plays editing sessions, each with client and server watching the
// disk and with incremental and full texts, and holds what is found afterwards
// against an index made from nothing.
func TestSessions(t *testing.T) {
	sessionHost(t).Run(t, "../../lsp/testdata/sessions/*.txtar")
}
