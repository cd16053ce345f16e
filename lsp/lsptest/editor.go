package lsptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
)

// patience is how long an Editor waits for the server before the test fails.
// No test passes by waiting for it.
const patience = 60 * time.Second

// Config is how a session starts.
type Config struct {
	// Client is one of the known clients; "" for Minimal.
	Client string
	// Capabilities, where not nil, are sent instead of the client's.
	Capabilities json.RawMessage
	// Encodings, where not nil, are offered instead of the client's.
	Encodings []text.Encoding
	// Folders are the workspace folders, absolute.
	Folders []string
	// InitializationOptions and Settings are the server's settings, as the
	// client sends them; Settings answer workspace/configuration.
	InitializationOptions any
	Settings              any
	// FullText has every change sent as the whole text.
	FullText bool
	// ProcessID is sent where it is not 0.
	ProcessID int
	// Server are the server's options.
	Server lsp.Options
	// Dial, where not nil, connects to a server elsewhere, such as a process,
	// instead of starting one. wait returns when that server has ended.
	Dial func(tb testing.TB) (conn io.ReadWriteCloser, wait func() error)
}

// Editor is a client of a server that runs in the test's process.
type Editor struct {
	tb     testing.TB
	config Config
	in     *bufio.Reader
	out    io.WriteCloser
	served chan error
	ended  chan struct{} // closed when the reader ended

	// Encoding is what was negotiated.
	Encoding text.Encoding
	// Initialized is the answer to initialize.
	Initialized json.RawMessage

	writing sync.Mutex // guards out

	mu       sync.Mutex // guards all below
	cond     *sync.Cond // on mu; signalled when any changes
	nextID   int
	waiting  map[string]chan *Message
	received []*Message // requests and notifications from the server, and answers without an id
	buffers  map[string]*buffer
	settings any
	answers  map[string]func(json.RawMessage) (any, error) // by method
}

// pipe joins the two ends of a connection.
type pipe struct {
	io.Reader
	io.WriteCloser
	closeRead func() error
}

func (p pipe) Close() error { return errors.Join(p.WriteCloser.Close(), p.closeRead()) }

// Connect starts a server and connects to it, without a word said.
func Connect(tb testing.TB, c Config) *Editor {
	tb.Helper()
	conn, serve := start(tb, c)
	e := &Editor{
		tb: tb, config: c, in: bufio.NewReader(conn), out: conn,
		served: make(chan error, 1), ended: make(chan struct{}),
		waiting: map[string]chan *Message{}, buffers: map[string]*buffer{}, settings: c.Settings,
		Encoding: text.UTF16,
	}
	e.cond = sync.NewCond(&e.mu)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { e.served <- serve(ctx) }()
	go e.readAll()
	tb.Cleanup(func() {
		cancel()
		e.out.Close()
		<-e.ended
		if c.Dial == nil { // it may still write files
			e.served <- <-e.served
		}
	})
	return e
}

// start returns the client's end of a connection and what runs until the
// server ends.
func start(tb testing.TB, c Config) (conn io.ReadWriteCloser, serve func(context.Context) error) {
	if c.Dial != nil {
		conn, wait := c.Dial(tb)
		return conn, func(context.Context) error { return wait() }
	}
	toServerR, toServerW := io.Pipe()
	toClientR, toClientW := io.Pipe()
	return pipe{toClientR, toServerW, func() error { return nil }}, func(ctx context.Context) error {
		return lsp.Serve(ctx, pipe{toServerR, toClientW, toServerR.Close}, c.Server)
	}
}

// Start connects and initializes.
func Start(tb testing.TB, c Config) *Editor {
	tb.Helper()
	e := Connect(tb, c)
	e.Initialize()
	return e
}

