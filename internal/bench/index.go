package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// The targets that the figures are held against.
const (
	maxIndexCPU   = 1.8 // times parsing alone
	maxWordsWall  = 1.2 // times parsing alone
	maxResidentMB = 500
	maxWarmStart  = 2  // s
	maxSearchP50  = 10 // ms
	maxAskP50     = 60 // ms
	maxCrowd      = 1  // times the wall time of a request alone
	maxCrowdHeap  = 1.02
	minCacheHits  = 70  // percent
	maxFirstText  = 100 // ms
	maxCancel     = 100 // ms
)

// coldRuns is how often the corpus is indexed from nothing; an odd number.
const coldRuns = 3

// benchIndex indexes the corpus from nothing and starts again.
func benchIndex(e *env) (section, error) {
	sec := section{
		title: "Indexing and starting",
		text: fmt.Sprintf("The whole corpus, %d threads, each figure in a process of its own. Parsing alone (reading, classifying and parsing every file, as many threads) runs first in the same process. It parses generated files too, which the index cuts by lines; the second row leaves them out. Words are searchable when no file is pending any more; until a file's turn they are found by blocks of lines. Memory is what the kernel counts as resident; garbage is collected as the program does it. A start is from opening the index to the first answer.",
			runtime.GOMAXPROCS(0)),
		plot: &plotData{title: "Indexing beside parsing alone", unit: "s", peerName: "tree-sitter, parse only"},
	}
	runs := make([]figures, coldRuns)
	for i := range runs {
		if err := os.RemoveAll(e.cache()); err != nil {
			return sec, err
		}
		var err error
		if runs[i], err = e.coldIndex(); err != nil {
			return sec, err
		}
	}
	slices.SortFunc(runs, func(a, b figures) int { return cmp.Compare(a.Index.CPU/a.Parse.CPU, b.Index.CPU/b.Parse.CPU) })
	cold := runs[coldRuns/2]
	sec.notes = append(sec.notes, fmt.Sprintf("Of %d runs from nothing, the one with the median of the first ratio is shown; they lay between %.2f and %.2f.",
		coldRuns, runs[0].Index.CPU/runs[0].Parse.CPU, runs[coldRuns-1].Index.CPU/runs[coldRuns-1].Parse.CPU))
	warm, err := childProcess(e.ctx, "warm", e.corpus.root.Dir, e.cache())
	if err != nil {
		return sec, err
	}
	const parse = "tree-sitter parse only"
	sec.rows = []row{
		{what: fmt.Sprintf("everything indexed (%d chunks)", cold.Chunks), ours: cold.Index.CPU, peer: cold.Parse.CPU, unit: "CPU-s", peerName: parse, lowerWins: true, most: maxIndexCPU, ofPeer: true},
		{what: "everything indexed, beside parsing the files that are not generated", ours: cold.Index.CPU, peer: cold.Parse.CPU - cold.ParseGenerated, unit: "CPU-s", peerName: parse, lowerWins: true},
		{what: "everything indexed", ours: cold.Index.Wall, peer: cold.Parse.Wall, unit: "s", peerName: parse, lowerWins: true},
		{what: "words searchable", ours: cold.Words.Wall, peer: cold.Parse.Wall, unit: "s", peerName: parse, lowerWins: true, most: maxWordsWall, ofPeer: true},
		{what: "memory, most while indexing", ours: cold.PeakMB, unit: "MB"},
		{what: "memory afterwards, at rest", ours: cold.IdleMB, unit: "MB", most: maxResidentMB},
		{what: "of it Go's heap in use", ours: cold.HeapMB, unit: "MB"},
		{what: "index on disk", ours: indexSize(e.cache()), unit: "MB"},
		{what: "start to the first answer", ours: warm.First.Wall, unit: "s", most: maxWarmStart},
		{what: "start to the first answer", ours: warm.First.CPU, unit: "CPU-s"},
		{what: "memory after a start, most", ours: warm.PeakMB, unit: "MB"},
		{what: "memory after a start, at rest", ours: warm.IdleMB, unit: "MB", most: maxResidentMB},
	}
	sec.plot.labels = []string{"CPU", "wall", "words, wall"}
	sec.plot.ours = []float64{cold.Index.CPU, cold.Index.Wall, cold.Words.Wall}
	sec.plot.peers = []float64{cold.Parse.CPU, cold.Parse.Wall, cold.Parse.Wall}
	return sec, nil
}

// cache is where the corpus is indexed.
func (e *env) cache() string { return filepath.Join(e.dir, "index") }

func (e *env) coldIndex() (figures, error) {
	return childProcess(e.ctx, "cold", e.corpus.root.Dir, e.cache())
}

// benchAsk asks the engine, and ripgrep for the same words.
func benchAsk(e *env) (section, error) {
	sec := section{
		title: "Questions",
		text: fmt.Sprintf("%d questions, %d times each, one at a time, on the whole corpus with the model in the binary. Search is from the question to ranked hits with their lines, ask to the answer with checked citations (no language model). The peer is what one would do without an index: ripgrep for any of the question's words; it ranks nothing. "+
			"The crowd is %d clients that ask %d searches and questions each, at the same time; one that fails fails the run. Repeated questions are %d requests, searches and questions, drawn by Zipf's law with the cache as it is by default. "+
			"The language model is a server that begins to write at once, so that what is measured is ours and the connection's.", len(questions()), askRounds, crowdClients, crowdRequests, streamRequests),
		plot: &plotData{title: "Search and ask", unit: "ms (p50)", peerName: "ripgrep"},
	}
	if _, err := os.Stat(e.cache()); err != nil {
		if _, err := e.coldIndex(); err != nil {
			return sec, err
		}
	}
	asked, err := childProcess(e.ctx, "ask", e.corpus.root.Dir, e.cache())
	if err != nil {
		return sec, err
	}
	grep, note := ripgrep(e)
	if note != "" {
		sec.notes = append(sec.notes, note)
	}
	sec.notes = append(sec.notes, "semble (PyPI) is not run: it downloads its model from a model hub at the first start.")
	sec.rows = []row{
		{what: fmt.Sprintf("search, p50 (%d chunks)", asked.Chunks), ours: asked.Search.P50, worstOurs: asked.Search.P95, hasOursP95: true, peer: grep.P50, peerName: "ripgrep", unit: "ms", lowerWins: true, most: maxSearchP50},
		{what: "ask, p50", ours: asked.Ask.P50, worstOurs: asked.Ask.P95, hasOursP95: true, unit: "ms", most: maxAskP50},
	}
	for _, name := range sortedKeys(asked.Stages) {
		l := asked.Stages[name]
		if name != "total" && l.P50 >= .01 {
			sec.rows = append(sec.rows, row{what: "ask, stage " + name, ours: l.P50, worstOurs: l.P95, hasOursP95: true, unit: "ms"})
		}
	}
	for _, mode := range []string{"crowd", "repeated", "written"} {
		f, err := childProcess(e.ctx, mode, e.corpus.root.Dir, e.cache())
		if err != nil {
			return sec, err
		}
		switch mode {
		case "crowd":
			sec.rows = append(sec.rows, f.Crowd.rows()...)
		case "repeated":
			sec.rows = append(sec.rows, f.Repeated.rows()...)
		case "written":
			sec.rows = append(sec.rows, f.Written.rows()...)
		}
	}
	sec.plot.labels, sec.plot.ours = []string{"search", "ask"}, []float64{asked.Search.P50, asked.Ask.P50}
	if grep.P50 > 0 {
		sec.plot.peers = []float64{grep.P50, 0}
	}
	return sec, nil
}
