package sharedindex

import (
	"crypto/sha256"
	"math"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"coderag-ls/engine/file"
)

// Read is a file that was read and prepared.
type Read struct {
	File
	Prepared Prepared
}

// size is about how many bytes of memory it takes.
func (r *Read) size() int64 { return int64(len(r.Text) + len(r.Path) + r.Prepared.Size() + 256) }

// slot is a place in the cache: what was read of a document while its repository had a
// generation.
type slot struct {
	ID
	edition Edition
}

// cache keeps what was read last, bounded by bytes. It is safe for concurrent use.
type cache struct {
	mu    sync.Mutex
	most  int64
	fresh time.Duration // for how long what was read holds, whatever is published
	bytes int64
	kept  *simplelru.LRU[slot, kept]
}

type kept struct {
	generation uint64
	read       *Read
	when       time.Time
}

func newCache(most int64, fresh time.Duration) *cache {
	c := &cache{most: most, fresh: fresh}
	c.kept, _ = simplelru.NewLRU(math.MaxInt, func(_ slot, k kept) { c.bytes -= k.read.size() }) // fails only for a size below 1
	return c
}

// get returns what was read of a document, if that holds: the generation is the same, the text is the
// one of the hash, or, where that is nil, it was read just now.
func (c *cache) get(s slot, generation uint64, hash *file.Hash) *Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.kept.Get(s)
	if !ok {
		return nil
	}
	same := hash != nil && k.read.Record.Hash == *hash || hash == nil && time.Since(k.when) <= c.fresh
	if k.generation != generation && !same {
		c.kept.Remove(s)
		return nil
	}
	return k.read
}

// put keeps what was read when.
func (c *cache) put(s slot, generation uint64, r *Read, when time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Remove(s)
	if r.size() > c.most/4 {
		return // it would push out too much
	}
	c.kept.Add(s, kept{generation, r, when})
	for c.bytes += r.size(); c.bytes > c.most; {
		c.kept.RemoveOldest()
	}
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Purge()
}

// maxQuestions bounds how many questions' lists are kept: some 40 kB each.
const maxQuestions = 32

// question is a digest of what was asked, and of which repositories.
type question [sha256.Size]byte

// listed is what a question found when it was asked.
type listed struct {
	lists [][]Found
	when  time.Time
}

func newAsked() *lru.Cache[question, listed] {
	c, _ := lru.New[question, listed](maxQuestions) // fails only for a size below 1
	return c
}

// maxTerms bounds how many frequencies are kept.
const maxTerms = 100_000

// frequencies keeps in how many chunks terms occur, by repository. It is safe for concurrent use.
type frequencies struct {
	mu    sync.Mutex
	of    map[dictionary]*counts
	terms int
}

// dictionary is what terms are counted in.
type dictionary struct {
	repository string
	edition    Edition
}

// counts holds for a generation.
type counts struct {
	generation uint64
	df         map[string]int
}

func newFrequencies() *frequencies { return &frequencies{of: map[dictionary]*counts{}} }

// get returns what is known of terms in a repository, and which terms are unknown.
func (f *frequencies) get(h Head, terms []string) (known map[string]int, unknown []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known = map[string]int{}
	c := f.of[dictionary{h.Repository, h.Edition}]
	if c == nil || c.generation != h.Generation {
		return known, terms
	}
	for _, t := range terms {
		if n, ok := c.df[t]; ok {
			known[t] = n
		} else {
			unknown = append(unknown, t)
		}
	}
	return known, unknown
}

// put notes terms; one that is absent in df occurs nowhere.
func (f *frequencies) put(h Head, terms []string, df map[string]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.terms > maxTerms {
		clear(f.of)
		f.terms = 0
	}
	at := dictionary{h.Repository, h.Edition}
	c := f.of[at]
	if c == nil || c.generation != h.Generation {
		if c != nil {
			f.terms -= len(c.df)
		}
		c = &counts{h.Generation, map[string]int{}}
		f.of[at] = c
	}
	f.terms -= len(c.df)
	for _, t := range terms {
		c.df[t] = df[t]
	}
	f.terms += len(c.df)
}
