package metrics_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"coderag-ls/engine/wire"
	"coderag-ls/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scrape reads the figures as Prometheus does.
func scrape(t *testing.T, addr string) map[string]*dto.MetricFamily {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	res, err := client.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %s", res.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// metric returns the metric of a family that has the labels (name, value, ...).
func metric(t *testing.T, all map[string]*dto.MetricFamily, name string, labels ...string) *dto.Metric {
	t.Helper()
	f := all[name]
	if f == nil {
		t.Fatalf("there is no %s", name)
	}
	for _, m := range f.GetMetric() {
		has := map[string]string{}
		for _, l := range m.GetLabel() {
			has[l.GetName()] = l.GetValue()
		}
		same := len(has) == len(labels)/2
		for i := 0; i < len(labels); i += 2 {
			same = same && has[labels[i]] == labels[i+1]
		}
		if same {
			return m
		}
	}
	t.Fatalf("there is no %s with %q", name, labels)
	return nil
}

// TestC15Scrape: the figures follow the requests and the indexes.
func TestC15Scrape(t *testing.T) {
	s := metrics.New("1.2.3", nil)
	if err := s.Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	addr := s.Addr()
	status := func(dir string, files int) metrics.Source {
		return func(context.Context) (wire.Status, error) {
			return wire.Status{
				Roots: []wire.RootStatus{{Dir: dir}}, Chunks: 10 * files, Counters: wire.Counters{Embedded: 7},
				Coverage: wire.Coverage{Indexed: files, Skipped: map[string]int{"binary": 2}},
			}, nil
		}
	}
	s.Add(status("/a", 3))
	s.Add(status("/a", 3)) // another window on the same folder
	remove := s.Add(status("/b", 4))
	s.Add(func(context.Context) (wire.Status, error) { return wire.Status{}, errors.New("gone") })
	m := wire.Metrics{
		Timings: map[string]float64{"search": 3, "total": 5}, Candidates: wire.Candidates{Lexical: 50, Vector: 40, Fused: 70}, TopScore: .7,
	}
	s.Request("search", metrics.OK, 6*time.Millisecond, m)
	m.CacheHit = true
	s.Request("search", metrics.OK, time.Millisecond, m)
	s.Request("ask", metrics.Canceled, time.Hour, wire.Metrics{})

	all := scrape(t, addr)
	if h := metric(t, all, "coderag_request_duration_seconds", "method", "search", "stage", "total").GetHistogram(); h.GetSampleCount() != 2 || h.GetSampleSum() != .007 {
		t.Errorf("total: %v", h)
	}
	if h := metric(t, all, "coderag_request_duration_seconds", "method", "search", "stage", "search").GetHistogram(); h.GetSampleSum() != .006 {
		t.Errorf("stage: %v", h)
	}
	if h := metric(t, all, "coderag_search_candidates", "list", "fused").GetHistogram(); h.GetSampleCount() != 1 || h.GetSampleSum() != 70 {
		t.Errorf("candidates: %v", h)
	}
	for _, c := range []struct {
		value  float64
		name   string
		labels []string
	}{
		{2, "coderag_requests_total", []string{"method", "search", "outcome", "ok"}},
		{1, "coderag_requests_total", []string{"method", "ask", "outcome", "canceled"}},
		{1, "coderag_cache_hits_total", []string{"method", "search"}},
		{14, "coderag_embedded_total", nil},
	} {
		if got := metric(t, all, c.name, c.labels...).GetCounter().GetValue(); got != c.value {
			t.Errorf("%s %q is %v, want %v", c.name, c.labels, got, c.value)
		}
	}
	gauges := func(files, chunks, skipped float64) {
		t.Helper()
		all := scrape(t, addr)
		if got := metric(t, all, "coderag_index_files").GetGauge().GetValue(); got != files {
			t.Errorf("%v files, want %v", got, files)
		}
		if got := metric(t, all, "coderag_index_chunks").GetGauge().GetValue(); got != chunks {
			t.Errorf("%v chunks, want %v", got, chunks)
		}
		if got := metric(t, all, "coderag_index_skipped_files", "reason", "binary").GetGauge().GetValue(); got != skipped {
			t.Errorf("%v skipped, want %v", got, skipped)
		}
	}
	gauges(7, 70, 4)
	remove()
	gauges(3, 30, 2)
	metric(t, all, "coderag_build_info", "version", "1.2.3")

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get("http://" + addr + "/metrics"); err == nil {
		t.Error("it answers after it was closed")
	}
	if s.Addr() != "" {
		t.Errorf("it says it listens on %s", s.Addr())
	}
}

// TestC15Loopback: only this machine's addresses are listened on, and only what
// is asked for by this machine's name is answered.
func TestC15Loopback(t *testing.T) {
	s := metrics.New("", nil)
	defer s.Close()
	for address, why := range map[string]string{
		"0.0.0.0:9090":     `"0.0.0.0" is no loopback address`,
		":9090":            `"" is no loopback address`,
		"[::]:9090":        `"::" is no loopback address`,
		"192.168.0.1:9090": `"192.168.0.1" is no loopback address`,
		"example.org:9090": `"example.org" is no loopback address`,
		"127.0.0.1":        "not of the form 127.0.0.1:PORT",
		"127.0.0.1:http":   `"http" is no port number`,
		"127.0.0.1:70000":  `"70000" is no port number`,
	} {
		err := s.Listen(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "metrics.listen") {
			t.Errorf("%s: %v, want %s", address, err, why)
		}
	}
	if err := s.Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	first := s.Addr()
	if err := s.Listen(t.Context(), "127.0.0.1:0"); err != nil || s.Addr() != first {
		t.Errorf("the same address again: %v, at %s instead of %s", err, s.Addr(), first)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+first+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host, req.Close = "attacker.example", true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden || strings.Contains(string(body), "coderag_") {
		t.Errorf("under another name: %s, %q", res.Status, body)
	}
	other := metrics.New("", nil)
	if err := other.Listen(t.Context(), first); err == nil || !strings.Contains(err.Error(), first) {
		t.Errorf("the port is taken: %v", err)
	}
	if err := s.Listen(t.Context(), ""); err != nil || s.Addr() != "" {
		t.Errorf("switched off: %v, %s", err, s.Addr())
	}
}
