// Package searchtest makes small real workspaces with a real index for tests
// of what works on snapshots.
package searchtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/text"
	"coderag-ls/engine/wire"
)

// Workspace is a folder of files with its index. The index is closed when the
// test ends.
type Workspace struct {
	t     testing.TB
	Dir   string
	Index *index.Index
	Model *static.Model
	Tok   *lexical.Tokenizer
}

// New writes files (slash path to content) and indexes them.
func New(t testing.TB, files map[string]string) *Workspace {
	t.Helper()
	m, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &Workspace{t: t, Dir: t.TempDir(), Model: m, Tok: lexical.NewTokenizer()}
	for path, content := range files {
		w.Write(path, content)
	}
	w.Index, err = index.Open(t.Context(), index.Options{
		Roots: []file.Root{{Name: "w", Dir: w.Dir}}, CacheDir: t.TempDir(), Inline: m, PathWeight: -1,
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) {
			return bunt.Open(ctx, dir, bunt.Options{})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Index.Close(); err != nil {
			t.Errorf("closing the index: %v", err)
		}
	})
	w.Sync()
	return w
}

// Write writes a file without telling the index.
func (w *Workspace) Write(path, content string) {
	w.t.Helper()
	abs := filepath.Join(w.Dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(abs, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// Remove deletes a file without telling the index.
func (w *Workspace) Remove(path string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.Dir, filepath.FromSlash(path))); err != nil {
		w.t.Fatal(err)
	}
}

// Sync waits until the index holds what is on disk.
func (w *Workspace) Sync() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := w.Index.Sync(ctx, true, true); err != nil {
		w.t.Fatal(err)
	}
}

// Text implements answer.Texts from the disk.
func (w *Workspace) Text(_ context.Context, path string) (*text.Document, bool) {
	c, err := file.Read(filepath.Join(w.Dir, filepath.FromSlash(path)), file.DefaultMaxBytes)
	if err != nil {
		return nil, false
	}
	return text.New(c.Text), true
}

// Input is the search of a question with default settings.
func (w *Workspace) Input(q string) search.Input {
	snap := w.Index.Snapshot()
	a := query.New(w.Tok).Analyze(q, search.NewVocabulary(snap))
	return search.Input{
		Snapshot: snap, Analysis: &a, Settings: config.Default().Search, Embedders: []embed.Embedder{w.Model},
		Filters: wire.Filters{FilePatterns: a.Plan.Requests[0].FilePatterns},
	}
}

// Search searches.
func (w *Workspace) Search(in search.Input) search.Result {
	w.t.Helper()
	res, err := search.New(w.Tok).Search(w.t.Context(), in)
	if err != nil {
		w.t.Fatalf("searching %q: %v", in.Analysis.Query, err)
	}
	return res
}

// Paths are the files of a result's hits, in order, without repetition.
func Paths(in search.Input, res search.Result) []string {
	var paths []string
	seen := map[string]bool{}
	for _, h := range res.Hits {
		if p := in.Snapshot.Doc(h.Ref).File.Path; !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
	}
	return paths
}

// Shop is a small workspace in three languages with tests and documentation,
// for questions whose answers are plain.
func Shop() map[string]string {
	return map[string]string{
		"shop/cart.py": `"""The shopping cart."""
from shop.prices import PriceList


class Cart:
    """Holds the items that a customer wants to buy."""

    def __init__(self, prices: PriceList):
        self.prices = prices
        self.items = {}

    def add_item(self, sku, count=1):
        """Put an article into the cart, or more of it."""
        self.items[sku] = self.items.get(sku, 0) + count

    def total(self):
        """Sum the prices of all items, discounts included."""
        amount = 0
        for sku, count in self.items.items():
            amount += self.prices.lookup(sku) * count
        return apply_discount(amount, len(self.items))


def apply_discount(amount, kinds):
    """Take off a tenth when five kinds of article are bought together."""
    if kinds >= 5:
        return amount * 0.9
    return amount
`,
		"shop/prices.py": `"""Where prices come from."""
import json


class PriceList:
    """Knows what every article costs."""

    def __init__(self, path):
        with open(path) as f:
            self.table = json.load(f)

    def lookup(self, sku):
        """Return the price of one article in cents; unknown ones raise KeyError."""
        return self.table[sku]

    def reload(self, path):
        """Read the price file again after it changed on disk."""
        with open(path) as f:
            self.table = json.load(f)
`,
		"shop/checkout.py": `"""Turning a cart into an order."""
from shop.cart import Cart


def checkout(cart: Cart, payment):
    """Charge the customer's card and empty the cart."""
    amount = cart.total()
    receipt = payment.charge(amount)
    cart.items.clear()
    return receipt


def refund(receipt, payment):
    """Give the money of an order back."""
    return payment.refund(receipt.amount)
`,
		"server/router.go": `// Package server answers HTTP requests.
package server

import "net/http"

// Router dispatches requests to handlers by their path.
type Router struct {
	routes map[string]http.Handler
}

// Handle registers a handler for a path.
func (r *Router) Handle(path string, h http.Handler) {
	if r.routes == nil {
		r.routes = map[string]http.Handler{}
	}
	r.routes[path] = h
}

// ServeHTTP looks the path up and answers 404 where nothing is registered.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h, ok := r.routes[req.URL.Path]
	if !ok {
		http.NotFound(w, req)
		return
	}
	h.ServeHTTP(w, req)
}
`,
		"web/session.ts": `import { encode } from "./cookie";

/** Keeps who is logged in. */
export class SessionStore {
  private sessions = new Map<string, string>();

  /** Opens a session for a user and returns its cookie. */
  login(user: string): string {
    const id = Math.random().toString(36);
    this.sessions.set(id, user);
    return encode("session", id);
  }

  /** Ends a session. */
  logout(id: string): void {
    this.sessions.delete(id);
  }
}
`,
		"web/cookie.ts": `/** Writes a cookie header. */
export function encode(name: string, value: string): string {
  return name + "=" + encodeURIComponent(value) + "; HttpOnly";
}
`,
		"tests/test_cart.py": `from shop.cart import Cart, apply_discount


def test_total_sums_prices():
    cart = Cart(prices={"a": 2})
    cart.add_item("a", 3)
    assert cart.total() == 6


def test_apply_discount():
    assert apply_discount(100, 5) == 90
`,
		"README.md": `# Shop

A small shop.

## Installation

Run pip install shop and create a price file.

## Discounts

Customers who buy five kinds of article pay a tenth less.
`,
		"config.toml": "[prices]\npath = \"prices.json\"\n\n[server]\nport = 8080\n",
	}
}
