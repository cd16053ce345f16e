package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lookEvery is how often a client that waits for the index is told how far it is.
const lookEvery = 500 * time.Millisecond

// Progress counts to the end of a call: indexing is most of it.
const (
	progressIndexed = 90
	progressDone    = 100
)

// progress tells the client how far a call is, where it wants to know. The
// protocol has the figure grow with each message.
type progress struct {
	ctx     context.Context
	session *sdk.ServerSession
	token   any // nil where nothing is to be told

	mu   sync.Mutex // held while a message is sent
	last float64
}

// tell sends a message unless it would not be a step forward.
func (p *progress) tell(done float64, format string, args ...any) {
	if p.token == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if done <= p.last {
		return
	}
	p.last = done
	// A client that cannot be told is gone, and the call ends for that.
	_ = p.session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{
		ProgressToken: p.token, Progress: done, Total: progressDone, Message: fmt.Sprintf(format, args...),
	})
}

// watch tells how much is indexed until stop is called.
func (p *progress) watch(o *opened) (stop func()) {
	if p.token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(p.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if c, ok := o.state(ctx); ok && c.Total > 0 && c.Indexed < c.Total {
				p.tell(progressIndexed*float64(c.Indexed)/float64(c.Total), "%d of %d files indexed", c.Indexed, c.Total)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
