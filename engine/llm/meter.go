package llm

import "sync"

// Meter counts tokens as a model does: by what its server has counted so far.
// Before the first count, and where a server's counts cannot be of what was sent, a token
// is four bytes. It is safe for concurrent use.
type Meter struct {
	mu            sync.Mutex
	bytes, tokens int
}

const (
	// leastBytes and mostBytes are how many bytes a token of any tokenizer has, on
	// average over a prompt of code and prose in any script. A server that tells other counts
	// counts something else, such as what it had not cached.
	leastBytes, mostBytes = 1.5, 8
	// leastSample is the smallest prompt that says something, in bytes: in a smaller one the
	// chat template's own tokens count for too much.
	leastSample = 1000
	// remembered is how many bytes the last prompts count with: a server may change its model.
	remembered = 1 << 20
)

// Observe takes what a server counted for a prompt of so many bytes.
func (m *Meter) Observe(bytes, tokens int) {
	if bytes < leastSample || float64(bytes) < leastBytes*float64(tokens) || float64(bytes) > mostBytes*float64(tokens) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes, m.tokens = m.bytes+bytes, m.tokens+tokens
	if m.bytes > remembered {
		m.bytes, m.tokens = m.bytes/2, m.tokens/2
	}
}

// Tokens is how many tokens a text has, rounded up.
func (m *Meter) Tokens(s string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens == 0 {
		return Tokens(s)
	}
	return (len(s)*m.tokens + m.bytes - 1) / m.bytes
}
