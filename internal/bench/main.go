// Command bench measures the engine beside named peers and raw libraries in
// one run and writes docs/benchmarks.md with its plots. Machines differ and are
// shared: the ratios are what counts.
//
//	go run ./internal/bench            # everything, about ten minutes
//	go run ./internal/bench -only scan # one part, printed only
//	go run ./internal/bench -only ask -corpus engine # on a small corpus
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// row is one measured figure beside its peer.
type row struct {
	what       string
	ours       float64
	peer       float64 // 0 where there is none
	unit       string
	peerName   string
	lowerWins  bool
	note       string
	worstOurs  float64 // p95 where given
	hasOursP95 bool
	most       float64 // the target: at most this, 0 for none
	ofPeer     bool    // most is times the peer's figure
	least      float64 // the target: at least this, 0 for none
}

// target says what was wanted and whether it was reached.
func (r row) target() string {
	if r.least != 0 {
		want := fmt.Sprintf("≥ %g %s", r.least, r.unit)
		if r.ours >= r.least {
			return want + ": yes"
		}
		return want + ": no"
	}
	if r.most == 0 {
		return ""
	}
	value, want := r.ours, fmt.Sprintf("≤ %g %s", r.most, r.unit)
	if r.ofPeer {
		value, want = r.ours/r.peer, fmt.Sprintf("≤ %g× its cost", r.most)
	}
	if value <= r.most {
		return want + ": yes"
	}
	return want + ": no"
}

// section is one part of the report.
type section struct {
	key, title, text string
	rows             []row
	notes            []string // peers that did not run, and the like
	plot             *plotData
}

// env is what the parts share.
type env struct {
	ctx    context.Context
	log    io.Writer
	dir    string // scratch, removed at the end
	corpus *corpus
}

func main() {
	only := flag.String("only", "", "run one part: "+strings.Join(keys(), ", "))
	dir := flag.String("corpus", "", "measure on this folder instead of Go's standard library; the targets are for that")
	out := flag.String("out", "docs/benchmarks.md", "file to write when everything is run")
	child := flag.String("child", "", "internal: run one measurement in a process of its own")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *child != "" {
		if err := runChild(ctx, *child, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, *only, *dir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type part struct {
	key string
	run func(*env) (section, error)
}

func parts() []part {
	return []part{
		{"chunk", benchChunk},
		{"embed", benchEmbed},
		{"scan", benchScan},
		{"words", benchWords},
		{"index", benchIndex},
		{"ask", benchAsk},
		{"live", benchLive},
	}
}

func keys() []string {
	var k []string
	for _, p := range parts() {
		k = append(k, p.key)
	}
	return k
}

func run(ctx context.Context, only, from, out string) error {
	dir, err := os.MkdirTemp("", "coderag-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e := &env{ctx: ctx, log: os.Stderr, dir: dir}
	if e.corpus, err = loadCorpus(ctx, from); err != nil {
		return err
	}
	fmt.Fprintf(e.log, "corpus: %d files, %.1f MB\n", len(e.corpus.files), float64(e.corpus.bytes)/1e6)
	var done []section
	for _, p := range parts() {
		if only != "" && p.key != only {
			continue
		}
		fmt.Fprintf(e.log, "== %s\n", p.key)
		began := time.Now()
		s, err := p.run(e)
		if err != nil {
			return fmt.Errorf("%s: %w", p.key, err)
		}
		s.key = p.key
		printSection(os.Stdout, s)
		fmt.Fprintf(e.log, "   %.0f s\n", time.Since(began).Seconds())
		done = append(done, s)
	}
	if only != "" {
		return nil
	}
	return report(done, out, e)
}

func printSection(w io.Writer, s section) {
	fmt.Fprintf(w, "\n%s\n", s.title)
	for _, r := range s.rows {
		fmt.Fprintf(w, "  %-46s %10s %-10s", r.what, number(r.ours), r.unit)
		if r.hasOursP95 {
			fmt.Fprintf(w, " p95 %s", number(r.worstOurs))
		}
		if r.peer != 0 {
			fmt.Fprintf(w, "  %s %s (%s)", r.peerName, number(r.peer), ratio(r))
		}
		if r.note != "" {
			fmt.Fprintf(w, "  %s", r.note)
		}
		if t := r.target(); t != "" {
			fmt.Fprintf(w, "  target %s", t)
		}
		fmt.Fprintln(w)
	}
	for _, n := range s.notes {
		fmt.Fprintln(w, "  "+n)
	}
}

// ratio says how many times better or worse than the peer we are.
func ratio(r row) string {
	x := r.ours / r.peer
	if r.lowerWins {
		return fmt.Sprintf("%.2f× its cost", x)
	}
	return fmt.Sprintf("%.2f× its rate", x)
}

func number(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func report(sections []section, out string, e *env) error {
	var b strings.Builder
	b.WriteString("# Benchmarks\n\n")
	b.WriteString("Written by `make bench`. Absolute figures belong to the machine of the run, which is shared and noisy; the ratios to the peers, measured in the same run, are what to compare.\n\n")
	fmt.Fprintf(&b, "Every part runs beside a named peer or the raw library, and is left out with a line that says so where that is not to be had. MiniLM is measured where it is installed.\n\n")
	fmt.Fprintf(&b, "Run of %s, %s %s/%s, %d processors, corpus: %s, %d files, %.0f MB.\n",
		time.Now().UTC().Format("2006-01-02"), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), e.corpus.name, len(e.corpus.files), float64(e.corpus.bytes)/1e6)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", s.title, s.text)
		b.WriteString("| what | coderag-ls | p95 | unit | peer | its figure | ratio | target |\n|---|--:|--:|---|---|--:|--:|---|\n")
		for _, r := range s.rows {
			p95, peer, x := "", "", ""
			if r.hasOursP95 {
				p95 = number(r.worstOurs)
			}
			if r.peer != 0 {
				peer, x = number(r.peer), ratio(r)
			}
			name := r.peerName
			if r.note != "" {
				name = strings.TrimPrefix(name+", "+r.note, ", ")
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.what, number(r.ours), p95, r.unit, name, peer, x, r.target())
		}
		for _, n := range s.notes {
			fmt.Fprintf(&b, "\n%s\n", n)
		}
		if s.plot != nil {
			name := s.key + ".svg"
			if err := s.plot.save(filepath.Join(filepath.Dir(out), "benchmarks", name)); err != nil {
				return fmt.Errorf("drawing %s: %w", name, err)
			}
			fmt.Fprintf(&b, "\n![%s](benchmarks/%s)\n", s.title, name)
		}
	}
	kept, err := history(out)
	if err != nil {
		return err
	}
	b.WriteString(kept)
	return os.WriteFile(out, []byte(b.String()), 0o644)
}

// historyMark begins the part of the report that people write: what was
// slower before and why it changed.
const historyMark = "\n## Before and after\n"

func history(out string) (string, error) {
	data, err := os.ReadFile(out)
	if os.IsNotExist(err) {
		return historyMark + "\nNothing yet.\n", nil
	}
	if err != nil {
		return "", err
	}
	if i := strings.Index(string(data), historyMark); i >= 0 {
		return string(data[i:]), nil
	}
	return historyMark + "\nNothing yet.\n", nil
}
