package eval

import (
	"cmp"
	"math"
	"slices"
)

// Comparison is what changed from one run to another.
type Comparison struct {
	Suites []SuiteComparison `json:"suites"`
}

// SuiteComparison is what changed in one suite. Better and Worse are ordered by
// how much changed, most first.
type SuiteComparison struct {
	Name string `json:"name"`
	// Means are the means of each measure before and after, over the questions
	// for which both runs have it.
	Means  map[string][2]float64 `json:"means"`
	Better []Change              `json:"better"`
	Worse  []Change              `json:"worse"`
	Same   int                   `json:"same"` // questions of both runs that did neither
	// OnlyBefore and OnlyAfter are the questions that one run has not.
	OnlyBefore []string `json:"onlyBefore,omitempty"`
	OnlyAfter  []string `json:"onlyAfter,omitempty"`
}

// Change is one question that did better or worse. Total is the sum of the
// differences of its measures.
type Change struct {
	ID       string                `json:"id"`
	Query    string                `json:"query"`
	Repo     string                `json:"repo"`
	Relevant []Place               `json:"relevant,omitempty"`
	Total    float64               `json:"total"`
	Measures map[string][2]float64 `json:"measures"` // those that differ: before, after
	Before   Found                 `json:"before"`
	After    Found                 `json:"after"`
}

// Found is what a run found for a question.
type Found struct {
	// Rank is the rank of the first hit in a right place, 0 where none of the
	// first ten is; Right is that hit, with its reasons.
	Rank      int   `json:"rank"`
	Right     *Hit  `json:"right,omitempty"`
	Hits      []Hit `json:"hits,omitempty"`
	Citations []Hit `json:"citations,omitempty"`
}

// unchanged is the difference below which floating-point numbers are the same.
const unchanged = 1e-9

// Compare compares the suites that both runs have.
func Compare(before, after Saved) Comparison {
	var out Comparison
	for _, b := range before.Suites {
		for _, a := range after.Suites {
			if a.Report.Name == b.Report.Name {
				out.Suites = append(out.Suites, compareSuite(b, a))
			}
		}
	}
	return out
}

func compareSuite(before, after SavedSuite) SuiteComparison {
	out := SuiteComparison{Name: after.Report.Name, Means: map[string][2]float64{}, Better: []Change{}, Worse: []Change{}}
	counts := map[string]float64{}
	old := make(map[string]*Result, len(before.Results))
	for i := range before.Results {
		old[before.Results[i].ID] = &before.Results[i]
	}
	for i := range after.Results {
		now := &after.Results[i]
		then, ok := old[now.ID]
		if !ok {
			out.OnlyAfter = append(out.OnlyAfter, now.ID)
			continue
		}
		delete(old, now.ID)
		for name, a := range now.Measures {
			if b, ok := then.Measures[name]; ok {
				m := out.Means[name]
				out.Means[name] = [2]float64{m[0] + b, m[1] + a}
				counts[name]++
			}
		}
		switch c := change(then, now); {
		case c.Total > unchanged:
			out.Better = append(out.Better, c)
		case c.Total < -unchanged:
			out.Worse = append(out.Worse, c)
		default:
			out.Same++
		}
	}
	for name, n := range counts {
		m := out.Means[name]
		out.Means[name] = [2]float64{m[0] / n, m[1] / n}
	}
	for i := range before.Results {
		if id := before.Results[i].ID; old[id] != nil {
			out.OnlyBefore = append(out.OnlyBefore, id)
		}
	}
	most := func(a, b Change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Total), math.Abs(a.Total)), cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(out.Better, most)
	slices.SortFunc(out.Worse, most)
	return out
}

func change(then, now *Result) Change {
	c := Change{
		ID: now.ID, Query: now.Query, Repo: now.Repo, Relevant: now.Relevant,
		Measures: map[string][2]float64{}, Before: found(then), After: found(now),
	}
	for name, a := range now.Measures {
		// What only one run measured says nothing.
		if b, ok := then.Measures[name]; ok && math.Abs(a-b) > unchanged {
			c.Measures[name] = [2]float64{b, a}
		}
	}
	for _, m := range c.Measures {
		c.Total += m[1] - m[0]
	}
	return c
}

func found(r *Result) Found {
	f := Found{Hits: r.Hits, Citations: r.Citations}
	for i := range r.Hits {
		if slices.ContainsFunc(r.Relevant, func(p Place) bool { return p.holds(r.Hits[i]) }) {
			f.Rank, f.Right = i+1, &r.Hits[i]
			break
		}
	}
	return f
}
