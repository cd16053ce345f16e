package assist

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/llm"
	"coderag-ls/engine/llm/audit"
	"coderag-ls/engine/wire"
)

// budget bounds what is spent on one question.
type budget struct {
	set config.LLM

	mu     sync.Mutex // guards all below
	use    wire.LLMUsage
	asking time.Duration
}

func newBudget(set config.LLM) *budget { return &budget{set: set} }

// take reserves one call of about so many tokens.
func (b *budget) take(tokens int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.use.Calls >= b.set.MaxCalls:
		return llm.Errorf(llm.Spent, "the question had its %d calls (setting llm.maxCalls)", b.set.MaxCalls)
	case b.use.InputTokens+b.use.OutputTokens+tokens > b.set.QuestionTokens:
		return llm.Errorf(llm.Spent, "the question would take more than %d tokens (setting llm.questionTokens)", b.set.QuestionTokens)
	}
	b.use.Calls++
	return nil
}

// add counts what a call took.
func (b *budget) add(in, out int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.use.InputTokens += in
	b.use.OutputTokens += out
	b.asking += took
}

// began notes when the answer's first text came.
func (b *budget) began(after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.use.FirstToken = float64(after.Microseconds()) / 1000
}

func (b *budget) usage() wire.LLMUsage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.use
}

// spent is how many milliseconds models were waited for.
func (b *budget) spent() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.asking.Microseconds()) / 1000
}

// bytesPerToken bounds a text by its tokens: no model writes longer ones on
// average.
const bytesPerToken = 16

// send is the one way out. Secrets are replaced, whatever the text is; the
// audit log is written before anything is sent, and where it cannot be nothing
// is.
func (a *Asker) send(ctx context.Context, b *budget, p llm.Provider, r llm.Request, places []string, delta func(string)) (llm.Response, error) {
	r.Messages = slices.Clone(r.Messages)
	size, bytes := 0, 0
	redacted := map[string]int{}
	for i := range r.Messages {
		m := &r.Messages[i]
		var counts map[string]int
		m.Content, counts = a.redactor.Redact(m.Content)
		addCounts(redacted, counts)
		size += a.meter.Tokens(m.Content)
		bytes += len(m.Content)
	}
	if err := b.take(size); err != nil {
		return llm.Response{}, err
	}
	if err := a.audit.Write(audit.Record{Endpoint: p.Endpoint(), Model: p.Model(), Purpose: r.Purpose, Places: places, Redacted: redacted, Messages: r.Messages}); err != nil {
		return llm.Response{}, &llm.Error{Kind: llm.Spent, Message: "nothing was sent because the audit log could not be written: " + err.Error(), Err: err}
	}
	start := time.Now()
	first := false
	resp, err := llm.Bounded(llm.Retrying(p, a.set.Retries), llm.Limits{
		Start: time.Duration(a.set.FirstTokenTimeout) * time.Millisecond, Bytes: max(r.MaxTokens, 64) * bytesPerToken,
	}).Complete(ctx, r, func(s string) {
		if !first && r.Purpose == wire.PurposeAnswer {
			b.began(time.Since(start))
		}
		first = true
		if delta != nil {
			delta(s)
		}
	})
	in, out := resp.InputTokens, resp.OutputTokens
	if a.main != nil && p.Model() == a.main.Model() && p.Endpoint() == a.main.Endpoint() {
		a.meter.Observe(bytes, in)
	}
	if in == 0 {
		in = size
	}
	if out == 0 {
		out = a.meter.Tokens(resp.Text)
	}
	b.add(in, out, time.Since(start))
	return resp, err
}

func addCounts(to, from map[string]int) {
	for kind, n := range from {
		to[kind] += n
	}
}

// withheld reports whether a file's text is never sent. A path is looked at as
// the workspace names it, and without its folder's name.
func (a *Asker) withheld(path, root string) bool {
	if a.never.Match(path) {
		return true
	}
	rest, ok := strings.CutPrefix(path, root+"/")
	return ok && a.never.Match(rest)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
