package openai_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"coderag-ls/engine/llm"
	"coderag-ls/engine/llm/openai"
)

// TestServer talks to a real server with a real model: `make test-llm-server`
// starts one. What the model writes is nonsense.
func TestServer(t *testing.T) {
	base := os.Getenv("CODERAG_TEST_LLM_BASE_URL")
	if base == "" {
		t.Skip("CODERAG_TEST_LLM_BASE_URL is not set: make test-llm-server")
	}
	o := openai.Options{BaseURL: base, Model: "tiny", Key: os.Getenv("CODERAG_TEST_LLM_KEY")}
	long := func(n int) llm.Request {
		q := question("Tell me a story.")
		q.MaxTokens = n
		return q
	}
	t.Run("streamed", func(t *testing.T) {
		parts, text := 0, ""
		r, err := client(t, o).Complete(t.Context(), long(120), func(s string) { parts++; text += s })
		if err != nil || r.Text == "" || r.Text != text || parts < 5 || r.Model != "tiny" || r.FinishReason != "length" {
			t.Errorf("%+v in %d parts, %v", r, parts, err)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		r, err := client(t, o).Complete(t.Context(), long(40), nil)
		if err != nil || r.InputTokens < 0 || r.OutputTokens > 41 || (r.InputTokens == 0) != (r.OutputTokens == 0) {
			t.Errorf("%+v, %v", r, err)
		}
		t.Logf("the server counts %d and %d tokens (0: it does not tell)", r.InputTokens, r.OutputTokens)
	})
	t.Run("characters", func(t *testing.T) {
		var all strings.Builder
		for range 5 {
			q := long(150)
			q.Temperature = 2 // bytes of all kinds, halves of characters too
			r, err := client(t, o).Complete(t.Context(), q, func(s string) {
				if !utf8.ValidString(s) {
					t.Errorf("a part is %q", s)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(r.Text)
		}
		if !utf8.ValidString(all.String()) || all.Len() == 0 {
			t.Errorf("%q", all.String())
		}
	})
	t.Run("schema", func(t *testing.T) {
		q := long(60)
		q.Schema = schema()
		c := client(t, o)
		for range 2 { // the second time it is known what the server takes
			if r, err := c.Complete(t.Context(), q, nil); err != nil || r.Text == "" {
				t.Errorf("%q, %v", r.Text, err)
			}
		}
	})
	t.Run("too long", func(t *testing.T) {
		q := question(strings.Repeat("A long story. ", 8000))
		if _, err := client(t, o).Complete(t.Context(), q, nil); llm.KindOf(err) != llm.ContextLength {
			t.Errorf("%v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := client(t, o)
		r, err := c.Complete(ctx, long(8000), func(string) { cancel() })
		if !errors.Is(err, context.Canceled) || r.FinishReason != "" {
			t.Errorf("%+v, %v", r, err)
		}
		// A server that went on would keep the next one waiting for minutes.
		next, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if r, err := c.Complete(next, long(5), nil); err != nil || r.Text == "" {
			t.Errorf("afterwards: %q, %v", r.Text, err)
		}
	})
	t.Run("at once", func(t *testing.T) {
		c := client(t, o)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				r, err := llm.Retrying(c, 2).Complete(t.Context(), long(20), nil)
				if err != nil || r.Text == "" {
					t.Errorf("%q, %v", r.Text, err)
				}
			})
		}
		all.Wait()
	})
	t.Run("another key", func(t *testing.T) {
		wrong := o
		wrong.Key = "not-the-key"
		if _, err := client(t, wrong).Complete(t.Context(), long(5), nil); llm.KindOf(err) != llm.Auth {
			t.Errorf("%v", err)
		}
	})
	t.Run("another address", func(t *testing.T) {
		wrong := o
		wrong.BaseURL = strings.TrimSuffix(base, "/v1") + "/v2"
		if _, err := client(t, wrong).Complete(t.Context(), long(5), nil); llm.KindOf(err) != llm.Refused || !strings.Contains(err.Error(), "404") {
			t.Errorf("%v", err)
		}
	})
}
