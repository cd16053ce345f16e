package engine

import (
	"context"
	"errors"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/search"
	"coderag-ls/engine/search/cached"
	"coderag-ls/engine/wire"
)

// lookup is the place of one question in the cache of searches; nil where it has
// none.
type lookup struct {
	cache    *cached.Cache
	key      cached.Key
	question cached.Question
	vector   []float32 // of the question, where questions of the same meaning count
	ttl      time.Duration
}

// lookUp takes what was found for the same question before, if anything was.
func (v *View) lookUp(f *found, p wire.AskParams, in search.Input) *lookup {
	set := f.settings.Search
	if set.CacheSize <= 0 {
		return nil
	}
	at := time.Now()
	c := &lookup{cache: v.e.searches, ttl: time.Duration(set.CacheTTL) * time.Second}
	c.question = cached.Question{Text: p.Query, History: p.History, TokenBudget: p.TokenBudget, Input: in}
	var ok bool
	if c.key, ok = cached.NewKey(c.question); !ok {
		return nil
	}
	f.analysis, f.result, f.cached = c.cache.Get(c.key, f.snap, c.ttl)
	f.stage("cache", at)
	return c
}

// near takes what was found for a question of the same meaning, where that is
// wanted and there is one.
func (c *lookup) near(ctx context.Context, f *found) {
	if c == nil || !f.settings.Search.SemanticCache || len(c.question.Input.Embedders) == 0 {
		return
	}
	at := time.Now()
	vectors, err := c.question.Input.Embedders[0].Embed(ctx, []string{f.analysis.Query})
	if err != nil || embed.Normalize(vectors[0]) == 0 {
		return // the search tells
	}
	c.vector = vectors[0]
	f.result, f.cached = c.cache.Near(c.question, c.vector, c.ttl)
	if f.cached {
		f.analysis.Plan.Fallback = f.result.Fallback
	}
	f.stage("cache.semantic", at)
}

// keep keeps what was found.
func (c *lookup) keep(f *found) {
	if c != nil {
		c.cache.Put(c.key, c.question, c.vector, f.result)
	}
}

// failed counts a request that was not answered. One that its client gave up,
// or that is none, is no failure of ours.
func (v *View) failed(method string, err error) error {
	if bad := (*QueryError)(nil); !errors.As(err, &bad) && !errors.Is(err, context.Canceled) {
		v.e.requests.Failed(method)
	}
	return err
}

// answered takes the figures of a request, unless its client gave it up.
func (v *View) answered(ctx context.Context, method string, m wire.Metrics) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.e.requests.Answered(method, m)
	return nil
}
