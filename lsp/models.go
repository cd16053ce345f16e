package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"coderag-ls/assist"
	"coderag-ls/engine/config"
	"coderag-ls/engine/llm"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

// models holds who writes answers, as the settings say, and the completions
// that the client is asked for.
type models struct {
	s *server

	making  sync.Mutex // guards set and inForce, held while the client is asked for a key
	set     config.Settings
	inForce *assist.Asker // made with set; nil before the first question

	mu sync.Mutex // guards all below, never held for long
	// running are the completions of the client that are not answered yet, by
	// token.
	running map[string]chan<- string
	next    int
}

func newModels(s *server) *models { return &models{s: s, running: map[string]chan<- string{}} }

// asker answers questions as the settings in force say.
func (m *models) asker(ctx context.Context) *assist.Asker {
	m.making.Lock()
	defer m.making.Unlock()
	set := *m.s.settings()
	if m.inForce != nil && reflect.DeepEqual(m.set.LLM, set.LLM) && reflect.DeepEqual(m.set.Answer, set.Answer) {
		return m.inForce
	}
	o := assist.Options{Settings: set, Key: m.s.opts.Settings.Key}
	if m.s.caps.completes() {
		o.Client = &editorModel{m: m}
	}
	if m.s.caps.keepsSecrets() {
		o.Secret = m.secret
	}
	a := assist.New(ctx, o)
	if _, _, err := a.Model(); err != nil {
		return a // a key may have come by the next question
	}
	if m.inForce != nil {
		m.inForce.Close()
	}
	m.inForce, m.set = a, set
	return a
}

func (m *models) close() {
	m.making.Lock()
	defer m.making.Unlock()
	if m.inForce != nil {
		m.inForce.Close()
	}
}

// secret asks the client's secret store.
func (m *models) secret(ctx context.Context, p wire.SecretParams) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	var r wire.SecretResult
	if err := m.s.conn.Call(ctx, MethodSecret, p, &r); err != nil {
		return "", err
	}
	return r.Value, nil
}

// completes: the client offers its own language model.
func (c capabilities) completes() bool { return c.is("experimental", "coderag", "complete") }

// keepsSecrets: the client has a secret store that may be asked.
func (c capabilities) keepsSecrets() bool { return c.is("experimental", "coderag", "secret") }

// clientPart is the value of a $/progress notification of the client's.
type clientPart struct {
	Token json.RawMessage `json:"token"`
	Value struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	} `json:"value"`
}

// clientProgress takes a part of a text that the client's model writes. One
// that comes after the end is nobody's.
func (s *server) clientProgress(_ context.Context, p clientPart) error {
	var token string
	if json.Unmarshal(p.Token, &token) != nil || p.Value.Kind != PartialText {
		return nil
	}
	s.models.mu.Lock()
	defer s.models.mu.Unlock()
	if parts := s.models.running[token]; parts != nil {
		select {
		case parts <- p.Value.Text:
		default: // full: the whole text comes with the answer
			close(parts)
			delete(s.models.running, token)
		}
	}
	return nil
}

// maxParts is how many parts of a text may wait to be taken.
const maxParts = 4096

// begin names a completion.
func (m *models) begin() (token string, parts <-chan string) {
	c := make(chan string, maxParts)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	token = "coderag/complete/" + strconv.Itoa(m.next)
	m.running[token] = c
	return token, c
}

func (m *models) end(token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.running, token)
}

// editorModel is the client's own language model. It implements llm.Provider.
type editorModel struct {
	m *models

	mu   sync.Mutex // guards name
	name string
}

var _ llm.Provider = (*editorModel)(nil)

// Model implements llm.Provider.
func (e *editorModel) Model() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.name == "" {
		return "the editor's model"
	}
	return e.name
}

// Endpoint implements llm.Provider.
func (e *editorModel) Endpoint() string { return "editor" }

// Complete implements llm.Provider.
func (e *editorModel) Complete(ctx context.Context, r llm.Request, delta func(string)) (llm.Response, error) {
	token, parts := e.m.begin()
	defer e.m.end(token)
	p := wire.CompleteParams{PartialResultToken: token, Purpose: r.Purpose, Messages: r.Messages, Temperature: r.Temperature, MaxTokens: r.MaxTokens}
	if r.Schema != nil {
		p.Schema = r.Schema.JSON
	}
	type answer struct {
		result wire.CompleteResult
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		a.err = e.m.s.conn.Call(ctx, MethodComplete, p, &a.result)
		answered <- a
	}()
	var got strings.Builder
	put := func(s string) {
		if s = strings.ToValidUTF8(s, "\uFFFD"); s != "" {
			got.WriteString(s)
			if delta != nil {
				delta(s)
			}
		}
	}
	for {
		select {
		case s, ok := <-parts:
			if !ok {
				parts = nil
			}
			put(s)
		case a := <-answered:
			if a.err != nil {
				return llm.Response{Text: got.String(), Model: e.Model()}, e.explain(ctx, a.err)
			}
			// The answer may overtake parts; it holds all of them.
			if rest, ok := strings.CutPrefix(strings.ToValidUTF8(a.result.Text, "\uFFFD"), got.String()); ok {
				put(rest)
			}
			e.mu.Lock()
			if a.result.Model != "" {
				e.name = clip(a.result.Model, 100)
			}
			e.mu.Unlock()
			return llm.Response{Text: got.String(), Model: e.Model(), FinishReason: a.result.FinishReason, InputTokens: a.result.InputTokens, OutputTokens: a.result.OutputTokens}, nil
		}
	}
}

// explain makes an *llm.Error of what the client answered.
func (e *editorModel) explain(ctx context.Context, err error) error {
	var said *jsonrpc.ResponseError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &said) && jsonrpc.Code(said.Code) == jsonrpc.MethodNotFound:
		return llm.Errorf(llm.Unreachable, "the editor does not answer coderag/complete")
	case errors.As(err, &said):
		return llm.Errorf(llm.Refused, "the editor says: %s", clip(said.Message, 200))
	}
	return &llm.Error{Kind: llm.Cut, Message: "the editor did not answer", Err: err}
}
