package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"coderag-ls/engine/llm"
)

// checked looks at replies before the library does: what is no reply of such a
// server is told, and one that ignores the wish for a stream becomes one.
type checked struct {
	next  http.RoundTripper
	base  *url.URL
	group string // of the settings
}

// maxWhole bounds a reply that is not a stream, and an error's, in bytes.
const maxWhole = 8 << 20

// doneHeader is set on a reply whose end was not seen yet.
const doneHeader = "X-Coderag-Unfinished"

// RoundTrip implements http.RoundTripper.
func (c *checked) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // "" where it is none
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		defer resp.Body.Close()
		where := "elsewhere"
		if to, err := resp.Location(); err == nil {
			where = "to " + to.Scheme + "://" + to.Host
		}
		return nil, llm.Errorf(llm.BadReply, "it redirects %s, which is not followed: check %s.baseUrl", where, c.group)
	case resp.StatusCode >= 400:
		if resp.StatusCode == http.StatusTooManyRequests {
			return nil, c.tooMany(resp)
		}
		resp.Body = limited(resp.Body)
		return resp, nil
	case kind == "text/html":
		resp.Body.Close()
		return nil, llm.Errorf(llm.BadReply, "%s replies with a web page: check %s.baseUrl, which usually ends in /v1", c.base.Host, c.group)
	case req.Header.Get("Accept") != "text/event-stream": // no stream was asked for
		resp.Body = limited(resp.Body)
		return resp, nil
	case kind == "application/json":
		defer resp.Body.Close()
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxWhole))
		if err != nil {
			return nil, fmt.Errorf("reading the reply: %w", err)
		}
		var one bytes.Buffer
		if err := json.Compact(&one, data); err != nil {
			return nil, llm.Errorf(llm.BadReply, "its reply is no JSON")
		}
		resp.Body = io.NopCloser(strings.NewReader("data: " + one.String() + "\n\ndata: [DONE]\n\n"))
		return resp, nil
	}
	resp.Header.Set(doneHeader, "1")
	resp.Body = &watched{ReadCloser: resp.Body, header: resp.Header}
	return resp, nil
}

// tooMany keeps the time that a server asks to wait, which the library drops.
func (c *checked) tooMany(resp *http.Response) error {
	defer resp.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what came of it will do
	return &waiting{string(data), parseRetryAfter(resp.Header.Get("Retry-After"), time.Now())}
}

// waiting is a reply that says to come again later.
type waiting struct {
	body  string
	after time.Duration
}

func (*waiting) Error() string { return "429 Too Many Requests" }

// parseRetryAfter reads the header (RFC 9110, 10.2.3): seconds or a date.
func parseRetryAfter(value string, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

func limited(body io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, maxWhole), body}
}

// watched sees whether a stream was ended by its server.
type watched struct {
	io.ReadCloser
	header http.Header
	tail   []byte
}

const doneMark = "[DONE]"

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.tail = append(w.tail, p[:n]...)
	if bytes.Contains(w.tail, []byte(doneMark)) {
		w.header.Del(doneHeader)
	}
	if keep := 2 * len(doneMark); len(w.tail) > keep {
		w.tail = append(w.tail[:0], w.tail[len(w.tail)-keep:]...)
	}
	return n, err
}
