package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coderag-ls/engine/sharedindex"
)

const (
	// parallel is how many requests an operation has under way.
	parallel = 8
	// maxAnswer is the most bytes of an answer that are taken. A batch's answer repeats
	// what was sent.
	maxAnswer = 96 << 20
	// quietMin and quietMax bound how long an endpoint that failed is not asked.
	quietMin = 500 * time.Millisecond
	quietMax = 30 * time.Second
)

// client asks the endpoints of one cluster.
type client struct {
	http      *http.Client
	transport *http.Transport
	endpoints []*endpoint
	key       string
	timeout   time.Duration
	turn      atomic.Uint32

	ctx    context.Context // of probes
	cancel context.CancelFunc
	probes sync.WaitGroup
	mu     sync.Mutex // guards closed and every endpoint's state
	closed bool
}

// endpoint is a node's base URL and what is remembered of it.
type endpoint struct {
	url   string
	fails int       // in a row
	until time.Time // not asked before; zero where it is good
	probe bool      // a probe is under way
}

// request is what is asked of any one of the endpoints. All of them may be asked: every
// request is one that may come twice.
type request struct {
	// what is being done, for errors: "reading document a.go".
	what         string
	method, path string
	query        url.Values
	body         []byte
	// home chooses the endpoint that is asked first among the good ones, so that an
	// object is written through one node as long as that lives: the engine takes the
	// latest write by the clock of the node that took it. 0 for taking turns.
	home uint32
	// accept are statuses that are no errors, beside 200.
	accept []int
	// parse reads the answer. Its error has the next endpoint asked.
	parse func(status int, body []byte) error
}

// statusError is an answer that says no.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.message) }

// answerError is an answer that cannot be read.
type answerError struct{ err error }

func (e *answerError) Error() string { return "unreadable answer: " + e.err.Error() }
func (e *answerError) Unwrap() error { return e.err }

func newClient(o *Options) (*client, error) {
	t, err := o.transport()
	if err != nil {
		return nil, err
	}
	c := &client{
		http: &http.Client{
			Transport: t,
			// The key goes to the endpoints and to nobody else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		transport: t, key: o.APIKey, timeout: o.Timeout,
	}
	for _, u := range o.Endpoints {
		c.endpoints = append(c.endpoints, &endpoint{url: u})
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

func (c *client) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.probes.Wait()
	c.transport.CloseIdleConnections()
}

// order is in which order the endpoints are asked: the good ones, then those that
// failed.
func (c *client) order(home uint32) []*endpoint {
	good, bad := c.split(home)
	return append(good, bad...)
}

// everywhere asks all good endpoints at the same time, or all where none is good.
// Once one has answered the others have as long again, and a second, to do so. It
// returns how many did, and the errors of those that did not.
func (c *client) everywhere(ctx context.Context, fn func(ctx context.Context, e *endpoint) error) (answered int, failures error) {
	asked, bad := c.split(0)
	if len(asked) == 0 {
		asked = bad
	}
	late, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	errs := make(chan error, len(asked))
	for _, e := range asked {
		go func() {
			err := fn(late, e)
			if ctx.Err() == nil {
				c.note(e, err == nil)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", e.url, err)
			}
			errs <- err
		}()
	}
	for range asked {
		err := <-errs
		if err != nil {
			failures = errors.Join(failures, err)
			continue
		}
		if answered++; answered == 1 {
			t := time.AfterFunc(time.Second+time.Since(began), cancel)
			defer t.Stop()
		}
	}
	return answered, failures
}

// split tells the endpoints that are good from those that failed, each in the order
// in which they are asked.
func (c *client) split(home uint32) (good, bad []*endpoint) {
	n := len(c.endpoints)
	from := int(home % uint32(n))
	if home == 0 {
		from = int(c.turn.Add(1) % uint32(n))
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		e := c.endpoints[(from+i)%n]
		switch {
		case e.until.IsZero():
			good = append(good, e)
			continue
		case now.After(e.until) && !e.probe && !c.closed && n > 1:
			e.probe = true
			c.probes.Go(func() { c.ready(e) })
		}
		bad = append(bad, e)
	}
	return good, bad
}

// ready asks whether an endpoint that failed is back.
func (c *client) ready(e *endpoint) {
	ctx, cancel := context.WithTimeout(c.ctx, min(c.timeout, 5*time.Second))
	defer cancel()
	ok := false
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"/v1/.well-known/ready", nil)
	if err == nil {
		var resp *http.Response
		if resp, err = c.http.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10))
			resp.Body.Close()
			ok = resp.StatusCode == http.StatusOK
		}
	}
	c.mu.Lock()
	e.probe = false
	c.mu.Unlock()
	c.note(e, ok)
}

