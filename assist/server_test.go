package assist

import (
	"os"
	"strings"
	"testing"

	"coderag-ls/engine/config"
	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
)

// TestServer has a real server's model write answers (`make test-llm-server`). It
// writes nonsense: none of it is taken for supported, and nothing is cited that
// does not stand.
func TestServer(t *testing.T) {
	base := os.Getenv("CODERAG_TEST_LLM_BASE_URL")
	if base == "" {
		t.Skip("CODERAG_TEST_LLM_BASE_URL is not set: make test-llm-server")
	}
	d := newDesk(t, llmtest.Says("not asked"), nil)
	d.set.LLM.BaseURL, d.set.LLM.Model, d.set.LLM.MaxTokens, d.set.LLM.Window = base, "tiny", 100, 4096
	d.env = []string{config.LLMKeyVariable + "=" + os.Getenv("CODERAG_TEST_LLM_KEY")}
	t.Run("answers", func(t *testing.T) {
		for _, q := range []string{question1, "what does Client.Send do?", "where is maxAttempts used?"} {
			r, h := d.ask(wire.AskParams{SearchParams: wire.SearchParams{Query: q}})
			if r.Notice != "" || r.Model.LLM == nil || *r.Model.LLM != "tiny" || strings.TrimSpace(h.text) == "" {
				t.Errorf("%q: %q, %q", q, r.Answer, r.Notice)
			}
			if u := r.Metrics.LLM; u == nil || u.Calls != 1 || u.InputTokens == 0 || u.OutputTokens == 0 || u.FirstToken <= 0 {
				t.Errorf("%q: usage %+v", q, u)
			}
		}
	})
	t.Run("all steps", func(t *testing.T) { // whose replies are no JSON
		d.set.LLM.Router, d.set.LLM.Evaluate, d.set.LLM.Rerank, d.set.LLM.Expand, d.set.LLM.RerankTopN = "always", true, true, true, 2
		r, _ := d.ask(wire.AskParams{})
		if r.Notice != "" || len(r.Plan.Notes) == 0 {
			t.Errorf("%q, %q, notes %q", r.Answer, r.Notice, r.Plan.Notes)
		}
	})
}
