package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

//go:generate go test . -run ^TestCLIPage$ -update

// TestCLIPage: docs/cli.md is what the commands say of themselves, and names
// what each one prints as JSON.
func TestCLIPage(t *testing.T) {
	a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, color: "auto", flags: map[string]string{}}
	a.open()
	page := a.cliPage()
	path := filepath.Join("..", "..", "docs", "cli.md")
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(committed), "\r\n", "\n") != page {
		t.Errorf("%s is stale: go generate ./cmd/coderag-ls", path)
	}
	var documented []string
	for _, d := range jsonDocuments() {
		documented = append(documented, strings.Split(d.command, ", ")...)
	}
	eachCommand(a.rootCommand(), func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "coderag-ls ")
		if has := c.Flags().Lookup("json") != nil; has != slices.Contains(documented, name) {
			t.Errorf("%s takes --json: %v, but its document is described: %v", name, has, !has)
		}
	})
}
