package assist

import (
	"fmt"
	"strings"
	"testing"

	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
)

// TestC11CountedByTheServer: a prompt that was cut for a token of four bytes is cut
// by what the model's own are, once its server told how many they were.
func TestC11CountedByTheServer(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		var b strings.Builder
		fmt.Fprintf(&b, "package net\n\n// Backoff%d computes the delay before an attempt.\nfunc Backoff%d(attempt int) time.Duration {\n", i, i)
		for j := range 15 {
			fmt.Fprintf(&b, "\tdelay%d := table%d[attempt+%d] // of attempt %d\n", j, i, 7*i+j, i*j)
		}
		files[fmt.Sprintf("net/retry%d.go", i)] = b.String() + "\treturn delay1\n}\n"
	}
	const bytesPerToken, window, answer = 2, 3072, 256
	d := newDesk(t, func(w *llmtest.Writer, r llmtest.Request) {
		w.Text("The delay doubles.")
		w.Raw(fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n", len(r.Text())/bytesPerToken))
	}, files)
	d.set.LLM.Window, d.set.LLM.MaxTokens = window, answer
	a := d.asker()
	var sent []int
	for range 2 {
		r, err := a.Ask(t.Context(), d.view, wire.AskParams{SearchParams: wire.SearchParams{Query: question1, TopK: 30}}, nil)
		if err != nil || r.Notice != "" {
			t.Fatalf("%v, %s", err, r.Notice)
		}
		requests := d.llm.Requests()
		sent = append(sent, len(requests[len(requests)-1].Text())/bytesPerToken)
	}
	if sent[0] <= window-answer {
		t.Fatalf("the first prompt has %d tokens: too few to be cut", sent[0])
	}
	if sent[1] > window-answer || sent[1] < (window-answer)/2 {
		t.Errorf("the second prompt has %d tokens, want nearly the %d that the window leaves", sent[1], window-answer)
	}
}
