package query_test

import "testing"

// TestPlain: the language that a question asks about is left out, and nothing
// else; words that are no language's name stay.
func TestPlain(t *testing.T) {
	for q, want := range map[string]string{
		"python divide array into chunks":          "divide array into chunks",
		"how do you draw a line in python":         "how do you draw a line",
		"sort a list in python by length":          "sort a list by length",
		"read a file using Rust and close it":      "read a file and close it",
		"go to the next page and swift delivery":   "go to the next page and swift delivery",
		"python":                                   "python",
		"where is the cart's total computed":       "where is the cart's total computed",
		"Größe einer Datei in python, ohne öffnen": "Größe einer Datei , ohne öffnen",
	} {
		a := analyzer().Analyze(q, corpus)
		if got := a.Plain(); got != want {
			t.Errorf("Plain(%q) = %q, want %q", q, got, want)
		}
	}
}
