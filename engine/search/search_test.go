package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/embed"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/search/searchtest"
	"coderag-ls/engine/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// It ends by itself within a second of the store's closing.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// TestAnswersComeFirst: plain questions find their file, with and without
// vectors.
func TestAnswersComeFirst(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	for q, want := range map[string]string{
		"how is the total of the cart computed":           "shop/cart.py",
		"PriceList":                                       "shop/prices.py",
		"where is apply_discount defined":                 "shop/cart.py",
		"what answers 404 for unknown paths":              "server/router.go",
		"charge the customer's credit card":               "shop/checkout.py",
		"which tests cover the discount":                  "tests/test_cart.py",
		"how do I install it, does the documentation say": "README.md",
		"SessionStore.logout":                             "web/session.ts",
		"cookie.ts":                                       "web/cookie.ts",
		"what is in shop/prices.py":                       "shop/prices.py",
	} {
		for _, hybrid := range []bool{true, false} {
			in := w.Input(q)
			in.Settings.Hybrid = hybrid
			res := w.Search(in)
			got := searchtest.Paths(in, res)
			if len(got) == 0 || got[0] != want {
				t.Errorf("%q (hybrid %v): %v, want %s first (relevance %.2f)", q, hybrid, got, want, res.Relevance)
			}
		}
	}
}

// TestUsageFindsUses: a question for uses leads to the using file.
func TestUsageFindsUses(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("who calls encode?")
	if in.Analysis.Intent != query.FindUsage {
		t.Fatalf("intent %s", in.Analysis.Intent)
	}
	got := searchtest.Paths(in, w.Search(in))
	if !slices.Contains(got, "web/session.ts") {
		t.Errorf("%v does not hold the caller's file", got)
	}
}

func TestHitsAreInTotalOrderAndExplained(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("price of an article")
	in.Settings.MinRelevance = 0
	res := w.Search(in)
	if len(res.Hits) < 3 {
		t.Fatalf("%d hits", len(res.Hits))
	}
	sorted := slices.IsSortedFunc(res.Hits, func(a, b search.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), in.Snapshot.Compare(a.Ref, b.Ref))
	})
	if !sorted {
		t.Error("hits are not ordered by score, path and line")
	}
	seen := map[any]bool{}
	for _, h := range res.Hits {
		if h.Score <= 0 || h.Score > 1 || h.Share <= 0 || h.Share > 1 || seen[h.Ref] {
			t.Errorf("hit %+v", h)
		}
		seen[h.Ref] = true
	}
	if why := strings.Join(res.Hits[0].Why, "; "); !strings.Contains(why, "BM25 #") || !strings.Contains(why, "meaning") {
		t.Errorf("why: %s", why)
	}
	again := w.Search(in)
	for i := range res.Hits {
		if res.Hits[i].Ref != again.Hits[i].Ref || res.Hits[i].Score != again.Hits[i].Score {
			t.Fatalf("the second search differs at hit %d", i)
		}
	}
	if len(w.Search(func() search.Input { in := in; in.TopK = 2; return in }()).Hits) != 2 {
		t.Error("topK is not kept")
	}
}

func TestC4Filters(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	for _, c := range []struct {
		name    string
		filters wire.Filters
		all     func(path string) bool
	}{
		{"source type", wire.Filters{SourceTypes: []string{"markdown"}}, func(p string) bool { return p == "README.md" }},
		{"base name pattern", wire.Filters{FilePatterns: []string{"*.py"}}, func(p string) bool { return strings.HasSuffix(p, ".py") }},
		{"path pattern", wire.Filters{FilePatterns: []string{"shop/**"}}, func(p string) bool { return strings.HasPrefix(p, "shop/") }},
		{"deep pattern", wire.Filters{FilePatterns: []string{"./**/*.ts"}}, func(p string) bool { return strings.HasSuffix(p, ".ts") }},
		{"language", wire.Filters{Languages: []string{"Go"}}, func(p string) bool { return p == "server/router.go" }},
		{"symbol", wire.Filters{Symbols: []string{"refund"}}, func(p string) bool { return p == "shop/checkout.py" }},
		{"chunk type", wire.Filters{ChunkTypes: []string{"section"}}, func(p string) bool { return p == "README.md" }},
		{"layer", wire.Filters{Layers: []string{"test"}}, func(p string) bool { return p == "tests/test_cart.py" }},
		{"several", wire.Filters{SourceTypes: []string{"code"}, FilePatterns: []string{"*.py", "*.go"}, Languages: []string{"python"}}, func(p string) bool { return strings.HasSuffix(p, ".py") }},
	} {
		in := w.Input("price of an article in the cart")
		in.Settings.MinRelevance = 0
		in.Filters = c.filters
		res := w.Search(in)
		got := searchtest.Paths(in, res)
		if len(got) == 0 || slices.ContainsFunc(got, func(p string) bool { return !c.all(p) }) || res.Fallback != "" {
			t.Errorf("%s: %v, fallback %q", c.name, got, res.Fallback)
		}
	}
}

