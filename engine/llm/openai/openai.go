// Package openai asks servers that speak OpenAI's protocol: OpenAI itself,
// Ollama, llama.cpp, vLLM, LM Studio and others. It streams chat completions
// and makes embeddings.
//
// Servers differ: some refuse a parameter that others want, some answer a
// request for a stream with the whole, some cut characters in two. What is
// common to all is assumed, everything else is tried once and left out where it
// is refused.
package openai

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	api "github.com/sashabaranov/go-openai"

	"coderag-ls/engine/llm"
)

// Options are a server, and what to ask there.
type Options struct {
	// BaseURL is the part of the URLs before /chat/completions:
	// https://api.openai.com/v1, http://localhost:11434/v1.
	BaseURL string
	Model   string
	// Key is sent to BaseURL and nowhere else; "" for none.
	Key string
	// CAFile holds certificates (PEM) that are trusted beside the system's; "" for
	// none.
	CAFile string
	// Group is the group of the settings that the server comes from, as errors
	// name them: "embed"; "" for "llm".
	Group string
}

// Client asks one model. It implements llm.Provider.
type Client struct {
	opts Options
	base *url.URL
	api  *api.Client
	http *http.Client
	// plain is set once the server has refused a parameter that not all know.
	plain atomic.Bool
}

var _ llm.Provider = (*Client)(nil)

// New returns a client. Nothing is sent. The error says which option is wrong.
func New(o Options) (*Client, error) {
	if o.Group == "" {
		o.Group = "llm"
	}
	base, err := CheckURL(o.BaseURL, o.Key != "")
	if err != nil {
		return nil, err
	}
	if err := llm.CheckKey(o.Key); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() // HTTPS_PROXY is honoured
	transport.MaxIdleConnsPerHost = 4
	if o.CAFile != "" {
		if transport.TLSClientConfig, err = trusting(o.CAFile); err != nil {
			return nil, err
		}
	}
	c := &Client{opts: o, base: base}
	c.http = &http.Client{Transport: &checked{transport, base, o.Group}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a key and code go where they were meant to go
	}}
	config := api.DefaultConfig(o.Key)
	config.BaseURL, config.HTTPClient = strings.TrimRight(base.String(), "/"), c.http
	c.api = api.NewClientWithConfig(config)
	return c, nil
}

func trusting(file string) (*tls.Config, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates of setting llm.caFile: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s (setting llm.caFile) holds no certificate in PEM form", file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// IsOpenAI reports whether an address is OpenAI's own, by a connection that proves it: the
// key that is meant for OpenAI goes nowhere else.
func IsOpenAI(base string) bool {
	u, err := url.Parse(strings.TrimSpace(base))
	return err == nil && u.Scheme == "https" && strings.EqualFold(u.Hostname(), "api.openai.com")
}

// CheckURL checks a base URL. A key is not sent unencrypted beyond this machine
// and its own network.
func CheckURL(base string, key bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case err != nil:
		return nil, errors.New("it is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%s is no http or https URL, such as http://localhost:11434/v1", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%s holds a name or password: give a key instead", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s holds a query or a fragment", u.Redacted())
	case key && u.Scheme == "http" && !near(u.Hostname()):
		return nil, fmt.Errorf("the key would go unencrypted to %s: use https", u.Host)
	}
	return u, nil
}

// near reports whether a host is this machine or in a network of its own.
func near(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".localhost")
}

// Model implements llm.Provider.
func (c *Client) Model() string { return c.opts.Model }

// Endpoint implements llm.Provider.
func (c *Client) Endpoint() string { return c.base.Redacted() }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Complete implements llm.Provider.
func (c *Client) Complete(ctx context.Context, r llm.Request, delta func(string)) (llm.Response, error) {
	full := !c.plain.Load()
	resp, err := c.complete(ctx, r, delta, full)
	if full && resp.Text == "" && wantsLess(err) && ctx.Err() == nil {
		if resp, err = c.complete(ctx, r, delta, false); err == nil {
			c.plain.Store(true)
		}
	}
	if errors.Is(err, errEmpty) && ctx.Err() == nil {
		resp, err = c.whole(ctx, r, delta, resp)
	}
	if err == nil || ctx.Err() != nil {
		return resp, errors.Join(ctx.Err(), err)
	}
	return resp, c.explain(err)
}

// errEmpty is a stream that ended as it began.
var errEmpty = llm.Errorf(llm.BadReply, "it sent no text")

