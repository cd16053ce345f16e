package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// drainTime is how long the end of a connection waits for handlers that were
// cancelled.
const drainTime = 5 * time.Second

// The notifications that end a connection or a request; both are LSP's.
const (
	methodExit   = "exit"
	methodCancel = "$/cancelRequest"
)

// Handler is what a connection hands messages to. Its methods are called one
// after another, in the order in which the messages were sent.
type Handler interface {
	// HandleNotification handles a notification to its end.
	HandleNotification(ctx context.Context, method string, params json.RawMessage)
	// HandleRequest prepares a request. Where inline is true, run is called
	// before the next message is handled, else in a goroutine of its own.
	HandleRequest(method string, params json.RawMessage) (run func(context.Context) (any, error), inline bool)
}

// Conn is one JSON-RPC connection. It answers each request exactly once.
type Conn struct {
	closer io.Closer
	in     *frameReader
	out    *frameWriter
	log    *slog.Logger
	queue  *queue
	tasks  sync.WaitGroup // handlers in goroutines
	unread sync.Once
	gone   chan struct{} // closed when the client does not read any more

	mu      sync.Mutex                // guards all below
	calls   map[string]*inflight      // requests not yet answered, by IDKey
	pending map[string]chan *response // requests to the client, by IDKey
	nextID  int64
	ended   bool // the reader ended: no response will come
}

// inflight is a request from the moment it is read until it is answered.
type inflight struct {
	id     json.RawMessage
	key    string
	ctx    context.Context
	cancel context.CancelFunc
}

// response is the client's answer to a request of ours.
type response struct {
	result json.RawMessage
	err    error
}

// NewConn makes a connection of a stream; nothing is read before Run.
func NewConn(rwc io.ReadWriteCloser, log *slog.Logger) *Conn {
	return &Conn{
		closer:  rwc,
		in:      newFrameReader(rwc),
		out:     &frameWriter{out: rwc},
		log:     log,
		queue:   newQueue(),
		gone:    make(chan struct{}),
		calls:   map[string]*inflight{},
		pending: map[string]chan *response{},
	}
}

// ErrExit is how Run ends after the exit notification.
var ErrExit = errors.New("exit")

// ErrNotRead is how Run ends where nothing can be written to the other side.
var ErrNotRead = errors.New("the client does not read any more")

// Run handles messages until the exit notification (ErrExit), the end of the
// stream (io.EOF) or of ctx, an error that ends the stream, or one of writing
// (ErrNotRead, when what was read till then is handled). All handlers
// have returned when it returns, but for those that ignore their cancellation
// for drainTime.
func (c *Conn) Run(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, c.queue.drop)
	readErr := make(chan error, 1)
	go func() { readErr <- c.readAll(ctx) }()

	err := c.dispatchAll(ctx, h)
	if err == nil {
		if err = ctx.Err(); err == nil {
			select {
			case err = <-readErr:
			case <-c.gone:
				err = ErrNotRead
			}
		}
	}
	cancel()
	stop()
	c.closer.Close()
	c.drain()
	return err
}

// drain waits until the handlers have returned, drainTime at most.
func (c *Conn) drain() {
	done := make(chan struct{})
	go func() {
		c.tasks.Wait()
		close(done)
	}()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		c.log.Warn("requests still running at the end of the connection")
	}
}

// readAll reads messages into the queue until the stream ends.
func (c *Conn) readAll(ctx context.Context) error {
	defer c.endPending()
	defer c.queue.close()
	for {
		data, err := c.in.read()
		var tooLarge *tooLargeError
		var badHeader *headerError
		switch {
		case err == nil:
			c.accept(ctx, data)
		case errors.As(err, &tooLarge):
			c.queue.push(item{err: jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "%v", err)})
		case errors.As(err, &badHeader):
			c.queue.push(item{err: jsonrpc2.Errorf(jsonrpc2.ParseError, "%v; the connection ends here", err)})
			return err
		default:
			return err
		}
	}
}

// accept takes one message off the wire: responses and cancellations act at
// once, everything else is queued.
func (c *Conn) accept(ctx context.Context, data []byte) {
	if isBatch(data) {
		c.refuseBatch(data)
		return
	}
	m, err := decodeMessage(data)
	switch {
	case err != nil:
		c.queue.push(item{msg: m, err: err, size: len(data)})
	case m.Method == "":
		c.deliver(m)
	case m.Method == methodCancel && !m.hasID:
		c.cancelCall(m.Params)
	case !m.hasID:
		c.queue.push(item{msg: m, size: len(data)})
	default:
		call, err := c.register(ctx, m.ID)
		c.queue.push(item{msg: m, call: call, err: err, size: len(data)})
	}
}

