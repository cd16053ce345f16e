package install_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/embed/onnx/install"
	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

// server answers each request with the next handler, the last one for ever,
// and notes the Range headers.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	next   []http.HandlerFunc
	ranges []string
}

func serve(t *testing.T, handlers ...http.HandlerFunc) *server {
	s := &server{next: handlers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		h := s.next[0]
		if len(s.next) > 1 {
			s.next = s.next[1:]
		}
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ranges)
}

// whole serves content and understands ranges.
func whole(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "file.bin", time.Time{}, bytes.NewReader(content))
	}
}

// breaking promises all of content and drops the connection after n bytes.
func breaking(content []byte, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
}

func plain(content []byte, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Write(content)
	}
}

func randomBytes(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// get downloads content from the server's root with a downloader that does
// not pause.
func get(t *testing.T, s *server, content []byte, dir string) error {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	d := install.Downloader{Client: &http.Client{Transport: transport}, Attempts: 3, Backoff: func(int) time.Duration { return 0 }}
	return d.Get(context.Background(), s.URL+"/file.bin", filepath.Join(dir, "file.bin"),
		modeldir.File{Name: "file.bin", Size: int64(len(content)), SHA256: digest(content)})
}

func TestDownloadSucceeds(t *testing.T) {
	content := randomBytes(300_000)
	other := bytes.Clone(content)
	other[0] ^= 1
	noRange := func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		whole(content)(w, r)
	}
	wrongRange := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(content)
	}
	for name, c := range map[string]struct {
		part     []byte // what an earlier call has left
		handlers []http.HandlerFunc
		ranges   []string
	}{
		"at once":              {nil, []http.HandlerFunc{whole(content)}, []string{""}},
		"broken off, resumed":  {nil, []http.HandlerFunc{breaking(content, 100_000), whole(content)}, nil},
		"left over, resumed":   {content[:1000], []http.HandlerFunc{whole(content)}, []string{"bytes=1000-"}},
		"left over, complete":  {content, []http.HandlerFunc{status(http.StatusTeapot)}, []string{}},
		"left over, too long":  {append(bytes.Clone(content), 1), []http.HandlerFunc{whole(content)}, []string{""}},
		"left over, other":     {other[:1000], []http.HandlerFunc{whole(content)}, []string{"bytes=1000-", ""}},
		"no ranges":            {content[:1000], []http.HandlerFunc{noRange}, []string{"bytes=1000-"}},
		"wrong range":          {content[:1000], []http.HandlerFunc{wrongRange, whole(content)}, []string{"bytes=1000-", ""}},
		"range refused":        {content[:1000], []http.HandlerFunc{status(http.StatusRequestedRangeNotSatisfiable), whole(content)}, []string{"bytes=1000-", ""}},
		"server busy at first": {nil, []http.HandlerFunc{status(http.StatusServiceUnavailable), status(http.StatusTooManyRequests), whole(content)}, []string{"", "", ""}},
		"redirect": {nil, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}, whole(content)}, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.part != nil {
				write(t, filepath.Join(dir, "file.bin.part"), c.part)
			}
			s := serve(t, c.handlers...)
			if err := get(t, s, content, dir); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(read(t, filepath.Join(dir, "file.bin")), content) {
				t.Error("another file came")
			}
			if got := names(t, dir); !slices.Equal(got, []string{"file.bin"}) {
				t.Errorf("left behind: %q", got)
			}
			if got := s.seen(); c.ranges != nil && !slices.Equal(got, c.ranges) && len(got)+len(c.ranges) > 0 {
				t.Errorf("ranges asked for: %q, want %q", got, c.ranges)
			}
			requests := len(s.seen())
			if err := get(t, s, content, dir); err != nil || len(s.seen()) != requests {
				t.Errorf("a file that is there is downloaded again: %v", err)
			}
		})
	}
}

func TestDownloadFails(t *testing.T) {
	content := randomBytes(50_000)
	other := bytes.Clone(content)
	other[7] ^= 1
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		is       error
		want     string
		requests int
	}{
		"wrong digest":     {whole(other), install.ErrDigest, digest(other), 1},
		"web page":         {plain([]byte("<html>please sign in</html>"), "text/html; charset=utf-8"), install.ErrDigest, "web page", 1},
		"too short":        {plain(content[:100], "application/octet-stream"), install.ErrDigest, "offers 100 bytes", 1},
		"too long":         {plain(append(bytes.Clone(content), 1), "application/octet-stream"), install.ErrDigest, "longer than", 1},
		"not found":        {status(http.StatusNotFound), nil, "404", 1},
		"always busy":      {status(http.StatusBadGateway), nil, "502", 3},
		"always broken":    {breaking(content, 10), nil, "of 50000 bytes", 3},
		"circle":           {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, nil, "redirects", 30},
		"redirected wrong": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "gopher://x/", http.StatusFound) }, nil, "gopher", 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := serve(t, c.handler)
			err := get(t, s, content, dir)
			if err == nil || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.URL) {
				t.Errorf("error %v, want %v with %q and the address", err, c.is, c.want)
			}
			if got := len(s.seen()); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
			if _, err := os.Stat(filepath.Join(dir, "file.bin")); err == nil {
				t.Error("a file is there")
			}
		})
	}
}

