package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"coderag-ls/engine"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	invalidParams  = -32602
	internalError  = -32603
	notInitialized = -32002
	requestFailed  = -32803
	cancelled      = -32800
	modified       = -32801
)

func TestSession(t *testing.T) {
	e, w := start(t, lsptest.Neovim, folder(t, "main.go", "func main() {}\n"))
	if got := hits(t, e, "main"); len(got) != 1 {
		t.Errorf("hits: %q", got)
	}
	if err := e.Shutdown(); err != nil {
		t.Errorf("after shutdown and exit: %v", err)
	}
	if !w.Closed() {
		t.Error("the index was left open")
	}
}

func TestBeforeInitialize(t *testing.T) {
	w := &lsptest.Workspace{}
	e := lsptest.Connect(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{folder(t)}, Server: lsp.Options{Open: w.Open}})
	if err := e.Call(lsp.MethodSearch, wire.SearchParams{Query: "x"}, nil); code(err) != notInitialized {
		t.Errorf("a request before initialize: %v", err)
	}
	e.Open("untitled:a", "go", "x") // ignored, not answered
	e.Initialize()
	if err := e.Call("initialize", nil, nil); code(err) != invalidRequest {
		t.Errorf("initialize again: %v", err)
	}
	e.MustCall(lsp.MethodStatus, nil, nil)
}

func TestAfterShutdown(t *testing.T) {
	e, w := start(t, lsptest.VSCode, folder(t))
	e.MustCall("shutdown", nil, nil)
	if !w.Closed() && len(w.Roots()) > 0 {
		t.Error("the index is open after shutdown")
	}
	for _, method := range []string{lsp.MethodStatus, "shutdown", "initialize", "textDocument/hover", "no/such"} {
		if err := e.Call(method, nil, nil); code(err) != invalidRequest {
			t.Errorf("%s after shutdown: %v", method, err)
		}
	}
	e.Notify("exit", nil)
	if err := e.Served(); err != nil {
		t.Errorf("exit after shutdown: %v", err)
	}
}

// Shutdown cancels what is running, and everything is answered.
func TestShutdownWhileAsking(t *testing.T) {
	g := newGate()
	e, w := start(t, lsptest.VSCode, folder(t, "a.go", "x\n"))
	w.SetBefore(g.hold("ask"))
	asked := e.Send(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: "x"}})
	<-g.entered
	shut := e.Send("shutdown", nil)
	if err := asked.Wait(nil); code(err) != cancelled {
		t.Errorf("the question: %v", err)
	}
	if err := shut.Wait(nil); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// A session that ends while the index is being opened ends at once and
// without complaints.
func TestShutdownWhileOpening(t *testing.T) {
	opening := make(chan struct{})
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.Neovim, Folders: []string{folder(t)}, Server: lsp.Options{
		Open: func(ctx context.Context, _ engine.Options) (lsp.Workspace, error) {
			close(opening)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}})
	<-opening
	waiting := e.Send(lsp.MethodSync, nil)
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
	if err := waiting.Wait(nil); code(err) != cancelled {
		t.Errorf("what waited for the index: %v", err)
	}
	if shown := e.Received("window/showMessage"); len(shown) != 0 {
		t.Errorf("shown: %s", shown)
	}
}

func TestExitWithoutShutdown(t *testing.T) {
	e, w := start(t, lsptest.VSCode, folder(t))
	e.MustCall(lsp.MethodStatus, nil, nil)
	e.Notify("exit", nil)
	if err := e.Served(); !errors.Is(err, lsp.ErrNoShutdown) {
		t.Errorf("%v", err)
	}
	if !w.Closed() {
		t.Error("the index was left open")
	}
}

func TestExitBeforeInitialize(t *testing.T) {
	e := lsptest.Connect(t, lsptest.Config{})
	e.Notify("exit", nil)
	if err := e.Served(); !errors.Is(err, lsp.ErrNoShutdown) {
		t.Errorf("%v", err)
	}
}

func TestConnectionClosed(t *testing.T) {
	e, w := start(t, lsptest.VSCode, folder(t))
	e.MustCall(lsp.MethodStatus, nil, nil)
	e.CloseInput()
	if err := e.Served(); !errors.Is(err, lsp.ErrNoShutdown) {
		t.Errorf("%v", err)
	}
	if !w.Closed() {
		t.Error("the index was left open")
	}

	e, _ = start(t, lsptest.VSCode, folder(t))
	e.MustCall("shutdown", nil, nil)
	e.CloseInput()
	if err := e.Served(); err != nil {
		t.Errorf("closed after shutdown: %v", err)
	}
}

