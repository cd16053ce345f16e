package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
	"coderag-ls/internal/jsonrpc"
)

// Options are what a server is run with.
type Options struct {
	// Version is the program's version, told to the client.
	Version string
	// Logger takes what the server logs; nil for nothing. Texts and questions
	// are not logged.
	Logger *slog.Logger
	// Open opens the index of the workspace folders (engine.Open and
	// FromEngine). It is called again after it failed.
	Open func(ctx context.Context, o engine.Options) (Workspace, error)
	// Watch watches the folders on disk and calls w.Touch until ctx ends. It
	// runs in a goroutine of its own, anew whenever folders or settings have
	// changed; it must return when ctx ends. Where s.Index.Watch is "client" the
	// client tells of changes, and Watch only sees to it that what it misses is
	// found at last. May be nil.
	Watch func(ctx context.Context, w Watched, roots []file.Root, s config.Settings)
	// Settings are what is set outside of the editor: the user's file, the
	// environment and flags. What the editor says comes between them.
	Settings config.Layers
}

// ErrNoShutdown is returned by Serve where the client sent exit, or closed the
// connection, without shutdown; the process should exit with status 1.
var ErrNoShutdown = errors.New("the client left without shutting the server down")

// ErrClientGone is returned by Serve when the client's process has ended.
var ErrClientGone = errors.New("the client's process has ended")

// Serve speaks LSP on the connection until the client sends exit or is gone,
// or ctx ends. It closes the connection. The error is nil where the client
// asked for shutdown first.
func Serve(ctx context.Context, rwc io.ReadWriteCloser, opts Options) error {
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{
		opts: opts,
		log:  log,
		conn: jsonrpc.NewConn(rwc, log),
		end:  cancel,
	}
	s.requests, s.notifications = s.requestTable(), s.notificationTable()
	s.drift = newDrift(s)
	s.manager = newManager(s)
	s.models = newModels(s)
	defer s.models.close()

	err := s.conn.Run(ctx, s)
	cancel(nil)
	s.manager.stop()
	s.background.Wait()

	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrClientGone):
		return cause
	case s.state == stateShutdown && (errors.Is(err, jsonrpc.ErrExit) || errors.Is(err, io.EOF) || errors.Is(err, jsonrpc.ErrNotRead)):
		return nil
	case errors.Is(err, jsonrpc.ErrExit):
		return ErrNoShutdown
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the connection was closed: %w", ErrNoShutdown)
	case errors.Is(err, jsonrpc.ErrNotRead):
		return fmt.Errorf("%w: %w", err, ErrNoShutdown)
	default:
		return err
	}
}

// state is how far the session is.
type state int

const (
	stateNew      state = iota // nothing but initialize is answered
	stateRunning               // initialized
	stateShutdown              // nothing but exit is heard
)

// server is one session with one client. The fields without a guard are
// written by the dispatcher alone (in inline handlers), before the first
// request that reads them starts.
type server struct {
	opts          Options
	log           *slog.Logger
	conn          *jsonrpc.Conn
	manager       *manager
	requests      map[string]requestHandler
	notifications map[string]notificationHandler
	end           context.CancelCauseFunc // ends the connection
	background    sync.WaitGroup          // goroutines beside the handlers

	state state
	caps  capabilities
	enc   text.Encoding
	trace atomic.Bool // $/setTrace is not off

	answers answers // what was answered last
	models  *models // who writes answers
	drift   *drift  // watches over citations
}

// request is one request as it was when its turn came: it sees the documents
// as they were then.
type request struct {
	docs documents
	// wanted is the state of the workspace that the request waits for.
	wanted uint64
}

type requestHandler func(ctx context.Context, req *request, params json.RawMessage) (any, error)

type notificationHandler func(ctx context.Context, params json.RawMessage) error

// requestTable holds the handler of every request but those that belong to the
// start and the end of a session (lifecycle.go).
func (s *server) requestTable() map[string]requestHandler {
	return map[string]requestHandler{
		MethodAsk:     handle(s.ask),
		MethodSearch:  handle(s.search),
		MethodContext: handle(s.context),
		MethodSimilar: handle(s.similar),
		MethodExplain: handle(s.explain),
		MethodStatus:  handle(s.status),
		MethodReindex: handle(s.reindex),
		MethodSync:    handle(s.sync),
		MethodPause:   handle(s.pause),
		MethodResume:  handle(s.resume),
		MethodPrompt:  handle(s.prompt),

		"textDocument/hover":        handle(s.hover),
		"textDocument/codeAction":   handle(s.codeAction),
		"codeAction/resolve":        handle(s.resolveCodeAction),
		"textDocument/codeLens":     handle(s.codeLens),
		"textDocument/diagnostic":   handle(s.diagnostic),
		"textDocument/documentLink": handle(s.documentLink),
		"documentLink/resolve":      handle(s.resolveDocumentLink),
		"workspace/executeCommand":  handle(s.executeCommand),
	}
}

