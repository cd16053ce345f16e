package answer_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/answer"
	"coderag-ls/engine/config"
	"coderag-ls/engine/search/searchtest"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// It ends by itself within a second of the store's closing.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// ask answers a question and checks what must hold of every answer.
func ask(t *testing.T, w *searchtest.Workspace, q string) answer.Answer {
	t.Helper()
	in := w.Input(q)
	return answerTo(t, w, answer.Input{
		Snapshot: in.Snapshot, Texts: w, Tokenizer: w.Tok, Analysis: in.Analysis, Result: w.Search(in), Settings: config.Default().Answer,
	})
}

func answerTo(t *testing.T, w *searchtest.Workspace, in answer.Input) answer.Answer {
	t.Helper()
	var streamed strings.Builder
	var cited []string
	in.Emit = func(p answer.Part) {
		if p.Citation != nil {
			cited = append(cited, p.Citation.ID)
			return
		}
		streamed.WriteString(p.Text)
		for _, m := range answer.Parse(p.Text, nil) {
			if !slices.Contains(cited, answer.ID(m.Path, m.StartLine, m.EndLine)) {
				t.Errorf("%q is cited in the text before it was emitted", p.Text)
			}
		}
	}
	a, err := answer.Extract(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	q := in.Analysis.Query
	if streamed.String() != a.Markdown {
		t.Errorf("%q: the parts are not the answer", q)
	}
	var ids []string
	for _, c := range a.Citations {
		ids = append(ids, c.ID)
		checkCitation(t, w, c)
	}
	var mentioned []string
	for _, m := range answer.Parse(a.Markdown, nil) {
		if id := answer.ID(m.Path, m.StartLine, m.EndLine); !slices.Contains(mentioned, id) {
			mentioned = append(mentioned, id)
		}
	}
	if !slices.Equal(ids, mentioned) || !slices.Equal(ids, cited) {
		t.Errorf("%q: citations %v, in the text %v, emitted %v", q, ids, mentioned, cited)
	}
	if len(a.Citations) > in.Settings.MaxCitations {
		t.Errorf("%q: %d citations, at most %d are wanted", q, len(a.Citations), in.Settings.MaxCitations)
	}
	checkEveryLineCited(t, q, a)
	return a
}

// checkCitation compares a citation with the disk.
func checkCitation(t *testing.T, w *searchtest.Workspace, c wire.Citation) {
	t.Helper()
	doc, ok := w.Text(t.Context(), c.Path)
	if !ok {
		t.Errorf("%s: there is no such file", c.ID)
		return
	}
	lines, ok := doc.Lines(c.StartLine, c.EndLine)
	if !ok || lines != c.Text || text.HexHash(c.Text) != c.SHA256 {
		t.Errorf("%s: text or digest is not what stands there", c.ID)
	}
	want := wire.Range{Start: wire.Position{Line: c.StartLine - 1}, End: wire.Position{Line: c.EndLine}}
	if c.ID != answer.ID(c.Path, c.StartLine, c.EndLine) || c.Range != want || c.Why == nil || c.Kind == "" || c.Root != "w" {
		t.Errorf("citation %+v", c)
	}
	if path, err := text.PathFromURI(c.URI); err != nil || !strings.HasSuffix(path, c.Path) {
		t.Errorf("%s: URI %s", c.ID, c.URI)
	}
	if c.Verified != wire.VerifiedExact && c.Verified != wire.VerifiedMoved {
		t.Errorf("%s: verified %q", c.ID, c.Verified)
	}
}

var (
	endCite = regexp.MustCompile(`\[[^\]]+:\d+-\d+\]$`)
)

// checkEveryLineCited: each line of prose that states something ends with its
// citation; headings and lines that introduce a list need none.
func checkEveryLineCited(t *testing.T, q string, a answer.Answer) {
	t.Helper()
	for _, line := range strings.Split(prose(a.Markdown), "\n") {
		if a.NoAnswer || line == "" || strings.HasPrefix(line, "**") || strings.HasSuffix(line, ":") {
			continue
		}
		if !endCite.MatchString(line) {
			t.Errorf("%q: the line %q has no citation", q, line)
		}
	}
}

// prose is an answer without its quotations.
func prose(markdown string) string {
	var out []string
	fence := ""
	for _, line := range strings.Split(markdown, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(run) >= 3:
			fence = run
		case fence != "" && line == fence:
			fence = ""
		case fence == "":
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func paths(a answer.Answer) []string {
	var out []string
	for _, c := range a.Citations {
		out = append(out, c.Path)
	}
	return out
}

func TestDefinition(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	a := ask(t, w, "how is the total of the cart computed?")
	if a.NoAnswer || len(a.Citations) == 0 || a.Citations[0].Path != "shop/cart.py" {
		t.Fatalf("%v\n%s", paths(a), a.Markdown)
	}
	for _, want := range []string{
		"`Cart.total` is a method in `shop/cart.py`: Sum the prices of all items, discounts included. [shop/cart.py:",
		"        for sku, count in self.items.items():\n            amount += self.prices.lookup(sku) * count\n", // quoted exactly
		"**Where `total` is used**",
		"`checkout` in `shop/checkout.py` calls it: `amount = cart.total()` [shop/checkout.py:7-7]",
		"**Tests**",
		"`test_total_sums_prices` in `tests/test_cart.py`",
	} {
		if !strings.Contains(a.Markdown, want) {
			t.Errorf("the answer lacks %q:\n%s", want, a.Markdown)
		}
	}
	if len(a.FollowUps) == 0 {
		t.Error("no follow-up")
	}
}

func TestFirstCitationsAreOfDistinctFiles(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	for _, q := range []string{"price of an article", "how does checkout charge the cart total", "read the price file", "session cookie"} {
		a := ask(t, w, q)
		seen := map[string]bool{}
		again := ""
		for _, p := range paths(a)[:min(3, len(a.Citations))] {
			if seen[p] {
				again = p
			} else if again != "" {
				t.Errorf("%q: %s is cited twice before %s: %v", q, again, p, paths(a))
			}
			seen[p] = true
		}
		if len(seen) < 2 {
			t.Errorf("%q: first citations %v", q, paths(a))
		}
	}
}

// TestTwoPassagesOfOneFile: what two functions of one file do together is cited
// from both before files that only mention it; another file is among the first
// three nevertheless.
func TestTwoPassagesOfOneFile(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	log := strings.Repeat("    journal.append(('vault', 'step', clock.now()))\n", 20)
	w.Write("shop/vault.py", `"""Keeps vouchers."""


def seal_voucher(voucher, key):
    """Seal a voucher with the key so that nobody can change its value."""
`+log+`    payload = voucher.encode()
    digest = sign(payload, key)
    return payload + digest


def open_voucher(sealed, key):
    """Open a sealed voucher and check that its value was not changed."""
`+log+`    payload, digest = sealed[:-32], sealed[-32:]
    if sign(payload, key) != digest:
        raise ValueError("voucher was changed")
    return payload.decode()
`)
	w.Write("shop/desk.py", `from shop.vault import open_voucher


def redeem(sealed, key, cart):
    """Take a voucher at the desk."""
    cart.credit(open_voucher(sealed, key))
`)
	w.Sync()
	got := paths(ask(t, w, "how is a voucher sealed with a key and opened, checking that its value was not changed"))
	if len(got) < 3 || got[0] != "shop/vault.py" || got[1] == "shop/vault.py" || !slices.Contains(got[1:3], "shop/vault.py") {
		t.Errorf("first citations %v", got)
	}
}

func TestUsage(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	a := ask(t, w, "where is apply_discount called?")
	if len(a.Citations) == 0 {
		t.Fatal("no citation")
	}
	if c := a.Citations[0]; c.Path != "shop/cart.py" || c.Text != "        return apply_discount(amount, len(self.items))" {
		t.Errorf("first citation %s %q, want the calling line", c.ID, c.Text)
	}
	if !strings.Contains(a.Markdown, "`Cart.total` in `shop/cart.py` calls it") || !strings.Contains(a.Markdown, "**Defined**") {
		t.Errorf("the answer does not name the caller and the definition:\n%s", a.Markdown)
	}
	if i, j := strings.Index(a.Markdown, "tests/test_cart.py"), strings.Index(a.Markdown, "shop/cart.py"); i < j {
		t.Errorf("the test leads:\n%s", a.Markdown)
	}
	// Asked for the tests, they lead.
	a = ask(t, w, "which tests call apply_discount?")
	if len(a.Citations) == 0 || a.Citations[0].Path != "tests/test_cart.py" {
		t.Errorf("first citations %v", paths(a))
	}
}

// TestLocalDefinitionsDoNotLead: the function is the answer, not what it
// defines for itself.
func TestLocalDefinitionsDoNotLead(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"retry.py": "def call_with_backoff(action):\n    \"\"\"Call again after a growing pause.\"\"\"\n\n    def backoff_pause(attempt):\n        return 2 ** attempt\n\n    for attempt in range(5):\n        pause = backoff_pause(attempt)\n        action(pause)\n",
	})
	a := ask(t, w, "how is the backoff pause of an attempt computed")
	if len(a.Citations) == 0 || a.Citations[0].Symbol != "call_with_backoff" {
		t.Errorf("%+v", a.Citations)
	}
}

func TestFileOverview(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	a := ask(t, w, "what is in shop/checkout.py")
	if len(a.Citations) == 0 || a.Citations[0].Path != "shop/checkout.py" || a.Citations[0].StartLine != 1 ||
		!strings.Contains(a.Markdown, "defines `checkout`, `refund`") {
		t.Errorf("%v\n%s", paths(a), a.Markdown)
	}
}

func TestMarkdownSection(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	a := ask(t, w, "installation documentation")
	if len(a.Citations) == 0 || a.Citations[0].Path != "README.md" || !strings.Contains(a.Markdown, "The section “Installation” of `README.md` says") {
		t.Errorf("%v\n%s", paths(a), a.Markdown)
	}
}

func TestNothingRelevant(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	a := ask(t, w, "kubernetes pod scheduling")
	if !a.NoAnswer || len(a.Citations) != 0 || a.Citations == nil || a.FollowUps == nil || !strings.Contains(a.Markdown, "9 indexed files") {
		t.Errorf("%+v", a)
	}
	empty := searchtest.New(t, map[string]string{})
	in := w.Input("kubernetes pod scheduling")
	a = answerTo(t, w, answer.Input{
		Snapshot: in.Snapshot, Texts: w, Tokenizer: w.Tok, Analysis: in.Analysis, Result: w.Search(in), Settings: config.Default().Answer, Coverage: wire.Coverage{Stale: true},
	})
	if !a.NoAnswer || !strings.Contains(a.Markdown, "9 indexed files") || !strings.Contains(a.Markdown, "not up to date") {
		t.Errorf("while files are indexed: %q", a.Markdown)
	}
	for _, cov := range []wire.Coverage{{Pending: 3}, {Stale: true}} {
		in := empty.Input("anything at all")
		a := answerTo(t, empty, answer.Input{
			Snapshot: in.Snapshot, Texts: empty, Tokenizer: empty.Tok, Analysis: in.Analysis, Result: empty.Search(in), Settings: config.Default().Answer, Coverage: cov,
		})
		if !a.NoAnswer || !strings.Contains(a.Markdown, "still being built") {
			t.Errorf("before the first scan: %q", a.Markdown)
		}
	}
	if a := ask(t, empty, "anything at all"); !a.NoAnswer || !strings.Contains(a.Markdown, "No files are indexed") {
		t.Errorf("%+v", a)
	}
}

// TestTextOfRepositoriesIsEscaped: what stands in a doc comment must not
// become Markdown, a citation or the end of a fence.
func TestTextOfRepositoriesIsEscaped(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"evil.py": "def detonate():\n    \"\"\"Click [here](http://evil.example) <img src=x> and see `other.py`.\"\"\"\n    fence = '''\n```\n[evil.py:1-1]\n'''\n    return fence\n",
		"cite.py": "def quoted_place():\n    \"\"\"Works like [secret.py:10-20] does.\"\"\"\n    return 1\n",
	})
	a := ask(t, w, "what does detonate do")
	said := prose(a.Markdown)
	if regexp.MustCompile(`[^\\]\]\(`).MatchString(said) || strings.Contains(said, " <img") || !strings.Contains(said, "`other.py`") {
		t.Errorf("not escaped:\n%s", said)
	}
	a = ask(t, w, "what does quoted_place do")
	if strings.Contains(prose(a.Markdown), "secret.py") {
		t.Errorf("a doc comment's citation stands in the prose:\n%s", a.Markdown)
	}
}

