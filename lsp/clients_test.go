package lsp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"coderag-ls/lsp/lsptest"
)

// TestClients plays sessions with the capabilities that editors were recorded to
// send (make test-clients holds them against what they send today).
func TestClients(t *testing.T) {
	chosen := regexp.MustCompile(`(?m)^client .*\n`)
	sessions := []string{"unsaved", "lines-move", "encodings", "insert", "drift", "settings"}
	for client, names := range map[string][]string{
		lsptest.NeovimRecorded: sessions,
		lsptest.EglotRecorded:  sessions,
		lsptest.ALERecorded:    sessions[:3], // it takes no edits and tells no settings
	} {
		t.Run(client, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range names {
				script, err := os.ReadFile(filepath.Join("testdata/sessions", name+".txtar"))
				if err != nil {
					t.Fatal(err)
				}
				script = append([]byte("client "+client+"\n"), chosen.ReplaceAll(script, nil)...)
				if err := os.WriteFile(filepath.Join(dir, name+".txtar"), script, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			lsptest.Host{Server: engineServer, Modes: lsptest.Modes()[:1]}.Run(t, filepath.Join(dir, "*.txtar"))
		})
	}
}
