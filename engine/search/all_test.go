package search_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/search/searchtest"
	"coderag-ls/engine/wire"
)

// TestC7RequestsOfAPlan: the requests of a plan are searched at the same time,
// each within its own filters, and what several find is told once.
func TestC7RequestsOfAPlan(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	code, docs, again := w.Input("how is the total of the cart computed"), w.Input("discounts"), w.Input("sum the prices of all items")
	code.Filters.SourceTypes = []string{"code"}
	docs.Filters.SourceTypes = []string{"markdown"}
	// None ends before all have begun.
	meeting := &together{Embedder: w.Model, want: 3, met: make(chan struct{})}
	for _, in := range []*search.Input{&code, &docs, &again} {
		in.Embedders = []embed.Embedder{meeting}
	}
	s := search.New(w.Tok)
	res, err := s.All(t.Context(), []search.Input{code, docs, again})
	if err != nil {
		t.Fatal(err)
	}
	got := searchtest.Paths(code, res)
	if !slices.Contains(got, "README.md") || !slices.Contains(got, "shop/cart.py") {
		t.Errorf("found %v", got)
	}
	seen := map[any]bool{}
	shared := false
	for _, h := range res.Hits {
		if seen[h.Ref] {
			t.Errorf("%+v is told twice", h)
		}
		seen[h.Ref] = true
		shared = shared || len(h.Requests) > 1
		if markdown := code.Snapshot.Doc(h.Ref).File.Path == "README.md"; markdown && !slices.Contains(h.Requests, 1) && !slices.Contains(h.Requests, 2) {
			t.Errorf("README.md was found by %v", h.Requests)
		}
	}
	if !shared {
		t.Error("no hit knows that two requests found it")
	}
	one, err := s.Search(t.Context(), w.Input("discounts"))
	if err != nil {
		t.Fatal(err)
	}
	if res.Candidates.Lexical <= one.Candidates.Lexical || len(res.Models) != 1 {
		t.Errorf("%+v of %v", res.Candidates, res.Models)
	}
	bad := docs
	bad.Filters = wire.Filters{FilePatterns: []string{"[a"}}
	if _, err := s.All(t.Context(), []search.Input{again, bad}); err == nil || !strings.Contains(err.Error(), `"[a"`) {
		t.Errorf("error %v does not name the pattern", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.All(ctx, []search.Input{w.Input("a cart"), w.Input("a price")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// together is a model that answers when all have asked, or who asks gives up.
type together struct {
	embed.Embedder
	want int
	met  chan struct{}
	n    atomic.Int32
}

func (e *together) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.n.Add(1) == int32(e.want) {
		close(e.met)
	}
	select {
	case <-e.met:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return e.Embedder.Embed(ctx, texts)
}

// TestC12AdaptiveTopK: a name gets fewer hits, a broad question more, unless the
// request says how many.
func TestC12AdaptiveTopK(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files["rules/rule"+string(rune('a'+i%26))+string(rune('a'+i/26))+".py"] = "def price_rule(article):\n    \"\"\"Compute the price of an article by a rule.\"\"\"\n    return article.price\n"
	}
	w := searchtest.New(t, files)
	for q, want := range map[string]int{"price_rule": 10, "price of an article": 20, "how is the price of an article computed": 30, "how does price_rule work": 20} {
		in := w.Input(q)
		in.Settings.MinRelevance = 0
		if n := len(w.Search(in).Hits); n != want {
			t.Errorf("%q: %d hits, want %d", q, n, want)
		}
		in.TopK = 13
		if n := len(w.Search(in).Hits); n != 13 {
			t.Errorf("%q: %d hits where 13 are asked for", q, n)
		}
		in.TopK, in.Settings.AdaptiveTopK = 0, false
		if n := len(w.Search(in).Hits); n != in.Settings.TopK {
			t.Errorf("%q: %d hits where that is switched off", q, n)
		}
	}
}

// TestC4WithoutFallback: where the fallback is switched off, filters that nothing
// passes find nothing.
func TestC4WithoutFallback(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("price of an article")
	in.Filters = wire.Filters{FilePatterns: []string{"*.zig"}}
	if res := w.Search(in); len(res.Hits) == 0 || res.Fallback == "" {
		t.Fatalf("%d hits, fallback %q", len(res.Hits), res.Fallback)
	}
	in.Settings.Fallback = false
	if res := w.Search(in); len(res.Hits) > 0 || res.Fallback != "" {
		t.Errorf("%d hits, fallback %q", len(res.Hits), res.Fallback)
	}
}

// TestC5SymbolBoost: chunks that define symbols gain in the list of words where
// the setting says so.
func TestC5SymbolBoost(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"a.py": "price = 1\narticle = price\nprint(price, article, price)\n",
		"b.py": "def cost(price):\n    return price\n\n\ndef fee(article):\n    return article\n",
	})
	in := w.Input("price of the article")
	in.Settings.Hybrid, in.Settings.MinRelevance = false, 0
	raw := func(res search.Result, path string) float64 {
		for _, f := range res.Files {
			if f.File.Path == path {
				return f.Features[slices.Index(search.FeatureNames(), "lexRaw")]
			}
		}
		t.Fatalf("%s is no candidate", path)
		return 0
	}
	plain := w.Search(in)
	in.Settings.SymbolBoost = 2
	boosted := w.Search(in)
	if a, b := raw(plain, "b.py"), raw(boosted, "b.py"); b <= a {
		t.Errorf("b.py has %g without and %g with the boost", a, b)
	}
	if a, b := raw(plain, "b.py"), raw(boosted, "b.py"); b > 2*a {
		t.Errorf("b.py has %g without and %g with the boost, more than twice", a, b)
	}
}

// TestC2NamesAreFoundFirst: what the fast path takes leads to the one place.
func TestC2NamesAreFoundFirst(t *testing.T) {
	files := searchtest.Shop()
	files["drivers/errors.py"] = "NO_DEVICE = 0x884\n"
	w := searchtest.New(t, files)
	for q, want := range map[string]string{
		"apply_discount": "shop/cart.py", "PriceList": "shop/prices.py", "0x884": "drivers/errors.py", "cookie.ts": "web/cookie.ts", "ServeHTTP": "server/router.go",
	} {
		in := w.Input(q)
		if in.Analysis.Plan.Route != query.RouteFast {
			t.Errorf("%q takes the route %s", q, in.Analysis.Plan.Route)
		}
		if got := searchtest.Paths(in, w.Search(in)); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %s first", q, got, want)
		}
	}
}

// TestC1MisspeltNamesAreFound: who asks for a name with a letter wrong finds it,
// with the same relevance.
func TestC1MisspeltNamesAreFound(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	for q, want := range map[string]string{"aply_discount": "shop/cart.py", "SesionStore": "web/session.ts", "where is PriceLst defined": "shop/prices.py"} {
		in := w.Input(q)
		if got := searchtest.Paths(in, w.Search(in)); len(got) == 0 || got[0] != want || len(in.Analysis.Repaired) != 1 {
			t.Errorf("%q: %v, want %s first; repaired %v", q, got, want, in.Analysis.Repaired)
		}
	}
	if in := w.Input("QuantumAnnealer"); len(in.Analysis.Repaired) > 0 {
		t.Errorf("repaired %v", in.Analysis.Repaired)
	}
}

// TestC1StackTraceLeadsToItsFiles: a trace of another machine leads to the files
// of its frames here.
func TestC1StackTraceLeadsToItsFiles(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("Traceback (most recent call last):\n  File \"/srv/app/shop/checkout.py\", line 7, in checkout\n  File \"/srv/app/shop/cart.py\", line 20, in total\nKeyError: 'x'")
	got := searchtest.Paths(in, w.Search(in))
	if len(got) < 2 || !slices.Contains(got[:2], "shop/checkout.py") || !slices.Contains(got[:2], "shop/cart.py") {
		t.Errorf("%v", got)
	}
}
