package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/textproto"
	"strconv"
	"sync"
	"time"

	"coderag-ls/lsp"
)

// listen serves every client that connects to a loopback address and knows the
// token, until ctx ends.
func (a *app) listen(ctx context.Context, address, token string, opts lsp.Options) error {
	if err := checkLoopback(address); err != nil {
		return err
	}
	if token == "" {
		token = rand.Text()
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", address, err)
	}
	fmt.Fprintf(a.stderr, "listening on %s\ntoken %s\n", l.Addr(), token)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // ends Accept
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.Join(fmt.Errorf("accepting a connection: %w", err), l.Close())
		}
		clients.Go(func() {
			log := opts.Logger.With("client", conn.RemoteAddr().String())
			log.Info("connected")
			rwc, err := authenticate(conn, token)
			if err != nil {
				log.Warn("connection refused", "error", err)
				_ = conn.Close() // it was refused; nothing is lost
				return
			}
			opts := opts
			opts.Logger = log
			if err := lsp.Serve(ctx, rwc, opts); err != nil && ctx.Err() == nil {
				log.Warn("session ended", "error", err)
			}
			log.Info("disconnected")
		})
	}
}

// checkLoopback refuses addresses that other machines could reach.
func checkLoopback(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--listen %q is not of the form 127.0.0.1:PORT: %w", address, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return usagef("--listen %q: %q is no port number", address, port)
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return usagef("--listen %q: %q is no loopback address; use 127.0.0.1 or [::1]", address, host)
	}
	return nil
}

// The limits of what a client may send before it is known.
const (
	authTime  = 10 * time.Second
	authBytes = 1 << 20
)

var errToken = errors.New("the first message is no initialize request with the server's token (initializationOptions.server.token)")

// authenticate reads the first message, which must be an initialize request
// that carries the token, and returns the connection as if it had not been read.
func authenticate(conn net.Conn, token string) (io.ReadWriteCloser, error) {
	if err := conn.SetReadDeadline(time.Now().Add(authTime)); err != nil {
		return nil, err
	}
	var seen bytes.Buffer
	in := bufio.NewReader(io.TeeReader(io.LimitReader(conn, authBytes), &seen))
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("reading the first message's header: %w", err)
	}
	size, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || size < 0 || size > authBytes {
		return nil, fmt.Errorf("the first message's Content-Length %q is no size up to %d", header.Get("Content-Length"), authBytes)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, fmt.Errorf("reading the first message: %w", err)
	}
	var message struct {
		Method string
		Params struct {
			InitializationOptions struct {
				Server struct{ Token string }
			}
		}
	}
	if err := json.Unmarshal(body, &message); err != nil || message.Method != "initialize" {
		return nil, errToken
	}
	// Digests have one length: comparing them tells nothing of the token's.
	got, want := sha256.Sum256([]byte(message.Params.InitializationOptions.Server.Token)), sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return nil, errToken
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return replayed{io.MultiReader(&seen, conn), conn}, nil
}

// replayed is a connection whose first bytes were read before.
type replayed struct {
	io.Reader
	net.Conn
}

// Read reads what was read before, then the rest.
func (r replayed) Read(p []byte) (int, error) { return r.Reader.Read(p) }

// servePipe connects to the pipe that the editor listens on: --pipe is the
// protocol's convention, in which the client is the one that listens.
func (a *app) servePipe(ctx context.Context, path string, opts lsp.Options) error {
	conn, err := dialPipe(ctx, path)
	if err != nil {
		return fmt.Errorf("connecting to the editor's pipe %s: %w", path, err)
	}
	return lsp.Serve(ctx, conn, opts)
}
