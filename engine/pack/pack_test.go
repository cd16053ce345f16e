package pack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/config"
	"coderag-ls/engine/graph"
	"coderag-ls/engine/pack"
	"coderag-ls/engine/search/searchtest"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"

	"go.uber.org/goleak"
)

const (
	imports    = string(graph.Imports)
	importedBy = string(graph.ImportedBy)
	testFor    = string(graph.TestFor)
	sibling    = string(graph.Sibling)
)

func TestMain(m *testing.M) {
	// It ends by itself within a second of the store's closing.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// packed packs the answer to a question and checks what must hold of every
// context.
func packed(t *testing.T, w *searchtest.Workspace, q string, budget, reserved int) pack.Context {
	t.Helper()
	in := w.Input(q)
	in.Settings.MinRelevance = 0
	c, err := pack.Pack(t.Context(), pack.Input{Snapshot: in.Snapshot, Graph: pack.NewGraph(in.Snapshot), Texts: w, Hits: w.Search(in).Hits, Budget: budget, Reserved: reserved})
	if err != nil {
		t.Fatal(err)
	}
	if c.Tokens != pack.Tokens(c.Content) {
		t.Errorf("%q: %d tokens, the content has %d", q, c.Tokens, pack.Tokens(c.Content))
	}
	for _, p := range c.Primary {
		doc, ok := w.Text(t.Context(), p.Path)
		if !ok {
			t.Fatalf("%s: no such file", p.ID)
		}
		lines, ok := doc.Lines(p.StartLine, p.EndLine)
		if !ok || lines != p.Text || p.SHA256 != text.HexHash(lines) || !strings.Contains(c.Content, lines) || !strings.Contains(c.Content, "["+p.ID+"]") {
			t.Errorf("%q: %s is not what stands there, or not in the content", q, p.ID)
		}
	}
	for _, m := range answer.Parse(c.Content, nil) {
		doc, ok := w.Text(t.Context(), m.Path)
		if _, has := doc.Lines(m.StartLine, m.EndLine); !ok || !has {
			t.Errorf("%q: the content cites %+v", q, m)
		}
	}
	return c
}

func TestPack(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	c := packed(t, w, "how is the total of the cart computed", 8000, 2000)
	if len(c.Primary) == 0 || c.Primary[0].Path != "shop/cart.py" || c.Truncated || c.Tokens > 6000 {
		t.Fatalf("%d tokens, truncated %v\n%s", c.Tokens, c.Truncated, c.Content)
	}
	if !strings.HasPrefix(c.Content, "## Primary results\n") {
		t.Errorf("content begins %.60q", c.Content)
	}
}

func TestC11Budget(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("mod%02d.py", i)] = fmt.Sprintf("def compute_price_%d(article):\n    \"\"\"Compute the price of an article, way %d.\"\"\"\n%s    return article\n", i, i, strings.Repeat(fmt.Sprintf("    article = article + %d\n", i), 20))
	}
	w := searchtest.New(t, files)
	last := 0
	for _, budget := range []int{200, 600, 2000, 8000} {
		c := packed(t, w, "compute the price of an article", budget, budget/4)
		if len(c.Primary) == 0 {
			t.Fatalf("budget %d: no chunk", budget)
		}
		if c.Tokens > budget-budget/4 {
			t.Errorf("budget %d: %d tokens", budget, c.Tokens)
		}
		if len(c.Primary) < last {
			t.Errorf("budget %d: %d chunks, fewer than with less", budget, len(c.Primary))
		}
		last = len(c.Primary)
		if budget <= 2000 && !c.Truncated {
			t.Errorf("budget %d: not marked as truncated", budget)
		}
	}
	// The reserve never takes it all, and there is always a chunk.
	for _, b := range [][2]int{{1000, 2000}, {1, 0}, {4, 4}} {
		if c := packed(t, w, "compute the price of an article", b[0], b[1]); len(c.Primary) == 0 || !c.Truncated {
			t.Errorf("budget %v: %d chunks, truncated %v", b, len(c.Primary), c.Truncated)
		}
	}
	if c := packed(t, w, "compute the price of an article", 0, 2000); c.Truncated {
		t.Error("without a limit something was left out")
	}
}

