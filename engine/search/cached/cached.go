// Package cached keeps what searches found, so that a question that is asked
// again over an unchanged index is not searched again (SYN, cache strategy,
// without its Redis). It keeps references to chunks, never lines and never
// answers: who gets something from it reads the lines as they stand, as after a
// search.
package cached

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/wire"
)

const (
	// maxQuestion is the longest question that is kept, in bytes, earlier turns
	// included: pasted logs are not asked again, and would take the memory of
	// many.
	maxQuestion = 4 << 10
	// sameMeaning is the cosine above which two questions are taken for one
	// where the semantic cache is on (PRD).
	sameMeaning = 0.95
)

// Question is all that the result of a search depends on.
type Question struct {
	// Text is the question as asked, History what was asked before.
	Text    string
	History []wire.Turn
	// TokenBudget is that of the request, 0 for none.
	TokenBudget int
	// Input is the search. Its Analysis need not be there yet.
	Input search.Input
}

// Key stands for all that the result of a search depends on: a change of
// anything of it is another key. The zero Key is that of no question.
type Key struct {
	state   index.State
	request [sha256.Size]byte
}

// NewKey returns the key of a question; ok is false where the result of such a
// question is not kept.
func NewKey(q Question) (key Key, ok bool) {
	n := len(q.Text)
	for _, t := range q.History {
		n += len(t.Query) + len(t.Answer)
	}
	if n > maxQuestion {
		return Key{}, false
	}
	return newKey(q, q.Text, q.History)
}

// newMeaning returns the key of all but a question's words: two questions of one
// meaning key may have the same meaning. Names and paths count as written: what
// one function does is not what another one does, however alike the questions
// are.
func newMeaning(q Question) (key Key, ok bool) {
	a := q.Input.Analysis
	return newKey(q, "", struct {
		Intent           query.Intent
		Entities         []query.Entity
		Names, Languages []string
		Kinds            any
		Wants, Sought    query.Wants
		HowTo, Doing     bool
		Change           bool
	}{a.Intent, a.Entities, a.Names, a.Languages, a.Kinds, a.Wants, a.Sought, a.HowTo, a.Doing, a.Change})
}

// newKey takes every field of the search, whatever is added to it.
func newKey(q Question, text string, more any) (key Key, ok bool) {
	models := make([]string, len(q.Input.Embedders))
	for i, e := range q.Input.Embedders {
		models[i] = e.Model().Fingerprint
	}
	snap := q.Input.Snapshot
	q.Input.Snapshot, q.Input.Analysis, q.Input.Embedders, q.Input.Importance = nil, nil, nil, nil
	all, err := json.Marshal([]any{text, more, q.TokenBudget, models, q.Input})
	if err != nil {
		return Key{}, false // a field that cannot be written cannot be compared
	}
	return Key{snap.State(), sha256.Sum256(all)}, true
}

// Cache keeps the results of the questions that were asked last. It is safe for
// concurrent use.
type Cache struct {
	now func() time.Time

	mu    sync.Mutex // guards the fields below
	size  int
	kept  *simplelru.LRU[Key, *entry]
	base  index.State // that all entries stand on
	count Counters
}

// Counters count lookups since the cache was made.
type Counters struct {
	Hits     int64 // of the same question
	Semantic int64 // of one with the same meaning
	Misses   int64
	Entries  int // kept now
}

// entry is the result of one search. It is immutable.
type entry struct {
	at       time.Time
	analysis query.Analysis
	result   search.Result // without Hits
	hits     []hit
	meaning  Key
	vector   []float32 // unit length, nil where the meaning is not compared
}

// hit is a search.Hit by what it stands for: references are a snapshot's own.
type hit struct {
	search.Hit
	path    string
	hash    file.Hash
	ordinal int // among the file's documents
}

// New returns a cache of at most size results; none are kept where it is 0. now
// is the clock, nil for the system's.
func New(size int, now func() time.Time) *Cache {
	if now == nil {
		now = time.Now
	}
	c := &Cache{now: now}
	c.Resize(size)
	return c
}

// Resize changes the most results that are kept; those not asked for longest go.
func (c *Cache) Resize(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size = size; c.kept != nil {
		c.kept.Resize(max(size, 1))
	}
	if size <= 0 {
		c.kept = nil
	}
}

// Forget lets go of all results.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept, c.base = nil, index.State{}
}

