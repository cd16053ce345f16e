package weaviate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
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
	// local has the schema read as the node knows it, and not its leader.
	local bool
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
// Once one has answered the others have as long again, and a second, to do so. With
// all set every endpoint is asked and waited for. It returns how many answered, and the
// errors of those that did not.
func (c *client) everywhere(ctx context.Context, all bool, fn func(ctx context.Context, e *endpoint) error) (answered int, failures error) {
	asked, bad := c.split(0)
	if all || len(asked) == 0 {
		asked = append(asked, bad...)
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
		if answered++; answered == 1 && !all {
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
