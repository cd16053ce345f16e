package lsp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine"
	"coderag-ls/engine/config"
	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// openEngine opens the engine itself.
func openEngine(ctx context.Context, o engine.Options) (lsp.Workspace, error) {
	e, err := engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return lsp.FromEngine(e), nil
}

func cacheIn(t testing.TB) config.Layers {
	layers, _ := config.Layers{}.WithFlags(map[string]string{"index.cacheDir": t.TempDir(), "embed.provider": "static"})
	return layers
}

// real starts a session on the engine itself with a client of these
// capabilities.
func real(t testing.TB, dir, capabilities string, options any, layers config.Layers) *lsptest.Editor {
	t.Helper()
	layers, _ = layers.WithFlags(map[string]string{"index.cacheDir": t.TempDir(), "embed.provider": "static"})
	return lsptest.Start(t, lsptest.Config{
		Capabilities: json.RawMessage(capabilities), Folders: []string{dir}, InitializationOptions: options,
		Server: lsp.Options{Settings: layers, Open: openEngine},
	})
}

const delay = `package a

// Backoff returns the delay before an attempt.
func Backoff(attempt int) int {
	return 100 << attempt
}
`

const delayQuestion = "how does Backoff compute the delay before an attempt?"

// TestServerModel: what a server's model writes streams to the client, and
// settings that say where to send text are not taken from the workspace.
func TestServerModel(t *testing.T) {
	model := llmtest.New(llmtest.Says("`Backoff` returns `100 << attempt` [a.go:4-6].\nSee [/etc/passwd:1-3]."))
	t.Cleanup(model.Close)
	dir := folder(t, "a.go", delay)
	options := map[string]any{"llm": map[string]any{"baseUrl": model.BaseURL(), "model": "m"}}
	layers, _ := config.Layers{}.WithEnv([]string{"CODERAG_LLM_API_KEY=key-of-the-test"})
	e := real(t, dir, `{}`, options, layers)
	e.MustCall(lsp.MethodSync, wire.SyncParams{Scan: true}, nil)
	var shown wire.PromptResult
	e.MustCall(lsp.MethodPrompt, map[string]any{"query": delayQuestion}, &shown)
	if len(shown.Messages) < 2 || shown.Endpoint != model.BaseURL() || len(model.Requests()) != 0 {
		t.Errorf("%+v", shown)
	}
	var r wire.AskResult
	e.MustCall(lsp.MethodAsk, map[string]any{"query": delayQuestion, "partialResultToken": "p"}, &r)
	if r.Model.LLM == nil || r.Notice != "" || len(r.Citations) != 1 || r.Citations[0].ID != "a.go:4-6" || r.Dropped != 1 || strings.Contains(r.Answer, "passwd") {
		t.Errorf("%+v", r)
	}
	text, cited := "", []string{}
	for _, raw := range e.Received("$/progress") {
		var p struct{ Value lsp.Partial }
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		text += p.Value.Text
		if c := p.Value.Citation; c != nil {
			cited = append(cited, c.ID)
		}
	}
	if text != r.Answer || !slices.Equal(cited, []string{"a.go:4-6"}) {
		t.Errorf("streamed %q %v, answer %q", text, cited, r.Answer)
	}
	if reqs := model.Requests(); len(reqs) != 1 || reqs[0].Key != "key-of-the-test" {
		t.Errorf("%+v", reqs)
	}

	e = lsptest.Start(t, lsptest.Config{Client: lsptest.VSCode, Folders: []string{dir}, Settings: options, Server: lsp.Options{Open: openEngine, Settings: cacheIn(t)}})
	e.MustCall(lsp.MethodSync, wire.SyncParams{Scan: true}, nil)
	e.MustCall(lsp.MethodAsk, map[string]any{"query": delayQuestion}, &r)
	if len(model.Requests()) != 1 {
		t.Error("a workspace's setting sent its text")
	}
}

// TestEditorsModel: the client's own model is asked, and a failure of it is no
// failure of the question.
func TestEditorsModel(t *testing.T) {
	dir := folder(t, "a.go", delay)
	e := real(t, dir, `{"experimental": {"coderag": {"complete": true}}}`, nil, config.Layers{})
	e.MustCall(lsp.MethodSync, wire.SyncParams{Scan: true}, nil)
	var asked []wire.CompleteParams
	e.Answer(lsp.MethodComplete, func(raw json.RawMessage) (any, error) {
		var p wire.CompleteParams
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		asked = append(asked, p)
		if len(asked) == 2 {
			return nil, &lsptest.Error{Code: -32000, Message: "no model was chosen"}
		}
		for _, part := range []string{"`Backoff` ", "shifts `100` "} {
			e.Notify("$/progress", map[string]any{"token": p.PartialResultToken, "value": map[string]any{"kind": "text", "text": part}})
		}
		return wire.CompleteResult{Text: "`Backoff` shifts `100` [a.go:4-6].", Model: "editor-1"}, nil
	})
	var r wire.AskResult
	e.MustCall(lsp.MethodAsk, map[string]any{"query": delayQuestion}, &r)
	if r.Model.LLM == nil || *r.Model.LLM != "editor-1" || r.Answer != "`Backoff` shifts `100` [a.go:4-6]." || len(r.Citations) != 1 || len(asked) != 1 || asked[0].Purpose != wire.PurposeAnswer {
		t.Errorf("%+v %+v", r, asked)
	}
	e.MustCall(lsp.MethodAsk, map[string]any{"query": delayQuestion}, &r)
	if !strings.Contains(r.Notice, "no model was chosen") || len(r.Citations) == 0 {
		t.Errorf("%+v", r)
	}
}