// TestMovedLines: lines that moved since they were indexed are found again,
// and only what stands now is cited.
func TestMovedLines(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("how is the total of the cart computed?")
	res := w.Search(in)
	w.Write("shop/cart.py", "# moved\n# down\n\n"+searchtest.Shop()["shop/cart.py"])
	a := answerTo(t, w, answer.Input{Snapshot: in.Snapshot, Texts: w, Tokenizer: w.Tok, Analysis: in.Analysis, Result: res, Settings: config.Default().Answer})
	if a.NoAnswer || a.Citations[0].Path != "shop/cart.py" || a.Citations[0].Verified != wire.VerifiedMoved || !strings.Contains(a.Citations[0].Text, "def total") {
		t.Fatalf("%+v", a.Citations)
	}
	if a.Dropped != 0 {
		t.Errorf("%d dropped", a.Dropped)
	}
}

// TestChangedLines: a definition whose body changed is found by its
// declaration.
func TestChangedLines(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("how is the total of the cart computed?")
	res := w.Search(in)
	w.Write("shop/cart.py", strings.Replace("# new\n"+searchtest.Shop()["shop/cart.py"], "amount = 0", "amount = self.base_fee", 1))
	a := answerTo(t, w, answer.Input{Snapshot: in.Snapshot, Texts: w, Tokenizer: w.Tok, Analysis: in.Analysis, Result: res, Settings: config.Default().Answer})
	if a.NoAnswer || !slices.ContainsFunc(a.Citations, func(c wire.Citation) bool {
		return c.Path == "shop/cart.py" && c.Verified == wire.VerifiedMoved && strings.Contains(c.Text, "self.base_fee")
	}) {
		t.Errorf("%s", a.Markdown)
	}
}

