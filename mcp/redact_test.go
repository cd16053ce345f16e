package mcp_test

import (
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
