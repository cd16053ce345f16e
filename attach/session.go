package attach

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"sync"
	"time"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/wire"
	"coderag-ls/internal/jsonrpc"
)

// session is one attached process, as the owner sees it.
type session struct {
	o      *owner
	conn   *jsonrpc.Conn
	ctx    context.Context
	cancel context.CancelFunc
	news   *news

	mu       sync.Mutex // guards all below
	client   *helloParams
	views    map[int64]*engine.View
	nextView int64
}

var _ jsonrpc.Handler = (*session)(nil)

// patient is a connection whose writes fail where the other end does not read
// for some time, instead of waiting for ever.
type patient struct {
	net.Conn
	time time.Duration
}

// Write implements io.Writer.
func (p patient) Write(data []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(p.time)); err != nil {
		return 0, err
	}
	return p.Conn.Write(data)
}

// serve serves one connection to its end.
func (o *owner) serve(c net.Conn) {
	s := &session{o: o, news: newNews(), views: map[int64]*engine.View{}}
	s.conn = jsonrpc.NewConn(patient{c, o.opts.Hang}, o.log)
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(o.ctx))
	defer s.cancel()
	o.mu.Lock()
	o.sessions[s] = true
	o.mu.Unlock()
	if o.ctx.Err() != nil {
		s.cancel() // close may have missed it
	}
	greeting := time.AfterFunc(o.opts.Hello, func() {
		if !s.greeted() {
			o.log.Warn("a process that attached did not say in time who it is")
			s.cancel()
		}
	})
	var tasks sync.WaitGroup
	tasks.Go(func() { s.tell() })
	err := s.conn.Run(s.ctx, s)
	greeting.Stop()
	s.cancel()
	tasks.Wait()
	s.mu.Lock()
	views, greeted := s.views, s.client != nil
	s.views = nil
	s.mu.Unlock()
	for _, v := range views {
		v.Close()
	}
	o.mu.Lock()
	delete(o.sessions, s)
	o.mu.Unlock()
	if greeted {
		o.log.Info("a process has left", "pid", s.client.PID, "reason", err)
		o.changed()
	}
}

func (s *session) greeted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client != nil
}

// tell sends what the client is to know, as fast as it reads.
func (s *session) tell() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.news.wake:
		}
		if !s.greeted() {
			continue
		}
		progress, changed, notices := s.news.take()
		if progress != nil {
			s.conn.Notify(noteProgress, progress)
		}
		if changed {
			s.conn.Notify(noteChanged, nil)
		}
		for _, text := range notices {
			s.conn.Notify(noteNotice, text)
		}
	}
}

// HandleNotification implements jsonrpc.Handler.
func (s *session) HandleNotification(ctx context.Context, method string, raw json.RawMessage) {
	if !s.greeted() {
		return
	}
	switch method {
	case noteApply:
		p, err := decode[viewParams[applyParams]](raw)
		if err != nil {
			s.o.log.Error("taking buffers of an attached process", "error", err)
			return
		}
		if v := s.view(p.View); v != nil {
			if err := v.Apply(ctx, p.Params.Cause, p.Params.Changes); err != nil {
				s.o.log.Warn("taking buffers of an attached process", "error", err)
			}
		}
	case noteCloseView:
		if p, err := decode[viewParams[struct{}]](raw); err == nil {
			s.mu.Lock()
			v := s.views[p.View]
			delete(s.views, p.View)
			s.mu.Unlock()
			if v != nil {
				v.Close()
			}
		}
	}
}

func (s *session) view(id int64) *engine.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views[id]
}

// HandleRequest implements jsonrpc.Handler. What must not be overtaken by
// requests that follow is answered inline.
func (s *session) HandleRequest(method string, raw json.RawMessage) (func(context.Context) (any, error), bool) {
	run := func(f func(context.Context) (any, error)) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) {
			result, err := f(ctx)
			return result, encodeError(ctx, err)
		}
	}
	if method != methodHello && !s.greeted() {
		return run(func(context.Context) (any, error) {
			return nil, jsonrpc.Errorf(jsonrpc.ServerNotInitialized, "%s must come first", methodHello)
		}), true
	}
	switch method {
	case methodHello:
		return run(func(context.Context) (any, error) { return s.hello(raw) }), true
	case methodPing:
		return run(func(context.Context) (any, error) { return struct{}{}, nil }), true
	case methodOpenView:
		return run(func(context.Context) (any, error) { return s.openView(), nil }), true
	case methodSettings:
		return run(func(context.Context) (any, error) { return s.setSettings(raw) }), true
	}
	h := handlers()[method]
	if h == nil {
		return run(func(context.Context) (any, error) {
			return nil, jsonrpc.Errorf(jsonrpc.MethodNotFound, "no such method: %s", method)
		}), true
	}
	return run(func(ctx context.Context) (any, error) { return h(ctx, s, raw) }), false
}

// hello checks that both sides speak of the same things.
func (s *session) hello(raw json.RawMessage) (any, error) {
	p, err := decode[helloParams](raw)
	if err != nil {
		return nil, err
	}
	own := s.o.opts.version()
	if !own.fits(p.version) {
		return nil, jsonrpc.Errorf(codeMismatch, "the index is kept by %s, which does not share it with %s", own, p.version)
	}
	if !slices.Equal(p.Roots, foldersOf(s.o.roots)) {
		return nil, jsonrpc.Errorf(codeRoots, "the index is kept for other folders")
	}
	s.mu.Lock()
	if s.client != nil {
		s.mu.Unlock()
		return nil, jsonrpc.Errorf(jsonrpc.InvalidRequest, "%s was said before", methodHello)
	}
	s.client = &p
	s.mu.Unlock()
	s.o.log.Info("a process has attached", "pid", p.PID, "version", p.Program)
	s.o.changed()
	return helloResult{own, s.o.differences(p.Settings.Index)}, nil
}

