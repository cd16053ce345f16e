// Package remote embeds texts with a model on a server. It knows no protocol: it
// is given the server as a Client.
//
// What is sent has its secrets replaced and is written into the audit log first.
// A server goes away and comes back, and may come back with another model under
// the same name. Therefore it is asked for the vector of one known text, too,
// whenever it has not been heard of: if that is another one than it was, no
// vector of its is taken, because vectors of two models must not meet.
package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/llm"
	"coderag-ls/engine/llm/audit"
	"coderag-ls/engine/llm/redact"
)

// Client is a server with a model.
type Client interface {
	// Embeddings returns a vector for each text, all of the same length, which is
	// dim where that is not 0. Errors are *llm.Error, or ctx's.
	Embeddings(ctx context.Context, texts []string, dim int) ([][]float32, error)
	Model() string
	// Endpoint is where texts are sent to, without secrets.
	Endpoint() string
	Close()
}

// Errors, to be told apart with errors.Is.
var (
	// ErrUnknown is Open's where the server cannot be asked and was never before:
	// nothing is known of its vectors.
	ErrUnknown = errors.New("nothing is known of its vectors yet")
	// ErrChanged: it has another model than it had. Open it anew.
	ErrChanged = errors.New("it has another model than before, whose vectors are made anew")
)

// The bounds.
const (
	// maxDim is the longest vector that is taken: no model that is known makes more.
	maxDim = 8192
	// maxTexts bounds one request, and so its reply: 64 vectors of maxDim take some
	// 6 MB as JSON.
	maxTexts = 64
	// minText is the least, in bytes, that a text which is too long is cut to.
	minText = 200
	// retries is how often a request in no hurry is made again.
	retries = 1
	// rest is how long questions do not ask a server that failed.
	rest = 5 * time.Second
	// same is the least cosine of the known text's vector to itself: rounding on
	// graphics processors moves it by less than a thousandth, another model by far more.
	same = 0.99
)

// known is the text by whose vector a model is recognised.
const known = "func Close() error { return errors.New(\"the quick brown fox jumps over the lazy dog\") }"

// Options of Open.
type Options struct {
	Client Client
	// Dim is the length of vectors to ask for, 0 for the model's own.
	Dim int
	// QuestionPrefix and TextPrefix are put before questions and texts of the
	// workspace, as some models want it.
	QuestionPrefix, TextPrefix string
	// PathWeight is embed.Model's.
	PathWeight float32
	// Timeout bounds a request in no hurry, QuestionTimeout one that an answer
	// waits for, the first one to a new server included.
	Timeout, QuestionTimeout time.Duration
	// Dir is where it is kept what is known of servers; "" for nowhere.
	Dir   string
	Audit *audit.Log
	// Changed is called once where the server turns out to have another model; it
	// must not block. May be nil.
	Changed func()
}

// Embedder is a model on a server. It implements embed.Embedder: Embed is for
// questions, EmbedAll for the workspace's texts. Vectors have length 1.
type Embedder struct {
	opts     Options
	redactor *redact.Redactor
	fact     fact
	model    embed.Model
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc

	mu      sync.Mutex // guards all below
	heard   bool       // it was recognised since it last failed
	failed  error      // how the last request ended, nil where it did well
	until   time.Time  // questions do not ask before
	changed bool
}

var _ embed.Embedder = (*Embedder)(nil)

// Open returns the model of a server that was asked before without asking it; of
// a new one it must learn how long its vectors are. Where that fails the error
// wraps ErrUnknown and says why.
func Open(ctx context.Context, o Options) (*Embedder, error) {
	e := &Embedder{opts: o, redactor: redact.New()}
	var err error
	if e.fact, err = readFact(o); err != nil {
		vectors, err := e.ask(ctx, []string{known}, o.QuestionTimeout)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
		}
		if e.fact, err = newFact(o, vectors[0]); err != nil {
			return nil, err
		}
		e.heard = true
	}
	e.model = e.fact.model(o)
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return e, nil
}

// Learn asks a server of which nothing is known, and keeps what Open must know.
// It waits longer than Open does: models may have to be loaded first.
func Learn(ctx context.Context, o Options) error {
	if _, err := readFact(o); err == nil {
		return nil
	}
	e := &Embedder{opts: o, redactor: redact.New()}
	vectors, err := e.ask(ctx, []string{known}, o.Timeout)
	if err != nil {
		return err
	}
	_, err = newFact(o, vectors[0])
	return err
}

// Model implements embed.Embedder.
func (e *Embedder) Model() embed.Model { return e.model }

// Close implements embed.Embedder.
func (e *Embedder) Close() error {
	e.cancel()
	e.opts.Client.Close()
	return nil
}

// Embed implements embed.Embedder: it embeds questions. Nobody waits for a
// server that failed a moment ago.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.mu.Lock()
	failed := e.failed
	if !time.Now().Before(e.until) {
		failed = nil
	}
	e.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	return e.embed(ctx, e.prepared(e.opts.QuestionPrefix, texts), e.opts.QuestionTimeout)
}