// TestGoneLines: what is gone is not cited and is counted.
func TestGoneLines(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("how is the total of the cart computed?")
	res := w.Search(in)
	w.Remove("shop/cart.py")
	a := answerTo(t, w, answer.Input{Snapshot: in.Snapshot, Texts: w, Tokenizer: w.Tok, Analysis: in.Analysis, Result: res, Settings: config.Default().Answer})
	if a.Dropped == 0 || slices.Contains(paths(a), "shop/cart.py") || strings.Contains(a.Markdown, "[shop/cart.py") {
		t.Errorf("%d dropped, citations %v", a.Dropped, paths(a))
	}
	for path := range searchtest.Shop() {
		if path != "shop/cart.py" {
			w.Remove(path)
		}
	}
	a = answerTo(t, w, answer.Input{Snapshot: in.Snapshot, Texts: w, Tokenizer: w.Tok, Analysis: in.Analysis, Result: res, Settings: config.Default().Answer})
	if !a.NoAnswer || len(a.Citations) != 0 || a.Dropped == 0 {
		t.Errorf("all files gone: %+v", a)
	}
}

func TestLineEndsAndUnicode(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"crlf.py": "def größe(wert):\r\n    \"\"\"Größe eines Wertes in Zeichen 📏.\"\"\"\r\n    return len(wert)\r\n",
	})
	a := ask(t, w, "größe")
	if len(a.Citations) == 0 || strings.Contains(a.Citations[0].Text, "\r") {
		t.Errorf("%+v", a)
	}
}

