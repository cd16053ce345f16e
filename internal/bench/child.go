package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/chunk/treesitter"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/memory"
	"coderag-ls/engine/wire"
)

// A child is this program run again for one measurement, so that memory and
// processor time are those of nothing else. It prints a figures as JSON.

// figures are what a child measures. Times are seconds (latencies: ms), memory
// is MB.
type figures struct {
	Files, Chunks   int
	Parse           cost    // read, classify and parse every file, as many threads as the index has
	ParseGenerated  float64 // CPU seconds of Parse for generated files, which the index does not parse
	Words           cost    // until every file's words were searchable
	Index           cost    // until everything was indexed
	Open            cost    // until Open returned
	First           cost    // until the first search was answered, from before Open
	Settled         cost    // until the disk was compared
	PeakMB          float64
	AfterMB, IdleMB float64
	HeapMB          float64
	StoreMB         float64
	Search, Ask     latency
	Stages          map[string]latency // of ask
	Hits            int                // of all questions together
	Crowd           crowdFigures
	Repeated        repeatedFigures
	Written         writtenFigures
}

// latency are percentiles in milliseconds.
type latency struct{ P50, P95 float64 }

// childProcess measures in a process of its own.
func childProcess(ctx context.Context, mode string, args ...string) (figures, error) {
	var f figures
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-child", mode}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("measuring %s: %w", mode, err)
	}
	return f, json.Unmarshal(out, &f)
}

// profiles are written by a child where BENCH_CPU_PROFILE or BENCH_HEAP_PROFILE name a
// file.
func profiles() (stop func() error, err error) {
	stop = func() error { return nil }
	if path := os.Getenv("BENCH_CPU_PROFILE"); path != "" {
		w, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(w); err != nil {
			return nil, err
		}
		stop = func() error { pprof.StopCPUProfile(); return w.Close() }
	}
	return stop, nil
}

func heapProfile() error {
	path := os.Getenv("BENCH_HEAP_PROFILE")
	if path == "" {
		return nil
	}
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(w, 0), w.Close())
}

func runChild(ctx context.Context, mode string, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("-child %s wants a directory and an index directory, got %q", mode, args)
	}
	root, cache := file.Root{Name: "corpus", Dir: args[0]}, args[1]
	run, ok := map[string]func(context.Context, file.Root, string, *figures) error{
		"cold": coldIndex, "warm": warmStart, "ask": askAll, "crowd": askAtOnce, "repeated": askAgain, "written": askModel,
	}[mode]
	if !ok {
		return fmt.Errorf("-child %s: want cold, warm, ask, crowd, repeated or written", mode)
	}
	if os.Getenv("GOGC") == "" {
		memory.Pace(memory.DefaultBudget) // as the program does
	}
	var f figures
	if err := run(ctx, root, cache, &f); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// open opens the engine with the model in the binary alone: MiniLM would go on
// in the background for an hour. Questions are asked again and again, and are
// to be searched each time.
func open(ctx context.Context, root file.Root, cache string, changed func()) (*engine.Engine, error) {
	s := settings(cache)
	s.Search.CacheSize = 0
	return engine.Open(ctx, engine.Options{Roots: []file.Root{root}, Settings: s, Changed: changed})
}

// settings are the usual ones, with the model in the binary.
func settings(cache string) config.Settings {
	s := config.Default()
	s.Index.CacheDir, s.Embed.Provider = cache, "static"
	return s
}

// opened opens an index that is there and brings it up to date. end closes it.
func opened(ctx context.Context, root file.Root, s config.Settings) (v *engine.View, e *engine.Engine, end func() error, err error) {
	if e, err = engine.Open(ctx, engine.Options{Roots: []file.Root{root}, Settings: s}); err != nil {
		return nil, nil, nil, err
	}
	v = e.NewView()
	end = func() error { v.Close(); return e.Close() }
	if _, err := v.Sync(ctx, wire.SyncParams{}); err != nil {
		return nil, nil, nil, errors.Join(err, end())
	}
	return v, e, end, nil
}

// statusPause is how long nobody asks for the state, which takes some 10 ms of the
// processor time that is measured.
const statusPause = 150 * time.Millisecond

// coldIndex parses a directory and then indexes it from nothing.
func coldIndex(ctx context.Context, root file.Root, cache string, f *figures) (err error) {
	if f.Parse, f.ParseGenerated, err = parseAll(ctx, root); err != nil {
		return err
	}
	memory.Release() // so that what follows is the index's
	resetPeak()
	stop, err := profiles()
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	wall, cpu := time.Now(), cpuSeconds()
	sofar := func() cost { return cost{time.Since(wall).Seconds(), cpuSeconds() - cpu} }
	e, err := open(ctx, root, cache, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	v := e.NewView()
	defer v.Close()
	indexed := make(chan error, 1)
	go func() {
		_, err := v.Sync(ctx, wire.SyncParams{})
		indexed <- err
	}()
	if _, err := e.Directories(ctx); err != nil { // the scan has ended: pending counts every file
		return err
	}
	for done := false; !done; {
		st, err := v.Status(ctx)
		if err != nil {
			return err
		}
		if st.Coverage.Pending == 0 {
			f.Words = sofar()
			break
		}
		select {
		case err := <-indexed:
			if err != nil {
				return err
			}
			f.Words, done = sofar(), true
			indexed <- nil
		case <-changed:
			time.Sleep(statusPause)
		}
	}
	if err := <-indexed; err != nil {
		return err
	}
	f.Index = sofar()
	f.AfterMB = residentMB()
	f.PeakMB = peakMB()
	if err := stop(); err != nil {
		return err
	}
	if err := settle(ctx, v, f); err != nil {
		return err
	}
	return nil
}

// settle waits until the process rests and tells what it holds.
func settle(ctx context.Context, v *engine.View, f *figures) error {
	last := cpuSeconds()
	for range 30 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(4 * time.Second): // longer than the pause before postings are kept
		}
		now := cpuSeconds()
		if now-last < .1 {
			break
		}
		last = now
	}
	f.IdleMB = residentMB()
	st, err := v.Status(ctx)
	if err != nil {
		return err
	}
	f.Chunks, f.StoreMB = st.Chunks, float64(st.StoreBytes)/1e6
	f.Files = st.Coverage.Indexed
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.HeapMB = float64(m.HeapAlloc) / 1e6
	return heapProfile()
}

