package weaviate_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store/weaviate"
)

// The servers here give faults that no engine gives on demand. What is asked of
// them is whether a collection is there; a sound one says that none is.

func sound(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/.well-known/ready" {
		return
	}
	http.NotFound(w, r)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// closedPort is the URL of a port at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	return "http://" + l.Addr().String()
}

// hang answers when the test ends, or the client has gone.
func hang(t *testing.T) http.HandlerFunc {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}
}

func faulty(endpoints ...string) weaviate.Options {
	return weaviate.Options{Endpoints: endpoints, Edition: edition("x"), Timeout: 2 * time.Second}
}

// cut sends less than it announced.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"class":`))
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// TestFaults: whatever an endpoint does, the next one is asked; where there is
// none, the error says where what went wrong.
func TestFaults(t *testing.T) {
	for name, fault := range map[string]struct {
		url  string
		is   error // that the error is, alone
		says string
	}{
		"nobody listens": {closedPort(t), sharedindex.ErrUnreachable, "refused"},
		"cut":            {serve(t, cut), sharedindex.ErrUnreachable, "reading the answer"},
		"500":            {serve(t, status(500, `{"error":[{"message":"cannot achieve consistency level"}]}`)), sharedindex.ErrUnreachable, "cannot achieve consistency level"},
		"503":            {serve(t, status(503, "")), sharedindex.ErrUnreachable, "503"},
		"no JSON":        {serve(t, status(200, "<html>hello</html>")), nil, "unreadable answer"},
		"hanging":        {serve(t, hang(t)), sharedindex.ErrUnreachable, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			o := faulty(fault.url)
			o.Timeout = 300 * time.Millisecond
			_, err := weaviate.Open(t.Context(), o)
			if err == nil || fault.is != nil && !errors.Is(err, fault.is) || fault.is == nil && errors.Is(err, sharedindex.ErrUnreachable) ||
				!strings.Contains(err.Error(), fault.says) || !strings.Contains(err.Error(), fault.url) || !strings.Contains(err.Error(), "schema") {
				t.Errorf("alone: %v", err)
			}
			o.Endpoints = append(o.Endpoints, serve(t, sound))
			b, err := weaviate.Open(t.Context(), o)
			if err != nil {
				t.Fatalf("with a sound one: %v", err)
			}
			defer b.Close()
			for range 5 {
				if _, err := b.Heads(t.Context()); err != nil {
					t.Fatalf("with a sound one: %v", err)
				}
			}
		})
	}
}

// TestDenied: a wrong key is told with what to do, and no other endpoint is asked.
func TestDenied(t *testing.T) {
	for _, code := range []int{401, 403} {
		url := serve(t, status(code, `{"error":[{"message":"forbidden"}]}`))
		_, err := weaviate.Open(t.Context(), faulty(url))
		if !errors.Is(err, sharedindex.ErrDenied) || !strings.Contains(err.Error(), url) || !strings.Contains(err.Error(), "shared.apiKeyFile") {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestKey: the key goes to the endpoint, and not where it is redirected to.
func TestKey(t *testing.T) {
	var seen, elsewhere atomic.Value
	seen.Store("")
	elsewhere.Store("nobody")
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Store(r.Header.Get("Authorization"))
		sound(w, r)
	})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization"))
		http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
	})
	o := faulty(url)
	o.APIKey = "s3cret"
	_, err := weaviate.Open(t.Context(), o)
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("redirected: %v", err)
	}
	if seen.Load() != "Bearer s3cret" || elsewhere.Load() != "nobody" {
		t.Errorf("the endpoint saw %q, the other one %q", seen.Load(), elsewhere.Load())
	}
}

// TestHangingIsRemembered: an endpoint that hung is not asked again before it is
// ready, also where the caller's patience ended before the request's time-out.
func TestHangingIsRemembered(t *testing.T) {
	var asked atomic.Int32
	var well atomic.Bool
	wait := hang(t)
	bad := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if well.Load() {
			if r.URL.Path != "/v1/.well-known/ready" {
				asked.Add(1)
			}
			sound(w, r)
			return
		}
		if r.URL.Path != "/v1/.well-known/ready" {
			asked.Add(1)
		}
		wait(w, r)
	})
	b, err := weaviate.Open(t.Context(), faulty(bad, serve(t, sound)))
	must(t, err)
	defer b.Close()
	if n := asked.Load(); n == 0 || n > 1 {
		t.Fatalf("the hanging endpoint was asked %d times", n)
	}
	for range 20 {
		if _, err := b.Heads(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the hanging endpoint was asked %d times", n)
	}
	well.Store(true)
	deadline := time.Now().Add(20 * time.Second)
	for asked.Load() == 1 {
		if time.Now().After(deadline) {
			t.Fatal("the endpoint is not asked though it is well")
		}
		if _, err := b.Heads(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestContext: what the caller's context says holds.
func TestContext(t *testing.T) {
	url := serve(t, hang(t))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := weaviate.Open(ctx, faulty(url))
	if !errors.Is(err, sharedindex.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("out of time: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = weaviate.Open(ctx, faulty(url))
	if errors.Is(err, sharedindex.ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTLS: a certificate is trusted where its authority's file is given.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(sound))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	if _, err := weaviate.Open(t.Context(), faulty(s.URL)); !errors.Is(err, sharedindex.ErrUnreachable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown authority: %v", err)
	}
	o := faulty(s.URL)
	o.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	if _, err := weaviate.Open(t.Context(), o); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "shared.caFile") {
		t.Errorf("no file: %v", err)
	}
	must(t, os.WriteFile(o.CAFile, []byte("nothing\n"), 0o600))
	if _, err := weaviate.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), o.CAFile) {
		t.Errorf("no certificate: %v", err)
	}
	must(t, os.WriteFile(o.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	b, err := weaviate.Open(t.Context(), o)
	must(t, err)
	must(t, b.Close())
}

// TestOptions: bad ones are refused with the setting's name.
func TestOptions(t *testing.T) {
	for says, o := range map[string]weaviate.Options{
		"shared.endpoints":          {},
		`"weaviate:8080"`:           {Endpoints: []string{"weaviate:8080"}},
		`"http://a?b"`:              {Endpoints: []string{"http://a?b"}},
		"shared.tenant":             {Endpoints: []string{"http://a"}, Tenant: "a/b"},
		"line break":                {Endpoints: []string{"http://a"}, APIKey: "a\nb"},
		"shared.replication":        {Endpoints: []string{"http://a"}, Replication: -1},
		`"MANY"`:                    {Endpoints: []string{"http://a"}, Levels: weaviate.Levels{Read: "MANY"}},
		`vector index "tree"`:       {Endpoints: []string{"http://a"}, VectorIndex: "tree"},
		`quantisation "half"`:       {Endpoints: []string{"http://a"}, Quantization: "half"},
		`prefix "coderag" of the s`: {Endpoints: []string{"http://a"}, Prefix: "coderag"},
	} {
		if _, err := weaviate.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