// TestC11NeighboursAreMerged: consecutive chunks of a file become one block.
func TestC11NeighboursAreMerged(t *testing.T) {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "def compute_price_%d(article):\n    \"\"\"Compute the price of an article.\"\"\"\n%s    return article\n\n\n", i, strings.Repeat("    article = article + price_of(article)\n", 25))
	}
	w := searchtest.New(t, map[string]string{"prices.py": b.String()})
	snap := w.Index.Snapshot()
	if n := len(snap.DocsOf(snap.File("prices.py"))); n < 3 {
		t.Fatalf("the file has %d chunks, the test needs more", n)
	}
	c := packed(t, w, "compute the price of an article", 0, 0)
	if len(c.Primary) != 1 || c.Primary[0].StartLine != 1 {
		t.Errorf("%d blocks:\n%s", len(c.Primary), c.Content)
	}
}

func TestC9WhatStandsAround(t *testing.T) {
	long := strings.Repeat("        amount = amount + self.fee(amount)\n", 40)
	w := searchtest.New(t, map[string]string{
		"bank.py": "import decimal\nfrom ledger import Ledger\n\n\nclass Account(Ledger):\n    \"\"\"Money of a customer.\"\"\"\n\n" +
			"    def open_account(self, amount):\n" + long + "\n    def transfer_money(self, amount):\n        amount = decimal.Decimal(amount)\n" + long + "\n    def close_account(self, amount):\n" + long,
		"ledger.py": "class Ledger:\n    \"\"\"Keeps entries.\"\"\"\n\n    def fee(self, amount):\n        return 1\n",
		"GUIDE.md":  "# Guide\n\nIntro.\n\n## Money\n\nAbout moving money around in accounts.\n\n### Transfers\n\nTransfers take a day.\n\n### Fees\n\nFees are small.\n",
	})
	c := packed(t, w, "transfer_money", 4000, 0)
	for _, want := range []string{"- in `class Account(Ledger)` [bank.py:5-5]", "beside `def ", "- imports `import decimal` [bank.py:1-1]"} {
		if !strings.Contains(c.Content, want) {
			t.Errorf("the context lacks %q:\n%s", want, c.Content)
		}
	}
	if !slices.ContainsFunc(c.Related, func(r wire.Related) bool {
		return r.Path == "ledger.py" && r.Relation == imports && r.Distance == 1
	}) && !slices.ContainsFunc(c.Primary, func(p wire.Citation) bool { return p.Path == "ledger.py" }) {
		t.Errorf("the imported file is nowhere: %+v", c.Related)
	}
}

// cited is a citation of the beginning of a file.
func cited(path string) []wire.Citation {
	return []wire.Citation{{Path: path, StartLine: 1, EndLine: 20}}
}

func TestC8Related(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"pkg/__init__.py":    "from .core import run\n",
		"pkg/core.py":        "from .helpers import clean_text\nimport os\n\n\ndef run(text):\n    return clean_text(text)\n",
		"pkg/helpers.py":     "def clean_text(text):\n    return text.strip()\n",
		"pkg/other.py":       "def unrelated():\n    return 0\n",
		"tests/test_core.py": "from pkg.core import run\n\n\ndef test_run():\n    assert run(' a ') == 'a'\n",
		"app/main.py":        "from pkg.core import run\n\nprint(run('x'))\n",
		"os/path.js":         "export const x = 1;\n",
		"web/a.ts":           "import { b } from './b';\nexport const a = b;\n",
		"web/b.ts":           "export const b = 2;\n",
	})
	snap := w.Index.Snapshot()
	related, excerpt := pack.NewGraph(snap).Related(t.Context(), snap, w, cited("pkg/core.py"))
	got := map[string]string{}
	for _, r := range related {
		got[r.Path] = r.Relation
		if r.StartLine < 1 || r.EndLine < r.StartLine {
			t.Errorf("%+v", r)
		}
	}
	for path, want := range map[string]string{
		"pkg/helpers.py": imports, "tests/test_core.py": testFor, "app/main.py": importedBy, "pkg/__init__.py": importedBy, "pkg/other.py": sibling,
	} {
		if got[path] != want {
			t.Errorf("%s is %q, want %q", path, got[path], want)
		}
	}
	if _, wrong := got["os/path.js"]; wrong {
		t.Error("import os is a file of another language")
	}
	if !slices.Contains(excerpt.Edges, wire.Edge{From: "app/main.py", To: "pkg/core.py", Kind: imports}) ||
		!slices.Contains(excerpt.Edges, wire.Edge{From: "tests/test_core.py", To: "pkg/core.py", Kind: testFor}) || !slices.Contains(excerpt.Nodes, "pkg/helpers.py") {
		t.Errorf("graph %+v", excerpt)
	}
	related, _ = pack.NewGraph(snap).Related(t.Context(), snap, w, cited("web/a.ts"))
	if len(related) == 0 || related[0].Path != "web/b.ts" || related[0].Relation != imports {
		t.Errorf("%+v", related)
	}
	if related, excerpt := pack.NewGraph(snap).Related(t.Context(), snap, w, nil); related == nil || excerpt.Nodes == nil || len(related) > 0 {
		t.Errorf("of nothing: %+v %+v", related, excerpt)
	}
}

