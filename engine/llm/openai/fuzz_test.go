package openai

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"coderag-ls/engine/llm"
	"coderag-ls/engine/wire"
)

// replies is a transport whose server replies with the same whatever it is
// asked, in parts of a few bytes.
type replies struct {
	kind, body string
	status     int
}

// RoundTrip implements http.RoundTripper.
func (r replies) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: r.status, Header: http.Header{"Content-Type": {r.kind}}, Request: req,
		Body: io.NopCloser(&bits{strings.NewReader(r.body)}),
	}, nil
}

// bits reads a few bytes at a time.
type bits struct{ r io.Reader }

func (b *bits) Read(p []byte) (int, error) { return b.r.Read(p[:min(len(p), 5)]) }

// FuzzStream: whatever a server replies, a completion ends, with text that is
// valid UTF-8 and that was told in parts, and a failure is one that can be
// explained on one line.
func FuzzStream(f *testing.F) {
	const text, whole = "text/event-stream", "application/json"
	for _, body := range []string{
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\\u00f6\\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude00\"}}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xe6\x97\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\xa5\"},\"finish_reason\":\"length\"}]}\n\n",
		"data: {\"error\":{\"message\":\"out of memory\"}}\n\n", "data: {\"error\":null,\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
		": comment\r\ndata:{\"choices\":[]}\r\n\r\n", "event: ping\n\n", "data: [DONE]", "data: {", "<html>", "", "null",
		"{\"choices\":[{\"message\":{\"content\":\"all of it\"},\"finish_reason\":\"stop\"}]}", "{\"error\":{\"code\":7,\"message\":[\"a\",\"b\"]}}", "{\"error\":\"no\"}",
		"data: {\"choices\":[{\"delta\":{\"content\":\"\\\\\\\"\\u\"}}]}\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\\u0041\\ude00\"}}]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":7}},{\"delta\":{\"content\":null}},{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\n",
	} {
		f.Add(text, 200, body)
		f.Add(whole, 200, body)
		f.Add(whole, 400, body)
	}
	f.Add("text/html", 200, "<html>")
	f.Add("", 307, "")
	f.Add("text/plain", 429, "quota")
	f.Fuzz(func(t *testing.T, kind string, status int, body string) {
		if status < 200 || status > 599 {
			status = 200
		}
		c, err := New(Options{BaseURL: "http://localhost:1/v1", Model: "m", Key: "key-of-the-test"})
		if err != nil {
			t.Fatal(err)
		}
		base, _ := url.Parse("http://localhost:1/v1")
		c.http.Transport = &checked{replies{kind, body, status}, base, "llm"}
		var told strings.Builder
		r, err := c.Complete(context.Background(), llm.Request{
			Messages: []wire.Message{{Role: wire.RoleUser, Content: "?"}}, MaxTokens: 9,
		}, func(s string) {
			if !utf8.ValidString(s) || s == "" {
				t.Errorf("a part is %q", s)
			}
			told.WriteString(s)
		})
		if told.String() != r.Text {
			t.Errorf("told %q, the text is %q", told.String(), r.Text)
		}
		if err != nil {
			if llm.KindOf(err) == "" {
				t.Errorf("%v has no kind", err)
			}
			if s := err.Error(); s == "" || strings.ContainsAny(s, "\n\r\x1b") || strings.Contains(s, "key-of-the-test") || !utf8.ValidString(s) || len(s) > 2000 {
				t.Errorf("the failure is told as %q", s)
			}
		}
	})
}
