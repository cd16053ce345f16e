// Package llm is how a language model is asked, whoever runs it: an
// OpenAI-compatible server (llm/openai), the editor (package lsp), a test's
// script (llm/llmtest). It knows nothing of code and questions.
//
// Failures are told apart ([Kind]) because what the user can do about them
// differs. [Bounded] sees that no model is waited for longer than was set, and
// [Retrying] that a passing failure is not the end.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"coderag-ls/engine/wire"
)

// Request is what a model is asked.
type Request struct {
	Purpose  string // one of wire.Purpose*
	Messages []wire.Message
	// Temperature is 0 to 2; a model that takes none is asked without.
	Temperature float64
	// MaxTokens bounds what the model writes, 0 for its own limit.
	MaxTokens int
	// Schema is what the text must fit; nil for free text. A model that cannot be
	// held to it is asked without: the messages must ask for the same.
	Schema *Schema
}

// Schema is a JSON schema with the name that servers want for it.
type Schema struct {
	Name string // letters, digits and _
	JSON json.RawMessage
}

// Response is what the model wrote.
type Response struct {
	Text  string
	Model string // as the server calls it
	// FinishReason is "stop", or "length" where Text was cut at a limit.
	FinishReason string
	// InputTokens and OutputTokens are 0 where the server did not tell.
	InputTokens, OutputTokens int
}

// Provider asks a model. It is safe for concurrent use.
type Provider interface {
	// Complete asks the model and calls delta, which may be nil, with the parts of
	// the text in order as they come; joined they are Response.Text, each is valid
	// UTF-8, and none comes after it has returned. When ctx ends it returns at once
	// and the model is told to stop. An error is an *Error, or ctx's; Response then
	// holds what had come.
	Complete(ctx context.Context, r Request, delta func(string)) (Response, error)
	// Model names the model for the user.
	Model() string
	// Endpoint is where text is sent to, for the user: a URL without secrets, or
	// "editor".
	Endpoint() string
}

// Kind is what went wrong.
type Kind string

// The kinds.
const (
	Unreachable   Kind = "unreachable"    // no connection
	SlowStart     Kind = "slow start"     // nothing came in time
	Timeout       Kind = "timeout"        // it did not end in time
	Cut           Kind = "cut"            // the text broke off
	BadReply      Kind = "bad reply"      // it is no such server, or what it said is not understood
	Auth          Kind = "auth"           // no key, or it was refused
	RateLimit     Kind = "rate limit"     // too much was asked, or nothing is left to spend
	ContextLength Kind = "context length" // the question is too long for the model
	Refused       Kind = "refused"        // the request was refused otherwise
	Server        Kind = "server"         // the server failed
	Spent         Kind = "spent"          // the bounds of one question are used up
)

// Error is a failed completion.
type Error struct {
	Kind Kind
	// Message is a clause for the user: "the key was refused (401)". It holds no
	// secret.
	Message string
	// RetryAfter is what the server asks to wait, 0 where it does not say.
	RetryAfter time.Duration
	Err        error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// KindOf is the kind of a failure, "" where it is not an *Error.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Tokens estimates how many tokens a text has: a quarter of its bytes, rounded
// up.
func Tokens(s string) int { return (len(s) + 3) / 4 }
