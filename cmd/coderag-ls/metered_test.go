package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"coderag-ls/engine/llm/llmtest"
	"coderag-ls/engine/wire"
	"coderag-ls/lsp"
	"coderag-ls/lsp/lsptest"
)

// freeAddress is a loopback address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// sums reads the figures at an address as Prometheus does: the values, or counts
// of values, of each family added up. The text is what was read.
func sums(t *testing.T, address string) (values map[string]float64, text string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	res, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(body)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	values = map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			values[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values, string(body)
}

// TestC15ServeMetrics: a server that is told to offers its figures on this
// machine; they follow what is asked, hold nothing of the workspace, and are
// gone when the server ends. A second server on the folder, which does not keep
// the index, has figures of its own.
func TestC15ServeMetrics(t *testing.T) {
	c := newCLI(t)
	addresses := []string{freeAddress(t), freeAddress(t)}
	var editors []*lsptest.Editor
	for _, address := range addresses {
		e := lsptest.Start(t, lsptest.Config{
			Client: lsptest.VSCode, Folders: []string{c.dir}, Dial: c.serving("serve", "--metrics.listen", address),
		})
		e.Sync(wire.SyncParams{Scan: true})
		editors = append(editors, e)
	}
	for i, e := range editors {
		before, _ := sums(t, addresses[i])
		if before["coderag_index_files"] != 4 || before["coderag_index_chunks"] < 4 || before["coderag_embedded_total"] < 4 {
			t.Errorf("server %d: %v files, %v chunks, %v embedded", i, before["coderag_index_files"], before["coderag_index_chunks"], before["coderag_embedded_total"])
		}
		if n := before["coderag_requests_total"]; n != 0 {
			t.Errorf("server %d: %v requests before the first", i, n)
		}
		for range 6 {
			var a wire.AskResult
			e.MustCall(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: "TotalCents"}}, &a)
		}
		var r wire.SearchResult
		if err := e.Call(lsp.MethodSearch, wire.SearchParams{}, &r); err == nil {
			t.Error("an empty question is answered")
		}
		after, text := sums(t, addresses[i])
		if after["coderag_requests_total"] != 7 || after["coderag_request_duration_seconds"] < 18 {
			t.Errorf("server %d: after six answers and a refusal %v requests, %v durations", i, after["coderag_requests_total"], after["coderag_request_duration_seconds"])
		}
		if n := after["coderag_cache_hits_total"]; n < 1 {
			t.Errorf("server %d: %v cache hits", i, n)
		}
		if !strings.Contains(text, `coderag_requests_total{method="search",outcome="refused"} 1`) {
			t.Errorf("server %d: the refusal is not told:\n%s", i, text)
		}
		for _, secret := range []string{"TotalCents", "cart", filepath.Base(c.dir), c.dir} {
			if strings.Contains(text, secret) {
				t.Errorf("server %d: the figures hold %q", i, secret)
			}
		}
	}
	for i, e := range editors {
		if err := e.Shutdown(); err != nil {
			t.Error(err)
		}
		if conn, err := net.Dial("tcp", addresses[i]); err == nil {
			conn.Close()
			t.Errorf("server %d has ended, and listens still", i)
		}
	}
}

// TestMeteredHidesNothing: with metrics, too, the model that routes a question
// is shown the files.
func TestMeteredHidesNothing(t *testing.T) {
	for _, address := range []string{"", freeAddress(t)} {
		c := newCLI(t)
		model := llmtest.New(func(w *llmtest.Writer, r llmtest.Request) {
			if r.ResponseFormat != nil {
				w.Answer(`{"cleaned_query":"x","retrieval_requests":[{"query":"TotalCents","source_types":[],"folders":[],"file_patterns":[],"reasoning":"the cart"}]}`, 40)
				return
			}
			w.Answer("It adds up.", 40)
		})
		defer model.Close()
		c.env = append(c.env, "CODERAG_LLM_BASE_URL="+model.BaseURL(), "CODERAG_LLM_MODEL=test-model", "CODERAG_LLM_ROUTER=always")
		e := lsptest.Start(t, lsptest.Config{
			Client: lsptest.VSCode, Folders: []string{c.dir}, Dial: c.serving("serve", "--metrics.listen", address),
		})
		e.Sync(wire.SyncParams{Scan: true})
		var a wire.AskResult
		e.MustCall(lsp.MethodAsk, wire.AskParams{SearchParams: wire.SearchParams{Query: "how are the cents of a cart added up?"}}, &a)
		if reqs := model.Requests(); len(reqs) < 2 || reqs[0].ResponseFormat == nil || !strings.Contains(reqs[0].Text(), "retry.go") || !strings.Contains(reqs[0].Text(), "cart/") {
			t.Errorf("metrics at %q: the router was sent %+v", address, reqs)
		}
		if err := e.Shutdown(); err != nil {
			t.Error(err)
		}
	}
}

// TestC15MetricsAddress: an address that others could reach is refused at the
// start; one that is taken is told, and the server goes on.
func TestC15MetricsAddress(t *testing.T) {
	c := newCLI(t)
	var errs strings.Builder
	code := run(context.WithoutCancel(t.Context()), []string{"serve", "--metrics.listen", "0.0.0.0:9464"}, strings.NewReader(""), io.Discard, &errs, c.env)
	if code != exitUsage || !strings.Contains(errs.String(), "metrics.listen") || !strings.Contains(errs.String(), "no loopback address") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := lsptest.Start(t, lsptest.Config{
		Client: lsptest.VSCode, Folders: []string{c.dir}, Dial: c.serving("serve", "--metrics.listen", l.Addr().String()),
	})
	e.Await("window/showMessage", func(params json.RawMessage) bool { return strings.Contains(string(params), l.Addr().String()) })
	if got := e.Sync(wire.SyncParams{Scan: true}); got.Coverage.Indexed != 4 {
		t.Errorf("%+v", got.Coverage)
	}
	if err := e.Shutdown(); err != nil {
		t.Error(err)
	}
}
