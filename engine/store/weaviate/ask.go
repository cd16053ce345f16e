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
	"time"

	"coderag-ls/engine/sharedindex"
)

// reply is what came of asking one endpoint.
type reply struct {
	from   *endpoint
	status int
	body   []byte
	err    error
}

// reads says whether a request changes nothing.
func (r *request) reads() bool { return r.method == http.MethodGet || r.path == graphQL }

const graphQL = "/v1/graphql"

// do asks one endpoint after the other until one answers. A request that reads and is
// not answered in a third of the time that there is is put to the next one as well; the
// first to answer counts, and the one that was late is not asked first again. The
// error names what was being done and, by endpoint, what went wrong.
func (c *client) do(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		return stopped(r.what, err)
	}
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	order := c.order(r.home)
	replies := make(chan reply, len(order))
	next, asked := 0, map[*endpoint]bool{}
	ask := func() {
		e := order[next]
		next++
		asked[e] = true
		go func() { replies <- c.fetch(ctx, e, &r) }()
	}
	ask()
	late := time.NewTimer(c.patience(ctx))
	defer late.Stop()
	var failures []error
	away := true // every endpoint was away or too few replicas were there
	for len(asked) > 0 {
		var got reply
		select {
		case got = <-replies:
		case <-late.C:
			if r.reads() && next < len(order) {
				ask()
			}
			continue
		case <-parent.Done():
			if errors.Is(parent.Err(), context.DeadlineExceeded) {
				for e := range asked {
					c.note(e, false)
					failures = append(failures, fmt.Errorf("%s does not answer", e.url))
				}
			}
			return stopped(r.what, errors.Join(parent.Err(), errors.Join(failures...)))
		}
		delete(asked, got.from)
		err := got.err
		if err == nil && r.parse != nil {
			err = r.parse(got.status, got.body)
		}
		if err == nil {
			c.note(got.from, true)
			for e := range asked {
				c.note(e, false)
			}
			return nil
		}
		if parent.Err() != nil {
			return stopped(r.what, fmt.Errorf("%s: %w", got.from.url, parent.Err()))
		}
		err = fmt.Errorf("%s: %w", got.from.url, err)
		switch kind := judge(err); {
		case kind == denied:
			return fmt.Errorf("%s: %w: %w: check the key in CODERAG_SHARED_API_KEY or shared.apiKeyFile", r.what, sharedindex.ErrDenied, err)
		case kind == refused:
			return fmt.Errorf("%s: %w", r.what, err)
		case kind == garbled:
			away = false
		case kind == broken:
			c.note(got.from, false)
		}
		failures = append(failures, err)
		if next < len(order) {
			ask()
		}
	}
	if away {
		return fmt.Errorf("%s: %w: %w", r.what, sharedindex.ErrUnreachable, errors.Join(failures...))
	}
	return fmt.Errorf("%s: %w", r.what, errors.Join(failures...))
}

// patience is after how long a second endpoint is asked.
func (c *client) patience(ctx context.Context) time.Duration {
	left := c.timeout
	if until, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(until))
	}
	return max(left/3, 20*time.Millisecond)
}

// The kinds of failure.
type kind int

const (
	failed  kind = iota // the next endpoint may do better
	broken              // and this one is to be left alone for a while
	garbled             // the answer cannot be read, the next one may
	refused             // no endpoint will do it
	denied              // no endpoint will do it with this key
)

func judge(err error) kind {
	var status *statusError
	var answer *answerError
	switch {
	case errors.As(err, &answer):
		return garbled
	case !errors.As(err, &status):
		return broken
	}
	switch status.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return denied
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return broken
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return failed
	}
	// The engine says 422 of much that is its own trouble, such as a leader
	// that just went.
	if status.status >= 500 || transient(status.message) {
		return failed
	}
	return refused
}

// transient says whether an error's text is about nodes that do not reach
// each other, and not about what was asked for.
func transient(message string) bool {
	for _, sign := range []string{
		"rpc error", "leader", "deadline", "timeout", "timed out", "connection", "connect:", "consistency level", "broadcast",
		"EOF", "unavailable", "shutdown", "shutting down", "not ready", "replica", "context canceled", "schema version", "failed to execute query",
	} {
		if strings.Contains(message, sign) {
			return true
		}
	}
	return false
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
	got := c.fetch(ctx, e, r)
	if got.err != nil || r.parse == nil {
		return got.err
	}
	return r.parse(got.status, got.body)
}

// fetch asks one endpoint and reads its answer.
func (c *client) fetch(ctx context.Context, e *endpoint, r *request) reply {
	got := reply{from: e}
	got.status, got.body, got.err = c.exchange(ctx, e, r)
	return got
}

func (c *client) exchange(ctx context.Context, e *endpoint, r *request) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+time.Duration(len(r.body)>>20)*time.Second)
	defer cancel()
	target := e.url + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return 0, nil, err
	}
	if len(r.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if r.local {
		req.Header.Set("consistency", "false")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the URL is named by the caller
		}
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return 0, nil, fmt.Errorf("reading the answer: %w", err)
	}
	if len(body) > maxAnswer {
		return 0, nil, &answerError{fmt.Errorf("more than %d bytes", maxAnswer)}
	}
	ok := resp.StatusCode == http.StatusOK
	for _, s := range r.accept {
		ok = ok || resp.StatusCode == s
	}
	if !ok {
		return 0, nil, &statusError{resp.StatusCode, said(body)}
	}
	return resp.StatusCode, body, nil
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
