package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"coderag-ls/cmd/coderag-ls/internal/terminal"
	"coderag-ls/engine/eval"
)

// refusedText tells how often "nothing relevant" was said rightly and wrongly,
// over all suites of a run.
func refusedText(scores []eval.Score) string {
	r := eval.Summary(scores)
	if r.Refused == nil {
		return ""
	}
	text := fmt.Sprintf("nothing relevant was said to %.1f %% of %d questions without an answer", 100**r.Refused, r.Absent)
	if r.NoAnswer != nil {
		text += fmt.Sprintf(" and to %.1f %% of those with one", 100**r.NoAnswer)
	}
	return text + "\n"
}

func (a *app) comparisonText(c eval.Comparison) string {
	if len(c.Suites) == 0 {
		return "The runs have no suite in common.\n"
	}
	var b strings.Builder
	for _, s := range c.Suites {
		fmt.Fprintf(&b, "%s: %d questions better, %d worse, %d the same\n", a.out.Paint(terminal.Bold, a.out.Text(s.Name)), len(s.Better), len(s.Worse), s.Same)
		for _, name := range slices.Sorted(maps.Keys(s.Means)) {
			if m := s.Means[name]; math.Abs(m[1]-m[0]) >= 0.00005 {
				fmt.Fprintf(&b, "  %-16s %.4f -> %.4f (%+.4f)\n", name, m[0], m[1], m[1]-m[0])
			}
		}
		b.WriteString(a.changesText("better", s.Better))
		b.WriteString(a.changesText("worse", s.Worse))
		for _, only := range []struct {
			run string
			ids []string
		}{{"before", s.OnlyBefore}, {"after", s.OnlyAfter}} {
			if len(only.ids) > 0 {
				fmt.Fprintf(&b, "  only %s: %s\n", only.run, a.out.Text(strings.Join(only.ids, " ")))
			}
		}
	}
	return b.String()
}

func (a *app) changesText(kind string, changes []eval.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "  %s %s %q\n", kind, a.out.Text(c.ID), a.out.Text(c.Query))
		for _, name := range slices.Sorted(maps.Keys(c.Measures)) {
			fmt.Fprintf(&b, "    %s %.3f -> %.3f", name, c.Measures[name][0], c.Measures[name][1])
		}
		b.WriteString("\n")
		for _, p := range c.Relevant {
			fmt.Fprintf(&b, "    right:  %s\n", a.out.Text(place(p.Path, p.Start, p.End)))
		}
		for _, f := range []struct {
			run string
			eval.Found
		}{{"before", c.Before}, {"after", c.After}} {
			b.WriteString(a.foundText(f.run, f.Found))
		}
	}
	return b.String()
}

// foundText names the first hit and the right one.
func (a *app) foundText(run string, f eval.Found) string {
	var b strings.Builder
	line := func(rank int, h eval.Hit) {
		fmt.Fprintf(&b, "    %-7s %2d. %s", run+":", rank, a.out.Text(place(h.Path, h.StartLine, h.EndLine)))
		if len(h.Why) > 0 {
			fmt.Fprintf(&b, " (%s)", a.out.Text(strings.Join(h.Why, "; ")))
		}
		b.WriteString("\n")
	}
	if len(f.Hits) > 0 && f.Rank != 1 {
		line(1, f.Hits[0])
	}
	if f.Right != nil {
		line(f.Rank, *f.Right)
	} else {
		fmt.Fprintf(&b, "    %-7s no right place among the first ten\n", run+":")
	}
	return b.String()
}

// place writes a path with its lines, if any.
func place(path string, start, end int) string {
	if start == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d-%d", path, start, end)
}