// whole asks once more, without a stream: some servers tell only then why there
// was nothing in it (llama-cpp-python, where the question is too long). What
// explains nothing is not told.
func (c *Client) whole(ctx context.Context, r llm.Request, delta func(string), out llm.Response) (llm.Response, error) {
	request := c.request(r, false)
	request.Stream = false
	reply, err := c.api.CreateChatCompletion(ctx, request)
	if broken := (*url.Error)(nil); errors.As(err, &broken) && ctx.Err() == nil {
		// A server that broke off inside of the stream closes its connection as well,
		// a little after it can be used again.
		reply, err = c.api.CreateChatCompletion(ctx, request)
	}
	if _, status := apiError(err); status >= 400 {
		return out, err
	}
	if err != nil || len(reply.Choices) == 0 || reply.Choices[0].Message.Content == "" {
		return out, errors.Join(ctx.Err(), errEmpty)
	}
	out.Text, out.FinishReason = strings.ToValidUTF8(reply.Choices[0].Message.Content, "\uFFFD"), string(reply.Choices[0].FinishReason)
	out.InputTokens, out.OutputTokens = reply.Usage.PromptTokens, reply.Usage.CompletionTokens
	if delta != nil {
		delta(out.Text)
	}
	return out, nil
}

// complete makes one request; full is with the parameters that not all
// servers know.
func (c *Client) complete(ctx context.Context, r llm.Request, delta func(string), full bool) (llm.Response, error) {
	out := llm.Response{Model: c.opts.Model}
	stream, err := c.api.CreateChatCompletionStream(ctx, c.request(r, full))
	if err != nil {
		return out, err
	}
	defer stream.Close()
	var text strings.Builder
	var joined joiner
	events := 0
	put := func(s string) {
		if s == "" {
			return
		}
		text.WriteString(s)
		if delta != nil {
			delta(s)
		}
	}
	for {
		raw, err := stream.RecvRaw()
		if err != nil {
			put(joined.end())
			out.Text = text.String()
			if errors.Is(err, io.EOF) && ctx.Err() == nil {
				if events == 0 {
					return out, errEmpty
				}
				return out, ended(stream.Header(), out)
			}
			return out, err
		}
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			out.Text = text.String()
			return out, llm.Errorf(llm.BadReply, "its stream holds what is no JSON")
		}
		if e.Error != nil {
			out.Text = text.String()
			return out, e.Error
		}
		events++
		if e.Model != "" {
			out.Model = e.Model
		}
		if e.Usage != nil {
			out.InputTokens, out.OutputTokens = e.Usage.PromptTokens, e.Usage.CompletionTokens
		}
		for _, choice := range e.Choices {
			if choice.Index != 0 {
				continue
			}
			put(joined.add(choice.Delta.Content))
			put(joined.add(choice.Message.Content))
			if choice.FinishReason != "" {
				out.FinishReason = choice.FinishReason
			}
		}
	}
}

// ended tells a stream's end from a connection's.
func ended(h http.Header, out llm.Response) error {
	done := h.Get(doneHeader) == "" // the body sets it when it has seen the end
	switch {
	case out.FinishReason == "content_filter":
		return llm.Errorf(llm.Refused, "its content filter stopped the answer")
	case out.FinishReason != "" || done && out.Text != "":
		return nil
	case out.Text == "":
		return errEmpty
	}
	return llm.Errorf(llm.Cut, "the connection broke off before the answer was complete")
}