// Counters returns what was counted.
func (c *Cache) Counters() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.count
	if c.kept != nil {
		n.Entries = c.kept.Len()
	}
	return n
}

// Get returns what was found for a question at most ttl ago, with references of
// snap, and how the question was understood. What it returns is shared but for
// the slice of hits: do not change it.
func (c *Cache) Get(key Key, snap *index.Snapshot, ttl time.Duration) (query.Analysis, search.Result, bool) {
	c.mu.Lock()
	var found *entry
	if c.stands(key) {
		if e, ok := c.kept.Get(key); ok && c.now().Sub(e.at) < ttl {
			found = e
		} else if ok {
			c.kept.Remove(key)
		}
	}
	c.mu.Unlock()
	if found == nil {
		return query.Analysis{}, search.Result{}, false
	}
	result, ok := found.in(snap)
	if !ok {
		return query.Analysis{}, search.Result{}, false
	}
	c.add(&c.count.Hits)
	return found.analysis, result, true
}

// Near returns what was found at most ttl ago for a question of the same
// meaning: nothing but the wording differs, and the cosine of both is above
// 0.95. vector is the question's, of unit length. Otherwise it is as Get.
func (c *Cache) Near(q Question, vector []float32, ttl time.Duration) (search.Result, bool) {
	meaning, ok := newMeaning(q)
	if !ok || len(vector) == 0 {
		return search.Result{}, false
	}
	c.mu.Lock()
	var best *entry
	if c.stands(meaning) {
		least, now := float32(sameMeaning), c.now()
		for _, e := range c.kept.Values() {
			if e.meaning != meaning || len(e.vector) != len(vector) || now.Sub(e.at) >= ttl {
				continue
			}
			if s := dot(e.vector, vector); s > least {
				least, best = s, e
			}
		}
	}
	c.mu.Unlock()
	if best == nil {
		return search.Result{}, false
	}
	result, ok := best.in(q.Input.Snapshot)
	if ok {
		c.add(&c.count.Semantic)
	}
	return result, ok
}

// Put keeps what was found for a question. vector is the question's, of unit
// length, nil where questions of the same meaning are not to find it. A result
// in which something did not take part is not kept: the next search may do
// better.
func (c *Cache) Put(key Key, q Question, vector []float32, result search.Result) {
	c.add(&c.count.Misses)
	if result.Partial {
		return
	}
	e := &entry{at: c.now(), analysis: *q.Input.Analysis, result: result, vector: slices.Clone(vector)}
	if vector != nil {
		var ok bool
		if e.meaning, ok = newMeaning(q); !ok {
			e.vector = nil
		}
	}
	snap := q.Input.Snapshot
	e.result.Hits, e.result.Timings = nil, nil
	e.hits = make([]hit, len(result.Hits))
	for i, h := range result.Hits {
		f := snap.Doc(h.Ref).File
		e.hits[i] = hit{Hit: h, path: f.Path, hash: f.Hash, ordinal: slices.Index(snap.DocsOf(f), h.Ref)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size <= 0 {
		return
	}
	if !c.stands(key) {
		// The others are of another index state, which nobody asks for again.
		c.kept, _ = simplelru.NewLRU[Key, *entry](c.size, nil) // fails only for a size below 1
		c.base = key.state
	}
	c.kept.Add(key, e)
}

// stands reports whether the entries are of the key's index state, unsaved
// buffers aside. The caller holds mu.
func (c *Cache) stands(key Key) bool { return c.kept != nil && c.base.SameBase(key.state) }

func (c *Cache) add(counter *int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*counter++
}

// in returns the result with references of a snapshot; ok is false where it
// does not hold what was found.
func (e *entry) in(snap *index.Snapshot) (result search.Result, ok bool) {
	result = e.result
	result.Hits = make([]search.Hit, len(e.hits))
	for i, h := range e.hits {
		f := snap.File(h.path)
		if f == nil || f.Hash != h.hash {
			return search.Result{}, false
		}
		docs := snap.DocsOf(f)
		if h.ordinal < 0 || h.ordinal >= len(docs) {
			return search.Result{}, false
		}
		result.Hits[i] = h.Hit
		result.Hits[i].Ref = docs[h.ordinal]
	}
	result.Timings = map[string]float64{}
	return result, true
}

func dot(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
