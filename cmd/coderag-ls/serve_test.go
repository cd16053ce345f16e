package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// duplex is the program's standard input and output as an editor holds them.
type duplex struct {
	io.Reader
	io.WriteCloser
}

// serving starts the program as a server and returns how to connect to it.
func (c *cli) serving(args ...string) func(testing.TB) (io.ReadWriteCloser, func() error) {
	return func(tb testing.TB) (io.ReadWriteCloser, func() error) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		done := make(chan int, 1)
		go func() {
			code := c.app(inR, outW, io.Discard).run(context.WithoutCancel(tb.Context()), args)
			if err := outW.Close(); err != nil {
				tb.Error(err)
			}
			done <- code
		}()
		return duplex{outR, inW}, func() error {
			if code := <-done; code != exitOK {
				tb.Errorf("the server ended with %d", code)
			}
			return nil
		}
	}
}

// TestServe: the server joins index, watcher and editor, whatever the words it
// was started with.
func TestServe(t *testing.T) {
	for _, args := range [][]string{{}, {"serve"}, {"serve", "--stdio"}, {"--stdio", "--clientProcessId=1"}} {
		c := newCLI(t)
		e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{c.dir}, Dial: c.serving(args...)})
		e.Sync(wire.SyncParams{Scan: true})
		var a wire.AskResult
		e.MustCall(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: "TotalCents"}}, &a)
		if len(a.Citations) == 0 || a.Citations[0].Path != "cart/cart.go" {
			t.Errorf("%q: %+v", args, a.Citations)
		}
		if err := e.Shutdown(); err != nil {
			t.Error(err)
		}
	}
}

// TestServeWatches: a file that appears on disk is found without a word from
// the editor.
func TestServeWatches(t *testing.T) {
	c := newCLI(t)
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.Minimal, Folders: []string{c.dir}, Dial: c.serving()})
	e.Sync(wire.SyncParams{Scan: true})
	c.write("cart/voucher.go", "package cart\n\n// RedeemVoucher takes a discount code off the total.\nfunc RedeemVoucher(code string) {}\n")
	e.Await(lsp.MethodStatusChanged, func(params json.RawMessage) bool {
		var st wire.Status
		return json.Unmarshal(params, &st) == nil && st.Coverage.Indexed == 5
	})
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
}

// TestListen: only clients with the token are answered.
func TestListen(t *testing.T) {
	c := newCLI(t)
	errR, errW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		code := run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, strings.NewReader(""), io.Discard, errW, c.env)
		_ = errW.Close() // a pipe's end never fails
		done <- code
	}()
	lines := bufio.NewScanner(errR)
	next := func(pattern string) string {
		if !lines.Scan() {
			t.Fatal("the server said nothing")
		}
		m := regexp.MustCompile(pattern).FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("the server said %q", lines.Text())
		}
		return m[1]
	}
	address, token := next(`^listening on (127\.0\.0\.1:[0-9]+)$`), next(`^token (\S{20,})$`)
	go func() { _, _ = io.Copy(io.Discard, errR) }() // ends with the pipe

	for name, first := range map[string]string{
		"no token":     `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`,
		"wrong token":  `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"initializationOptions":{"server":{"token":"guess"}}}}`,
		"another call": `{"jsonrpc":"2.0","id":1,"method":"coderag/status","params":{"initializationOptions":{"server":{"token":"` + token + `"}}}}`,
		"no JSON":      `GET / HTTP/1.1`,
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(lsptest.Frame([]byte(first))); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); err != nil || len(answer) > 0 {
			t.Errorf("%s: answered %q, %v", name, answer, err)
		}
		_ = conn.Close() // the server has closed it
	}
	// A request of a web page is no message at all.
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil || len(answer) > 0 {
		t.Errorf("HTTP: answered %q, %v", answer, err)
	}
	_ = conn.Close() // the server has closed it

	e := lsptest.Start(t, lsptest.Config{
		Client: lsptest.Neovim, Folders: []string{c.dir},
		InitializationOptions: map[string]any{"server": map[string]any{"token": token}},
		Dial: func(tb testing.TB) (io.ReadWriteCloser, func() error) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				tb.Fatal(err)
			}
			return conn, func() error { return nil }
		},
	})
	var a wire.AskResult
	e.Sync(wire.SyncParams{Scan: true})
	e.MustCall(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: "TotalCents"}}, &a)
	if len(a.Citations) == 0 {
		t.Error("no citations over TCP")
	}
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
	cancel()
	if code := <-done; code != exitOK {
		t.Errorf("exit code %d after a signal", code)
	}
}

// TestPipe: the editor listens, the server connects.
func TestPipe(t *testing.T) {
	c := newCLI(t)
	dir, err := os.MkdirTemp("", "cr") // socket paths are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	e := lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{c.dir}, Dial: func(tb testing.TB) (io.ReadWriteCloser, func() error) {
		done := make(chan int, 1)
		go func() {
			done <- run(context.WithoutCancel(tb.Context()), []string{"--pipe", socket}, strings.NewReader(""), io.Discard, io.Discard, c.env)
		}()
		conn, err := l.Accept()
		if err != nil {
			tb.Fatal(err)
		}
		return conn, func() error {
			if code := <-done; code != exitOK {
				tb.Errorf("exit code %d", code)
			}
			return l.Close()
		}
	}})
	e.Sync(wire.SyncParams{Scan: true})
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
	c.bare("", "serve", "--pipe", filepath.Join(dir, "nothere")).want(t, exitError, "", "connecting to the editor's pipe")
}

func TestListenNeedsAFreePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	newCLI(t).bare("", "serve", "--listen", l.Addr().String()).want(t, exitError, "", "listening on "+l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
