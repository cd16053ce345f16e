package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"coderag-ls/engine/index"
)

// All runs the searches of one plan at the same time and joins what they found:
// a chunk that several found counts once, with its best score, and knows all
// that asked for it. All searches are of one snapshot. It fails where one of
// them does.
func (s *Searcher) All(ctx context.Context, searches []Input) (Result, error) {
	if len(searches) == 1 {
		return s.Search(ctx, searches[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results, errs := make([]Result, len(searches)), make([]error, len(searches))
	var wg tasks
	for i := range searches {
		wg.Go(func() {
			if results[i], errs[i] = s.Search(ctx, searches[i]); errs[i] != nil {
				cancel() // the others are for nothing
			}
		})
	}
	wg.Wait()
	first := slices.IndexFunc(errs, func(err error) bool { return err != nil && err != context.Canceled })
	if first < 0 {
		first = slices.IndexFunc(errs, func(err error) bool { return err != nil })
	}
	if first >= 0 {
		return Result{}, errs[first]
	}
	if len(results) == 0 {
		return Result{}, nil
	}
	start := time.Now()
	all := join(results)
	slices.SortFunc(all.Hits, compareHits(searches[0].Snapshot))
	all.Timings["join"] = float64(time.Since(start).Microseconds()) / 1000
	return all, nil
}

// join joins results; the hits are in no order yet.
func join(results []Result) Result {
	all := Result{Timings: map[string]float64{}}
	at := map[index.Ref]int{}
	var fallbacks, degraded []string
	for i := range results {
		r := &results[i]
		for _, h := range r.Hits {
			h.Requests = []int{i}
			n, seen := at[h.Ref]
			if !seen {
				at[h.Ref] = len(all.Hits)
				all.Hits = append(all.Hits, h)
				continue
			}
			had := &all.Hits[n]
			had.Requests = append(had.Requests, i)
			had.Share, had.Lead = max(had.Share, h.Share), had.Lead || h.Lead
			if h.Score > had.Score {
				had.Score, had.Why = h.Score, h.Why
			}
		}
		if i == 0 || r.Relevance > all.Relevance {
			all.Relevance, all.Signals, all.Files = r.Relevance, r.Signals, r.Files
		}
		all.Candidates.Lexical += r.Candidates.Lexical
		all.Candidates.Vector += r.Candidates.Vector
		all.Candidates.Fused += r.Candidates.Fused
		all.Partial = all.Partial || r.Partial
		fallbacks, degraded = appendNew(fallbacks, r.Fallback), appendNew(degraded, r.Degraded)
		for _, m := range r.Models {
			if !slices.Contains(all.Models, m) {
				all.Models = append(all.Models, m)
			}
		}
		for stage, ms := range r.Timings {
			all.Timings[stage] = max(all.Timings[stage], ms) // they ran at the same time
		}
	}
	for i := range results {
		for _, h := range results[i].Further {
			if _, seen := at[h.Ref]; !seen {
				at[h.Ref] = -1
				all.Further = append(all.Further, h)
			}
		}
	}
	all.Fallback, all.Degraded = strings.Join(fallbacks, "; "), strings.Join(degraded, "; ")
	return all
}

func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
