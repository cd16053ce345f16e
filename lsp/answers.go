package lsp

import (
	"sync"

	"coderag-ls/engine/wire"
)

// answers remembers what answers cited: for inserting it and for counting.
type answers struct {
	mu   sync.Mutex // guards all below
	last []wire.Citation
	// count counts the answers that cited a symbol, by URI and name.
	count map[citedSymbol]int
}

type citedSymbol struct{ uri, name string }

// remember takes the citations of a new answer.
func (a *answers) remember(citations []wire.Citation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = citations
	if a.count == nil {
		a.count = map[citedSymbol]int{}
	}
	seen := map[citedSymbol]bool{}
	for _, c := range citations {
		if key := (citedSymbol{c.URI, c.Symbol}); c.Symbol != "" && !seen[key] {
			seen[key] = true
			a.count[key]++
		}
	}
}

// citations are those of the last answer.
func (a *answers) citations() []wire.Citation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// cited counts the answers that cited a file's symbols, by name.
func (a *answers) cited(uri string) map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	counts := map[string]int{}
	for key, n := range a.count {
		if key.uri == uri {
			counts[key.name] = n
		}
	}
	return counts
}
