package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"coderag-ls/engine/search"
)

// weights belong to the features of search.PassageFeatureNames.
type weights = search.PassageFeatures

// report measures with parts of the projects left out, fits all and prints.
func report(kept *collection, o options) error {
	all, held := slices.DeleteFunc(slices.Clone(kept.Questions), short), kept.Suite
	left := make([]bool, len(weights{}))
	if o.without != "" {
		for _, name := range strings.Split(o.without, ",") {
			at := slices.Index(search.PassageFeatureNames(), name)
			if at < 0 {
				return fmt.Errorf("there is no feature %q", name)
			}
			left[at] = true
		}
	}
	var projects []string
	for _, q := range all {
		if !slices.Contains(projects, q.Project) {
			projects = append(projects, q.Project)
		}
	}
	fmt.Printf("%d questions of %d projects\n", len(all), len(projects))
	measure("weights in use", all, func(q *question) func(*candidate) float64 { return func(c *candidate) float64 { return c.Now } })
	var of map[string]weights
	if o.folds > 1 {
		of = map[string]weights{}
		for fold := range o.folds {
			var train []question
			for _, q := range all {
				if slices.Index(projects, q.Project)%o.folds != fold {
					train = append(train, q)
				}
			}
			w := fit(train, o.penalty, left)
			for i, p := range projects {
				if i%o.folds == fold {
					of[p] = w
				}
			}
		}
		measure("fitted, project left out", all, func(q *question) func(*candidate) float64 {
			w := of[q.Project]
			return func(c *candidate) float64 { return dot(&c.Features, &w) }
		})
	}
	w := fit(all, o.penalty, left)
	measure("fitted", all, func(q *question) func(*candidate) float64 {
		return func(c *candidate) float64 { return dot(&c.Features, &w) }
	})
	if len(held) > 0 {
		measure("suite, weights in use", held, func(q *question) func(*candidate) float64 { return func(c *candidate) float64 { return c.Now } })
		measure("suite, fitted", held, func(q *question) func(*candidate) float64 {
			return func(c *candidate) float64 { return dot(&c.Features, &w) }
		})
	}
	for i, name := range search.PassageFeatureNames() {
		fmt.Printf("%-14s %7.2f\n", name, w[i])
	}
	return nil
}

// leastLines is how long the definition must be that a question is about:
// accessors and wrappers have comments, too, but people ask about code that does
// something.
const leastLines = 8

// short reports whether a question is about a shorter one.
func short(q question) bool {
	at := slices.Index(search.PassageFeatureNames(), "definition")
	for i := range q.Chunks {
		if c := &q.Chunks[i]; c.Right && c.Features[at] >= math.Log(leastLines) {
			return false
		}
	}
	return true
}

func dot(a, b *weights) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// measure tells how often the first chunk, one of the first three, and the first
// of the right file's are right.
func measure(what string, all []question, scorer func(*question) func(*candidate) float64) {
	var first, three, within float64
	for i := range all {
		q := &all[i]
		score := scorer(q)
		order := make([]int, len(q.Chunks))
		scores := make([]float64, len(q.Chunks))
		file := 0
		for j := range q.Chunks {
			order[j], scores[j] = j, score(&q.Chunks[j])
			if q.Chunks[j].Right {
				file = q.Chunks[j].File
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		for rank, j := range order {
			if q.Chunks[j].Right {
				if rank == 0 {
					first++
				}
				if rank < 3 {
					three++
				}
				break
			}
		}
		for _, j := range order {
			if q.Chunks[j].File == file {
				if q.Chunks[j].Right {
					within++
				}
				break
			}
		}
	}
	n := float64(len(all))
	fmt.Printf("%-26s first %.3f  one of three %.3f  first of the right file %.3f\n", what, first/n, three/n, within/n)
}

// fit maximises the mean log of the right chunks' share of the softmax over a
// question's chunks, less the penalty, by gradient ascent (Adam) on features
// scaled to unit deviation.
func fit(qs []question, penalty float64, left []bool) weights {
	scale := deviations(qs)
	signs := expected()
	var w, m, v, grad weights
	for step := 1; step <= steps; step++ {
		grad = weights{}
		var loss float64
		for i := range qs {
			loss += qs[i].gradient(&w, &scale, &grad)
		}
		rate := 0.1 * (1 - float64(step)/(steps+1))
		for i := range w {
			if left[i] {
				continue
			}
			g := grad[i]/float64(len(qs)) - penalty/100*w[i]
			m[i] = 0.9*m[i] + 0.1*g
			v[i] = 0.99*v[i] + 0.01*g*g
			w[i] += rate * (m[i] / (1 - math.Pow(0.9, float64(step)))) / (math.Sqrt(v[i]/(1-math.Pow(0.99, float64(step)))) + 1e-8)
			if sign := signs[i]; float64(sign)*w[i] < 0 {
				w[i] = 0
			}
		}
		if step == steps {
			fmt.Fprintf(os.Stderr, "log-likelihood per question %.4f\n", loss/float64(len(qs)))
		}
	}
	for i := range w {
		w[i] /= scale[i]
	}
	return w
}

const steps = 150

// expected are the signs that a weight may have, by feature: what speaks for a
// chunk must not count against it only because another feature says the same.
// The others may have either.
func expected() (signs [len(weights{})]int) {
	against := []string{"variable", "module", "section", "block", "later", "first", "tiny", "testIn"}
	either := []string{"type", "interface", "size", "definition", "fileFirst"}
	for i, name := range search.PassageFeatureNames() {
		switch {
		case slices.Contains(against, name):
			signs[i] = -1
		case !slices.Contains(either, name):
			signs[i] = 1
		}
	}
	return signs
}

func deviations(qs []question) (d weights) {
	var sum, squares weights
	var n float64
	for i := range qs {
		for j := range qs[i].Chunks {
			n++
			for k, x := range qs[i].Chunks[j].Features {
				sum[k] += x
				squares[k] += x * x
			}
		}
	}
	for k := range d {
		d[k] = math.Sqrt(max(0, squares[k]/n-(sum[k]/n)*(sum[k]/n)))
		if d[k] < 1e-6 {
			d[k] = 1
		}
	}
	return d
}

// gradient adds the gradient of the question's log-likelihood, which it returns.
func (q *question) gradient(w, scale, grad *weights) float64 {
	var by weights
	for i := range by {
		by[i] = w[i] / scale[i]
	}
	scores := make([]float64, len(q.Chunks))
	most := math.Inf(-1)
	for i := range q.Chunks {
		scores[i] = dot(&q.Chunks[i].Features, &by)
		most = max(most, scores[i])
	}
	var all, right float64
	for i := range scores {
		scores[i] = math.Exp(scores[i] - most)
		all += scores[i]
		if q.Chunks[i].Right {
			right += scores[i]
		}
	}
	for i := range q.Chunks {
		p := -scores[i] / all
		if q.Chunks[i].Right {
			p += scores[i] / max(right, 1e-300)
		}
		if math.Abs(p) < 1e-6 {
			continue
		}
		for k, x := range q.Chunks[i].Features {
			grad[k] += p * x / scale[k]
		}
	}
	return math.Log(max(right, 1e-300) / all)
}
