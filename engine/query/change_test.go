package query_test

import "testing"

// TestC1Change: what asks for a change of the program is told from what looks for
// code, documentation or an explanation.
func TestC1Change(t *testing.T) {
	for q, want := range map[string]bool{
		"Fix pipelining a rejected upgrade":                         true,
		"fixed ReferenceError when TextEncoder is missing":          true,
		"Do not forward hop-by-hop headers":                         true,
		"net/http: reuse connections":                               true,
		"reverseproxy: isolate health checks per configuration":     true,
		"fix(auth): refresh the token":                              true,
		"could you add a timeout to the client":                     true,
		"we need to support HTTP/3":                                 true,
		"parse query parameters":                                    false,
		"where is the limit added":                                  false,
		"how do I add a route?":                                     false,
		"router: where are paths matched":                           false,
		"user authentication":                                       false,
		"fixtures of the parser":                                    false,
		"address book":                                              false,
		"what happens here: a token or two?":                        false,
		"The parser stops at the first error\n\nFix: recover there": false,
	} {
		if got := analyzer().Analyze(q, corpus).Change; got != want {
			t.Errorf("Change of %q is %v, want %v", q, got, want)
		}
	}
}