// parseAll reads, classifies and parses every file that has a grammar.
// generated is the processor time of the generated ones among them.
func parseAll(ctx context.Context, root file.Root) (all cost, generated float64, err error) {
	rules, err := file.NewRules(root, file.Options{})
	if err != nil {
		return cost{}, 0, err
	}
	listing, err := rules.Scan(ctx)
	if err != nil {
		return cost{}, 0, err
	}
	grammars := treesitter.NewGrammars()
	var next, nanoseconds atomic.Int64
	all, err = measure(func() error {
		var wg sync.WaitGroup
		errs := make([]error, runtime.GOMAXPROCS(0))
		for w := range errs {
			wg.Go(func() {
				runtime.LockOSThread() // for threadSeconds
				defer runtime.UnlockOSThread()
				parser := grammars.NewParser()
				defer parser.Close()
				for ctx.Err() == nil {
					i := int(next.Add(1)) - 1
					if i >= len(listing.Entries) {
						return
					}
					rel := listing.Entries[i].Path
					content, err := file.Read(filepath.Join(root.Dir, filepath.FromSlash(rel)), file.DefaultMaxBytes)
					if err != nil {
						continue // too large or binary: not indexed either
					}
					class, skip, _ := file.Classify(rel, content.Text)
					if skip != "" || !grammars.Has(class.Language) {
						continue
					}
					before := threadSeconds()
					if err := parser.ParseOnly(class.Language, content.Text); err != nil {
						errs[w] = fmt.Errorf("parsing %s: %w", rel, err)
						return
					}
					if class.Generated {
						nanoseconds.Add(int64((threadSeconds() - before) * 1e9))
					}
				}
			})
		}
		wg.Wait()
		return errors.Join(append(errs, ctx.Err())...)
	})
	return all, float64(nanoseconds.Load()) / 1e9, err
}

// warmStart opens an index that is there.
func warmStart(ctx context.Context, root file.Root, cache string, f *figures) (err error) {
	stop, err := profiles()
	if err != nil {
		return err
	}
	wall, cpu := time.Now(), cpuSeconds()
	sofar := func() cost { return cost{time.Since(wall).Seconds(), cpuSeconds() - cpu} }
	e, err := open(ctx, root, cache, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	f.Open = sofar()
	v := e.NewView()
	defer v.Close()
	res, err := v.Search(ctx, wire.SearchParams{Query: questions()[0]})
	if err != nil {
		return err
	}
	f.First, f.Hits = sofar(), len(res.Hits)
	if _, err := v.Sync(ctx, wire.SyncParams{}); err != nil {
		return err
	}
	f.Settled, f.PeakMB, f.AfterMB = sofar(), peakMB(), residentMB()
	if err := stop(); err != nil {
		return err
	}
	return settle(ctx, v, f)
}

// askRounds is how often each question is asked.
const askRounds = 5

// askAll asks the questions of an index that is there.
func askAll(ctx context.Context, root file.Root, cache string, f *figures) (err error) {
	e, err := open(ctx, root, cache, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	v := e.NewView()
	defer v.Close()
	if _, err := v.Sync(ctx, wire.SyncParams{}); err != nil {
		return err
	}
	stop, err := profiles()
	if err != nil {
		return err
	}
	var search, ask []time.Duration
	stages := map[string][]time.Duration{}
	for round := range askRounds + 1 {
		for _, q := range questions() {
			began := time.Now()
			res, err := v.Search(ctx, wire.SearchParams{Query: q})
			if err != nil {
				return fmt.Errorf("searching %q: %w", q, err)
			}
			took := time.Since(began)
			began = time.Now()
			answer, err := v.Ask(ctx, wire.AskParams{SearchParams: wire.SearchParams{Query: q}}, nil)
			if err != nil {
				return fmt.Errorf("asking %q: %w", q, err)
			}
			asked := time.Since(began)
			if round == 0 {
				f.Hits += len(res.Hits)
				continue // files come from the disk the first time
			}
			search, ask = append(search, took), append(ask, asked)
			for stage, ms := range answer.Metrics.Timings {
				stages[stage] = append(stages[stage], time.Duration(ms*float64(time.Millisecond)))
			}
		}
	}
	if err := stop(); err != nil {
		return err
	}
	f.Search.P50, f.Search.P95 = percentiles(search)
	f.Ask.P50, f.Ask.P95 = percentiles(ask)
	f.Stages = map[string]latency{}
	for stage, times := range stages {
		var l latency
		l.P50, l.P95 = percentiles(times)
		f.Stages[stage] = l
	}
	st, err := v.Status(ctx)
	if err != nil {
		return err
	}
	f.Chunks, f.AfterMB = st.Chunks, residentMB()
	return nil
}

// indexSize is the bytes of the files below a directory, in MB.
func indexSize(dir string) float64 {
	total := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return float64(total) / 1e6
}

// status reads a line of /proc/self/status in MB (Linux).
func status(name string) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		var kb float64
		if rest, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			if _, err := fmt.Sscan(string(rest), &kb); err == nil {
				return kb * 1024 / 1e6
			}
		}
	}
	return 0
}
