package assist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coderag-ls/engine"
	"coderag-ls/engine/answer"
	"coderag-ls/engine/config"
	"coderag-ls/engine/file"
	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// desk is a workspace with a scripted model.
type desk struct {
	t    *testing.T
	dir  string
	view *engine.View
	llm  *llmtest.Server
	set  config.Settings
	env  []string
}

const retryGo = `package net

import "time"

// maxAttempts is how often a request is sent.
const maxAttempts = 5

// Backoff returns the delay before an attempt: it doubles each time and ends
// at thirty seconds.
func Backoff(attempt int) time.Duration {
	d := 100 * time.Millisecond << attempt
	if d > 30*time.Second {
		return 30 * time.Second
	}
	return d
}
`

const clientGo = `package net

// Client sends requests.
type Client struct {
	token string
}

// Send sends a request and waits Backoff between attempts.
func (c *Client) Send(body string) error {
	for i := 0; i < maxAttempts; i++ {
		if c.try(body) == nil {
			return nil
		}
		sleep(Backoff(i))
	}
	return errExhausted
}
`

// newDesk indexes files, those above where none are given.
func newDesk(t *testing.T, reply llmtest.Reply, files map[string]string) *desk {
	t.Helper()
	if files == nil {
		files = map[string]string{"net/retry.go": retryGo, "net/client.go": clientGo}
	}
	d := &desk{t: t, dir: t.TempDir(), set: config.Default(), llm: llmtest.New(reply)}
	t.Cleanup(d.llm.Close)
	for name, content := range files {
		d.write(name, content)
	}
	d.set.Index.CacheDir = t.TempDir()
	d.set.Embed.Provider = "static"
	d.set.LLM.BaseURL, d.set.LLM.Model = d.llm.BaseURL(), "test-model"
	d.set.LLM.Retries = 0
	e, err := engine.Open(t.Context(), engine.Options{Roots: []file.Root{{Name: "work", Dir: d.dir}}, Settings: d.set, Foreground: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	d.view = e.NewView()
	if _, err := d.view.Sync(t.Context(), wire.SyncParams{Scan: true}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) write(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) asker() *Asker {
	layers, _ := config.Layers{}.WithEnv(d.env)
	a := New(d.t.Context(), Options{Settings: d.set, Key: layers.Key})
	d.t.Cleanup(a.Close)
	return a
}

// heard is what a client got in parts.
type heard struct {
	text      string
	citations map[string]wire.Citation
	retracted []string
}

func (h *heard) event(e engine.Event) {
	switch {
	case e.Citation != nil:
		h.citations[e.Citation.ID] = *e.Citation
	case e.Retract != "":
		h.retracted = append(h.retracted, e.Retract)
	default:
		h.text += e.Text
	}
}

const question1 = "how is the delay before an attempt computed by Backoff?"

func (d *desk) ask(p wire.AskParams) (wire.AskResult, *heard) {
	d.t.Helper()
	if p.Query == "" {
		p.Query = question1
	}
	h := &heard{citations: map[string]wire.Citation{}}
	r, err := d.asker().Ask(d.t.Context(), d.view, p, h.event)
	if err != nil {
		d.t.Fatal(err)
	}
	d.verify(r, h)
	return r, h
}

// verify checks that every citation holds and was told.
func (d *desk) verify(r wire.AskResult, h *heard) {
	d.t.Helper()
	ids := map[string]bool{}
	for _, c := range r.Citations {
		ids[c.ID] = true
		data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(c.Path)))
		if err != nil {
			d.t.Errorf("%s: %v", c.ID, err)
			continue
		}
		lines := strings.Split(string(data), "\n")
		if got := strings.Join(lines[c.StartLine-1:c.EndLine], "\n"); got != c.Text || c.ID != answer.ID(c.Path, c.StartLine, c.EndLine) {
			d.t.Errorf("%s cites %q, there is %q", c.ID, c.Text, got)
		}
	}
	for _, m := range answer.Parse(r.Answer, nil) {
		if id := answer.ID(m.Path, m.StartLine, m.EndLine); !ids[id] && strings.Contains(m.Path, ".go") {
			d.t.Errorf("the answer cites %s, which is no citation of it", id)
		}
	}
	if h != nil && len(h.retracted) == 0 && h.text != r.Answer {
		d.t.Errorf("heard %q, the answer is %q", h.text, r.Answer)
	}
}

func TestAnswer(t *testing.T) {
	d := newDesk(t, llmtest.Says("The delay doubles from `100 * time.Millisecond` with each `attempt` [net/retry.go:10-15]. "+
		"It is at most `30 * time.Second`. [retry.go:12-13]\n\n`Client.Send` waits `Backoff` between attempts [net/client.go:9-16].\n"+
		"The client waits 77 minutes `ForEver` [net/client.go:9-16].\n\nFOLLOW-UP: Where is Backoff used?\nFOLLOW-UP: What is maxAttempts?\n"), nil)
	d.env = []string{"CODERAG_LLM_API_KEY=key-of-the-test"}
	r, h := d.ask(wire.AskParams{})
	if r.Notice != "" || r.Model.LLM == nil || *r.Model.LLM != "test-model" || len(r.Citations) != 3 || r.Dropped != 0 {
		t.Errorf("%+v", r)
	}
	if len(r.Unsupported) != 1 || !strings.Contains(r.Unsupported[0], "ForEver") || !strings.Contains(r.Answer, "[net/client.go:9-16]. "+wire.UnsupportedMark) {
		t.Errorf("unsupported %q in %q", r.Unsupported, r.Answer)
	}
	if !slices.Equal(r.FollowUps, []string{"Where is Backoff used?", "What is maxAttempts?"}) || strings.Contains(r.Answer, "FOLLOW") {
		t.Errorf("follow-ups %q, answer %q", r.FollowUps, r.Answer)
	}
	if u := r.Metrics.LLM; u == nil || u.Calls != 1 || u.InputTokens != 11 || u.OutputTokens != 7 || u.FirstToken <= 0 {
		t.Errorf("usage %+v", u)
	}
	if len(h.citations) != 3 {
		t.Errorf("heard %v", h.citations)
	}
	reqs := d.llm.Requests()
	if len(reqs) != 1 || reqs[0].Key != "key-of-the-test" || reqs[0].Temperature < 0.29 || reqs[0].Temperature > 0.31 || reqs[0].MaxTokens != 4096 || !reqs[0].Stream {
		t.Errorf("%+v", reqs)
	}
	if text := reqs[0].Text(); !strings.Contains(text, "10| func Backoff(attempt int) time.Duration {") || !strings.Contains(text, question1) {
		t.Errorf("sent %s", text)
	}
}

// TestNone: without a model an answer is what the index says, to the byte, and
// nothing is sent.
func TestNone(t *testing.T) {
	d := newDesk(t, llmtest.Says("no"), nil)
	plain, err := d.view.Ask(t.Context(), wire.AskParams{SearchParams: wire.SearchParams{Query: question1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(r wire.AskResult, h *heard) {
		t.Helper()
		if r.Answer != plain.Answer || r.Model.LLM != nil || r.Notice != "" || h.text != plain.Answer {
			t.Errorf("%+v", r)
		}
	}
	check(d.ask(wire.AskParams{LLM: wire.LLMNone}))
	d.set.LLM.Provider = "none"
	check(d.ask(wire.AskParams{}))
	d.set.LLM = config.Default().LLM
	check(d.ask(wire.AskParams{}))
	if n := len(d.llm.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestFaults: whatever the model does, the answer of the index comes in time,
// with the reason on one line.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reply  llmtest.Reply
		change func(*desk)
		says   string
	}{
		{"down", nil, func(d *desk) { d.llm.Close() }, "cannot be reached"},
		{"slow to start", func(w *llmtest.Writer, _ llmtest.Request) { w.Hang() }, func(d *desk) { d.set.LLM.FirstTokenTimeout = 100 }, "did not begin to answer within 100ms"},
		{"slow to end", func(w *llmtest.Writer, _ llmtest.Request) { w.Text("The delay "); w.Hang() }, func(d *desk) { d.set.LLM.Timeout = 300 }, "did not finish within 300ms"},
		{"cut", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Text("The delay doubles [net/retry.go:10-15]. And ")
			w.Drop()
		}, nil, "broke off"},
		{"cut at once", func(w *llmtest.Writer, _ llmtest.Request) { w.Drop() }, nil, "broke off"},
		{"a web page", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Header("Content-Type", "text/html; charset=utf-8")
			w.Raw("<html><body>Sign in</body></html>")
		}, nil, "web page"},
		{"a web page of another type", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Header("Content-Type", "text/plain")
			w.Raw("<html><body>Sign in</body></html>")
		}, nil, "sent no text"},
		{"429", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Header("Retry-After", "77")
			w.Fail(429, "rate_limit_exceeded", "slow down")
		}, nil, "too much was asked of it lately (429), it may be asked again in 1m17s"},
		{"no money", func(w *llmtest.Writer, _ llmtest.Request) { w.Fail(429, "insufficient_quota", "pay") }, nil, "nothing is left"},
		{"401", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Fail(401, "invalid_api_key", "Incorrect API key provided: key-of-the-test")
		}, nil, "refused the key (401)"},
		{"too long", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Fail(400, "context_length_exceeded", "This model's maximum context length is 4096 tokens")
		}, nil, "too long"},
		{"no JSON", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Header("Content-Type", "text/event-stream")
			w.Raw("data: {\"choices\": [{\n\n")
		}, nil, "no JSON"},
		{"no such model", func(w *llmtest.Writer, _ llmtest.Request) { w.Fail(404, "model_not_found", "no model x") }, nil, "404"},
		{"500", func(w *llmtest.Writer, _ llmtest.Request) { w.Fail(500, "", "oops") }, nil, "server failed (500)"},
		{"nothing", func(w *llmtest.Writer, _ llmtest.Request) { w.End() }, nil, "wrote nothing"},
		{"error in the stream", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Header("Content-Type", "text/event-stream")
			w.Raw("data: {\"error\":{\"message\":\"out of memory\"}}\n\n")
		}, nil, "out of memory"},
		{"redirect", func(w *llmtest.Writer, _ llmtest.Request) {
			w.Header("Location", "http://elsewhere.test/v1")
			w.Fail(307, "", "")
		}, nil, "redirects to http://elsewhere.test"},
		{"no key file", nil, func(d *desk) { d.set.LLM.APIKeyFile, d.env = filepath.Join(d.dir, "nokey"), nil }, "does not exist"},
		{"no model set", nil, func(d *desk) { d.set.LLM.Model = "" }, "llm.model is missing"},
		{"no URL", nil, func(d *desk) { d.set.LLM.BaseURL = "localhost:1" }, "no http or https URL"},
		{"a key for the whole net", nil, func(d *desk) { d.set.LLM.BaseURL = "http://api.example.com/v1" }, "unencrypted"},
		{"bad rule", nil, func(d *desk) { d.set.LLM.NeverSend = []string{"a[b"} }, "llm.neverSend"},
		{"everything withheld", nil, func(d *desk) { d.set.LLM.NeverSend = []string{"net"} }, "never sent"},
		{"bound of calls", nil, func(d *desk) { d.set.LLM.QuestionTokens = 10 }, "llm.questionTokens"},
		{"no audit log", nil, func(d *desk) { d.set.LLM.AuditLog = filepath.Join(d.dir, "none", "log") }, "audit log"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := tt.reply
			if reply == nil {
				reply = llmtest.Says("x")
			}
			d := newDesk(t, reply, nil)
			d.env = []string{"CODERAG_LLM_API_KEY=key-of-the-test"}
			plain, err := d.view.Ask(t.Context(), wire.AskParams{SearchParams: wire.SearchParams{Query: question1}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(d)
			}
			r, _ := d.ask(wire.AskParams{})
			if !strings.Contains(r.Notice, tt.says) || strings.Contains(r.Notice, "\n") || strings.Contains(r.Notice, "key-of-the-test") {
				t.Errorf("notice %q, want %q", r.Notice, tt.says)
			}
			if !strings.HasSuffix(r.Answer, plain.Answer) || !strings.Contains(r.Answer, "> "+r.Notice) {
				t.Errorf("answer %q does not end with that of the index", r.Answer)
			}
		})
	}
}