func (s *session) openView() int64 {
	v := s.o.engine.NewView()
	s.mu.Lock()
	defer s.mu.Unlock()
	v.SetSettings(s.client.Settings.in(config.Settings{}))
	s.nextView++
	s.views[s.nextView] = v
	return s.nextView
}

// in puts the settings of searching and answering among others.
func (c clientSettings) in(s config.Settings) config.Settings {
	s.Search, s.Answer = c.Search, c.Answer
	return s
}

func (s *session) setSettings(raw json.RawMessage) (any, error) {
	p, err := decode[clientSettings](raw)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.client.Settings = p
	for _, v := range s.views {
		v.SetSettings(p.in(config.Settings{}))
	}
	s.mu.Unlock()
	return s.o.differences(p.Index), nil
}

// handler answers one request in a goroutine of its own.
type handler func(ctx context.Context, s *session, raw json.RawMessage) (any, error)

// handlers are those that need not be inline.
func handlers() map[string]handler {
	return map[string]handler{
		methodTouch: func(ctx context.Context, s *session, raw json.RawMessage) (any, error) {
			p, err := decode[touchParams](raw)
			if err != nil {
				return nil, err
			}
			return nil, s.o.engine.Touch(ctx, p.Cause, p.Paths, p.Rescan)
		},
		methodKeep: func(ctx context.Context, s *session, raw json.RawMessage) (any, error) {
			p, err := decode[keepParams](raw)
			return s.o.engine.Keep(p.Path, p.Dir), err
		},
		methodDirectories: func(ctx context.Context, s *session, _ json.RawMessage) (any, error) {
			return s.o.engine.Directories(ctx)
		},

		methodAsk:       ask,
		methodSearch:    on((*engine.View).Search),
		methodContext:   on((*engine.View).Context),
		methodSimilar:   on((*engine.View).Similar),
		methodSync:      on((*engine.View).Sync),
		methodCitations: on((*engine.View).Citations),
		methodTree:      on((*engine.View).Tree),
		methodExcerpt:   on((*engine.View).Excerpt),
		methodSymbols:   on((*engine.View).Symbols),
		methodExplain: on(func(v *engine.View, ctx context.Context, p explainParams) (wire.ExplainResult, error) {
			return v.Explain(ctx, p.Name, p.Near)
		}),
		methodText: on(func(v *engine.View, ctx context.Context, path string) (textResult, error) {
			content, ok := v.Text(ctx, path)
			return textResult{content, ok}, nil
		}),
		methodResolve: on(func(v *engine.View, _ context.Context, path string) (textResult, error) {
			abs, ok := v.Resolve(path)
			return textResult{abs, ok}, nil
		}),
		methodReindex: on(func(v *engine.View, ctx context.Context, p wire.ReindexParams) (any, error) {
			return nil, v.Reindex(ctx, p)
		}),
		methodPause: on(func(v *engine.View, ctx context.Context, paused bool) (any, error) {
			return nil, v.SetPaused(ctx, paused)
		}),
		methodStatus: status,
	}
}

// on makes a handler of a view's method.
func on[P, R any](f func(*engine.View, context.Context, P) (R, error)) handler {
	return func(ctx context.Context, s *session, raw json.RawMessage) (any, error) {
		p, err := decode[viewParams[P]](raw)
		if err != nil {
			return nil, err
		}
		v := s.view(p.View)
		if v == nil {
			return nil, jsonrpc.Errorf(jsonrpc.InvalidRequest, "view %d is not open", p.View)
		}
		return f(v, ctx, p.Params)
	}
}

// ask streams events before it answers.
func ask(ctx context.Context, s *session, raw json.RawMessage) (any, error) {
	return on(func(v *engine.View, ctx context.Context, p askParams) (askResult, error) {
		events := 0
		var emit func(engine.Event)
		if p.Stream != 0 {
			emit = func(e engine.Event) {
				events++
				s.conn.Notify(noteEvent, eventParams{p.Stream, e})
			}
		}
		r, err := v.Ask(ctx, p.AskParams, emit)
		return askResult{r, events}, err
	})(ctx, s, raw)
}

// status adds what is the session's.
func status(ctx context.Context, s *session, raw json.RawMessage) (any, error) {
	return on(func(v *engine.View, ctx context.Context, _ struct{}) (statusResult, error) {
		st, err := v.Status(ctx)
		st.OwnedBy.Clients = s.o.clients()
		s.mu.Lock()
		index := s.client.Settings.Index
		s.mu.Unlock()
		return statusResult{st, s.o.differences(index)}, err
	})(ctx, s, raw)
}

// news is what a client was not told yet; the engine must not wait for it.
type news struct {
	wake chan struct{} // 1 slot

	mu      sync.Mutex // guards all below
	step    *wire.Progress
	change  bool
	notices []string
}

func newNews() *news { return &news{wake: make(chan struct{}, 1)} }

func (n *news) put(change func()) {
	n.mu.Lock()
	change()
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *news) progress(p wire.Progress) { n.put(func() { n.step = &p }) }

func (n *news) changed() { n.put(func() { n.change = true }) }

func (n *news) notice(text string) { n.put(func() { n.notices = append(n.notices, text) }) }

func (n *news) take() (step *wire.Progress, changed bool, notices []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	step, changed, notices = n.step, n.change, n.notices
	n.step, n.change, n.notices = nil, false, nil
	return step, changed, notices
}
