package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"coderag-ls/attach/socket"
	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

// link is the index in another process.
type link struct {
	conn   *jsonrpc.Conn
	opts   Options
	log    *slog.Logger
	owner  version
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup

	mu          sync.Mutex // guards all below
	differences []string
	streams     map[int64]*stream
	nextStream  int64
	ended       bool
}

var _ backend = (*link)(nil)
var _ jsonrpc.Handler = (*link)(nil)

// errHangs is why a connection was given up whose owner does not answer.
var errHangs = errors.New("it does not answer")

// mismatchError is an owner that speaks another protocol.
type mismatchError struct{ reason string }

func (e *mismatchError) Error() string { return e.reason }

// errOtherRoots is an owner that serves other folders than its record says.
var errOtherRoots = errors.New("it serves other folders")

// connect attaches to the owner that listens at an address. The error is
// errHangs, a *mismatchError, errOtherRoots, socket.ErrStranger, or one of
// connecting: nobody listens there.
func connect(ctx context.Context, opts Options, address string, roots []file.Root, s config.Settings) (*link, error) {
	limited, stop := context.WithTimeoutCause(ctx, opts.Hello, errHangs)
	defer stop()
	c, err := socket.Dial(limited, address)
	if err != nil {
		return nil, hung(limited, err)
	}
	if err := socket.CheckPeer(c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	l := newLink(ctx, c, opts)
	p := helloParams{opts.version(), foldersOf(roots), settingsOf(s)}
	var r helloResult
	err = l.conn.Call(limited, methodHello, p, &r)
	if err != nil {
		l.end(err)
		var answered *jsonrpc.ResponseError
		if errors.As(err, &answered) {
			switch jsonrpc.Code(answered.Code) {
			case codeMismatch, jsonrpc.MethodNotFound, jsonrpc.InvalidRequest:
				return nil, &mismatchError{answered.Message}
			case codeRoots:
				return nil, errOtherRoots
			}
		}
		return nil, hung(limited, err)
	}
	if own := opts.version(); !own.fits(r.version) {
		l.end(nil)
		return nil, &mismatchError{fmt.Sprintf("the index is kept by %s, which %s cannot share", r.version, own)}
	}
	l.owner, l.differences = r.version, r.Differences
	l.spawn(l.listenToHeart)
	return l, nil
}

// hung is err, or errHangs where the time was up.
func hung(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errHangs) {
		return errHangs
	}
	return err
}

// newLink starts to read from a connection.
func newLink(ctx context.Context, c net.Conn, opts Options) *link {
	l := &link{opts: opts, log: opts.Logger, streams: map[int64]*stream{}}
	l.conn = jsonrpc.NewConn(patient{c, opts.Hang}, opts.Logger)
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.tasks.Go(func() {
		err := l.conn.Run(l.ctx, l)
		l.cancel(err)
	})
	return l
}

// end closes the connection.
func (l *link) end(why error) {
	l.cancel(why)
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.tasks.Wait()
}

// spawn runs f beside the connection, unless that was closed.
func (l *link) spawn(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.tasks.Go(f)
	}
}

// listenToHeart asks the owner for a sign of life again and again.
func (l *link) listenToHeart() {
	tick := time.NewTicker(l.opts.Hang / 4)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
		}
		ctx, stop := context.WithTimeout(l.ctx, l.opts.Hang)
		err := l.conn.Call(ctx, methodPing, nil, nil)
		late := ctx.Err() != nil && l.ctx.Err() == nil
		stop()
		if late {
			l.cancel(errHangs)
			return
		}
		if err != nil && l.ctx.Err() == nil {
			l.cancel(err)
			return
		}
	}
}

// HandleRequest implements jsonrpc.Handler: the owner asks nothing.
func (l *link) HandleRequest(method string, _ json.RawMessage) (func(context.Context) (any, error), bool) {
	return func(context.Context) (any, error) {
		return nil, jsonrpc.Errorf(jsonrpc.MethodNotFound, "no such method: %s", method)
	}, true
}

// HandleNotification implements jsonrpc.Handler.
func (l *link) HandleNotification(_ context.Context, method string, raw json.RawMessage) {
	var err error
	switch method {
	case noteEvent:
		var p eventParams
		if p, err = decode[eventParams](raw); err == nil {
			l.mu.Lock()
			s := l.streams[p.Stream]
			l.mu.Unlock()
			if s != nil {
				s.event(p.Event)
			}
		}
	case noteProgress:
		var p wire.Progress
		if p, err = decode[wire.Progress](raw); err == nil && l.opts.Progress != nil {
			l.opts.Progress(p)
		}
	case noteChanged:
		if l.opts.Changed != nil {
			l.opts.Changed()
		}
	case noteNotice:
		var text string
		if text, err = decode[string](raw); err == nil && l.opts.Notice != nil {
			l.opts.Notice(text)
		}
	}
	if err != nil {
		l.log.Warn("what the owner of the index says", "method", method, "error", err)
	}
}

// request calls a method of the owner.
func request[R any](ctx context.Context, l *link, method string, params any) (R, error) {
	var r R
	err := l.conn.Call(ctx, method, params, &r)
	return r, decodeError(ctx, err)
}

func (l *link) gone() <-chan struct{} { return l.ctx.Done() }

func (l *link) who() version { return l.owner }

func (l *link) owns() bool { return false }

// close leaves the owner.
func (l *link) close() error {
	l.end(nil)
	return nil
}

func (l *link) setSettings(ctx context.Context, s config.Settings) error {
	r, err := request[settingsResult](ctx, l, methodSettings, settingsOf(s))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.differences = r.Differences
	return nil
}

// differs says which settings of the index are the owner's and not ours.
func (l *link) differs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.differences
}

func (l *link) touch(ctx context.Context, cause string, paths []string, rescan bool) error {
	_, err := request[any](ctx, l, methodTouch, touchParams{cause, paths, rescan})
	return err
}

// setWatch does nothing: the owner watches.
func (l *link) setWatch(int, int, string) {}

func (l *link) keep(ctx context.Context, path string, isDir bool) (bool, error) {
	return request[bool](ctx, l, methodKeep, keepParams{path, isDir})
}

func (l *link) directories(ctx context.Context) ([]string, error) {
	return request[[]string](ctx, l, methodDirectories, nil)
}

// stream hands the events of one answer on.
type stream struct {
	mu    sync.Mutex // guards all below; held while an event is handed on
	emit  func(engine.Event)
	seen  int
	wants int           // how many there are, -1 where that is not known
	all   chan struct{} // closed when all were seen
}

func (s *stream) event(e engine.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emit == nil {
		return
	}
	s.emit(e)
	s.seen++
	if s.seen == s.wants {
		close(s.all)
	}
}

// open registers a stream.
func (l *link) open(emit func(engine.Event)) (id int64, s *stream) {
	s = &stream{emit: emit, wants: -1, all: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nextStream++
	l.streams[l.nextStream] = s
	return l.nextStream, s
}

// await waits until n events were handed on.
func (s *stream) await(ctx context.Context, l *link, n int) error {
	s.mu.Lock()
	s.wants = n
	if s.seen == n {
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	select {
	case <-s.all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ctx.Done():
		return errLost
	}
}

// forget ends a stream: nothing is handed on afterwards.
func (l *link) forget(id int64, s *stream) {
	l.mu.Lock()
	delete(l.streams, id)
	l.mu.Unlock()
	s.mu.Lock()
	s.emit = nil
	s.mu.Unlock()
}
