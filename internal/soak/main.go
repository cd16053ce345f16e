// Command soak works in a large workspace with two editors for half an hour and
// looks at what becomes of the server: whether its memory stays flat, whether
// goroutines or descriptors pile up, and whether every citation says what its
// file does. It prints a table for docs/benchmarks.md and ends with 1 where
// something is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// flatness is how much memory may grow from the first third after the warm-up
// to the last.
const flatness = 0.10

type options struct {
	duration time.Duration
	files    int
	program  string
	seed     uint64
	switches time.Duration
}

func main() {
	var o options
	flag.DurationVar(&o.duration, "duration", 30*time.Minute, "how long to work, a fifth of it to warm up")
	flag.IntVar(&o.files, "files", 16000, "files of the workspace")
	flag.StringVar(&o.program, "program", "", "the program, where it is built already")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of what the users do")
	flag.DurationVar(&o.switches, "switch", 45*time.Second, "time between two switches of the branch")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.program == "" {
		o.program = filepath.Join(dir, "coderag-ls")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", o.program, "./cmd/coderag-ls").CombinedOutput(); err != nil {
			return fmt.Errorf("building the program: %w\n%s", err, out)
		}
	}
	fmt.Fprintln(os.Stderr, "soak: making the workspace")
	w, err := makeWorkspace(ctx, filepath.Join(dir, "w"), o.files)
	if err != nil {
		return err
	}
	s := &soak{o: o, dir: dir, w: w, log: newJournal(), disk: &disk{former: map[string][]string{}}}
	failed := lsptest.Try(func(tb testing.TB) { s.work(ctx, tb) })
	s.report(os.Stdout)
	return errors.Join(failed, s.verdict())
}

// soak is one run.
type soak struct {
	o    options
	dir  string
	w    *workspace
	log  *journal
	disk *disk

	servers []*server
	state   wire.Status // when all was indexed
	indexed time.Duration
	warm    time.Time // when the warm-up ended
	ended   time.Time
}

// server is one process.
type server struct {
	name    string
	cmd     *exec.Cmd
	stderr  *stderr
	samples []timed
}

type timed struct {
	at time.Time
	sample
}

// dial starts a server for an editor.
func (s *soak) dial(name string) func(testing.TB) (io.ReadWriteCloser, func() error) {
	return func(tb testing.TB) (io.ReadWriteCloser, func() error) {
		cmd := exec.Command(s.o.program, "serve", "--stdio")
		cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "XDG_RUNTIME_DIR="+s.dir,
			"CODERAG_INDEX_CACHE_DIR="+filepath.Join(s.dir, "cache"), "CODERAG_EMBED_PROVIDER=static", "GODEBUG="+traced())
		p := &server{name: name, cmd: cmd, stderr: &stderr{}}
		cmd.Stderr = p.stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			tb.Fatal(err)
		}
		out, outW, err := os.Pipe()
		if err != nil {
			tb.Fatal(err)
		}
		cmd.Stdout = outW
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
		if err := outW.Close(); err != nil {
			tb.Fatal(err)
		}
		s.servers = append(s.servers, p)
		tb.Cleanup(func() {
			if err := out.Close(); err != nil {
				tb.Error(err)
			}
		})
		return struct {
			io.Reader
			io.WriteCloser
		}{out, in}, cmd.Wait
	}
}

