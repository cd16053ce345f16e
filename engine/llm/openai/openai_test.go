package openai_test

import (
	"encoding/json"
	"testing"

	"coderag-ls/engine/llm"
	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/llm/openai"
	"coderag-ls/engine/wire"
)

func client(t *testing.T, o openai.Options) *openai.Client {
	t.Helper()
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func scripted(t *testing.T, reply llmtest.Reply) (*llmtest.Server, *openai.Client) {
	t.Helper()
	s := llmtest.New(reply)
	t.Cleanup(s.Close)
	return s, client(t, openai.Options{BaseURL: s.BaseURL(), Model: "m"})
}

func question(text string) llm.Request {
	return llm.Request{Purpose: wire.PurposeAnswer, Messages: []wire.Message{{Role: wire.RoleUser, Content: text}}, MaxTokens: 16, Temperature: 0.3}
}

// schema is that of an object with a number.
func schema() *llm.Schema {
	return &llm.Schema{Name: "number", JSON: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}
}

// TestEmptyStream: a server that streams nothing is asked once more what is
// wrong, and what it says then counts.
func TestEmptyStream(t *testing.T) {
	begin := func(w *llmtest.Writer) { // as an event stream
		w.Header("Content-Type", "text/event-stream")
		w.Raw("\n\n")
	}
	for name, tt := range map[string]struct {
		whole llmtest.Reply
		kind  llm.Kind
		text  string
	}{
		"too long": {func(w *llmtest.Writer, _ llmtest.Request) {
			w.Fail(400, "context_length_exceeded", "This model's maximum context length is 1024 tokens.")
		}, llm.ContextLength, ""},
		"a server that cannot stream": {func(w *llmtest.Writer, _ llmtest.Request) {
			w.Header("Content-Type", "application/json")
			w.Raw(`{"choices":[{"message":{"role":"assistant","content":"all of it"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`)
		}, "", "all of it"},
		"nothing": {func(w *llmtest.Writer, _ llmtest.Request) { begin(w) }, llm.BadReply, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := scripted(t, func(w *llmtest.Writer, r llmtest.Request) {
				if r.Stream {
					begin(w)
					return
				}
				tt.whole(w, r)
			})
			told := ""
			r, err := c.Complete(t.Context(), question("?"), func(s string) { told += s })
			if llm.KindOf(err) != tt.kind || r.Text != tt.text || told != tt.text {
				t.Errorf("%q, told %q, %v", r.Text, told, err)
			}
			if tt.text != "" && (r.InputTokens != 3 || r.OutputTokens != 4 || r.FinishReason != "stop") {
				t.Errorf("%+v", r)
			}
			if n := len(s.Requests()); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestUnknownParameters: a server that does not know a parameter is asked
// without, whatever status it has for that, and from then on at once.
func TestUnknownParameters(t *testing.T) {
	for name, tt := range map[string]struct {
		status  int
		message string
	}{
		"OpenAI":           {400, "Unrecognized request argument supplied: response_format"},
		"vLLM":             {422, "extra fields not permitted: stream_options"},
		"llama-cpp-python": {500, "1 validation error: {'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := scripted(t, func(w *llmtest.Writer, r llmtest.Request) {
				if r.ResponseFormat != nil {
					w.Fail(tt.status, "", tt.message)
					return
				}
				w.Answer(`{"n": 7}`, 3)
			})
			q := question("a number?")
			q.Schema = schema()
			for range 2 {
				if r, err := c.Complete(t.Context(), q, nil); err != nil || r.Text != `{"n": 7}` {
					t.Errorf("%q, %v", r.Text, err)
				}
			}
			if n := len(s.Requests()); n != 3 {
				t.Errorf("%d requests, want a refused one and two", n)
			}
		})
	}
	s, c := scripted(t, func(w *llmtest.Writer, _ llmtest.Request) { w.Fail(500, "", "out of memory") })
	if _, err := c.Complete(t.Context(), question("?"), nil); llm.KindOf(err) != llm.Server || len(s.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}

// TestIsOpenAI: the key that is meant for OpenAI is sent to no look-alike.
func TestIsOpenAI(t *testing.T) {
	for base, want := range map[string]bool{
		"https://api.openai.com/v1":                     true,
		"https://API.OpenAI.com":                        true,
		"https://api.openai.com:443/v1":                 true,
		"http://api.openai.com/v1":                      false,
		"https://api.openai.com.example.org/v1":         false,
		"https://example.org/api.openai.com":            false,
		"https://api.openai.com@example.org/v1":         false,
		"https://eu.api.openai.com/v1":                  false,
		"https://example.org/?u=https://api.openai.com": false,
		"api.openai.com":                                false,
		"":                                              false,
		"https://api.openai.com\x00/":                   false,
	} {
		if got := openai.IsOpenAI(base); got != want {
			t.Errorf("%q: %v, want %v", base, got, want)
		}
	}
}
