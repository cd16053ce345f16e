package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/file"
	"coderag-ls/engine/memory"
	"coderag-ls/engine/wire"
)

// The crowd: so many clients ask at once, so many requests each.
const (
	crowdClients  = 100
	crowdRequests = 4
	crowdRounds   = 3
)

// crowdFigures are those of many clients that ask at once. A request that
// fails ends the measurement.
type crowdFigures struct {
	Alone, AtOnce               cost    // of a request, in ms
	Among                       latency // of a request among the others
	GoroutinesBefore, Goroutine int     // at rest, before and after
	HeapBefore, Heap            float64 // MB in use at rest, before and after
}

// askAtOnce asks the same searches and questions one at a time, then from many
// clients at once.
func askAtOnce(ctx context.Context, root file.Root, cache string, f *figures) (err error) {
	s := settings(cache)
	s.Search.CacheSize = 0
	v, e, end, err := opened(ctx, root, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	c := &f.Crowd
	if _, _, err := askCrowd(ctx, e); err != nil { // what is made once is there afterwards
		return err
	}
	c.HeapBefore, c.GoroutinesBefore = atRest()
	alone, err := measure(func() error {
		for i := range crowdClients * crowdRequests {
			if err := crowdRequest(ctx, v, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Alone = perRequest(alone, 1)
	var all cost
	var among []time.Duration
	for range crowdRounds {
		took, each, err := askCrowd(ctx, e)
		if err != nil {
			return err
		}
		all.Wall, all.CPU, among = all.Wall+took.Wall, all.CPU+took.CPU, append(among, each...)
	}
	c.AtOnce = perRequest(all, crowdRounds)
	c.Among.P50, c.Among.P95 = percentiles(among)
	c.Heap, c.Goroutine = atRest()
	st, err := v.Status(ctx)
	f.Chunks = st.Chunks
	return err
}

// askCrowd has every client ask, each through a view of its own. each are the
// times of all requests.
func askCrowd(ctx context.Context, e *engine.Engine) (all cost, each []time.Duration, err error) {
	var clients sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, crowdClients)
	each = make([]time.Duration, crowdClients*crowdRequests)
	for n := range crowdClients {
		clients.Go(func() {
			v := e.NewView()
			defer v.Close()
			<-start
			for i := n * crowdRequests; i < (n+1)*crowdRequests && errs[n] == nil; i++ {
				began := time.Now()
				errs[n] = crowdRequest(ctx, v, i)
				each[i] = time.Since(began)
			}
		})
	}
	all, err = measure(func() error {
		close(start)
		clients.Wait()
		return errors.Join(errs...)
	})
	return all, each, err
}

// crowdRequest is the i-th request: searches and questions by turns.
func crowdRequest(ctx context.Context, v *engine.View, i int) error {
	p := wire.SearchParams{Query: questions()[i/2%len(questions())]}
	if i%2 == 0 {
		if _, err := v.Search(ctx, p); err != nil {
			return fmt.Errorf("searching %q: %w", p.Query, err)
		}
		return nil
	}
	if _, err := v.Ask(ctx, wire.AskParams{SearchParams: p}, nil); err != nil {
		return fmt.Errorf("asking %q: %w", p.Query, err)
	}
	return nil
}

// perRequest is the cost in ms of one request of so many rounds of a crowd.
func perRequest(all cost, rounds int) cost {
	n := float64(rounds * crowdClients * crowdRequests)
	return cost{1000 * all.Wall / n, 1000 * all.CPU / n}
}

// atRest is what is held when nobody asks: the heap in use in MB, and the
// goroutines, once no more of them end.
func atRest() (heap float64, goroutines int) {
	goroutines = runtime.NumGoroutine()
	for range 20 {
		time.Sleep(100 * time.Millisecond)
		if n := runtime.NumGoroutine(); n < goroutines {
			goroutines = n
		}
	}
	runtime.GC() // weakly held values go with the second collection
	memory.Release()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6, goroutines
}

// rows are the crowd's.
func (c crowdFigures) rows() []row {
	const alone, before = "one at a time", "before the crowd"
	return []row{
		{what: fmt.Sprintf("%d clients at once, wall time per request", crowdClients), ours: c.AtOnce.Wall, peer: c.Alone.Wall, unit: "ms", peerName: alone, lowerWins: true, most: maxCrowd, ofPeer: true},
		{what: fmt.Sprintf("%d clients at once, processor time per request", crowdClients), ours: c.AtOnce.CPU, peer: c.Alone.CPU, unit: "ms", peerName: alone, lowerWins: true},
		{what: fmt.Sprintf("%d clients at once, a client's wait, p50", crowdClients), ours: c.Among.P50, worstOurs: c.Among.P95, hasOursP95: true, unit: "ms"},
		{what: "goroutines at rest afterwards", ours: float64(c.Goroutine), peer: float64(c.GoroutinesBefore), unit: "", peerName: before, lowerWins: true, most: 1, ofPeer: true},
		{what: "heap in use at rest afterwards", ours: c.Heap, peer: c.HeapBefore, unit: "MB", peerName: before, lowerWins: true, most: maxCrowdHeap, ofPeer: true},
	}
}