func TestGoneFilesAreDropped(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("how is the total of the cart computed")
	hits := w.Search(in).Hits
	w.Remove("shop/cart.py")
	c, err := pack.Pack(t.Context(), pack.Input{Snapshot: in.Snapshot, Graph: pack.NewGraph(in.Snapshot), Texts: w, Hits: hits, Budget: 8000, Reserved: 2000})
	if err != nil || c.Dropped == 0 || strings.Contains(c.Content, "[shop/cart.py") {
		t.Errorf("%v, %d dropped\n%s", err, c.Dropped, c.Content)
	}
	if c, err := pack.Pack(t.Context(), pack.Input{Snapshot: in.Snapshot, Graph: pack.NewGraph(in.Snapshot), Texts: w}); err != nil || c.Content != "" || c.Primary == nil || c.Related == nil {
		t.Errorf("nothing to pack: %+v, %v", c, err)
	}
}

// TestC9BoundsAreSettings: the settings say how much of what stands around is
// told.
func TestC9BoundsAreSettings(t *testing.T) {
	long := strings.Repeat("        amount = amount + self.fee(amount)\n", 40)
	var methods, guide strings.Builder
	for _, name := range []string{"open", "freeze", "thaw", "close", "audit"} {
		fmt.Fprintf(&methods, "\n    def %s_account(self, amount):\n%s", name, long)
	}
	guide.WriteString("# Guide\n\nIntro.\n\n## Zebra money\n\n" + strings.Repeat("About moving zebra money around.\n", 130) + "\n")
	for i := range 12 {
		fmt.Fprintf(&guide, "### Part %d\n\nPart %d.\n\n", i, i)
	}
	w := searchtest.New(t, map[string]string{
		"bank.py":  "import decimal\nimport fractions\n\n\nclass Account:\n    \"\"\"Money of a customer.\"\"\"\n\n    def transfer_money(self, amount):\n        amount = decimal.Decimal(fractions.Fraction(amount))\n" + long + methods.String(),
		"GUIDE.md": guide.String(),
	})
	packedWith := func(q string, change func(*config.Answer)) string {
		in := w.Input(q)
		set := config.Default().Answer
		change(&set)
		c, err := pack.Pack(t.Context(), pack.Input{Snapshot: in.Snapshot, Graph: pack.NewGraph(in.Snapshot), Texts: w, Hits: w.Search(in).Hits[:1], Settings: set})
		if err != nil {
			t.Fatal(err)
		}
		return c.Content
	}
	for _, n := range []int{0, 1, 3} {
		content := packedWith("transfer_money", func(s *config.Answer) { s.MaxSiblings, s.MaxImports = n, n })
		if got := strings.Count(content, "\n- beside "); got != n {
			t.Errorf("%d siblings, want %d:\n%s", got, n, content)
		}
		if got := strings.Count(content, "\n- imports "); got != min(n, 2) {
			t.Errorf("%d imports, want %d:\n%s", got, min(n, 2), content)
		}
		content = packedWith("zebra money around", func(s *config.Answer) { s.MaxChildren = n })
		if got := strings.Count(content, "`Part "); got != n {
			t.Errorf("%d sections, want %d:\n%.400s", got, n, content)
		}
	}
}