// work is the whole of it.
func (s *soak) work(ctx context.Context, tb testing.TB) {
	began := time.Now()
	var users []*user
	for i, name := range []string{"A", "B"} {
		e := lsptest.Start(tb, lsptest.Config{Client: lsptest.VSCode, Folders: []string{s.w.dir}, Dial: s.dial(name)})
		half := len(s.w.edited) / 2
		users = append(users, &user{
			name: name, editor: e, w: s.w, log: s.log, disk: s.disk, rng: rand.New(rand.NewPCG(s.o.seed, uint64(i))),
			files: s.w.edited[i*half : (i+1)*half],
		})
		fmt.Fprintf(os.Stderr, "soak: editor %s waits for the index\n", name)
		s.awaitIndex(e)
	}
	s.indexed = time.Since(began)
	users[0].editor.MustCall(lsp.MethodStatus, nil, &s.state)
	fmt.Fprintf(os.Stderr, "soak: %d files, %d chunks after %v; working for %v, seed %d\n", s.state.Coverage.Indexed, s.state.Chunks, s.indexed.Round(time.Second), s.o.duration, s.o.seed)

	working, stop := context.WithTimeout(ctx, s.o.duration)
	defer stop()
	s.warm = time.Now().Add(s.o.duration / 5)
	var all sync.WaitGroup
	for _, u := range users {
		all.Go(func() { u.work(working) })
	}
	all.Go(func() { s.switchBranches(working, users[0].editor) })
	all.Go(func() { s.watch(working) })
	all.Wait()
	s.ended = time.Now()
	for _, u := range users {
		for _, path := range slices.Clone(u.open) {
			u.close(path)
		}
	}
	for _, u := range slices.Backward(users) {
		if err := u.editor.Shutdown(); err != nil {
			tb.Errorf("editor %s: shutting down: %v", u.name, err)
		}
	}
}

// awaitIndex waits until all is indexed.
func (s *soak) awaitIndex(e *lsptest.Editor) {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		var st wire.Status
		e.MustCall(lsp.MethodStatus, nil, &st)
		if st.Coverage.Indexed > 0 && st.Coverage.Pending == 0 && !st.Coverage.Stale && st.Queues.Index == 0 {
			return
		}
		<-look.C
	}
}

// switchBranches switches to and fro.
func (s *soak) switchBranches(ctx context.Context, e *lsptest.Editor) {
	due := time.NewTicker(s.o.switches)
	defer due.Stop()
	for on := false; ; on = !on {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		}
		to := branch
		if on {
			to = "main"
		}
		// Nobody asks meanwhile: which of the two texts an answer is checked
		// against would be left to chance.
		s.disk.Lock()
		err := s.w.git(context.WithoutCancel(ctx), "checkout", "-q", to)
		s.disk.Unlock()
		if err != nil {
			s.log.wrong("switching the branch: %v", err)
			return
		}
		began := time.Now()
		var r wire.SyncResult
		if err := e.Call(lsp.MethodSync, wire.SyncParams{Scan: true}, &r); err != nil {
			s.log.wrong("after the branch was switched: %v", err)
			return
		}
		s.log.took(fmt.Sprintf("branch of %d files", len(s.w.switched)), time.Since(began))
	}
}

// watch takes samples of the processes.
func (s *soak) watch(ctx context.Context) {
	look := time.NewTicker(2 * time.Second)
	defer look.Stop()
	tell := time.NewTicker(time.Minute)
	defer tell.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tell.C:
			for _, p := range s.servers {
				if n := len(p.samples); n > 0 {
					l := p.samples[n-1]
					fmt.Fprintf(os.Stderr, "soak: %s %s: %d MB (%d MB of its own), %d descriptors, %d goroutines; %d faults\n", time.Now().Format("15:04:05"), p.name, l.rss>>20, l.anonymous>>20, l.files, l.goroutines, s.log.nfaults)
				}
			}
		case <-look.C:
			for _, p := range s.servers {
				one, err := s.look(p)
				if err != nil {
					s.log.wrong("looking at the process of editor %s: %v", p.name, err)
					return
				}
				p.samples = append(p.samples, timed{time.Now(), one})
			}
		}
	}
}

func (s *soak) look(p *server) (sample, error) { return look(p.cmd.Process.Pid, p.stderr) }

