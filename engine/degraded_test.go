package engine_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// TestC14StatedInTheAnswer: what does not take part in a search is told in the
// answer, in its parts, and beside hits and context.
func TestC14StatedInTheAnswer(t *testing.T) {
	dir := fill(t)
	s := settings(t)
	e := open(t, s, dir)
	defer e.Close()
	v := e.NewView()
	defer v.Close()
	upToDate(t, v)
	p := wire.AskParams{SearchParams: wire.SearchParams{Query: "Work3"}}
	for _, hybrid := range []bool{true, false} {
		s.Search.Hybrid = hybrid
		v.SetSettings(s)
		var parts strings.Builder
		res, err := v.Ask(t.Context(), p, func(e engine.Event) { parts.WriteString(e.Text) })
		if err != nil {
			t.Fatal(err)
		}
		packed, err := v.Context(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		found := asked(t, v, p.SearchParams)
		for _, told := range []string{res.Degraded, packed.Degraded, found.Degraded, res.Answer, parts.String()} {
			if strings.Contains(told, "search.hybrid") == hybrid {
				t.Errorf("hybrid %v: told %q", hybrid, told)
			}
		}
		if len(res.Citations) == 0 || packed.Metrics.TokensUsed != packed.TokenCount || packed.Plan.Route == "" {
			t.Errorf("hybrid %v: %d citations, %+v, %+v", hybrid, len(res.Citations), packed.Metrics, packed.Plan)
		}
	}
}

// TestEditorContext: what a client has open raises what lies beside it, for this
// client only.
func TestEditorContext(t *testing.T) {
	dir := fill(t)
	e := open(t, settings(t), dir)
	defer e.Close()
	v, other := e.NewView(), e.NewView()
	defer v.Close()
	defer other.Close()
	upToDate(t, v)
	if err := v.Apply(t.Context(), "open", []file.Change{{
		Path: filepath.Join(dir, "pkg2", "new.go"), Kind: file.Opened, Text: "package pkg\n\n// Fresh is new.\nfunc Fresh() {}\n",
	}}); err != nil {
		t.Fatal(err)
	}
	p := wire.SearchParams{Query: "which function handles items"}
	raised := func(res wire.SearchResult) bool {
		return slices.ContainsFunc(res.Hits, func(h wire.Hit) bool {
			return strings.HasPrefix(h.Path, "pkg2/") && slices.Contains(h.Why, "beside a file that is open")
		})
	}
	if res := asked(t, v, p); !raised(res) {
		t.Errorf("nothing beside the open file is raised: %+v", res.Hits)
	}
	if res := asked(t, other, p); raised(res) {
		t.Error("another client's open file counts")
	}
	s := settings(t)
	s.Search.Proximity = 0
	v.SetSettings(s)
	if res := asked(t, v, p); raised(res) {
		t.Error("switched off, and yet it is raised")
	}
}