// refuseBatch answers every request of a batch: LSP has no batches.
func (c *Conn) refuseBatch(data []byte) {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		c.queue.push(item{err: jsonrpc2.Errorf(jsonrpc2.ParseError, "decoding a message: %v", err)})
		return
	}
	refused := jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "batches are not part of LSP: send the messages one by one")
	answered := false
	for _, part := range parts {
		var m message
		if json.Unmarshal(part, &m) != nil || m.Method == "" {
			continue
		}
		if _, err := IDKey(m.ID); err == nil {
			c.queue.push(item{msg: &message{ID: m.ID}, err: refused, size: len(part)})
			answered = true
		}
	}
	if !answered {
		c.queue.push(item{err: refused})
	}
}

// register makes a request cancellable from now on.
func (c *Conn) register(ctx context.Context, id json.RawMessage) (*inflight, error) {
	key, err := IDKey(id)
	if err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "%v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[key] != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "id %.40s is in use by a request that is not answered yet", id)
	}
	call := &inflight{id: id, key: key}
	call.ctx, call.cancel = context.WithCancel(ctx)
	c.calls[key] = call
	return call, nil
}

// cancelCall cancels a request that is queued or running; an unknown id is one
// that was answered already.
func (c *Conn) cancelCall(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		c.log.Warn("cancellation without an id", "params", fmt.Sprintf("%.80s", params))
		return
	}
	key, err := IDKey(p.ID)
	if err != nil {
		c.log.Warn("cancellation without an id", "error", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[key]; call != nil {
		call.cancel()
	}
}

// CancelAll cancels every request that is not answered yet, and
// returns when their handlers have returned.
func (c *Conn) CancelAll() {
	c.mu.Lock()
	for _, call := range c.calls {
		call.cancel()
	}
	c.mu.Unlock()
	c.drain()
}

// dispatchAll handles queued messages in order. It returns nil when there will
// be no more.
func (c *Conn) dispatchAll(ctx context.Context, h Handler) error {
	for {
		it, ok := c.queue.pop()
		if !ok {
			return nil
		}
		switch {
		case it.err != nil:
			id := nullID
			if it.msg != nil && it.msg.ID != nil {
				id = it.msg.ID
			}
			c.log.Warn("message refused", "error", it.err)
			c.respond(id, nil, it.err)
		case it.call != nil:
			c.start(h, it.msg, it.call)
		case it.msg.Method == methodExit:
			return ErrExit
		default:
			c.notify(ctx, h, it.msg)
		}
	}
}

func (c *Conn) notify(ctx context.Context, h Handler, m *message) {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("notification handler panicked", "method", m.Method, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	h.HandleNotification(ctx, m.Method, m.Params)
}

// start runs a request and sees that it is answered once.
func (c *Conn) start(h Handler, m *message, call *inflight) {
	run, inline := c.prepare(h, m)
	answer := func() {
		result, err := c.guard(call.ctx, m.Method, run)
		c.finish(call, m.Method, result, err)
	}
	if inline {
		answer()
		return
	}
	c.tasks.Go(answer)
}

// prepare is h.HandleRequest; a panic in it becomes the request's error.
func (c *Conn) prepare(h Handler, m *message) (run func(context.Context) (any, error), inline bool) {
	defer func() {
		if r := recover(); r != nil {
			err := c.panicked(m.Method, r)
			run, inline = func(context.Context) (any, error) { return nil, err }, true
		}
	}()
	return h.HandleRequest(m.Method, m.Params)
}

// guard runs a handler; a panic becomes an error, and a request cancelled
// before it started does not start.
func (c *Conn) guard(ctx context.Context, method string, run func(context.Context) (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, c.panicked(method, r)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return run(ctx)
}

func (c *Conn) panicked(method string, r any) error {
	c.log.Error("request handler panicked", "method", method, "panic", r, "stack", string(debug.Stack()))
	return jsonrpc2.Errorf(jsonrpc2.InternalError, "%s: internal error: %v (the server goes on; its log has the details)", method, r)
}

// finish answers a request and forgets it.
func (c *Conn) finish(call *inflight, method string, result any, err error) {
	if err != nil {
		err = errorOf(call.ctx, method, err)
	}
	c.mu.Lock()
	delete(c.calls, call.key)
	c.mu.Unlock()
	call.cancel()
	c.respond(call.id, result, err)
}

// respond writes a response. A result that cannot be encoded is answered with
// an error: every request gets its answer.
func (c *Conn) respond(id json.RawMessage, result any, err error) {
	var data []byte
	if err == nil {
		var encErr error
		if data, encErr = encode(okResponse{Version: jsonrpc2.Version, ID: id, Result: result}); encErr != nil {
			err = jsonrpc2.Errorf(jsonrpc2.InternalError, "encoding the result: %v", encErr)
		}
	}
	if err != nil {
		var rpcErr *jsonrpc2.Error
		if !errors.As(err, &rpcErr) {
			rpcErr = jsonrpc2.NewError(jsonrpc2.InternalError, err.Error())
		}
		data, err = encode(errorResponse{Version: jsonrpc2.Version, ID: id, Error: rpcErr})
		if err != nil { // the id is the only raw part, and it was parsed
			c.log.Error("encoding a response", "error", err)
			return
		}
	}
	c.send(data)
}

// send writes a message. An error ends the connection.
func (c *Conn) send(data []byte) { _ = c.write(data) }

// write is send for those that can do something about an error.
func (c *Conn) write(data []byte) error {
	err := c.out.write(data)
	if err != nil {
		c.unread.Do(func() {
			c.log.Info("the connection ends", "error", err)
			close(c.gone)
			c.queue.close()
			c.endPending() // no answer will come to what was not sent
		})
	}
	return err
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) {
	data, err := encode(outgoing{Version: jsonrpc2.Version, Method: method, Params: params})
	if err != nil {
		c.log.Error("encoding a notification", "method", method, "error", err)
		return
	}
	c.send(data)
}

// ErrEnded answers requests to a side that is gone.
var ErrEnded = errors.New("the connection ended")

// Call sends a request to the client and waits for its answer, which is
// decoded into result unless that is nil. It must not be called where the
// dispatcher would wait for it.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return ErrEnded
	}
	c.nextID++
	id := json.RawMessage(strconv.FormatInt(c.nextID, 10))
	key := "n" + string(id)
	answer := make(chan *response, 1)
	c.pending[key] = answer
	c.mu.Unlock()

	data, err := encode(outgoing{Version: jsonrpc2.Version, ID: id, Method: method, Params: params})
	if err == nil {
		err = c.write(data)
	}
	if err != nil {
		c.forget(key)
		return fmt.Errorf("asking the client for %s: %w", method, err)
	}
	select {
	case r := <-answer:
		switch {
		case r.err != nil:
			return fmt.Errorf("asking the client for %s: %w", method, r.err)
		case result == nil || len(r.result) == 0:
			return nil
		}
		if err := json.Unmarshal(r.result, result); err != nil {
			return fmt.Errorf("the client's answer to %s: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		c.forget(key)
		c.Notify(methodCancel, struct {
			ID json.RawMessage `json:"id"`
		}{id})
		return ctx.Err()
	}
}

func (c *Conn) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, key)
}

// deliver hands a response to the request that waits for it.
func (c *Conn) deliver(m *message) {
	key, err := IDKey(m.ID)
	if err != nil {
		c.log.Warn("the client answers no request of ours", "id", string(m.ID), "error", m.Error)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := c.pending[key]
	if answer == nil {
		return // given up already
	}
	delete(c.pending, key)
	r := &response{result: m.Result}
	if m.Error != nil {
		r.err = m.Error
	}
	answer <- r
}

// endPending answers what the client will not answer any more.
func (c *Conn) endPending() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for key, answer := range c.pending {
		delete(c.pending, key)
		answer <- &response{err: ErrEnded}
	}
}

// errorOf gives an error the code that LSP has for it.
func errorOf(ctx context.Context, method string, err error) error {
	var rpcErr *jsonrpc2.Error
	switch {
	case errors.As(err, &rpcErr):
		return rpcErr
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return jsonrpc2.NewError(RequestCancelled, method+": cancelled")
	default:
		return jsonrpc2.NewError(RequestFailed, method+": "+err.Error())
	}
}