// verdict says what is wrong.
func (s *soak) verdict() error {
	var errs []error
	for _, fault := range s.log.faults {
		errs = append(errs, errors.New(fault))
	}
	for _, p := range s.servers {
		if fell := p.stderr.fell(); fell != "" {
			errs = append(errs, fmt.Errorf("the process of editor %s fell over: %s", p.name, fell))
		}
		first, last, ok := s.thirds(p)
		if !ok {
			continue
		}
		if float64(last.rss) > float64(first.rss)*(1+flatness) {
			errs = append(errs, fmt.Errorf("the memory of editor %s's process grew from %d MB to %d MB", p.name, first.rss>>20, last.rss>>20))
		}
		if last.files > first.files+2 {
			errs = append(errs, fmt.Errorf("the descriptors of editor %s's process grew from %d to %d", p.name, first.files, last.files))
		}
		if last.goroutines > first.goroutines+5 {
			errs = append(errs, fmt.Errorf("the goroutines of editor %s's process grew from %d to %d", p.name, first.goroutines, last.goroutines))
		}
	}
	return errors.Join(errs...)
}

// thirds are the medians of the first and the last third after the warm-up.
func (s *soak) thirds(p *server) (first, last sample, ok bool) {
	var after []timed
	for _, one := range p.samples {
		if one.at.After(s.warm) {
			after = append(after, one)
		}
	}
	n := len(after) / 3
	if n == 0 {
		return first, last, false
	}
	return median(after[:n]), median(after[len(after)-n:]), true
}

func median(of []timed) sample {
	mid := func(get func(timed) int) int {
		values := make([]int, len(of))
		for i, one := range of {
			values[i] = get(one)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return sample{
		rss:        int64(mid(func(t timed) int { return int(t.rss) })),
		anonymous:  int64(mid(func(t timed) int { return int(t.anonymous) })),
		files:      mid(func(t timed) int { return t.files }),
		goroutines: mid(func(t timed) int { return t.goroutines }),
	}
}

// report prints the table.
func (s *soak) report(out io.Writer) {
	j := s.log
	j.mu.Lock()
	defer j.mu.Unlock()
	minutes := s.o.duration.Minutes()
	var b strings.Builder
	fmt.Fprintf(&b, "Two editors on %d files (%d chunks), typing, saving, asking and switching branches for %v after %v of indexing.\n\n",
		s.state.Coverage.Indexed, s.state.Chunks, s.o.duration, s.indexed.Round(time.Second))
	b.WriteString("| | first third | last third |\n|---|---|---|\n")
	for _, p := range s.servers {
		first, last, ok := s.thirds(p)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "| resident memory, editor %s | %d MB | %d MB (%+.1f %%) |\n", p.name, first.rss>>20, last.rss>>20, 100*(float64(last.rss)/float64(first.rss)-1))
		fmt.Fprintf(&b, "| of its own (anonymous) | %d MB | %d MB |\n", first.anonymous>>20, last.anonymous>>20)
		fmt.Fprintf(&b, "| descriptors, goroutines | %d, %d | %d, %d |\n", first.files, first.goroutines, last.files, last.goroutines)
	}
	b.WriteString("\n| | n | p50 | p95 | p99 | worst |\n|---|---|---|---|---|---|\n")
	for _, what := range sortedKeys(j.times) {
		t := j.times[what]
		fmt.Fprintf(&b, "| %s | %d | %.1f ms | %.1f ms | %.1f ms | %.0f ms |\n", what, len(t), percentile(t, 0.5), percentile(t, 0.95), percentile(t, 0.99), percentile(t, 1))
	}
	fmt.Fprintf(&b, "\n%.0f answers and %.0f searches a minute, %d keystrokes, %d saves, %d citations read again, %d faults.\n",
		float64(len(j.times["ask"]))/minutes, float64(j.counts["searches"])/minutes, j.counts["keystrokes"], j.counts["saves"], j.counts["citations"], j.nfaults)
	fmt.Fprint(out, b.String())
}

func sortedKeys(m map[string][]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
