package main

import (
	"path/filepath"
	"testing"

	"coderag-ls/engine/eval"
)

func TestEvalSavesAndCompares(t *testing.T) {
	c := newCLI(t)
	write := func(query string) {
		c.write("suite/queries.jsonl", `{"id": "total", "query": "`+query+`", "repo": "shop", "relevant": [{"path": "cart/cart.go", "start": 3, "end": 7}], "category": "x", "language": "go"}
{"id": "cake", "query": "how long must dough rest before baking", "repo": "shop", "absent": true, "category": "y", "language": "go"}
{"id": "elsewhere", "query": "anything", "repo": "other", "relevant": [{"path": "x.go"}], "category": "x", "language": "go"}
`)
	}
	c.write("suite/meta.json", `{"checkouts": "../repos", "repos": {"shop": {}}}`)
	c.write("repos/shop/cart/cart.go", "package cart\n\n// TotalCents adds up the prices of all items in the basket.\nfunc TotalCents() int {\n\treturn 0\n}\n")
	c.write("repos/shop/ship/delay.go", "package ship\n\n// Delay grows with each failed delivery attempt.\nfunc Delay(attempt int) int {\n\treturn attempt\n}\n")
	suite, before, after := filepath.Join(c.dir, "suite"), filepath.Join(c.dir, "before.json"), filepath.Join(c.dir, "after.json")
	write("delay after a failed delivery attempt")
	r := c.bare("", "eval", "--suite", suite, "--answers", "--save", before)
	r.want(t, exitOK, "suite: 2 questions, 1 left out", "without other")
	r.want(t, exitOK, "nothing relevant was said to 100.0 % of 1 questions without an answer", "")
	write("prices of all items in the basket")
	c.bare("", "eval", "--suite", suite, "--answers", "--save", after, "--compare", before).want(t, exitOK, "better total", "")
	r = c.bare("", "eval", "--compare", after, "--with", before, "--json")
	r.want(t, exitOK, "", "")
	got := decode[eval.Comparison](t, r.out)
	if len(got.Suites) != 1 || len(got.Suites[0].Worse) != 1 || got.Suites[0].Worse[0].Before.Rank != 1 || len(got.Suites[0].Worse[0].Before.Right.Why) == 0 {
		t.Errorf("%+v", got)
	}
	c.bare("", "eval", "--with", before).want(t, exitUsage, "", "--compare")
	c.bare("", "eval", "--suite", suite, "--compare", filepath.Join(c.dir, "none.json")).want(t, exitError, "", "none.json")
}
