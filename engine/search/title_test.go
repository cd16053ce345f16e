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