// Initialize does what clients do before anything else.
func (e *Editor) Initialize() {
	e.tb.Helper()
	if err := e.Call("initialize", e.initializeParams(), &e.Initialized); err != nil {
		e.tb.Fatalf("initialize: %v", err)
	}
	var result struct {
		Capabilities struct {
			PositionEncoding text.Encoding `json:"positionEncoding"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(e.Initialized, &result); err != nil {
		e.tb.Fatalf("initialize: %v", err)
	}
	e.Encoding = result.Capabilities.PositionEncoding
	e.Notify("initialized", struct{}{})
}

func (e *Editor) initializeParams() any {
	client := e.config.Client
	if client == "" {
		client = Minimal
	}
	var caps map[string]any
	raw := e.config.Capabilities
	if raw == nil {
		var err error
		if raw, err = capabilities(client); err != nil {
			e.tb.Fatal(err)
		}
	}
	if err := json.Unmarshal(raw, &caps); err != nil {
		e.tb.Fatalf("capabilities of %s: %v", client, err)
	}
	if e.config.Encodings != nil {
		caps["general"] = map[string]any{"positionEncodings": e.config.Encodings}
	}
	params := map[string]any{
		"clientInfo":            map[string]any{"name": client},
		"capabilities":          caps,
		"processId":             nil,
		"rootUri":               nil,
		"initializationOptions": e.config.InitializationOptions,
	}
	if e.config.ProcessID != 0 {
		params["processId"] = e.config.ProcessID
	}
	if len(e.config.Folders) > 0 {
		var folders []any
		for _, dir := range e.config.Folders {
			folders = append(folders, map[string]any{"uri": text.URIFromPath(dir), "name": ""})
		}
		params["rootUri"] = text.URIFromPath(e.config.Folders[0])
		if client != Minimal {
			params["workspaceFolders"] = folders
		}
	}
	return params
}

// SetSettings changes what workspace/configuration is answered with.
func (e *Editor) SetSettings(settings any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settings = settings
}

// Pending is a request without an answer yet.
type Pending struct {
	ID     string
	e      *Editor
	method string
	answer chan *Message
}

// Send sends a request.
func (e *Editor) Send(method string, params any) *Pending {
	e.mu.Lock()
	e.nextID++
	id := strconv.Itoa(e.nextID)
	answer := make(chan *Message, 1)
	e.waiting[id] = answer
	e.mu.Unlock()
	e.write(Message{ID: json.RawMessage(id), Method: method, Params: e.marshal(params)})
	return &Pending{ID: id, e: e, method: method, answer: answer}
}

// Cancel cancels the request. It still is answered.
func (p *Pending) Cancel() {
	p.e.Notify("$/cancelRequest", map[string]any{"id": json.RawMessage(p.ID)})
}

// Wait waits for the answer and decodes it into result unless that is nil. An
// error is the server's, an *Error.
func (p *Pending) Wait(result any) error {
	p.e.tb.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case m := <-p.answer:
		if m.Error != nil {
			return m.Error
		}
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("decoding the result of %s: %w", p.method, err)
		}
		return nil
	case <-p.e.ended:
		select {
		case m := <-p.answer: // it came before the end
			p.answer <- m
			return p.Wait(result)
		default:
			return fmt.Errorf("%s: the connection ended", p.method)
		}
	case <-timer.C:
		p.e.tb.Fatalf("%s: no answer", p.method)
		return nil
	}
}

// Call sends a request and waits for its answer.
func (e *Editor) Call(method string, params, result any) error {
	e.tb.Helper()
	return e.Send(method, params).Wait(result)
}

// MustCall is Call for a request that must succeed.
func (e *Editor) MustCall(method string, params, result any) {
	e.tb.Helper()
	if err := e.Call(method, params, result); err != nil {
		e.tb.Fatalf("%s: %v", method, err)
	}
}

// Notify sends a notification.
func (e *Editor) Notify(method string, params any) {
	e.write(Message{Method: method, Params: e.marshal(params)})
}

// WriteRaw puts bytes on the wire as they are.
func (e *Editor) WriteRaw(data []byte) {
	e.writing.Lock()
	defer e.writing.Unlock()
	if _, err := e.out.Write(data); err != nil {
		e.tb.Logf("writing to the server: %v", err)
	}
}

// CloseInput ends the stream to the server, as an editor that died does.
func (e *Editor) CloseInput() { e.out.Close() }

func (e *Editor) write(m Message) {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		e.tb.Errorf("encoding %s: %v", m.Method, err)
		return
	}
	e.WriteRaw(Frame(data))
}

func (e *Editor) marshal(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		e.tb.Errorf("encoding parameters: %v", err)
	}
	return data
}

// readAll takes the server's messages: answers go to who waits, requests are
// answered, and everything is kept.
func (e *Editor) readAll() {
	defer close(e.ended)
	for {
		data, err := readFrame(e.in)
		if err != nil {
			e.cond.Broadcast()
			return
		}
		var m Message
		if err := json.Unmarshal(data, &m); err != nil {
			e.tb.Errorf("the server sent %q: %v", data, err)
			continue
		}
		if m.Version != "2.0" {
			e.tb.Errorf("the server sent %q without its version", data)
		}
		e.mu.Lock()
		answer := e.waiting[string(m.ID)]
		if m.Method == "" && answer != nil {
			delete(e.waiting, string(m.ID))
			e.mu.Unlock()
			answer <- &m
			continue
		}
		e.received = append(e.received, &m)
		e.cond.Broadcast()
		e.mu.Unlock()
		if m.Method != "" && m.ID != nil {
			// Not here: the server may be writing while it is written to.
			go e.answer(m)
		}
	}
}

// Answer has requests of the server's of a method answered by f, which may be
// called by several goroutines.
func (e *Editor) Answer(method string, f func(params json.RawMessage) (any, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answers == nil {
		e.answers = map[string]func(json.RawMessage) (any, error){}
	}
	e.answers[method] = f
}

// answer answers a request of the server's.
func (e *Editor) answer(m Message) {
	var result any
	e.mu.Lock()
	own := e.answers[m.Method]
	e.mu.Unlock()
	if own != nil {
		result, err := own(m.Params)
		if err != nil {
			bad := &Error{Code: -32803, Message: err.Error()}
			errors.As(err, &bad)
			e.write(Message{ID: m.ID, Error: bad})
			return
		}
		e.write(Message{ID: m.ID, Result: e.marshal(result)})
		return
	}
	switch m.Method {
	case "workspace/configuration":
		e.mu.Lock()
		result = []any{e.settings}
		e.mu.Unlock()
	case "workspace/applyEdit":
		var p struct{ Edit WorkspaceEdit }
		err := json.Unmarshal(m.Params, &p)
		if err == nil {
			err = e.Apply(p.Edit)
		}
		answer := map[string]any{"applied": err == nil}
		if err != nil {
			answer["failureReason"] = err.Error()
		}
		result = answer
	case "client/registerCapability", "window/workDoneProgress/create", "workspace/codeLens/refresh", "workspace/diagnostic/refresh":
	default:
		e.write(Message{ID: m.ID, Error: &Error{Code: -32601, Message: "the test editor knows no " + m.Method}})
		return
	}
	data := e.marshal(result)
	if data == nil {
		data = json.RawMessage("null")
	}
	e.write(Message{ID: m.ID, Result: data})
}

// Received returns the parameters of the notifications and requests of a
// method that the server has sent so far, in order. Method "" stands for
// answers to nobody (with a null id), of which the whole message is returned.
func (e *Editor) Received(method string) []json.RawMessage {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.receivedLocked(method)
}

func (e *Editor) receivedLocked(method string) []json.RawMessage {
	var all []json.RawMessage
	for _, m := range e.received {
		switch {
		case m.Method != method:
		case method == "":
			data, _ := json.Marshal(m)
			all = append(all, data)
		default:
			all = append(all, m.Params)
		}
	}
	return all
}

// Await waits until the server has sent messages of a method for which ok
// holds, and returns the one that made it so.
func (e *Editor) Await(method string, ok func(params json.RawMessage) bool) json.RawMessage {
	e.tb.Helper()
	deadline := time.Now().Add(patience) // before the timer: it must have passed when that wakes us
	timer := time.AfterFunc(patience, e.cond.Broadcast)
	defer timer.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for seen := 0; ; {
		all := e.receivedLocked(method)
		for ; seen < len(all); seen++ {
			if ok == nil || ok(all[seen]) {
				return all[seen]
			}
		}
		if time.Now().After(deadline) || e.hasEnded() {
			e.tb.Fatalf("the server sent no %q as awaited; it sent %s", method, all)
		}
		e.cond.Wait()
	}
}

func (e *Editor) hasEnded() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

// Sync waits until everything sent before is searchable.
func (e *Editor) Sync(p wire.SyncParams) wire.SyncResult {
	e.tb.Helper()
	var result wire.SyncResult
	e.MustCall(lsp.MethodSync, p, &result)
	return result
}

// Shutdown ends the session as clients do and returns what Serve did.
func (e *Editor) Shutdown() error {
	e.tb.Helper()
	e.MustCall("shutdown", nil, nil)
	e.Notify("exit", nil)
	return e.Served()
}

// Served waits until the server has ended.
func (e *Editor) Served() error {
	e.tb.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-e.served:
		e.served <- err
		return err
	case <-timer.C:
		e.tb.Fatal("the server does not end")
		return nil
	}
}

// mustRead reads a file of the test's.
func mustRead(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