func TestC4FoldersRaiseAndExcludeNothing(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	plain := w.Input("read the price file again")
	in := plain
	in.Filters.Folders = []string{"server/"}
	in.Settings.MinRelevance, plain.Settings.MinRelevance = 0, 0
	got, without := searchtest.Paths(in, w.Search(in)), searchtest.Paths(plain, w.Search(plain))
	if len(got) != len(without) {
		t.Errorf("with a folder %v, without %v", got, without)
	}
	if slices.Index(got, "server/router.go") >= slices.Index(without, "server/router.go") {
		t.Errorf("the folder was not raised: %v, before %v", got, without)
	}
	// Whole segments only.
	in.Filters.Folders = []string{"serv"}
	if part := searchtest.Paths(in, w.Search(in)); !slices.Equal(part, without) {
		t.Errorf("half a folder's name counts: %v, want %v", part, without)
	}
}

func TestC4Fallback(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	for _, c := range []struct {
		name    string
		filters wire.Filters
		says    []string
		kept    string // suffix of all paths
	}{
		{"pattern", wire.Filters{FilePatterns: []string{"*.zig"}, Languages: []string{"python"}}, []string{"*.zig"}, ".py"},
		{"pattern and language", wire.Filters{FilePatterns: []string{"*.zig"}, Languages: []string{"cobol"}, SourceTypes: []string{"markdown"}}, []string{"*.zig", "language cobol"}, ".md"},
		{"symbol", wire.Filters{Symbols: []string{"NoSuchThing"}}, []string{"symbol NoSuchThing"}, ""},
	} {
		in := w.Input("price of an article")
		in.Settings.MinRelevance = 0
		in.Filters = c.filters
		res := w.Search(in)
		for _, s := range c.says {
			if !strings.Contains(res.Fallback, s) {
				t.Errorf("%s: fallback %q does not tell of %q", c.name, res.Fallback, s)
			}
		}
		got := searchtest.Paths(in, res)
		if len(got) == 0 || slices.ContainsFunc(got, func(p string) bool { return !strings.HasSuffix(p, c.kept) }) {
			t.Errorf("%s: %v, want all to end in %q", c.name, got, c.kept)
		}
	}
}

func TestC4EmergencyFallback(t *testing.T) {
	w := searchtest.New(t, map[string]string{"a.py": "def price():\n    return 1\n"})
	in := w.Input("price")
	in.Filters.SourceTypes = []string{"markdown"}
	res := w.Search(in)
	if !strings.Contains(res.Fallback, search.EmergencyFallback) || len(res.Hits) == 0 {
		t.Errorf("fallback %q, %d hits", res.Fallback, len(res.Hits))
	}
}

func TestBadFiltersAreNamed(t *testing.T) {
	w := searchtest.New(t, map[string]string{"a.py": "def price():\n    return 1\n"})
	for want, f := range map[string]wire.Filters{
		`"[a"`:    {FilePatterns: []string{"[a"}},
		`"sound"`: {SourceTypes: []string{"sound"}},
	} {
		in := w.Input("price")
		in.Filters = f
		if _, err := search.New(w.Tok).Search(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("filters %+v: error %v, want one that names %s", f, err, want)
		}
	}
}

// TestC12NothingRelevant: what the workspace has not is not answered, what it has
// is.
func TestC12NothingRelevant(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	for _, q := range []string{"kubernetes pod scheduling", "how are GPU kernels launched", "bluetooth pairing", "QuantumAnnealer"} {
		if res := w.Search(w.Input(q)); len(res.Hits) > 0 {
			t.Errorf("%q: %d hits at relevance %.2f", q, len(res.Hits), res.Relevance)
		}
	}
	for _, q := range []string{"discount", "refund an order", "cookie", "Router", "reload prices from disk"} {
		if res := w.Search(w.Input(q)); len(res.Hits) == 0 {
			t.Errorf("%q: refused at relevance %.2f", q, res.Relevance)
		}
	}
}

