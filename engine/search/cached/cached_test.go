package cached_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/config"
	"coderag-ls/engine/embed"
	"coderag-ls/engine/query"
	"coderag-ls/engine/search"
	"coderag-ls/engine/search/cached"
	"coderag-ls/engine/search/searchtest"
	"coderag-ls/engine/wire"
)

const hour = time.Hour

// clock is a clock that is set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// ask is a question to a workspace as it stands.
func ask(t *testing.T, w *searchtest.Workspace, text string) cached.Question {
	t.Helper()
	snap := w.Index.Snapshot()
	a := query.New(w.Tok).Analyze(text, search.NewVocabulary(snap))
	return cached.Question{Text: text, Input: search.Input{
		Snapshot: snap, Analysis: &a, Settings: config.Default().Search, Embedders: []embed.Embedder{w.Model},
	}}
}

// put searches and keeps what was found.
func put(t *testing.T, w *searchtest.Workspace, c *cached.Cache, text string) (cached.Key, search.Result) {
	t.Helper()
	q := ask(t, w, text)
	res, err := search.New(w.Tok).Search(context.Background(), q.Input)
	if err != nil {
		t.Fatal(err)
	}
	key, ok := cached.NewKey(q)
	if !ok {
		t.Fatalf("%q has no key", text)
	}
	c.Put(key, q, nil, res)
	return key, res
}

func workspace(t *testing.T) *searchtest.Workspace {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("f%d.go", i)] = fmt.Sprintf("package p\n\n// Work%d does it.\nfunc Work%d() {}\n", i, i)
	}
	return searchtest.New(t, files)
}

// TestC13TimeToLive: a result is given until its time is over, and the same as
// it was found.
func TestC13TimeToLive(t *testing.T) {
	w, at := workspace(t), &clock{time.Unix(1, 0)}
	c := cached.New(4, at.now)
	key, want := put(t, w, c, "Work1")
	at.at = at.at.Add(hour - 1)
	_, got, ok := c.Get(key, w.Index.Snapshot(), hour)
	if !ok || !reflect.DeepEqual(got.Hits, want.Hits) || got.Relevance != want.Relevance {
		t.Errorf("kept %v: %+v, want %+v", ok, got.Hits, want.Hits)
	}
	at.at = at.at.Add(1)
	if _, _, ok := c.Get(key, w.Index.Snapshot(), hour); ok {
		t.Error("an hour later it is given still")
	}
	if n := c.Counters(); n.Entries != 0 || n.Hits != 1 || n.Misses != 1 {
		t.Errorf("%+v", n)
	}
}

// TestC13LeastRecentGoes: the cache keeps what was asked for last, and nothing
// of an index that is replaced.
func TestC13LeastRecentGoes(t *testing.T) {
	w := workspace(t)
	c := cached.New(2, nil)
	snap := w.Index.Snapshot()
	get := func(key cached.Key) bool { _, _, ok := c.Get(key, snap, hour); return ok }
	one, _ := put(t, w, c, "Work1")
	two, _ := put(t, w, c, "Work2")
	if !get(one) {
		t.Fatal("the first is gone")
	}
	put(t, w, c, "Work3")
	if !get(one) || get(two) {
		t.Errorf("of three, two are to be kept, the last ones: %v %v", get(one), get(two))
	}
	w.Write("f9.go", "package p\n\nfunc Work9() {}\n")
	w.Sync()
	if again, _ := cached.NewKey(ask(t, w, "Work1")); again == one {
		t.Fatal("the index is another, the key is the same")
	}
	put(t, w, c, "Work9")
	if n := c.Counters().Entries; n != 1 {
		t.Errorf("%d results are kept, want that of the new index", n)
	}
	c.Resize(0)
	key, _ := put(t, w, c, "Work9")
	if get(key) || c.Counters().Entries != 0 {
		t.Error("a cache of no size keeps something")
	}
}

// TestC13KeyHoldsEverything: each field of a search and of a question makes
// another key.
func TestC13KeyHoldsEverything(t *testing.T) {
	w := workspace(t)
	base, _ := cached.NewKey(ask(t, w, "Work1"))
	apart := map[string]bool{"Snapshot": true, "Analysis": true, "Embedders": true, "Importance": true} // the state; of the text; below; of the state
	for i := range reflect.TypeFor[search.Input]().NumField() {
		name := reflect.TypeFor[search.Input]().Field(i).Name
		if apart[name] {
			continue
		}
		q := ask(t, w, "Work1")
		if !vary(reflect.ValueOf(&q.Input).Elem().Field(i)) {
			t.Errorf("this test cannot change search.Input.%s: teach it", name)
		}
		if key, ok := cached.NewKey(q); !ok || key == base {
			t.Errorf("search.Input.%s is not in the key", name)
		}
	}
	for name, change := range map[string]func(*cached.Question){
		"text":    func(q *cached.Question) { q.Text += "?" },
		"history": func(q *cached.Question) { q.History = []wire.Turn{{Query: "Work2"}} },
		"budget":  func(q *cached.Question) { q.TokenBudget = 5 },
		"models":  func(q *cached.Question) { q.Input.Embedders = nil },
	} {
		q := ask(t, w, "Work1")
		change(&q)
		if key, ok := cached.NewKey(q); !ok || key == base {
			t.Errorf("%s is not in the key", name)
		}
	}
	if _, ok := cached.NewKey(ask(t, w, strings.Repeat("long ", 1000))); ok {
		t.Error("a pasted log has a key")
	}
}

// vary changes a value, or the first field of a struct that it can change.
func vary(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(v.Float() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		item := reflect.New(v.Type().Elem()).Elem()
		vary(item)
		v.Set(reflect.Append(v, item))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && vary(v.Field(i)) {
				return true
			}
		}
		return false
	default:
		return false
	}
	return true
}
