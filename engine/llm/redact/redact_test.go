package redact

import (
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// join keeps the forms of keys out of this file, so that no scanner of the
// repository takes the tests' for real ones.
func join(parts ...string) string { return strings.Join(parts, "") }

func TestSecrets(t *testing.T) {
	r := New()
	for kind, secret := range map[string]string{
		"AWS access key":     join("AKIA", "IOSFODNN7EXAMPLQ"),
		"GitHub token":       join("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"),
		"GitLab token":       join("glpat-", "zX9kLmN2pQ4rS6tU8vW0"),
		"Slack token":        join("xoxb-", "123456789012-abcdefABCDEF"),
		"Stripe key":         join("sk_", "live_", "4eC39HqLyjWDarjtT1zdp7dc"),
		"API key":            join("sk-", "proj-", "Zk3vT9qLm2Xw8RbY6nPd4HsJ"),
		"Google API key":     join("AIza", "SyD3kLm9QwErTyUiOpAsDfGhJkLzXcVbNm1"),
		"npm token":          join("npm_", "a8Kd93LmQpZx7VbNc2RtYu5WsEdFgHjKl0Pq"),
		"Hugging Face token": join("hf_", "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"),
		"JSON web token":     join("eyJhbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"),
		"age key":            join("AGE-SECRET-", "KEY-1", strings.Repeat("QP5ZRY", 9), "QPZR"),
	} {
		for _, around := range [][2]string{{"", ""}, {"key = \"", "\"\n"}, {"curl -H 'X: ", "'"}, {"# ", " is ours"}} {
			text := around[0] + secret + around[1]
			got, counts := r.Redact(text)
			if strings.Contains(got, secret) {
				t.Errorf("%s stays in %q: %q", kind, text, got)
			}
			if counts[kind] == 0 && counts["assigned secret"] == 0 {
				t.Errorf("%s in %q is counted as %v", kind, text, counts)
			}
		}
	}
}

func TestAssigned(t *testing.T) {
	r := New()
	for text, secret := range map[string]string{
		`db_password = "hunter2-very-Secret"`:                     "hunter2-very-Secret",
		`const apiKey = 'f81d4fae7dec11d0a76500a0c91e6bf6'`:       "f81d4fae7dec11d0a76500a0c91e6bf6",
		`"client_secret": "9f8e7d6c5b4a3210ffee"`:                 "9f8e7d6c5b4a3210ffee",
		"DATABASE_URL=postgres://admin:s3cr3tPw@db:5432/x":        "s3cr3tPw",
		"export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxR": "wJalrXUtnFEMI",
		`Authorization: Bearer 0a1b2c3d4e5f60718293`:              "0a1b2c3d4e5f60718293",
	} {
		if got, _ := r.Redact(text); strings.Contains(got, secret) {
			t.Errorf("%q stays: %q", text, got)
		}
	}
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END RSA PRIVATE KEY-----"
	got, counts := r.Redact("a\n" + key + "\nb\n")
	if want := "a\n[redacted private key]\n\n\n\nb\n"; got != want || counts["private key"] != 1 {
		t.Errorf("%q %v, want %q", got, counts, want)
	}
	if got, _ := r.Redact("x\n-----BEGIN PRIVATE KEY-----\nMIIEcut off by the end of"); strings.Contains(got, "MIIE") {
		t.Errorf("the beginning of a key stays: %q", got)
	}
	random := make([]byte, 36)
	for range 200 {
		rand.Read(random)
		s := base64.StdEncoding.EncodeToString(random)
		if got, _ := r.Redact(`x := decode("` + s + `")`); entropy(s) >= leastRandom && mixed(s) && strings.Contains(got, s) {
			t.Errorf("%q stays", s)
		}
	}
}

// TestCode: what is no secret stays. The project's own sources are the sample.
func TestCode(t *testing.T) {
	r := New()
	for _, text := range []string{
		`token := parser.NextToken()`, `password = os.Getenv("DB_PASSWORD")`, `if token == "identifier" {`,
		`apiKey: "your_api_key_here"`, `secret: config.auth.secretName`, `"sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`,
		"const alphabet = \"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\"", `token_type = "authorization_code"`,
		"type TokenKind string", `http://localhost:8080/path`, `SetBasicAuthenticationToken(user, token)`,
	} {
		if got, counts := r.Redact(text); got != text {
			t.Errorf("%q becomes %q %v", text, got, counts)
		}
	}
	paths, err := filepath.Glob("../../*/*.go")
	if err != nil || len(paths) < 50 {
		t.Fatal(len(paths), err)
	}
	lines, hit := 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		got, counts := r.Redact(text)
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%s: the lines are others", path)
		}
		lines += strings.Count(text, "\n")
		for kind, n := range counts {
			hit += n
			t.Logf("%s: %s", path, kind)
		}
	}
	if hit*5000 > lines {
		t.Errorf("%d values in %d lines of code were taken for secrets", hit, lines)
	}
}

// TestLikelyPlaces: looking in the likely places only finds what looking
// everywhere does, in real text with secrets put between its lines.
func TestLikelyPlaces(t *testing.T) {
	fast, all := New(), thorough()
	paths, err := filepath.Glob("../*/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	planted := []string{
		join("x := ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"), `"db_password" : "hunter2-very-Secret"`, join("STRIPE_API_KEY=sk_", "live_", "4eC39HqLyjWDarjtT1zdp7dc"),
		"const encryption_key = `f81d4fae7dec11d0a76500a0c91e6bf6`", "  CLIENT_SECRET:\n    9f8e7d6c5b4a3210ffee", "https://me:s3cr3tPw@db/x",
	}
	n := 0
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")
		for j := i % 7; j < len(lines); j += 23 {
			lines[j] += planted[j%len(planted)] + "\n"
		}
		text := strings.Join(lines, "")
		got, counts := fast.Redact(text)
		if want, others := all.Redact(text); got != want {
			t.Errorf("%s: replaced %v, want %v", path, counts, others)
		}
		for _, k := range counts {
			n += k
		}
	}
	if n < 20 {
		t.Errorf("only %d secrets were found", n)
	}
}
