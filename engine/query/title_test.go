package query_test

import (
	"slices"
	"testing"

	"coderag-ls/engine/query"
)

// TestC1Title: what a longer text is about, the part of the project that it names
// first, and that its list of side jobs asks for nothing.
func TestC1Title(t *testing.T) {
	for q, want := range map[string]string{
		"how does the parser recover?":                                         "how does the parser recover?",
		"parser: recover at newlines. It stopped at the first error before":    "parser: recover at newlines",
		"parser: recover at newlines * add tests * changelog":                  "parser: recover at newlines",
		"recover at newlines\nIt stopped at the first error before.":           "recover at newlines",
		"e.g. how does the parser recover":                                     "e.g. how does the parser recover",
		"Accept v1. and v2 of the API. The second is\nwhat new clients speak.": "Accept v1. and v2 of the API",
	} {
		if got := analyzer().Analyze(q, corpus).Title; got != want {
			t.Errorf("title of %q is %q, want %q", q, got, want)
		}
	}
	for q, want := range map[string][]string{
		"net/http: reuse connections":        {"net", "http"},
		"parser, printer: keep comments":     {"parser", "printer"},
		"fix(auth): refresh the token":       {"auth"},
		"where is the token refreshed":       nil,
		"https://example.org is not fetched": nil,
		"what happens here: a token or two?": nil,
	} {
		if got := analyzer().Analyze(q, corpus).Scope; !slices.Equal(got, want) {
			t.Errorf("scope of %q is %q, want %q", q, got, want)
		}
	}
	a := analyzer().Analyze("Reject negative indents\n\n* Add tests\n* Changelog, documentation", corpus)
	if a.Wants != (query.Wants{}) {
		t.Errorf("a list of side jobs asks for %+v", a.Wants)
	}
}
