package lexical

import (
	"sync"

	"github.com/kljensen/snowball/english"
)

// stemCacheSize bounds the words that a stemmer remembers. Past it the cache
// starts anew: the vocabulary of code has a short head, which is back at once.
const stemCacheSize = 1 << 16

// stemmer is the English Snowball stemmer (Porter2) behind a cache.
type stemmer struct {
	mu    sync.RWMutex
	cache map[string]string
}

// stem reduces a lower-case word to its stem. Words under three letters and
// words with other characters than a-z stay as they are.
func (s *stemmer) stem(w string) string {
	if len(w) < 3 {
		return w
	}
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	s.mu.RLock()
	st, ok := s.cache[w]
	s.mu.RUnlock()
	if ok {
		return st
	}
	w = string(append([]byte(nil), w...)) // do not hold the text that w is a part of
	st = english.Stem(w, true)
	s.mu.Lock()
	if s.cache == nil || len(s.cache) >= stemCacheSize {
		s.cache = make(map[string]string, 1024)
	}
	s.cache[w] = st
	s.mu.Unlock()
	return st
}

// forget drops the cache.
func (s *stemmer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache = nil
}