// TestUnicode: characters that a server cuts in two come whole.
func TestUnicode(t *testing.T) {
	d := newDesk(t, func(w *llmtest.Writer, _ llmtest.Request) {
		w.Delta(`"Größe 日"`)
		w.Delta(`"\ud83d"`)
		w.Delta(`"\ude00 "`)
		w.Delta("\"\xe6\x97\"")
		w.Delta("\"\xa5 `Backoff`\\n\"")
		w.Delta(`"[net/retry.go:10-10]."`)
		w.End()
	}, nil)
	r, _ := d.ask(wire.AskParams{})
	if !strings.Contains(r.Answer, "Größe 日😀 日 `Backoff`") {
		t.Errorf("answer %q", r.Answer)
	}
}

// TestWhole: a server that does not stream, and one that refuses parameters.
func TestWhole(t *testing.T) {
	text := "`Backoff` doubles [net/retry.go:10-15]."
	d := newDesk(t, func(w *llmtest.Writer, _ llmtest.Request) {
		w.Header("Content-Type", "application/json")
		w.Raw(fmt.Sprintf(`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, text))
	}, nil)
	if r, _ := d.ask(wire.AskParams{}); r.Notice != "" || r.Answer != text {
		t.Errorf("%q %q", r.Answer, r.Notice)
	}
	d = newDesk(t, func(w *llmtest.Writer, r llmtest.Request) {
		w.Answer("<think>\nhm [a.go:1-2]\n</think>\n\n"+text, 3)
	}, nil)
	if r, _ := d.ask(wire.AskParams{}); r.Answer != text {
		t.Errorf("%q", r.Answer)
	}
}

// TestCancel: a question that is cancelled spends nothing more.
func TestCancel(t *testing.T) {
	begun := make(chan struct{})
	d := newDesk(t, func(w *llmtest.Writer, _ llmtest.Request) {
		w.Text("The delay ")
		close(begun)
		w.Hang()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := d.asker().Ask(ctx, d.view, wire.AskParams{SearchParams: wire.SearchParams{Query: question1}}, nil)
		done <- err
	}()
	<-begun
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case <-d.llm.Gone:
	case <-time.After(10 * time.Second):
		t.Error("the server was not told")
	}
}

func TestRetries(t *testing.T) {
	n := 0
	d := newDesk(t, func(w *llmtest.Writer, _ llmtest.Request) {
		if n++; n == 1 {
			w.Fail(503, "", "loading the model")
			return
		}
		w.Answer("`Backoff` doubles [net/retry.go:10-15].", 9)
	}, nil)
	d.set.LLM.Retries = 1
	if r, _ := d.ask(wire.AskParams{}); r.Notice != "" || n != 2 {
		t.Errorf("%d requests, %q", n, r.Notice)
	}
}

// TestWhatIsSent: secrets and files that are never sent do not leave, whether
// they stand in sources, the question or the history; the prompt that is shown
// and the audit log say what does.
func TestWhatIsSent(t *testing.T) {
	key := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	d := newDesk(t, llmtest.Says("`Backoff` doubles [net/retry.go:10-15]."), map[string]string{
		"net/retry.go":  strings.Replace(retryGo, "import", "// token = "+key+"\nimport", 1),
		"net/client.go": clientGo, "private/delay.go": strings.ReplaceAll(retryGo, "Backoff", "PrivateDelay"),
	})
	d.set.LLM.NeverSend = []string{"private/"}
	d.set.LLM.AuditLog = filepath.Join(t.TempDir(), "audit.jsonl")
	p := wire.AskParams{SearchParams: wire.SearchParams{Query: question1 + " " + key}, History: []wire.Turn{
		{Query: "what is the key?", Answer: "It is " + key}, {Query: "and there?", Answer: "see [private/delay.go:10-15] PrivateDelay"},
	}}
	shown, err := d.asker().Prompt(t.Context(), d.view, p)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.llm.Requests()); n != 0 {
		t.Fatalf("showing the prompt sent %d requests", n)
	}
	if shown.Redacted["GitHub token"] < 2 || !slices.Equal(shown.Withheld, []string{"private/delay.go"}) || len(shown.Places) == 0 || shown.Model != "test-model" {
		t.Errorf("%+v", shown)
	}
	r, _ := d.ask(p)
	sent := d.llm.Requests()[0].Text()
	log, err := os.ReadFile(d.set.LLM.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sent": sent, "log": string(log)} {
		if strings.Contains(text, key) || strings.Contains(text, "PrivateDelay") || !strings.Contains(text, "[redacted GitHub token]") || !strings.Contains(text, "func Backoff") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if info, _ := os.Stat(d.set.LLM.AuditLog); info.Mode().Perm() != 0o600 {
		t.Errorf("the log's mode is %v", info.Mode())
	}
	if r.Notice != "" || len(r.Citations) != 1 {
		t.Errorf("%+v", r)
	}
}