// EmbedAll embeds texts of the workspace that are in no hurry. refused says for
// each text why the server makes no vector of it though it does of others, nil
// where there is one. With an error there is no vector at all; that passes.
func (e *Embedder) EmbedAll(ctx context.Context, texts []string) (vectors [][]float32, refused []error, err error) {
	texts = e.prepared(e.opts.TextPrefix, texts)
	vectors, refused = make([][]float32, len(texts)), make([]error, len(texts))
	for from := 0; from < len(texts); from += maxTexts {
		to := min(from+maxTexts, len(texts))
		made, err := e.patiently(ctx, texts[from:to])
		if err == nil {
			copy(vectors[from:], made)
			continue
		}
		if !aboutText(err) {
			return nil, nil, err
		}
		if _, err := e.patiently(ctx, []string{known}); err != nil {
			return nil, nil, err // it takes no text whatever
		}
		for i := from; i < to; i++ { // one of them is too long, or not to its taste
			vectors[i], err = e.shortened(ctx, texts[i])
			if err != nil && !aboutText(err) {
				return nil, nil, err
			}
			refused[i] = err
		}
	}
	return vectors, refused, nil
}

// aboutText reports whether a failure may be one text's fault.
func aboutText(err error) bool {
	kind := llm.KindOf(err)
	return kind == llm.ContextLength || kind == llm.Refused
}

// shortened embeds one text, of which it cuts off as much as is too much.
func (e *Embedder) shortened(ctx context.Context, text string) ([]float32, error) {
	for {
		made, err := e.patiently(ctx, []string{text})
		if err == nil {
			return made[0], nil
		}
		if llm.KindOf(err) != llm.ContextLength || len(text) < 2*minText {
			return nil, err
		}
		text = strings.ToValidUTF8(text[:len(text)/2], "")
	}
}

// patiently is embed with another try.
func (e *Embedder) patiently(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	err = llm.Retry(ctx, retries, func() (bool, error) {
		vectors, err = e.embed(ctx, texts, e.opts.Timeout)
		return false, err
	})
	return vectors, err
}

// prepared are texts as they are sent.
func (e *Embedder) prepared(prefix string, texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		if s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD")); s != "" {
			out[i] = prefix + s
		}
	}
	return out
}

// embed makes unit vectors. An empty text has a zero vector: servers refuse it.
func (e *Embedder) embed(ctx context.Context, texts []string, limit time.Duration) ([][]float32, error) {
	e.mu.Lock()
	heard, changed := e.heard, e.changed
	e.mu.Unlock()
	if changed {
		return nil, ErrChanged
	}
	out := make([][]float32, len(texts))
	var asked []string
	var at []int
	if !heard {
		asked, at = append(asked, known), append(at, -1)
	}
	for i, s := range texts {
		if s == "" {
			out[i] = make([]float32, e.model.Dim)
			continue
		}
		asked, at = append(asked, s), append(at, i)
	}
	if len(asked) == 0 {
		return out, nil
	}
	vectors, err := e.ask(ctx, asked, limit)
	if err != nil {
		e.note(ctx, err)
		return nil, err
	}
	if len(vectors[0]) != e.model.Dim || !heard && !e.fact.recognises(vectors[0]) {
		return nil, e.replaced()
	}
	e.note(ctx, nil)
	for i, v := range vectors {
		if at[i] < 0 {
			continue
		}
		embed.Normalize(v)
		out[at[i]] = v
	}
	return out, nil
}

// note keeps how a request ended. A cancelled one tells nothing, and a text that
// is refused was refused by a server that is there.
func (e *Embedder) note(ctx context.Context, err error) {
	if ctx.Err() != nil || err != nil && aboutText(err) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard, e.failed, e.until = err == nil, err, time.Time{}
	if err != nil {
		e.until = time.Now().Add(rest)
	}
}

// replaced notes that the server has another model.
func (e *Embedder) replaced() error {
	forget(e.opts)
	e.mu.Lock()
	first := !e.changed
	e.changed = true
	e.mu.Unlock()
	if first && e.opts.Changed != nil {
		e.opts.Changed()
	}
	return ErrChanged
}

// ask is the one way out: secrets are replaced, the audit log is written, and
// the server has so long.
func (e *Embedder) ask(ctx context.Context, texts []string, limit time.Duration) ([][]float32, error) {
	sent := make([]string, len(texts))
	redacted := map[string]int{}
	for i, s := range texts {
		var counts map[string]int
		sent[i], counts = e.redactor.Redact(s)
		for kind, n := range counts {
			redacted[kind] += n
		}
	}
	c := e.opts.Client
	if err := e.opts.Audit.Write(audit.Record{Endpoint: c.Endpoint(), Model: c.Model(), Purpose: audit.PurposeEmbed, Redacted: redacted, Texts: sent}); err != nil {
		return nil, &llm.Error{Kind: llm.Spent, Message: "nothing was sent because the audit log could not be written: " + err.Error(), Err: err}
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if e.ctx != nil {
		defer context.AfterFunc(e.ctx, cancel)()
	}
	vectors, err := c.Embeddings(limited, sent, e.opts.Dim)
	switch {
	case err == nil && len(vectors[0]) > maxDim:
		return nil, llm.Errorf(llm.BadReply, "it made a vector of %d values, the most is %d", len(vectors[0]), maxDim)
	case err == nil:
		return vectors, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case e.ctx != nil && e.ctx.Err() != nil:
		return nil, errors.New("the model was closed")
	case limited.Err() != nil:
		return nil, llm.Errorf(llm.Timeout, "it did not reply within %s (settings embed.timeout, embed.questionTimeout)", limit)
	}
	return nil, err
}

// cosine of two vectors of the same length.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}
