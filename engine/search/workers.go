package search

import (
	"runtime"
	"slices"

	"coderag-ls/engine/lexical"
)

// maxWorkers is how many goroutines compare one question's candidates: more gain
// little on a few hundred files.
const maxWorkers = 4

// worker is what one of them keeps: names come again and again.
type worker struct {
	tok     *lexical.Tokenizer
	stems   map[string][]string
	matches map[string]nameMatch
	said    map[string]said
}

func newWorkers(tok *lexical.Tokenizer) []*worker {
	ws := make([]*worker, min(maxWorkers, runtime.GOMAXPROCS(0)))
	for i := range ws {
		ws[i] = &worker{tok: tok, stems: map[string][]string{}, matches: map[string]nameMatch{}, said: map[string]said{}}
	}
	return ws
}

// stemsOf returns a name's distinct stems, in order.
func (w *worker) stemsOf(name string) []string {
	if s, ok := w.stems[name]; ok {
		return s
	}
	var distinct []string
	for _, s := range w.tok.Stems(name) {
		if !slices.Contains(distinct, s) {
			distinct = append(distinct, s)
		}
	}
	w.stems[name] = distinct
	return distinct
}

// each calls do for every candidate with its rank from 0, for several at a time.
// do changes nothing but its candidate and its worker.
func (r *ranking) each(do func(w *worker, rank int, c *candidate)) {
	var wg tasks
	for n, w := range r.workers {
		wg.Go(func() {
			for i := n; i < len(r.cands); i += len(r.workers) {
				do(w, i, r.cands[i])
			}
		})
	}
	wg.Wait()
}