func TestClientProcessDies(t *testing.T) {
	client := exec.Command("sleep", "1000")
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	w := &lsptest.Workspace{}
	e := lsptest.Start(t, lsptest.Config{ProcessID: client.Process.Pid, Folders: []string{folder(t)}, Server: lsp.Options{Open: w.Open}})
	e.MustCall(lsp.MethodStatus, nil, nil)
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = client.Wait() // it was killed
	if err := e.Served(); !errors.Is(err, lsp.ErrClientGone) {
		t.Errorf("%v", err)
	}
	if !w.Closed() {
		t.Error("the index was left open")
	}
}

// A process that was never seen lives in another container.
func TestClientProcessUnknown(t *testing.T) {
	e := lsptest.Start(t, lsptest.Config{ProcessID: 1 << 22, Folders: []string{folder(t)}, Server: lsp.Options{Open: (&lsptest.Workspace{}).Open}})
	e.MustCall(lsp.MethodStatus, nil, nil)
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
}

func TestUnknownMethods(t *testing.T) {
	e, _ := start(t, lsptest.VSCode, folder(t))
	if err := e.Call("textDocument/noSuch", nil, nil); code(err) != methodNotFound || !strings.Contains(err.Error(), "textDocument/noSuch") {
		t.Errorf("%v", err)
	}
	if err := e.Call("$/noSuch", nil, nil); code(err) != methodNotFound {
		t.Errorf("%v", err)
	}
	e.Notify("textDocument/noSuch", nil)
	e.Notify("$/noSuch", nil)
	e.MustCall(lsp.MethodStatus, nil, nil)
}

func TestCapabilities(t *testing.T) {
	for client, want := range map[string]string{
		lsptest.Neovim: "utf-8", lsptest.VSCode: "utf-16", lsptest.Emacs: "utf-8", lsptest.Minimal: "utf-16",
	} {
		e, _ := start(t, client, folder(t))
		if string(e.Encoding) != want {
			t.Errorf("%s counts in %s", client, e.Encoding)
		}
		var result struct {
			ServerInfo   struct{ Name string }
			Capabilities struct {
				HoverProvider, TextDocumentSync, CodeLensProvider map[string]any
				CodeActionProvider                                any
				DiagnosticProvider                                map[string]any
				DocumentLinkProvider                              struct{ ResolveProvider bool }
				ExecuteCommandProvider                            struct{ Commands []string }
				Workspace                                         struct {
					WorkspaceFolders struct{ Supported, ChangeNotifications bool }
				}
			}
		}
		if err := json.Unmarshal(e.Initialized, &result); err != nil {
			t.Fatalf("%s: %v", client, err)
		}
		c := result.Capabilities
		if result.ServerInfo.Name != "coderag-ls" || c.HoverProvider == nil || c.CodeLensProvider == nil || !c.DocumentLinkProvider.ResolveProvider ||
			!c.Workspace.WorkspaceFolders.Supported || !c.Workspace.WorkspaceFolders.ChangeNotifications {
			t.Errorf("%s: %s", client, e.Initialized)
		}
		if c.TextDocumentSync["openClose"] != true || c.TextDocumentSync["change"] != 2.0 || c.TextDocumentSync["save"] == nil {
			t.Errorf("%s: sync %v", client, c.TextDocumentSync)
		}
		if (c.DiagnosticProvider["interFileDependencies"] == true) != (client == lsptest.VSCode) {
			t.Errorf("%s: diagnostics %v", client, c.DiagnosticProvider)
		}
		if len(c.ExecuteCommandProvider.Commands) != 12 {
			t.Errorf("%s: commands %q", client, c.ExecuteCommandProvider.Commands)
		}
		literals, _ := c.CodeActionProvider.(map[string]any)
		if (literals != nil) != (client != lsptest.Minimal) || client != lsptest.Minimal && (literals["resolveProvider"] == true) != (client != lsptest.Emacs) {
			t.Errorf("%s: actions %v", client, c.CodeActionProvider)
		}
	}
}

func TestSetTrace(t *testing.T) {
	e, _ := start(t, lsptest.VSCode, folder(t))
	e.Notify("$/setTrace", map[string]any{"value": "messages"})
	e.MustCall(lsp.MethodStatus, nil, nil)
	e.Await("$/logTrace", func(p json.RawMessage) bool { return strings.Contains(string(p), lsp.MethodStatus) })
	e.Notify("$/setTrace", map[string]any{"value": "loud"})
	e.Await("window/logMessage", func(p json.RawMessage) bool { return strings.Contains(string(p), "loud") })
}