// TestD6TypesOfOtherFiles: what a chunk uses of other files is looked up there:
// the definition of the imported type, not the first of its file.
func TestD6TypesOfOtherFiles(t *testing.T) {
	filler := strings.Repeat("    value = value + 1\n", 60)
	w := searchtest.New(t, map[string]string{
		"shipping/parcel.py": "from shipping.tariff import Tariff\n\n\ndef postage_for(parcel, tariff: Tariff):\n    \"\"\"Work out the postage of a parcel.\"\"\"\n    return tariff.rate(parcel.weight)\n",
		"shipping/tariff.py": "class Unrelated:\n    \"\"\"Something else.\"\"\"\n\n    def run(self, value):\n" + strings.ReplaceAll(filler, "    ", "        ") + "        return value\n\n\nclass Tariff:\n    \"\"\"Knows rates.\"\"\"\n\n    def rate(self, weight):\n        return weight * 2\n",
	})
	in := w.Input("postage_for")
	c, err := pack.Pack(t.Context(), pack.Input{Snapshot: in.Snapshot, Graph: pack.NewGraph(in.Snapshot), Texts: w, Hits: w.Search(in).Hits[:1]})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Related, func(r wire.Related) bool { return r.Path == "shipping/tariff.py" })
	if i < 0 || !strings.Contains(c.Content, "class Tariff:") || strings.Contains(c.Content, "class Unrelated:") {
		t.Errorf("%+v\n%s", c.Related, c.Content)
	}
}

// TestC11Shares: each part of the budget keeps to its share, and a reader's own
// way of counting counts.
func TestC11Shares(t *testing.T) {
	files := map[string]string{"core.py": "def compute_price(article):\n    \"\"\"Compute the price of an article.\"\"\"\n    return article\n"}
	for i := range 12 {
		files[fmt.Sprintf("use%02d.py", i)] = fmt.Sprintf("from core import compute_price\n\n\ndef use_%d(article):\n    return compute_price(article)\n", i)
	}
	w := searchtest.New(t, files)
	in := w.Input("compute_price")
	words := func(s string) int { return len(strings.Fields(s)) }
	with := func(primary, related float64) pack.Context {
		set := config.Default().Answer
		set.PrimaryShare, set.RelatedShare = primary, related
		c, err := pack.Pack(t.Context(), pack.Input{Snapshot: in.Snapshot, Graph: pack.NewGraph(in.Snapshot), Texts: w, Hits: w.Search(in).Hits, Budget: 200, Settings: set, Count: words})
		if err != nil {
			t.Fatal(err)
		}
		if c.Tokens != words(c.Content) || c.Tokens > 200 {
			t.Errorf("%d tokens, the content has %d words", c.Tokens, words(c.Content))
		}
		return c
	}
	part := func(c pack.Context, from, to string) int {
		_, s, ok := strings.Cut(c.Content, from)
		if !ok {
			return 0
		}
		s, _, _ = strings.Cut(s, to)
		return words(s)
	}
	few, many := with(0.2, 0.7), with(0.6, 0.3)
	if a, b := len(few.Primary), len(many.Primary); a == 0 || a >= b {
		t.Errorf("%d primary results with a fifth, %d with three fifths", a, b)
	}
	for _, c := range []struct {
		pack.Context
		primary, related float64
	}{{few, .2, .7}, {many, .6, .3}} {
		if n := part(c.Context, "## Primary results", "## Related"); float64(n) > 200*c.primary {
			t.Errorf("%d words of primary results of a share of %g", n, c.primary)
		}
		if n := part(c.Context, "## Related", "## How"); float64(n) > 200*c.related {
			t.Errorf("%d words of related ones of a share of %g", n, c.related)
		}
	}
	if c := with(1, 0); len(c.Related) > 0 || strings.Contains(c.Content, "## How") {
		t.Errorf("parts without a share:\n%s", c.Content)
	}
}

// TestC12EnoughChunks: where so many chunks are good no more are packed.
func TestC12EnoughChunks(t *testing.T) {
	files := map[string]string{}
	for i := range 15 {
		files[fmt.Sprintf("m%02d.py", i)] = fmt.Sprintf("def compute_price(article):\n    return article * %d\n", i)
	}
	w := searchtest.New(t, files)
	in := w.Input("compute_price")
	hits := w.Search(in).Hits
	if len(hits) < 8 {
		t.Fatalf("%d hits", len(hits))
	}
	for _, c := range []struct {
		relevance float64
		want      int
	}{{hits[5].Score - 1e-9, 5}, {1, len(hits)}} {
		set := config.Default().Answer
		set.EnoughChunks, set.Enough = 5, c.relevance
		got, err := pack.Pack(t.Context(), pack.Input{Snapshot: in.Snapshot, Graph: pack.NewGraph(in.Snapshot), Texts: w, Hits: hits, Settings: set})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Primary) != c.want {
			t.Errorf("%d chunks where those above %g are enough, want %d", len(got.Primary), c.relevance, c.want)
		}
	}
}
