package assist

import (
	"fmt"
	"strings"
	"testing"

	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
)

const goodAnswer = "`Backoff` doubles [net/retry.go:10-15]."

// scripted replies by purpose, told by the instructions; each in turn, the last
// one again and again.
func scripted(replies map[string][]string) llmtest.Reply {
	turn := map[string]int{}
	return func(w *llmtest.Writer, r llmtest.Request) {
		purpose := wire.PurposeAnswer
		for word, p := range map[string]string{"You plan searches": wire.PurposeRoute, "A programmer asks": wire.PurposeExpand, "You judge": wire.PurposeEvaluate, "Rate how relevant": wire.PurposeRerank} {
			if strings.HasPrefix(r.Messages[0].Content, word) {
				purpose = p
			}
		}
		all := replies[purpose]
		if len(all) == 0 {
			all = []string{goodAnswer}
		}
		i := min(turn[purpose], len(all)-1)
		turn[purpose]++
		if strings.HasPrefix(all[i], "!") {
			w.Fail(500, "", all[i])
			return
		}
		w.Answer(all[i], 11)
	}
}

func plans(requests ...string) string {
	return fmt.Sprintf(`{"cleaned_query": "delay", "retrieval_requests": [%s]}`, strings.Join(requests, ","))
}

func request(query string) string {
	return fmt.Sprintf(`{"query": %q, "source_types": ["code"], "folders": ["net/"], "file_patterns": [], "reasoning": "needed for the answer"}`, query)
}

func TestRouter(t *testing.T) {
	for _, tt := range []struct {
		name     string
		replies  []string
		route    string
		requests int
		calls    int
		note     string
	}{
		{"one", []string{plans(request("Backoff delay"))}, "llm", 1, 2, "made 1 of"},
		{"two, in a fence, after thoughts", []string{"<think>hm</think>```json\n" + plans(request("Backoff delay"), request("Client Send attempts")) + "\n```"}, "llm", 2, 2, "made 2 of"},
		{"repaired", []string{"Sure! Here it is:", plans(request("Backoff delay"))}, "llm", 1, 3, "made 1 of"},
		{"duplicates repaired", []string{plans(request("Backoff delay"), request("BACKOFF delay")), plans(request("Backoff delay"))}, "llm", 1, 3, "made 1 of"},
		{"duplicates merged", []string{plans(request("Backoff delay"), request("BACKOFF delay"))}, "llm", 1, 3, "were merged"},
		{"too short", []string{plans(request("abc"))}, "rules", 1, 3, "query has 3 characters, want 5"},
		{"too many", []string{plans(request("aaaaa1"), request("aaaaa2"), request("aaaaa3"), request("aaaaa4"), request("aaaaa5"), request("aaaaa6"))}, "rules", 1, 3, "6 items, want 1 to 5"},
		{"no source types", []string{strings.Replace(plans(request("Backoff delay")), `["code"]`, `[]`, 1)}, "rules", 1, 3, "source_types is empty"},
		{"another source type", []string{strings.Replace(plans(request("Backoff delay")), `"code"`, `"shell"`, 1)}, "rules", 1, 3, "want code, markdown or text"},
		{"no reason", []string{strings.Replace(plans(request("Backoff delay")), "needed for the answer", "because", 1)}, "rules", 1, 3, "reasoning has 7 characters"},
		{"no JSON", []string{"I cannot do that"}, "rules", 1, 3, "not valid"},
		{"another field", []string{strings.Replace(plans(request("Backoff delay")), `"cleaned`, `"run": "rm", "cleaned`, 1)}, "rules", 1, 3, "not valid"},
		{"failing", []string{"!"}, "rules", 1, 2, "had no effect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, scripted(map[string][]string{wire.PurposeRoute: tt.replies}), nil)
			d.set.LLM.Router = "always"
			r, _ := d.ask(wire.AskParams{})
			if r.Plan.Route != tt.route || len(r.Plan.Requests) != tt.requests || !strings.Contains(strings.Join(r.Plan.Notes, "\n"), tt.note) {
				t.Errorf("plan %+v", r.Plan)
			}
			if r.Notice != "" || r.Answer != goodAnswer || r.Metrics.LLM.Calls != tt.calls {
				t.Errorf("%q %q, %d calls", r.Answer, r.Notice, r.Metrics.LLM.Calls)
			}
			first := d.llm.Requests()[0]
			if !strings.Contains(first.Text(), "retry.go") || len(first.ResponseFormat) == 0 || first.Temperature > 0.11 {
				t.Errorf("%+v", first)
			}
		})
	}
}

