package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"coderag-ls/engine/wire"
	"coderag-ls/mcp"
)

// leaky makes a workspace whose files hold secrets, and returns them. They are
// put together here, so that no file of ours looks as if it held one.
func leaky(t testing.TB) (dir string, secrets []string) {
	dir = filepath.Join(t.TempDir(), "leaky")
	token, password := "ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a", "Tr0ub4dor&"+"3horse"
	body := []string{"MIIEowIBAAKCAQEAx9" + "Qz7kWv", "Kp3LmN8sTr5UyBc1DfGh2Jk", "Zq0WeRtYuIoPaSdFgHjKlZx"}
	write(t, filepath.Join(dir, "deploy.go"), fmt.Sprintf(`package deploy

// UploadRelease uploads the release archive to the server.
func UploadRelease(archive string) error {
	token := %q
	return send(archive, token)
}
`, token))
	write(t, filepath.Join(dir, "database.go"), fmt.Sprintf("package deploy\n\n// ConnectDatabase opens the customer database.\nfunc ConnectDatabase() error {\n\tpassword := %q\n\treturn open(password)\n}\n", password))
	write(t, filepath.Join(dir, "signing.go"), "package deploy\n\n// signingKey signs the release manifest.\nconst signingKey = `-----BEGIN RSA PRIVATE "+"KEY-----\n"+
		strings.Join(body, "\n")+"\n-----END RSA PRIVATE "+"KEY-----`\n\n// SignManifest signs the release manifest with signingKey.\nfunc SignManifest() { sign(signingKey) }\n")
	return dir, append(body, token, password)
}

// TestNoSecrets: whatever a client gets, by a tool or as a resource, holds no
// secret of an indexed file. Lines keep their numbers, and it is told.
func TestNoSecrets(t *testing.T) {
	dir, secrets := leaky(t)
	s := connect(t, newWorld(t, dir).serve(mcp.Options{}), nil, "")
	clean := func(what, text string) {
		t.Helper()
		for _, secret := range secrets {
			if quoted, _ := json.Marshal(secret); strings.Contains(text, secret) || strings.Contains(text, strings.Trim(string(quoted), `"`)) {
				t.Errorf("%s tells %s:\n%s", what, secret, text)
			}
		}
	}
	kinds := map[string]bool{}
	for _, query := range []string{"UploadRelease", "how is the customer database opened?", "which key signs the release manifest?", "SignManifest signingKey"} {
		for _, tool := range []string{mcp.ToolSearch, mcp.ToolAsk, mcp.ToolContext} {
			what := tool + " " + query
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"query": query}})
			if err != nil || res.IsError {
				t.Fatalf("%s: %v %s", what, err, textOf(res))
			}
			data, err := json.Marshal(res.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			clean(what, textOf(res))
			clean(what, string(data))
			var r struct {
				Hits               []wire.Hit
				Citations, Primary []wire.Citation
				Redacted           map[string]int
			}
			remarshal(t, res.StructuredContent, &r)
			if len(r.Hits)+len(r.Citations)+len(r.Primary) == 0 {
				t.Errorf("%s: nothing was found", what)
			}
			shown := strings.Contains(string(data), "[redacted ")
			if told := strings.Contains(textOf(res), "Secrets were replaced"); told != (len(r.Redacted) > 0) || shown && !told {
				t.Errorf("%s: replaced %v, told %v:\n%s", what, r.Redacted, told, textOf(res))
			}
			for kind := range r.Redacted {
				kinds[kind] = true
			}
			for _, c := range append(r.Citations, r.Primary...) {
				sum := sha256.Sum256([]byte(c.Text))
				if lines := strings.Count(c.Text, "\n") + 1; lines != c.EndLine-c.StartLine+1 || c.SHA256 != hex.EncodeToString(sum[:]) {
					t.Errorf("%s: %s has %d lines, sum %s: %q", what, c.ID, lines, c.SHA256, c.Text)
				}
			}
		}
	}
	for _, kind := range []string{"GitHub token", "assigned secret", "private key"} {
		if !kinds[kind] {
			t.Errorf("no result held a %s: %v", kind, kinds)
		}
	}
	for uri, want := range map[string]string{
		"deploy.go#L3":      "// UploadRelease uploads the release archive to the server.",
		"deploy.go#L5":      "\ttoken := \"[redacted GitHub token]\"",
		"database.go#L5-L6": "\tpassword := \"[redacted assigned secret]\"\n\treturn open(password)",
		"signing.go#L5-L6":  "[redacted]\n[redacted]", // nothing in these lines says that they are a key
		"signing.go#L10":    "// SignManifest signs the release manifest with signingKey.",
	} {
		r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "coderag:///" + uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		c := r.Contents[0]
		sum := sha256.Sum256([]byte(want))
		if c.Text != want || c.Meta["coderag-ls/sha256"] != hex.EncodeToString(sum[:]) || (c.Meta["coderag-ls/redacted"] == true) != strings.Contains(want, "[redacted") {
			t.Errorf("%s: %q, %v, want %q", uri, c.Text, c.Meta, want)
		}
	}
	for _, name := range []string{"deploy.go", "database.go", "signing.go"} {
		r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "coderag:///" + name})
		if err != nil {
			t.Fatal(err)
		}
		clean(name, r.Contents[0].Text)
	}
}