func TestC14Degradation(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("price of an article")
	in.Embedders = nil
	if res := w.Search(in); len(res.Hits) == 0 || len(res.Models) > 0 || !strings.Contains(res.Degraded, "no embedding model") {
		t.Errorf("without a model: %d hits, %v, %q", len(res.Hits), res.Models, res.Degraded)
	}
	in = w.Input("price of an article")
	in.Settings.Hybrid = false
	if res := w.Search(in); len(res.Hits) == 0 || len(res.Models) > 0 || !strings.Contains(res.Degraded, "search.hybrid") {
		t.Errorf("hybrid off: %d hits, %v, %q", len(res.Hits), res.Models, res.Degraded)
	}
	in = w.Input("price of an article")
	in.Embedders = []embed.Embedder{failing{w.Model}}
	if res := w.Search(in); len(res.Hits) == 0 || !strings.Contains(res.Degraded, "out of order") {
		t.Errorf("a failing model: %d hits, %q", len(res.Hits), res.Degraded)
	}
	if res := w.Search(w.Input("price of an article")); res.Degraded != "" || len(res.Models) != 1 || res.Candidates.Vector == 0 || res.Candidates.Lexical == 0 || res.Candidates.Fused == 0 {
		t.Errorf("all in order: %q, %v, %+v", res.Degraded, res.Models, res.Candidates)
	}
}

// failing is a model that breaks when it is asked.
type failing struct{ embed.Embedder }

func (failing) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("out of order")
}

func TestOpenDocumentIsNear(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"a/config.py": "def load_settings(path):\n    \"\"\"Read the settings.\"\"\"\n    return open(path).read()\n",
		"b/config.py": "def load_settings(path):\n    \"\"\"Read the settings.\"\"\"\n    return open(path).read()\n",
	})
	for _, doc := range []string{"a/config.py", "b/config.py", "b/other.py"} {
		in := w.Input("how does load_settings read")
		in.Document = doc
		if got := searchtest.Paths(in, w.Search(in)); len(got) != 2 || got[0][0] != doc[0] {
			t.Errorf("from %s: %v", doc, got)
		}
	}
}

func TestPathWithLine(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("what happens in shop/cart.py:24")
	res := w.Search(in)
	if len(res.Hits) == 0 {
		t.Fatal("no hit")
	}
	if d := in.Snapshot.Doc(res.Hits[0].Ref); d.File.Path != "shop/cart.py" || d.StartLine > 24 || d.EndLine < 24 {
		t.Errorf("first hit %s:%d-%d, want the chunk of line 24", d.File.Path, d.StartLine, d.EndLine)
	}
}

func TestEmptyWorkspaceAndOddQuestions(t *testing.T) {
	empty := searchtest.New(t, map[string]string{})
	if res := empty.Search(empty.Input("anything")); len(res.Hits) != 0 {
		t.Errorf("%d hits in an empty workspace", len(res.Hits))
	}
	w := searchtest.New(t, searchtest.Shop())
	for _, q := range []string{"?", "the of and", "::", "\x00", strings.Repeat("price ", 3000), "価格を計算する"} {
		res := w.Search(w.Input(q))
		for _, h := range res.Hits {
			if h.Score < 0 || h.Score > 1 {
				t.Errorf("%.20q: score %v", q, h.Score)
			}
		}
	}
}

func TestCancel(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := search.New(w.Tok).Search(ctx, w.Input("price")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestNameInACornerIsFound: a name that stands only where a question is rarely
// answered from is found there, in front of everything that does not hold it.
func TestNameInACornerIsFound(t *testing.T) {
	files := searchtest.Shop()
	for i := range 40 {
		files[fmt.Sprintf("shop/rule%d.py", i)] = fmt.Sprintf("\"\"\"A rule of prices.\"\"\"\n\ndef rule_%d(price):\n    return price - %d\n", i, i)
	}
	filler := strings.Repeat("TABLE = [1, 2, 3]\n", 30)
	for path, content := range map[string]string{
		"tests/test_rules.py":      filler + "# zqtestword17 was seen once.\ndef test_rules():\n    assert True\n",
		"examples/gen/tables.py":   "# Code generated by hand. DO NOT EDIT.\n" + filler + "# zqgenword18 was seen once.\n",
		"docs/CHANGELOG.md":        "# Changes\n\n## 1.0\n\n- zqlogword19 was seen once.\n",
		"third_party/lib/tools.py": filler + "# zqvendorword20 was seen once.\n",
	} {
		files[path] = content
	}
	w := searchtest.New(t, files)
	for name, want := range map[string]string{
		"zqtestword17": "tests/test_rules.py", "zqgenword18": "examples/gen/tables.py", "zqlogword19": "docs/CHANGELOG.md", "zqvendorword20": "third_party/lib/tools.py",
	} {
		in := w.Input(name)
		if got := searchtest.Paths(in, w.Search(in)); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %v, want %s first", name, got, want)
		}
	}
}
