package sharedindex

import (
	"container/list"
	"sync"

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
	bytes int64
	order *list.List // of *kept, the one used last in front
	at    map[slot]*list.Element
}

type kept struct {
	slot       slot
	generation uint64
	read       *Read
}

func newCache(most int64) *cache {
	return &cache{most: most, order: list.New(), at: map[slot]*list.Element{}}
}

// get returns what was read of a document, if that holds: the generation is the same, or
// the text is the one of the hash, where that is not nil.
func (c *cache) get(s slot, generation uint64, hash *file.Hash) *Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.at[s]
	if !ok {
		return nil
	}
	k := e.Value.(*kept)
	if k.generation != generation && (hash == nil || k.read.Record.Hash != *hash) {
		c.remove(e)
		return nil
	}
	c.order.MoveToFront(e)
	return k.read
}

// put keeps what was read.
func (c *cache) put(s slot, generation uint64, r *Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.at[s]; ok {
		c.remove(e)
	}
	if r.size() > c.most/4 {
		return // it would push out too much
	}
	c.at[s] = c.order.PushFront(&kept{s, generation, r})
	for c.bytes += r.size(); c.bytes > c.most; {
		c.remove(c.order.Back())
	}
}

func (c *cache) remove(e *list.Element) {
	k := c.order.Remove(e).(*kept)
	delete(c.at, k.slot)
	c.bytes -= k.read.size()
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	clear(c.at)
	c.bytes = 0
}

// maxTerms bounds how many terms' frequencies are kept.
const maxTerms = 50_000

// frequencies keeps in how many postings terms occur.
type frequencies struct {
	mu    sync.Mutex
	where string // the repositories, as a key
	df    map[string]int
}

func newFrequencies() *frequencies { return &frequencies{df: map[string]int{}} }

// get returns what is known of terms in some repositories, and which terms are
// unknown.
func (f *frequencies) get(where string, terms []string) (known map[string]int, unknown []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known = map[string]int{}
	for _, t := range terms {
		if n, ok := f.df[t]; ok && f.where == where {
			known[t] = n
		} else {
			unknown = append(unknown, t)
		}
	}
	return known, unknown
}

// put notes terms; one that is absent in df occurs nowhere.
func (f *frequencies) put(where string, terms []string, df map[string]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.where != where || len(f.df) > maxTerms {
		f.where = where
		clear(f.df)
	}
	for _, t := range terms {
		f.df[t] = df[t]
	}
}

func (f *frequencies) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.df)
}
