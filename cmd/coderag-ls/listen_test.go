package main

import (
	"bytes"
	"io"
	"net"
	"testing"

	"coderag-ls/lsp/lsptest"
)

// FuzzAuthenticate: whatever a stranger sends, only an initialize request with
// the token gets through, and then the server reads every byte of it again.
func FuzzAuthenticate(f *testing.F) {
	const token = "secret"
	f.Add(lsptest.Frame([]byte(`{"method":"initialize","params":{"initializationOptions":{"server":{"token":"secret"}}}}`)))
	f.Add(lsptest.Frame([]byte(`{"method":"initialize","params":{"initializationOptions":{"server":{"token":7}}}}`)))
	f.Add([]byte("Content-Length: 99999999999999999999\r\n\r\n"))
	f.Add([]byte("Content-Length: -1\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		client, server := net.Pipe()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = client.Write(data) // fails where the server has closed it
			_ = client.Close()        // a pipe's end never fails
		}()
		rwc, err := authenticate(server, token)
		if err == nil {
			again, readErr := io.ReadAll(rwc)
			if readErr != nil || !bytes.Equal(again, data) {
				t.Errorf("read %q again (%v), sent %q", again, readErr, data)
			}
			if !bytes.Contains(data, []byte("initialize")) {
				t.Errorf("let in: %q", data)
			}
		}
		_ = server.Close() // as above
		<-sent
	})
}