func TestRoutes(t *testing.T) {
	d := newDesk(t, llmtest.Says(goodAnswer), nil)
	for query, want := range map[string]bool{
		"Backoff": false, question1: false,
		"what is the difference between the delay of Backoff and the number of attempts that Send makes?": true,
	} {
		q := &question{a: d.asker(), p: wire.AskParams{SearchParams: wire.SearchParams{Query: query}}}
		if got := q.routes(); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

// TestSteps: each optional step shows in the plan, and a failing one costs
// nothing but its calls.
func TestSteps(t *testing.T) {
	again := `{"decision": "re_retrieve", "confidence": 0.4, "reasoning": "r", "missing_information": ["how Client Send waits"]}`
	enough := `{"decision": "synthesize", "confidence": 0.9, "reasoning": "r", "missing_information": []}`
	for _, tt := range []struct {
		name    string
		change  func(*desk)
		replies map[string][]string
		notes   []string
		calls   int
	}{
		{"expand", func(d *desk) { d.set.LLM.Expand = true }, map[string][]string{wire.PurposeExpand: {`{"terms": ["retry", "sleep"]}`}}, []string{"the expansion added: retry, sleep"}, 2},
		{"expand fails", func(d *desk) { d.set.LLM.Expand = true }, map[string][]string{wire.PurposeExpand: {"!"}}, []string{"the expansion had no effect"}, 2},
		{"evaluate", func(d *desk) { d.set.LLM.Evaluate = true }, map[string][]string{wire.PurposeEvaluate: {again, enough}},
			[]string{"re_retrieve (confidence 0.40)", "searched again for: how Client Send waits", "synthesize (confidence 0.90)"}, 3},
		{"evaluate for ever", func(d *desk) { d.set.LLM.Evaluate = true }, map[string][]string{wire.PurposeEvaluate: {again}}, []string{"re_retrieve"}, 3},
		{"rerank", func(d *desk) { d.set.LLM.Rerank, d.set.LLM.RerankTopN = true, 2 }, map[string][]string{wire.PurposeRerank: {"Score: 70", "999"}}, []string{"rated 2 passages"}, 3},
		{"rerank fails", func(d *desk) { d.set.LLM.Rerank, d.set.LLM.RerankTopN = true, 2 }, map[string][]string{wire.PurposeRerank: {"!"}}, []string{"the re-ranking had no effect"}, 2},
		{"rerank fails later", func(d *desk) { d.set.LLM.Rerank, d.set.LLM.RerankTopN = true, 2 }, map[string][]string{wire.PurposeRerank: {"70", "!"}}, []string{"rated 2 passages"}, 3},
		{"bound", func(d *desk) { d.set.LLM.Expand, d.set.LLM.Evaluate, d.set.LLM.MaxCalls = true, true, 1 }, map[string][]string{wire.PurposeExpand: {`{"terms": []}`}},
			[]string{"the expansion added no words", "the evaluation had no effect: the question had its 1 calls"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, scripted(tt.replies), nil)
			tt.change(d)
			r, _ := d.ask(wire.AskParams{})
			notes := strings.Join(r.Plan.Notes, "\n")
			for _, n := range tt.notes {
				if !strings.Contains(notes, n) {
					t.Errorf("no %q in %q", n, notes)
				}
			}
			if r.Metrics.LLM.Calls != tt.calls {
				t.Errorf("%d calls, want %d", r.Metrics.LLM.Calls, tt.calls)
			}
			if d.set.LLM.MaxCalls > 1 && r.Answer != goodAnswer {
				t.Errorf("answer %q, %q", r.Answer, r.Notice)
			}
		})
	}
}
