package search_test

import (
	"testing"

	"coderag-ls/engine/search/searchtest"
)

// TestC7Scope: of files that say the same, the one in the part of the project
// that the question begins with comes first.
func TestC7Scope(t *testing.T) {
	client := "package client\n\n// Dial connects to a server and greets it.\nfunc Dial(addr string) error { return greet(addr) }\n"
	w := searchtest.New(t, map[string]string{"lib/imap/client.go": client, "lib/pop/client.go": client, "lib/smtp/client.go": client})
	for _, scope := range []string{"imap", "pop", "smtp"} {
		in := w.Input(scope + ": connects to a server and greets it")
		in.Settings.MinRelevance = 0
		if got := searchtest.Paths(in, w.Search(in)); len(got) == 0 || got[0] != "lib/"+scope+"/client.go" {
			t.Errorf("%s: found %v", scope, got)
		}
	}
}

// TestC7Title: of two texts of the same words, each speaks most for the file that
// its first sentence is about.
func TestC7Title(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"a/first.py":  "def mention(people):\n    \"\"\"Thanks reviewers for testing candidates.\"\"\"\n    return people\n",
		"a/second.py": "def enforce(people):\n    \"\"\"Refuse uploads for exceeding quotas.\"\"\"\n    return people\n",
	})
	lead := func(q string) (by float64) {
		for _, f := range w.Search(w.Input(q)).Files {
			if f.File.Path == "a/second.py" {
				by += f.Score
			} else {
				by -= f.Score
			}
		}
		return by
	}
	first, second := "Thanks reviewers for testing candidates", "Refuse uploads for exceeding quotas"
	if of, other := lead(second+". "+first+"."), lead(first+". "+second+"."); of <= other {
		t.Errorf("the second file leads by %v where the title is about it, by %v where it is not", of, other)
	}
}

// TestC7Change: who asks for a change is led to what runs, though the manual and the
// declarations say it in the same words; who asks what is told there, to those.
func TestC7Change(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"lib/upload.js":    "// Sends a form with credentials.\nexport function upload(form, options) {\n  const request = open(options);\n  request.credentials = options.withCredentials;\n  return request.send(form);\n}\n",
		"index.d.ts":       "export interface UploadOptions {\n  /** Sends the upload with credentials. */\n  withCredentials?: boolean;\n}\nexport function upload(form: Form, options: UploadOptions): Promise<void>;\n",
		"docs/upload.md":   "# Upload\n\n## Credentials of an upload\n\nSet `withCredentials` to send the upload with credentials. Credentials of an upload are off.\n",
		"lib/unrelated.js": "export function shuffle(cards) {\n  return cards.sort(() => Math.random() - 0.5);\n}\n",
	})
	// behind is by how much a file is behind the code.
	behind := func(q, path string) (by float64) {
		for _, f := range w.Search(w.Input(q)).Files {
			switch f.File.Path {
			case "lib/upload.js":
				by += f.Score
			case path:
				by -= f.Score
			}
		}
		return by
	}
	for _, path := range []string{"docs/upload.md", "index.d.ts"} {
		if of, other := behind("Fix credentials of an upload", path), behind("credentials of an upload", path); of < other+1 {
			t.Errorf("%s is behind by %v where a change is asked for, by %v where none is", path, of, other)
		}
	}
	if got := behind("Fix what the documentation says about credentials of an upload", "docs/upload.md"); got > 0 {
		t.Errorf("the documentation is behind by %v where it is to be changed", got)
	}
}
