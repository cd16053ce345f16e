package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// Limits bound one completion.
type Limits struct {
	// Start is how long the first text may take, Total the whole; 0 for no limit.
	Start, Total time.Duration
	// Bytes is the most text that is taken, 0 for no limit: what a model writes
	// beyond is cut off, and it is told to stop.
	Bytes int
}

// Bounded asks p within limits.
func Bounded(p Provider, l Limits) Provider { return bounded{p, l} }

type bounded struct {
	Provider
	limits Limits
}

// The causes by which a completion is ended from this side.
var (
	errStart  = errors.New("nothing came in time")
	errTotal  = errors.New("it did not end in time")
	errEnough = errors.New("it wrote more than was wanted")
)

// Complete implements Provider.
func (b bounded) Complete(ctx context.Context, r Request, delta func(string)) (Response, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	after := func(d time.Duration, cause error) *time.Timer {
		if d <= 0 {
			return nil
		}
		return time.AfterFunc(d, func() { cancel(cause) })
	}
	stop := func(t *time.Timer) {
		if t != nil {
			t.Stop()
		}
	}
	start, total := after(b.limits.Start, errStart), after(b.limits.Total, errTotal)
	defer stop(start)
	defer stop(total)
	var got strings.Builder
	resp, err := b.Provider.Complete(inner, r, func(s string) {
		stop(start)
		if inner.Err() != nil {
			return
		}
		if most := b.limits.Bytes; most > 0 && got.Len()+len(s) > most {
			s = strings.ToValidUTF8(s[:most-got.Len()], "")
			defer cancel(errEnough)
		}
		got.WriteString(s)
		if delta != nil && s != "" {
			delta(s)
		}
	})
	cause := context.Cause(inner)
	switch {
	case ctx.Err() != nil && err != nil:
		return resp, ctx.Err()
	case errors.Is(cause, errEnough):
		return Response{Text: got.String(), Model: resp.Model, FinishReason: "length", InputTokens: resp.InputTokens, OutputTokens: resp.OutputTokens}, nil
	case err == nil:
		return resp, nil
	case errors.Is(cause, errStart):
		return resp, Errorf(SlowStart, "it did not begin to answer within %s (setting llm.firstTokenTimeout)", b.limits.Start)
	case errors.Is(cause, errTotal):
		return resp, Errorf(Timeout, "it did not finish within %s (setting llm.timeout)", b.limits.Total.Round(time.Millisecond))
	}
	return resp, err
}

// Retrying asks p again, n times at most, where a failure may pass: it could
// not be reached, its server failed, or it asks to come later. Once text has
// come nothing is asked again. Between two attempts it waits half a second,
// doubling, with jitter, or as long as the server asks.
func Retrying(p Provider, n int) Provider { return retrying{p, n, 500 * time.Millisecond} }

type retrying struct {
	Provider
	n     int
	first time.Duration
}

// longestWait is the longest that a server may ask to wait: beyond it the user
// is told instead.
const longestWait = 10 * time.Second

// Complete implements Provider.
func (p retrying) Complete(ctx context.Context, r Request, delta func(string)) (Response, error) {
	var resp Response
	err := retry(ctx, p.n, p.first, func() (over bool, err error) {
		resp, err = p.Provider.Complete(ctx, r, func(s string) {
			over = true
			if delta != nil {
				delta(s)
			}
		})
		return over, err
	})
	return resp, err
}

// Retry calls try until it succeeds, n times more at most, where its failure may
// pass; see Retrying. over says that it must not be called again.
func Retry(ctx context.Context, n int, try func() (over bool, err error)) error {
	return retry(ctx, n, 500*time.Millisecond, try)
}

func retry(ctx context.Context, n int, first time.Duration, try func() (over bool, err error)) error {
	for i := 0; ; i++ {
		over, err := try()
		if err == nil || over || ctx.Err() != nil || i >= n {
			return err
		}
		wait := first << i
		wait = wait/2 + rand.N(wait/2+1)
		switch e := (*Error)(nil); {
		case !errors.As(err, &e):
			return err
		case e.Kind == RateLimit && e.RetryAfter > 0:
			wait = e.RetryAfter
		case e.Kind != RateLimit && e.Kind != Unreachable && e.Kind != Server:
			return err
		}
		if deadline, ok := ctx.Deadline(); wait > longestWait || ok && time.Until(deadline) < wait {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}
