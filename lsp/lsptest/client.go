package lsptest

import (
	"embed"
	"encoding/json"
	"fmt"
)

// The clients whose capabilities are known, as they send them to a server;
// what has no bearing on this one is left out.
const (
	Neovim  = "neovim"  // 0.11: UTF-8 first, watched files not registered on Linux
	VSCode  = "vscode"  // vscode-languageclient 9
	Emacs   = "emacs"   // Eglot: UTF-32 first, no progress creation
	Minimal = "minimal" // nothing at all: LSP's defaults
)

// The same as editors were recorded to send them, whole (editors/clients).
const (
	NeovimRecorded = "neovim-0.11" // Neovim 0.11.4
	EglotRecorded  = "eglot"       // Emacs 28.2 with eglot 1.9
	ALERecorded    = "ale"         // Vim with ALE 3.3
)

//go:embed clients/*.json
var clients embed.FS

// capabilities returns a client's capabilities.
func capabilities(client string) (json.RawMessage, error) {
	data, err := clients.ReadFile("clients/" + client + ".json")
	if err != nil {
		return nil, fmt.Errorf("no client %q: %w", client, err)
	}
	return data, nil
}
