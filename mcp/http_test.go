package mcp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"coderag-ls/engine/wire"
	"coderag-ls/mcp"
)

const token = "a-token-of-the-tests"

// listen starts a server over HTTP and returns its URL.
func (w *world) listen(o mcp.Options, hosts ...string) string {
	w.t.Helper()
	o.Version = "test"
	if o.Open == nil {
		o.Open = w.open
	}
	s, err := mcp.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.ServeHTTP(ctx, l, mcp.HTTPOptions{Token: token, Hosts: hosts}) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			w.t.Errorf("serving: %v", err)
		}
		if err := s.Close(); err != nil {
			w.t.Errorf("closing: %v", err)
		}
	})
	return "http://" + l.Addr().String() + mcp.Path
}

// bearer adds a token to requests.
type bearer struct {
	http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// client is one whose connections end with the test.
func client(t testing.TB, token string) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: bearer{transport, token}}
}

func TestHTTP(t *testing.T) {
	for _, version := range versions()[1:] {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, shop(t))
			url := w.listen(mcp.Options{})
			var mu sync.Mutex
			told := 0
			s := connect(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(t, token)}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					told++
				},
			}, version)
			p := &sdk.CallToolParams{Name: mcp.ToolSearch, Arguments: map[string]any{"query": "TotalCents"}}
			p.SetProgressToken(7)
			if r, err := s.CallTool(t.Context(), p); err != nil || r.IsError {
				t.Fatalf("%+v, %v", r, err)
			}
			await(t, "progress", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return told >= 3
			})
			second := connect(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(t, token)}, nil, version)
			for _, s := range []*sdk.ClientSession{s, second} {
				a, _ := call[wire.AskResult](t, s, mcp.ToolAsk, map[string]any{"query": "how are the prices of all items added up?"})
				if len(a.Citations) == 0 || a.Citations[0].Path != "cart/cart.go" {
					t.Errorf("answer %+v", a)
				}
				if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "coderag:///README.md#L1"}); err != nil || r.Contents[0].Text != "# Shop" {
					t.Errorf("%+v, %v", r, err)
				}
			}
			if len(w.opened) != 1 {
				t.Errorf("opened %v", w.opened)
			}
		})
	}
}

// TestHTTPCancel: who gives a call up ends it, in both versions of the protocol.
func TestHTTPCancel(t *testing.T) {
	for _, version := range versions()[1:] {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, shop(t))
			began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			url := w.listen(w.patient(began, ended))
			s := connect(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(t, token)}, nil, version)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: mcp.ToolAsk, Arguments: map[string]any{"query": "TotalCents"}})
				done <- err
			}()
			<-began
			cancel()
			if err := <-done; err == nil {
				t.Error("a cancelled call is answered")
			}
			<-ended
		})
	}
}

// TestStrangers: without the token, under another name or from another page
// nobody is heard.
func TestStrangers(t *testing.T) {
	url := newWorld(t, shop(t)).listen(mcp.Options{}, "code.example.com")
	const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for name, tt := range map[string]struct {
		token, host, origin string
		want                int
	}{
		"known":            {token, "", "", http.StatusOK},
		"localhost":        {token, "localhost:1234", "http://localhost:1234", http.StatusOK},
		"IPv6":             {token, "[::1]:80", "http://[::1]", http.StatusOK},
		"a name of ours":   {token, "Code.example.com", "https://code.example.com", http.StatusOK},
		"no token":         {"", "", "", http.StatusUnauthorized},
		"wrong token":      {token + "x", "", "", http.StatusUnauthorized},
		"rebound":          {token, "evil.example.com", "", http.StatusForbidden},
		"rebound port":     {token, "evil.example.com:80", "", http.StatusForbidden},
		"like localhost":   {token, "localhost.evil.example.com", "", http.StatusForbidden},
		"like loopback":    {token, "127.0.0.1.evil.example.com", "", http.StatusForbidden},
		"another machine":  {token, "192.168.0.7", "", http.StatusForbidden},
		"page":             {token, "", "https://evil.example.com", http.StatusForbidden},
		"page of nowhere":  {token, "", "null", http.StatusForbidden},
		"page, no token":   {"", "", "https://evil.example.com", http.StatusForbidden},
		"page, odd origin": {token, "", "http://[", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if tt.host != "" {
				r.Host = tt.host
			}
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			c := client(t, tt.token)
			if tt.token == "" {
				c.Transport = c.Transport.(bearer).RoundTripper
			}
			res, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			said, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != tt.want {
				t.Errorf("%s: %s, %v", res.Status, said, err)
			}
			if known := strings.Contains(string(said), "serverInfo"); known != (tt.want == http.StatusOK) {
				t.Errorf("it says %s", said)
			}
		})
	}
}

func TestCheckAddress(t *testing.T) {
	for _, ok := range []string{"127.0.0.1:0", "127.0.0.1:8080", "[::1]:8080", "127.8.8.8:1"} {
		if err := mcp.CheckAddress(ok, nil); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{"0.0.0.0:80", ":80", "[::]:80", "192.168.0.7:80", "localhost:80", "example.com:80"} {
		if err := mcp.CheckAddress(bad, nil); err == nil || !strings.Contains(err.Error(), "mcp.hosts") {
			t.Errorf("%s: %v", bad, err)
		}
		if err := mcp.CheckAddress(bad, []string{"example.com"}); err != nil {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:99999", "127.0.0.1:-1"} {
		if err := mcp.CheckAddress(bad, []string{"example.com"}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "token")
	var made string
	var all sync.WaitGroup
	tokens := make(chan string, 8)
	for range cap(tokens) {
		all.Go(func() {
			one, err := mcp.Token(path)
			if err != nil {
				t.Error(err)
			}
			tokens <- one
		})
	}
	all.Wait()
	close(tokens)
	for one := range tokens {
		if made == "" {
			made = one
		}
		if len(one) < 20 || one != made {
			t.Errorf("tokens %q and %q", made, one)
		}
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if err := mcp.CheckTokenFile(path); err != nil {
		t.Error(err)
	}
	for name, tt := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"readable by others": {made, 0o644, "chmod 600"},
		"writable by others": {made, 0o602, "chmod 600"},
		"short":              {"abc", 0o600, "at least 16"},
		"two words":          {"correct horse battery", 0o600, "one word"},
		"empty":              {"", 0o600, "at least 16"},
		"huge":               {strings.Repeat("x", 1<<16), 0o600, "no token"},
	} {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.Token(path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := mcp.Token(t.TempDir()); err == nil {
		t.Error("a folder is taken for a token")
	}
}