// TestLongWithoutALength: a chunked answer that does not end is cut off.
func TestLongWithoutALength(t *testing.T) {
	content := randomBytes(1000)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(content); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	if err := get(t, s, content, t.TempDir()); !errors.Is(err, install.ErrDigest) || !strings.Contains(err.Error(), "longer than 1000 bytes") {
		t.Errorf("error %v", err)
	}
}

func TestDownloadThatStallsIsGivenUpAndResumed(t *testing.T) {
	content := randomBytes(10_000)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:4000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, whole(content))
	file := filepath.Join(t.TempDir(), "file.bin")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	d := install.Downloader{Client: &http.Client{Transport: transport}, Stall: 100 * time.Millisecond, Backoff: func(int) time.Duration { return 0 }}
	if err := d.Get(context.Background(), s.URL, file, modeldir.File{Size: int64(len(content)), SHA256: digest(content)}); err != nil {
		t.Fatal(err)
	}
	if got := s.seen(); len(got) != 2 || got[1] != "bytes=4000-" {
		t.Errorf("ranges asked for: %q", got)
	}
	d.Attempts = 1
	s = serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	err := d.Get(context.Background(), s.URL, file+"2", modeldir.File{Size: int64(len(content)), SHA256: digest(content)})
	if err == nil || !strings.Contains(err.Error(), "stopped sending") {
		t.Errorf("error %v", err)
	}
}

func TestCancelledDownloadIsKeptForTheNext(t *testing.T) {
	content := randomBytes(100_000)
	ctx, cancel := context.WithCancel(context.Background())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:60_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, whole(content))
	dir := t.TempDir()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	d := install.Downloader{Client: &http.Client{Transport: transport}, Progress: func(done, total int64) {
		if total != int64(len(content)) {
			t.Errorf("total %d", total)
		}
		if done == 60_000 {
			cancel()
		}
	}}
	want := modeldir.File{Size: int64(len(content)), SHA256: digest(content)}
	if err := d.Get(ctx, s.URL, filepath.Join(dir, "file.bin"), want); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if err := get(t, s, content, dir); err != nil {
		t.Fatal(err)
	}
	if got := s.seen(); len(got) != 2 || got[1] != "bytes=60000-" {
		t.Errorf("ranges asked for: %q", got)
	}
}

func TestFetchMakesAModelDirectory(t *testing.T) {
	folder := t.TempDir()
	source := onnxtest.TinySource(t, folder)
	files := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer files.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	d := install.Downloader{Client: &http.Client{Transport: transport}, Attempts: 1}
	fetched, built := filepath.Join(t.TempDir(), "model"), t.TempDir()
	if err := install.Fetch(context.Background(), files.URL, fetched, d, install.Options{Source: &source}); err != nil {
		t.Fatal(err)
	}
	if err := install.Build(context.Background(), folder, built, install.Options{Source: &source}); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, fetched), names(t, built); !slices.Equal(got, want) {
		t.Errorf("fetched %q, built %q", got, want)
	}
	if !bytes.Equal(read(t, filepath.Join(fetched, "model.json")), read(t, filepath.Join(built, "model.json"))) {
		t.Error("fetched and built models differ")
	}

	source.URL = files.URL + "/gone/"
	err := install.Fetch(context.Background(), "", t.TempDir(), d, install.Options{Source: &source})
	if err == nil || !strings.Contains(err.Error(), files.URL+"/gone/vocab.txt") {
		t.Errorf("error %v", err)
	}
}

func TestFetchLibraryNeedsADigest(t *testing.T) {
	wheel := zipFile(t, map[string][]byte{"onnxruntime/capi/libonnxruntime.so.1.31.1": read(t, onnxtest.SharedLibrary(t, emptyRuntime))})
	content := read(t, wheel)
	s := serve(t, whole(content))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	d := install.Downloader{Client: &http.Client{Transport: transport}, Attempts: 1}
	dst := t.TempDir()
	for sum, want := range map[string]string{"": "must be given", strings.Repeat("0", 64): digest(content)} {
		if _, err := install.FetchLibrary(context.Background(), s.URL+"/onnxruntime.whl", sum, dst, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("digest %q: error %v", sum, err)
		}
	}
	path, err := install.FetchLibrary(context.Background(), s.URL+"/onnxruntime.whl", digest(content), dst, d)
	if err != nil || path != filepath.Join(dst, "libonnxruntime.so.1.31.1") {
		t.Errorf("%q, %v", path, err)
	}
	if got := names(t, dst); !slices.Equal(got, []string{"libonnxruntime.so.1.31.1"}) {
		t.Errorf("left behind: %q", got)
	}
}