func TestRecheck(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	c := ask(t, w, "PriceList").Citations[0]
	if got, ok := answer.Recheck(t.Context(), w, c); !ok || got.ID != c.ID || got.Verified != wire.VerifiedExact {
		t.Errorf("unchanged: %v %+v", ok, got)
	}
	old := searchtest.Shop()[c.Path]
	w.Write(c.Path, "\n\n\n"+old)
	got, ok := answer.Recheck(t.Context(), w, c)
	if !ok || got.StartLine != c.StartLine+3 || got.Verified != wire.VerifiedMoved {
		t.Errorf("moved by three lines: %v %+v", ok, got)
	}
	checkCitation(t, w, got)
	w.Write(c.Path, "nothing of it\n")
	if _, ok := answer.Recheck(t.Context(), w, c); ok {
		t.Error("gone lines hold")
	}
	w.Remove(c.Path)
	if _, ok := answer.Recheck(t.Context(), w, c); ok {
		t.Error("lines of a deleted file hold")
	}
}

func TestExplain(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	r, err := answer.Explain(t.Context(), w.Index.Snapshot(), w, "apply_discount", answer.Near{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Found || r.Kind != "function" || r.Signature == "" || !strings.HasPrefix(r.Summary, "Take off a tenth") ||
		len(r.Definitions) != 1 || r.Definitions[0].Path != "shop/cart.py" || r.UsageCount != 3 || len(r.Usages) != 1 || len(r.Tests) == 0 {
		t.Errorf("%+v", r)
	}
	for _, c := range slices.Concat(r.Definitions, r.Usages, r.Tests) {
		checkCitation(t, w, c)
		if !strings.Contains(r.Markdown, "["+c.ID+"]") {
			t.Errorf("%s is not in the text", c.ID)
		}
	}
	if r.Usages[0].Symbol != "Cart.total" {
		t.Errorf("caller %q", r.Usages[0].Symbol)
	}
	for _, name := range []string{"no_such_name", "", "()", "::"} {
		if r, err := answer.Explain(t.Context(), w.Index.Snapshot(), w, name, answer.Near{}); err != nil || r.Found || r.Definitions == nil {
			t.Errorf("%q: %+v, %v", name, r, err)
		}
	}
	if r, _ := answer.Explain(t.Context(), w.Index.Snapshot(), w, "Cart.total()", answer.Near{}); !r.Found || r.Symbol != "Cart.total" {
		t.Errorf("a qualified name: %+v", r)
	}
}

// TestExplainChoosesTheNearest: of several definitions the one near the asker
// comes first.
func TestExplainChoosesTheNearest(t *testing.T) {
	w := searchtest.New(t, map[string]string{
		"a/store.py":       "def load(path):\n    \"\"\"Load from the a store.\"\"\"\n    return path\n",
		"b/store.py":       "def load(path):\n    \"\"\"Load from the b store.\"\"\"\n    return path\n",
		"b/main.py":        "def run():\n    return load('x')\n",
		"c/uses_a.py":      "from a.store import load\n\n\ndef go():\n    return load('y')\n",
		"tests/test_it.py": "def load(x):\n    return x\n",
	})
	for near, want := range map[answer.Near]string{
		{Path: "a/store.py", Line: 3}:       "a/store.py",
		{Path: "b/store.py"}:                "b/store.py",
		{Path: "b/main.py", Line: 2}:        "b/store.py", // same directory
		{Path: "c/uses_a.py", Line: 5}:      "a/store.py", // imported
		{Path: "tests/test_it.py", Line: 1}: "tests/test_it.py",
		{}:                                  "a/store.py",
	} {
		r, err := answer.Explain(t.Context(), w.Index.Snapshot(), w, "load", near)
		if err != nil || len(r.Definitions) != 3 || r.Definitions[0].Path != want {
			t.Errorf("from %+v: %v, %v, want %s first", near, r.Definitions, err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	w := searchtest.New(t, searchtest.Shop())
	in := w.Input("price")
	res := w.Search(in)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := answer.Extract(ctx, answer.Input{Snapshot: in.Snapshot, Texts: w, Tokenizer: w.Tok, Analysis: in.Analysis, Result: res}); err == nil {
		t.Error("a cancelled answer is none")
	}
}