func (s *server) notificationTable() map[string]notificationHandler {
	return map[string]notificationHandler{
		"initialized":                         receive(s.initialized),
		"textDocument/didOpen":                s.didOpen,
		"textDocument/didChange":              s.didChange,
		"textDocument/didClose":               receive(s.didClose),
		"textDocument/didSave":                receive(s.didSave),
		"workspace/didChangeConfiguration":    receive(s.didChangeConfiguration),
		"workspace/didChangeWorkspaceFolders": receive(s.didChangeWorkspaceFolders),
		"workspace/didChangeWatchedFiles":     receive(s.didChangeWatchedFiles),
		"$/setTrace":                          receive(s.setTrace),
		"$/progress":                          receive(s.clientProgress),
		"window/workDoneProgress/cancel":      receive(func(context.Context, struct{}) error { return nil }),
	}
}

// handle gives a handler its decoded parameters.
func handle[P, R any](h func(context.Context, *request, P) (R, error)) requestHandler {
	return func(ctx context.Context, req *request, params json.RawMessage) (any, error) {
		p, err := decodeParams[P](params)
		if err != nil {
			return nil, err
		}
		return h(ctx, req, p)
	}
}

// receive is handle for notifications.
func receive[P any](h func(context.Context, P) error) notificationHandler {
	return func(ctx context.Context, params json.RawMessage) error {
		p, err := decodeParams[P](params)
		if err != nil {
			return err
		}
		return h(ctx, p)
	}
}

// decodeParams decodes parameters; without any, P's zero value must do.
func decodeParams[P any](params json.RawMessage) (P, error) {
	var p P
	if len(params) == 0 || bytes.Equal(params, []byte("null")) {
		return p, nil
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return p, jsonrpc.Errorf(jsonrpc.InvalidParams, "bad parameters: %v", err)
	}
	return p, nil
}

// HandleRequest implements jsonrpc.Handler.
func (s *server) HandleRequest(method string, params json.RawMessage) (func(context.Context) (any, error), bool) {
	refuse := func(code jsonrpc.Code, format string, args ...any) (func(context.Context) (any, error), bool) {
		err := jsonrpc.Errorf(code, format, args...)
		return func(context.Context) (any, error) { return nil, err }, true
	}
	switch {
	case s.state == stateShutdown:
		return refuse(jsonrpc.InvalidRequest, "%s: the server was shut down", method)
	case s.state == stateNew && method != "initialize":
		return refuse(jsonrpc.ServerNotInitialized, "%s: initialize must come first", method)
	case method == "initialize" && s.state != stateNew:
		return refuse(jsonrpc.InvalidRequest, "initialize: the server is initialized already")
	case method == "initialize":
		return func(ctx context.Context) (any, error) { return s.initialize(ctx, params) }, true
	case method == "shutdown":
		return s.shutdown, true
	}
	h := s.requests[method]
	if h == nil {
		return refuse(jsonrpc.MethodNotFound, "no such method: %s", method)
	}
	s.manager.begin() // a client may forget the initialized notification
	req := s.manager.request()
	return func(ctx context.Context) (any, error) {
		defer s.traced(method)()
		return h(ctx, req, params)
	}, false
}

// HandleNotification implements jsonrpc.Handler.
func (s *server) HandleNotification(ctx context.Context, method string, params json.RawMessage) {
	switch {
	case s.state == stateNew:
		s.log.Warn("notification before initialize ignored", "method", method)
		return
	case s.state == stateShutdown:
		return
	}
	h := s.notifications[method]
	if h == nil {
		if !strings.HasPrefix(method, "$/") {
			s.log.Warn("unknown notification ignored", "method", method)
		}
		return
	}
	defer s.traced(method)()
	if err := h(ctx, params); err != nil {
		s.log.Warn("notification", "method", method, "error", err)
		s.logMessage(messageWarning, fmt.Sprintf("%s: %v", method, err))
	}
}
