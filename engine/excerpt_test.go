package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

func TestExcerpt(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "shop")
	write(t, filepath.Join(dir, "cart.go"), "package cart\r\n\r\n// Total adds up.\r\nfunc Total() int { return 3 }\r\n")
	write(t, filepath.Join(dir, "empty.txt"), "")
	write(t, filepath.Join(dir, ".env"), "PASSWORD=hunter2\n")
	write(t, filepath.Join(dir, ".gitignore"), "/private/\n")
	write(t, filepath.Join(dir, "private", "notes.md"), "# Private\n")
	write(t, filepath.Join(dir, "blob.bin"), "\x00\x01\x02\x00")
	write(t, filepath.Join(base, "outside.go"), "package outside\n")
	if err := os.Symlink(filepath.Join(base, "outside.go"), filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(base, filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	e := open(t, settings(t), dir)
	defer e.Close()
	v := e.NewView()
	defer v.Close()
	ctx := context.Background()
	for _, tt := range []struct {
		p          wire.ExcerptParams
		want       string
		start, end int
	}{
		{wire.ExcerptParams{Path: "cart.go"}, "package cart\n\n// Total adds up.\nfunc Total() int { return 3 }", 1, 4},
		{wire.ExcerptParams{Path: "cart.go", StartLine: 3, EndLine: 4}, "// Total adds up.\nfunc Total() int { return 3 }", 3, 4},
		{wire.ExcerptParams{Path: "cart.go", StartLine: 4}, "func Total() int { return 3 }", 4, 4},
		{wire.ExcerptParams{Path: "cart.go", StartLine: 4, EndLine: 400}, "func Total() int { return 3 }", 4, 4},
		{wire.ExcerptParams{URI: text.URIFromPath(filepath.Join(dir, "cart.go")), StartLine: 1, EndLine: 1}, "package cart", 1, 1},
		{wire.ExcerptParams{Path: "empty.txt"}, "", 0, 0},
	} {
		r, err := v.Excerpt(ctx, tt.p)
		sum := sha256.Sum256([]byte(tt.want))
		if err != nil || r.Text != tt.want || r.StartLine != tt.start || r.EndLine != tt.end || r.SHA256 != hex.EncodeToString(sum[:]) || r.Path != "cart.go" && r.Path != "empty.txt" {
			t.Errorf("%+v: %+v, %v", tt.p, r, err)
		}
	}
	if err := v.Apply(ctx, "test", []file.Change{{Kind: file.Opened, Path: filepath.Join(dir, "cart.go"), Text: "package unsaved\n"}}); err != nil {
		t.Fatal(err)
	}
	if r, err := v.Excerpt(ctx, wire.ExcerptParams{Path: "cart.go"}); err != nil || r.Text != "package unsaved" {
		t.Errorf("an unsaved buffer: %+v, %v", r, err)
	}
	for _, p := range []wire.ExcerptParams{
		{Path: "../outside.go"}, {Path: "up/outside.go"}, {Path: "link.go"}, {Path: ".env"}, {Path: "private/notes.md"}, {Path: "blob.bin"}, {Path: "nothere.go"},
		{Path: "./cart.go"}, {Path: "a/../cart.go"}, {Path: "/etc/passwd"}, {Path: "."}, {Path: "a\x00b"}, {},
		{URI: "file:///etc/passwd"}, {URI: text.URIFromPath(filepath.Join(base, "outside.go"))}, {URI: "https://localhost/cart.go"}, {URI: "file://" + dir + "/../outside.go"},
		{URI: text.URIFromPath(dir)}, {URI: text.URIFromPath(filepath.Join(dir, ".env"))},
		{Path: "cart.go", StartLine: 5}, {Path: "cart.go", StartLine: 4, EndLine: 3}, {Path: "cart.go", StartLine: -1}, {Path: "cart.go", EndLine: -1}, {Path: "empty.txt", StartLine: 1},
	} {
		r, err := v.Excerpt(ctx, p)
		if bad := (*engine.QueryError)(nil); !errors.As(err, &bad) || bad.Reason == "" || strings.Contains(r.Text, "a") {
			t.Errorf("%+v: %+v, %v", p, r, err)
		}
	}
}
