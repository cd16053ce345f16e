package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"coderag-ls/engine/embed/onnx/modeldir"
)

// Downloader gets files over HTTP. The zero value is ready to use; HTTPS_PROXY
// and the system's certificates count.
type Downloader struct {
	// Client is nil for http.DefaultClient.
	Client *http.Client
	// Attempts is how often a file is tried; 0 for 5. A further attempt goes on
	// where the last one broke off.
	Attempts int
	// Backoff is the pause before attempt n (from 2); nil for 1, 2, 4 ... s.
	Backoff func(n int) time.Duration
	// Stall is how long no byte may come before an attempt is given up; 0 for a minute.
	Stall time.Duration
	// Progress is told how many of how many bytes are there. May be nil.
	Progress func(done, total int64)
}

// permanentError is an error that another attempt would meet again.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Get downloads url to file, which must become what want says. What has come
// so far is kept in file + ".part", also when the context ends, and is used by
// the next call. A want.Size of 0 stands for an unknown size; such a download
// starts anew each time. ErrDigest is wrapped where something else came.
func (d Downloader) Get(ctx context.Context, url, file string, want modeldir.File) error {
	if got, err := modeldir.Describe(ctx, file); err == nil && got.SHA256 == want.SHA256 {
		return nil
	}
	attempts := d.Attempts
	if attempts == 0 {
		attempts = 5
	}
	part := file + ".part"
	for n := 1; ; n++ {
		err := d.attempt(ctx, url, part, want)
		if err == nil {
			if err := os.Rename(part, file); err != nil {
				return fmt.Errorf("downloading %s: %w", url, err)
			}
			return nil
		}
		var permanent permanentError
		if ctx.Err() != nil || errors.As(err, &permanent) || n >= attempts {
			return fmt.Errorf("downloading %s: %w", url, err)
		}
		if err := d.wait(ctx, n+1); err != nil {
			return fmt.Errorf("downloading %s: %w", url, err)
		}
	}
}

func (d Downloader) wait(ctx context.Context, attempt int) error {
	pause := time.Second << (attempt - 2)
	if d.Backoff != nil {
		pause = d.Backoff(attempt)
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// errStalled is the cause of an attempt that was given up.
var errStalled = errors.New("the server stopped sending")

// attempt makes one request for what is missing of part and checks the whole.
func (d Downloader) attempt(ctx context.Context, url, part string, want modeldir.File) error {
	f, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return permanentError{err}
	}
	defer f.Close()
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return permanentError{err}
	}
	unknown := want.Size == 0
	if have > want.Size {
		if have, err = 0, restart(f); err != nil {
			return permanentError{err}
		}
	}
	resumed := have > 0
	if have < want.Size || unknown {
		if err := d.request(ctx, url, f, have, want.Size); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return permanentError{err}
	}
	got, err := modeldir.Describe(ctx, part)
	if err != nil {
		return permanentError{err}
	}
	if got.SHA256 == want.SHA256 {
		return nil
	}
	err = fmt.Errorf("%w: SHA-256 %s, want %s", ErrDigest, got.SHA256, want.SHA256)
	if e := restart(f); e != nil {
		return permanentError{errors.Join(err, e)}
	}
	if resumed { // the file may have changed between the attempts
		return err
	}
	return permanentError{err}
}

// restart empties f.
func restart(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// request appends the bytes from have on to f.
func (d Downloader) request(ctx context.Context, url string, f *os.File, have, size int64) error {
	stall := d.Stall
	if stall == 0 {
		stall = time.Minute
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer watchdog.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return permanentError{err}
	}
	req.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
	}
	client := d.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return because(ctx, err)
	}
	defer resp.Body.Close()
	if have, err = d.check(resp, f, have, size); err != nil {
		return err
	}
	body := progressReader{r: resp.Body, done: have, total: size, report: d.Progress, alive: func() { watchdog.Reset(stall) }}
	limit := size
	if size == 0 {
		limit = maxLibrary
	}
	n, err := io.Copy(f, io.LimitReader(&body, limit-have+1))
	switch {
	case err != nil:
		return because(ctx, fmt.Errorf("after %d of %d bytes: %w", have+n, size, err))
	case have+n < size:
		return fmt.Errorf("after %d of %d bytes: %w", have+n, size, io.ErrUnexpectedEOF)
	case have+n > limit:
		return permanentError{errors.Join(fmt.Errorf("%w: longer than %d bytes", ErrDigest, limit), restart(f))}
	}
	return nil
}