// note remembers how an endpoint did.
func (c *client) note(e *endpoint, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		e.fails, e.until = 0, time.Time{}
		return
	}
	e.fails++
	e.until = time.Now().Add(min(quietMin<<min(e.fails-1, 10), quietMax))
}

// do asks one endpoint after the other until one answers. The error names what was
// being done and, by endpoint, what went wrong.
func (c *client) do(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		return stopped(r.what, err)
	}
	var failures []error
	away := true // every endpoint was away or too few replicas were there
	for _, e := range c.order(r.home) {
		err := c.ask(ctx, e, &r)
		if err == nil {
			c.note(e, true)
			return nil
		}
		if ctx.Err() != nil {
			// An endpoint that hangs is not asked first again.
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				c.note(e, false)
			}
			return stopped(r.what, fmt.Errorf("%s: %w", e.url, ctx.Err()))
		}
		var status *statusError
		var answer *answerError
		switch {
		case errors.As(err, &status):
			switch {
			case status.status == http.StatusUnauthorized || status.status == http.StatusForbidden:
				return fmt.Errorf("%s: %s: %w (%v): check the key in CODERAG_SHARED_API_KEY or shared.apiKeyFile", r.what, e.url, sharedindex.ErrDenied, err)
			case status.status == http.StatusBadGateway || status.status == http.StatusServiceUnavailable || status.status == http.StatusGatewayTimeout:
				c.note(e, false)
			case status.status < 500 && status.status != http.StatusTooManyRequests && status.status != http.StatusRequestTimeout:
				return fmt.Errorf("%s: %s: %w", r.what, e.url, err)
			}
		case errors.As(err, &answer):
			away = false
		default:
			c.note(e, false)
		}
		failures = append(failures, fmt.Errorf("%s: %w", e.url, err))
	}
	if away {
		return fmt.Errorf("%s: %w: %w", r.what, sharedindex.ErrUnreachable, errors.Join(failures...))
	}
	return fmt.Errorf("%s: %w", r.what, errors.Join(failures...))
}

// stopped is the error of an operation whose context ended. One that took too
// long did not reach the index either.
func stopped(what string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w: %w", what, sharedindex.ErrUnreachable, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// ask asks one endpoint.
func (c *client) ask(ctx context.Context, e *endpoint, r *request) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+time.Duration(len(r.body)>>20)*time.Second)
	defer cancel()
	target := e.url + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	if len(r.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the URL is named by the caller
		}
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if len(body) > maxAnswer {
		return &answerError{fmt.Errorf("more than %d bytes", maxAnswer)}
	}
	ok := resp.StatusCode == http.StatusOK
	for _, s := range r.accept {
		ok = ok || resp.StatusCode == s
	}
	if !ok {
		return &statusError{resp.StatusCode, said(body)}
	}
	if r.parse == nil {
		return nil
	}
	return r.parse(resp.StatusCode, body)
}

// said is what an error's body says, shortened, on one line.
func said(body []byte) string {
	var e struct {
		Error []struct {
			Message string `json:"message"`
		} `json:"error"`
		Message string `json:"message"`
	}
	s := ""
	if json.Unmarshal(body, &e) == nil {
		s = e.Message
		for _, m := range e.Error {
			s += " " + m.Message
		}
	}
	if strings.TrimSpace(s) == "" {
		s = string(body)
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 400 {
		s = s[:400] + "…"
	}
	if s == "" {
		s = "no explanation"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// decode reads JSON into to; its error is one of the answer.
func decode(body []byte, to any) error {
	if err := json.Unmarshal(body, to); err != nil {
		return &answerError{err}
	}
	return nil
}