// event is what is used of one event of a stream, or of a whole reply.
type event struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int     `json:"index"`
		Delta        message `json:"delta"`
		Message      message `json:"message"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
	Error *api.APIError `json:"error"`
}

type message struct {
	Content json.RawMessage `json:"content"`
}

// request translates a request.
func (c *Client) request(r llm.Request, full bool) api.ChatCompletionRequest {
	out := api.ChatCompletionRequest{Model: c.opts.Model, Stream: true}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, api.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	if thinks(c.opts.Model) { // the library refuses the others
		out.MaxCompletionTokens = r.MaxTokens
	} else {
		//lint:ignore SA1019 other servers than OpenAI know this name only
		out.MaxTokens = r.MaxTokens
		out.Temperature = float32(r.Temperature)
	}
	if !full {
		return out
	}
	out.StreamOptions = &api.StreamOptions{IncludeUsage: true}
	if r.Schema != nil {
		out.ResponseFormat = &api.ChatCompletionResponseFormat{
			Type:       api.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &api.ChatCompletionResponseFormatJSONSchema{Name: r.Schema.Name, Schema: r.Schema.JSON, Strict: true},
		}
	}
	return out
}

// thinks reports whether a model is one of OpenAI's that take neither a
// temperature nor max_tokens.
func thinks(model string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

// wantsLess reports whether a server may take the request without what not all
// servers know.
func wantsLess(err error) bool {
	e, status := apiError(err)
	text := strings.ToLower(e)
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotImplemented:
	case http.StatusInternalServerError: // llama-cpp-python's for a parameter that it does not know
		return strings.Contains(text, "response_format") || strings.Contains(text, "stream_options")
	default:
		return false
	}
	for _, word := range []string{"response_format", "json_schema", "schema", "grammar", "stream_options", "unsupported", "not supported", "unknown field", "unrecognized", "extra"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// apiError is the message and the status that a server replied with.
func apiError(err error) (message string, status int) {
	var said *api.APIError
	var other *api.RequestError
	switch {
	case errors.As(err, &said):
		return strings.TrimSpace(fmt.Sprintf("%v %s %s", orNothing(said.Code), said.Type, said.Message)), said.HTTPStatusCode
	case errors.As(err, &other):
		return string(other.Body), other.HTTPStatusCode
	}
	return "", 0
}

func orNothing(code any) any {
	if code == nil {
		return ""
	}
	return code
}

// explain makes an *llm.Error of what went wrong.
func (c *Client) explain(err error) error {
	var ours *llm.Error
	var wait *waiting
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &wait):
		return tooMany(wait)
	}
	if text, status := apiError(err); text != "" || status != 0 {
		return c.refused(text, status)
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &kind) {
		return llm.Errorf(llm.BadReply, "its reply is no JSON of the form wanted")
	}
	var op *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	e := llm.Errorf(llm.Unreachable, "it cannot be reached")
	switch {
	case errors.As(err, &dns):
		e.Message = fmt.Sprintf("there is no host %s", dns.Name)
	case errors.As(err, &cert):
		e.Kind, e.Message = llm.BadReply, "its certificate is not trusted (setting llm.caFile adds one)"
	case errors.As(err, &op) && op.Op == "dial":
		e.Message = fmt.Sprintf("it cannot be reached (%v): is the server running?", op.Err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op):
		e.Kind, e.Message = llm.Cut, "the connection broke off"
	}
	e.Err = err
	return e
}

// refused explains a reply that is an error.
func (c *Client) refused(text string, status int) error {
	said := c.quote(text)
	e := llm.Errorf(llm.Refused, "it refused the request (%d)%s", status, said)
	low := strings.ToLower(text)
	tooLong := strings.Contains(low, "context_length") || strings.Contains(low, "context length") || strings.Contains(low, "context size") ||
		strings.Contains(low, "context window") || strings.Contains(low, "maximum context") || strings.Contains(low, "exceed_context") ||
		strings.Contains(low, "too large to process") || strings.Contains(low, "must have less than")
	switch {
	case tooLong || status == http.StatusRequestEntityTooLarge:
		e.Kind, e.Message = llm.ContextLength, "the question with its context is too long for it (settings answer.tokenBudget, llm.window)"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Kind = llm.Auth
		e.Message = fmt.Sprintf("it refused the key (%d): check CODERAG_%s_API_KEY or %s.apiKeyFile", status, strings.ToUpper(c.opts.Group), c.opts.Group)
		if c.opts.Key == "" {
			e.Message = fmt.Sprintf("it wants a key (%d): set CODERAG_%s_API_KEY or %s.apiKeyFile", status, strings.ToUpper(c.opts.Group), c.opts.Group)
		}
	case status == http.StatusNotFound:
		e.Message = fmt.Sprintf("it has no such address or model (404): check %[2]s.baseUrl, which usually ends in /v1, and %[2]s.model%[1]s", said, c.opts.Group)
	case status >= 500:
		e.Kind, e.Message = llm.Server, fmt.Sprintf("its server failed (%d)%s", status, said)
	case status == 0: // an error within a stream
		e.Kind, e.Message = llm.Server, "it broke off with an error"+said
	}
	e.Err = errors.New(e.Message) // the library's repeats what was replied
	return e
}

// tooMany explains a 429: that of a quota does not pass by waiting.
func tooMany(w *waiting) error {
	if strings.Contains(strings.ToLower(w.body), "quota") {
		e := llm.Errorf(llm.RateLimit, "nothing is left of what may be spent there (429)")
		e.RetryAfter = time.Hour
		return e
	}
	e := llm.Errorf(llm.RateLimit, "too much was asked of it lately (429)")
	if e.RetryAfter = w.after; w.after > 0 {
		e.Message += fmt.Sprintf(", it may be asked again in %s", w.after.Round(time.Second))
	}
	return e
}

// maxQuoted is how much of a server's words is repeated.
const maxQuoted = 160

// quote is what a server said, for the user: on one line, without the key.
func (c *Client) quote(text string) string {
	if c.opts.Key != "" {
		text = strings.ReplaceAll(text, c.opts.Key, "***")
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
	if text == "" || strings.HasPrefix(text, "<") {
		return "" // a web page
	}
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return ": " + text
}