// because prefers the reason for which a context was ended.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// check looks at the response's head and returns at which byte its body starts.
func (d Downloader) check(resp *http.Response, f *os.File, have, size int64) (int64, error) {
	switch {
	case resp.StatusCode == http.StatusPartialContent:
		var first, last, total int64
		_, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
		if err != nil || first != have || total != size {
			return 0, errors.Join(fmt.Errorf("the server answers %q to a request for bytes from %d of %d", resp.Header.Get("Content-Range"), have, size), restart(f))
		}
	case resp.StatusCode == http.StatusOK:
		have = 0
		if err := restart(f); err != nil {
			return 0, permanentError{err}
		}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return 0, errors.Join(fmt.Errorf("the server answers %q", resp.Status), restart(f))
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the server answers %q", resp.Status)
	default:
		return 0, permanentError{fmt.Errorf("the server answers %q", resp.Status)}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); strings.HasPrefix(kind, "text/html") {
		return 0, permanentError{fmt.Errorf("%w: the server sent a web page instead; a proxy or sign-in page may be in the way", ErrDigest)}
	}
	if resp.StatusCode == http.StatusOK && size > 0 && resp.ContentLength >= 0 && resp.ContentLength != size {
		return 0, permanentError{fmt.Errorf("%w: the server offers %d bytes, want %d", ErrDigest, resp.ContentLength, size)}
	}
	return have, nil
}

type progressReader struct {
	r           io.Reader
	done, total int64
	report      func(done, total int64)
	alive       func()
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 {
		p.alive()
		p.done += int64(n)
		if p.report != nil {
			p.report(p.done, p.total)
		}
	}
	return n, err
}

// Fetch downloads the model's published files from base (empty for the
// source's own URL) and makes the model directory dst (empty for the user's).
// An interrupted download is resumed by the next call. The onnxruntime library
// is not part of the model; see Library and FetchLibrary.
func Fetch(ctx context.Context, base, dst string, d Downloader, opts Options) error {
	source := opts.source()
	if base == "" {
		base = source.URL
	}
	base = strings.TrimSuffix(base, "/") + "/"
	dst, err := directory(dst)
	if err != nil {
		return err
	}
	downloads := filepath.Join(dst, "download")
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		return fmt.Errorf("making a folder for downloads: %w", err)
	}
	for _, want := range []modeldir.File{source.Vocab, source.Weights} {
		one := d
		one.Progress = func(done, total int64) {
			if d.Progress != nil {
				d.Progress(done, total)
			}
			opts.progress("downloading "+want.Name, done, total)
		}
		if err := one.Get(ctx, base+want.Name, filepath.Join(downloads, want.Name), want); err != nil {
			return err
		}
	}
	if err := assemble(ctx, downloads, dst, source, opts); err != nil {
		return err
	}
	if err := os.RemoveAll(downloads); err != nil {
		return fmt.Errorf("removing the downloads: %w", err)
	}
	return nil
}

// FetchLibrary downloads an onnxruntime package from url, which must have the
// SHA-256 digest, and installs its library as Library does.
func FetchLibrary(ctx context.Context, url, digest, dst string, d Downloader) (string, error) {
	if digest == "" {
		return "", fmt.Errorf("downloading %s: its SHA-256 digest must be given", url)
	}
	dst, err := directory(dst)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(dst, ".library-*")
	if err != nil {
		return "", fmt.Errorf("making a folder for downloads: %w", err)
	}
	defer os.RemoveAll(tmp)
	name := "package"
	if isLibrary(url) { // not packed
		name = path.Base(url)
	}
	file := filepath.Join(tmp, name)
	if err := d.Get(ctx, url, file, modeldir.File{Name: name, SHA256: strings.ToLower(digest)}); err != nil {
		return "", err
	}
	return Library(ctx, file, dst, digest, false)
}