// TestNeverSend: nothing of a file that llm.neverSend names comes to a client,
// neither as what was asked for nor as what is around it.
func TestNeverSend(t *testing.T) {
	dir, other := shop(t), filepath.Join(t.TempDir(), "other")
	write(t, filepath.Join(dir, "private", "discount.go"), "package private\n\n// VipDiscount is what nobody else may know.\nfunc VipDiscount(cents int) int { return TotalCents(nil) - cents/7 }\n")
	write(t, filepath.Join(other, "pay.go"), "package pay\n\n// VipPayment takes VipDiscount off.\nfunc VipPayment() int { return TotalCents(nil) + VipDiscount(1) }\n")
	write(t, filepath.Join(other, "private.go"), "package pay\n\n// VipRefund is secret, too: it calls VipPayment.\nfunc VipRefund() int { return VipPayment()/7 }\n")
	w := newWorld(t, dir)
	w.settings.Answer.GraphDepth = 3
	open := func(ctx context.Context, _ []string) (mcp.Workspace, error) { return w.open(ctx, []string{dir, other}) }
	s := connect(t, w.serveAs(mcp.Options{Open: open, NeverSend: []string{"private/", "other/private.*"}}), nil, "")
	for _, query := range []string{"VipDiscount", "what is the discount for vips?", "TotalCents", "VipPayment", "who calls VipPayment?", "private/discount.go:4", "VipRefund"} {
		for _, tool := range []string{mcp.ToolSearch, mcp.ToolAsk, mcp.ToolContext} {
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"query": query, "filters": map[string]any{"omit": []string{"README.md"}}}})
			if err != nil || res.IsError {
				t.Fatalf("%s %s: %v %s", tool, query, err, textOf(res))
			}
			data, err := json.Marshal(res.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"cents/7", "nobody else", "is secret", "()/7"} {
				if strings.Contains(textOf(res)+string(data), line) {
					t.Errorf("%s %s tells %q:\n%s\n%s", tool, query, line, textOf(res), data)
				}
			}
			if !strings.Contains(textOf(res), "llm.neverSend") || strings.Contains(textOf(res), "no longer held") || strings.Contains(string(data), "Parcels") {
				t.Errorf("%s %s:\n%s", tool, query, textOf(res))
			}
		}
	}
	found, _ := call[wire.SearchResult](t, s, mcp.ToolSearch, map[string]any{"query": "VipPayment"})
	if len(found.Hits) == 0 || found.Hits[0].Path != "other/pay.go" {
		t.Errorf("found %+v", found.Hits)
	}
	for _, path := range []string{"shop/private/discount.go", "other/private.go#L3"} {
		if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "coderag:///" + path}); err == nil {
			t.Errorf("%s: %s", path, r.Contents[0].Text)
		}
	}
	if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "coderag:///other/pay.go#L1"}); err != nil || r.Contents[0].Text != "package pay" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := mcp.New(mcp.Options{NeverSend: []string{"[a"}}); err == nil || !strings.Contains(err.Error(), "llm.neverSend") {
		t.Errorf("a pattern that is none: %v", err)
	}
}
