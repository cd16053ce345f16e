package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
)

// The stream of repeated questions: people come back to the same few, and go on
// typing. A question's share falls with its place (Zipf 1949).
const (
	streamRequests = 1000
	typedEvery     = 100 // requests
	zipfExponent   = 1.07
)

// repeatedFigures are those of questions that are asked again.
type repeatedFigures struct {
	Quiet, Typing float64 // percent of requests that found their hits kept: nothing changes; somebody types
	Hit, Miss     latency // of searches
	AskHit        latency
	AskMiss       latency
}

// askAgain asks a stream of questions with the cache as it is by default: once
// of a workspace that rests, once of one that is worked on.
func askAgain(ctx context.Context, root file.Root, cache string, f *figures) (err error) {
	v, _, end, err := opened(ctx, root, settings(cache))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, q := range questions() { // files come from the disk the first time
		if _, err := v.Ask(ctx, wire.AskParams{SearchParams: wire.SearchParams{Query: q + " "}}, nil); err != nil {
			return err
		}
	}
	r := &f.Repeated
	times := map[string][]time.Duration{}
	if r.Quiet, err = askStream(ctx, v, nil, times); err != nil {
		return err
	}
	path := filepath.Join(root.Dir, "typed_in_by_the_benchmark.go")
	lines := []string{"package typed", ""}
	typed := func() error {
		lines = append(lines, fmt.Sprintf("// Line %d is new.", len(lines)))
		kind := file.Edited
		if len(lines) == 3 {
			kind = file.Opened
		}
		return v.Apply(ctx, "bench", []file.Change{{Path: path, Kind: kind, Text: strings.Join(lines, "\n"), Version: int32(len(lines))}})
	}
	if r.Typing, err = askStream(ctx, v, typed, times); err != nil {
		return err
	}
	for key, l := range map[string]*latency{"search true": &r.Hit, "search false": &r.Miss, "ask true": &r.AskHit, "ask false": &r.AskMiss} {
		if len(times[key]) > 0 {
			l.P50, l.P95 = percentiles(times[key])
		}
	}
	return nil
}

// askStream returns the share of requests, in percent, whose hits were kept, and
// adds what each took to times, by "search" or "ask" and whether they were.
func askStream(ctx context.Context, v *engine.View, typed func() error, times map[string][]time.Duration) (rate float64, err error) {
	all := questions()
	rng := rand.New(rand.NewPCG(5, 6))
	draw := rand.NewZipf(rng, zipfExponent, 1, uint64(len(all)-1))
	order := rng.Perm(len(all)) // which question is the most frequent is chance
	hits := 0
	for i := range streamRequests {
		if typed != nil && i%typedEvery == 0 {
			if err := typed(); err != nil {
				return 0, err
			}
		}
		p := wire.SearchParams{Query: all[order[draw.Uint64()]]}
		kind, hit := "search", false
		began := time.Now()
		if rng.IntN(2) == 0 {
			r, err := v.Search(ctx, p)
			if err != nil {
				return 0, fmt.Errorf("searching %q: %w", p.Query, err)
			}
			hit = r.Metrics.CacheHit
		} else {
			kind = "ask"
			r, err := v.Ask(ctx, wire.AskParams{SearchParams: p}, nil)
			if err != nil {
				return 0, fmt.Errorf("asking %q: %w", p.Query, err)
			}
			hit = r.Metrics.CacheHit
		}
		key := fmt.Sprintf("%s %v", kind, hit)
		times[key] = append(times[key], time.Since(began))
		if hit {
			hits++
		}
	}
	return 100 * float64(hits) / streamRequests, nil
}

// rows are those of the stream.
func (r repeatedFigures) rows() []row {
	return []row{
		{what: "repeated questions found in the cache, at rest", ours: r.Quiet, unit: "%", least: minCacheHits},
		{what: fmt.Sprintf("repeated questions found in the cache, an edit after every %d", typedEvery), ours: r.Typing, unit: "%", least: minCacheHits},
		{what: "search again, p50", ours: r.Hit.P50, worstOurs: r.Hit.P95, hasOursP95: true, peer: r.Miss.P50, unit: "ms", peerName: "the first time", lowerWins: true},
		{what: "ask again, p50", ours: r.AskHit.P50, worstOurs: r.AskHit.P95, hasOursP95: true, peer: r.AskMiss.P50, unit: "ms", peerName: "the first time", lowerWins: true},
	}
}
