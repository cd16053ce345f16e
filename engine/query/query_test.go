package query_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/query"
	"coderag-ls/engine/wire"
)

// words is a vocabulary of some names, files and terms.
type words struct {
	defined, files []string
	terms          map[string]int
}

func (w words) Defined(name string) bool { return slices.Contains(w.defined, name) }
func (w words) HasFile(path string) bool {
	return slices.ContainsFunc(w.files, func(f string) bool { return f == path || strings.HasSuffix(f, "/"+path) })
}
func (w words) DF(term string) int      { return w.terms[term] }
func (w words) Names() iter.Seq[string] { return slices.Values(w.defined) }

var corpus = words{
	defined: []string{"Session", "run", "ClientSession", "add_url_rule", "JSON"},
	files:   []string{"src/app.py", "lib/core/Axios.js", "docs/index.md"},
	terms:   map[string]int{"db": 4, "databas": 9, "config": 5, "web": 12, "socket": 10, "worktre": 2, "auth": 3, "=settle": 1},
}

var tok = lexical.NewTokenizer()

func analyzer() *query.Analyzer { return query.New(tok) }

func TestC1Intents(t *testing.T) {
	for q, want := range map[string]query.Intent{
		"where is add_url_rule defined?":             query.FindDefinition,
		"definition of ClientSession":                query.FindDefinition,
		"ClientSession":                              query.FindDefinition,
		"add_url_rule()":                             query.FindDefinition,
		"which file contains the retry policy":       query.FindDefinition,
		"who calls add_url_rule":                     query.FindUsage,
		"where is the session cookie used":           query.FindUsage,
		"usages of Session":                          query.FindUsage,
		"what calls parse_config":                    query.FindUsage,
		"Where are the callers of Session.send?":     query.FindUsage,
		"how does routing work":                      query.UnderstandModule,
		"explain the retry logic":                    query.UnderstandModule,
		"what happens when a request times out":      query.UnderstandModule,
		"overview of the storage layer":              query.UnderstandModule,
		"code similar to parse_header":               query.FindSimilar,
		"alternatives to the json encoder":           query.FindSimilar,
		"connection pooling":                         query.General,
		"HTTP status codes and their default reason": query.General,
	} {
		if got := analyzer().Analyze(q, corpus).Intent; got != want {
			t.Errorf("%q: intent %s, want %s", q, got, want)
		}
	}
}

func TestC1Entities(t *testing.T) {
	for _, c := range []struct {
		q    string
		want []string // kind:text, with :line for paths
	}{
		{"how does ClientSession open sockets", []string{"pascal:ClientSession"}},
		{"what does sendFile do", []string{"camel:sendFile"}},
		{"MAX_RETRIES and add_url_rule", []string{"snake:MAX_RETRIES", "snake:add_url_rule"}},
		{"where does app.route register", []string{"dotted:app.route"}},
		{"std::vector<int> and self->items", []string{"dotted:std::vector", "dotted:self->items"}},
		{"what is in src/app.py:12", []string{"path:src/app.py:12"}},
		{"explain app.py", []string{"path:app.py"}},
		{`File "src/app.py", line 40, in run`, []string{"path:src/app.py:40", "identifier:run"}},
		{"see lib/core/Axios.js#L33.", []string{"path:lib/core/Axios.js:33"}},
		{"error code 0x884 from the driver", []string{"hex:0x884"}},
		{`who prints "connection reset by peer"`, []string{"quoted:connection reset by peer"}},
		{"what does `run` do", []string{"identifier:run"}},
		{"run()", []string{"identifier:run"}},
		{"where is run defined", []string{"identifier:run"}},
		{"open a Session", []string{"identifier:Session"}},
		// Capitals and dots of prose are no names.
		{"How does HTTP caching work? And JSON?", []string{"pascal:JSON"}},
		{"the request/response cycle, e.g. and/or", nil},
		{"It works.The rest follows", nil},
		{"how do I use Node.js here", nil},
		{"ValueError: bad magic number", []string{"pascal:ValueError", "error:bad magic number"}},
		{"panic: runtime error: index out of range", []string{"error:runtime error: index out of range"}},
	} {
		var got []string
		for _, e := range analyzer().Analyze(c.q, corpus).Entities {
			s := string(e.Kind) + ":" + e.Text
			if e.Line > 0 {
				s += ":" + itoa(e.Line)
			}
			got = append(got, s)
			if e.Kind != query.Error && !strings.Contains(c.q, e.Text) {
				t.Errorf("%q: entity %q is not in the question", c.q, e.Text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: entities %q, want %q", c.q, got, c.want)
		}
	}
}

func itoa(n int) string {
	s := ""
	for ; n > 0; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

func TestC1Hints(t *testing.T) {
	a := analyzer().Analyze("which tests cover the python parser class?", corpus)
	if !a.Wants.Tests || a.Wants.Docs || !slices.Equal(a.Languages, []string{"python"}) || len(a.Kinds) != 1 {
		t.Errorf("hints %+v, languages %v, kinds %v", a.Wants, a.Languages, a.Kinds)
	}
	for q, want := range map[string]query.Wants{
		"which tests cover the parser?":        {Tests: true},
		"tests for the retry logic":            {Tests: true},
		"is the parser tested":                 {Tests: true},
		"how are test files discovered":        {},
		"the test runner's reporter":           {},
		"where does the documentation say it":  {Docs: true},
		"show me an example of streaming":      {Examples: true},
		"how does the doc comment parser work": {},
	} {
		if got := analyzer().Analyze(q, corpus).Sought; got != want {
			t.Errorf("%q: sought %+v, want %+v", q, got, want)
		}
	}
	// English words that are languages too count only where they mean one.
	if a := analyzer().Analyze("go to the next page and swift delivery", corpus); len(a.Languages) > 0 {
		t.Errorf("languages %v for English words", a.Languages)
	}
	if a := analyzer().Analyze("retry loop in go code", corpus); !slices.Equal(a.Languages, []string{"go"}) {
		t.Errorf("languages %v, want go", a.Languages)
	}
	for q, want := range map[string]query.Wants{
		"how to install it":               {Docs: true},
		"an example of streaming":         {Examples: true},
		"which github workflow publishes": {Config: true},
		"vendored copy of zlib":           {Vendored: true},
		"generated protobuf code":         {Generated: true},
	} {
		if got := analyzer().Analyze(q, corpus).Wants; got != want {
			t.Errorf("%q: wants %+v, want %+v", q, got, want)
		}
	}
}

func TestCleaned(t *testing.T) {
	for q, want := range map[string]string{
		"Can you please explain how the router works?": "router works",
		"where is the cache invalidated":               "cache invalidated",
		"Show me the definition of Foo":                "definition of Foo",
		"how":                                          "how",
		"???":                                          "???",
	} {
		if got := analyzer().Analyze(q, corpus).Cleaned; got != want {
			t.Errorf("Cleaned(%q) = %q, want %q", q, got, want)
		}
	}
}

// TestC1Expansion: words get their other forms, of the same group and with less
// weight, and only where the index has them.
func TestC1Expansion(t *testing.T) {
	weight := func(q, term string) (w float64, group int) {
		for _, x := range analyzer().Analyze(q, corpus).Terms {
			if x.Text == term {
				return x.Weight, x.Group
			}
		}
		return 0, -1
	}
	own, g := weight("database migrations", "databas")
	added, h := weight("database migrations", "db")
	if own != 1 || added <= 0 || added >= own || g != h {
		t.Errorf("database has weight %g of group %d, db %g of group %d", own, g, added, h)
	}
	if w, _ := weight("websocket frames", "socket"); w <= 0 {
		t.Error("websocket does not look for web socket")
	}
	if w, _ := weight("git work tree", "worktre"); w <= 0 {
		t.Error("work tree does not look for worktree")
	}
	if w, _ := weight("settle the promise", "=settle"); w <= 0 {
		t.Error("a plain word does not look for the identifier")
	}
	if w, _ := weight("authentication", "login"); w != 0 {
		t.Error("a synonym is searched that the index does not have")
	}
	if a := analyzer().Analyze("database migrations", corpus); !slices.Contains(a.Plan.Expanded, "db") {
		t.Errorf("the plan tells of %v", a.Plan.Expanded)
	}
	off := query.NewWithout(tok, query.Off{Expansion: true}).Analyze("database migrations", corpus)
	if len(off.Expanded) > 0 || len(off.Terms) != 2 || len(off.Stems) != 2 {
		t.Errorf("switched off: terms %+v, stems %v, expanded %v", off.Terms, off.Stems, off.Expanded)
	}
}

func TestC2FastPath(t *testing.T) {
	for q, want := range map[string]string{
		"ClientSession": query.RouteFast, "add_url_rule": query.RouteFast, "0x884": query.RouteFast, "app.py": query.RouteFast, "src/app.py:12": query.RouteFast,
		"how does ClientSession work": query.RouteRules, "what is in app.py": query.RouteRules, "the 0x884 code": query.RouteRules,
	} {
		a := analyzer().Analyze(q, corpus)
		if a.Plan.Route != want || len(a.Plan.Requests) != 1 || a.Plan.Requests[0].Query == "" || len(a.Plan.Requests[0].Reasoning) < 10 {
			t.Errorf("%q: plan %+v, want route %s", q, a.Plan, want)
		}
	}
	if a := analyzer().Analyze("app.py", corpus); !slices.Equal(a.Plan.Requests[0].FilePatterns, []string{"app.py"}) {
		t.Errorf("file name has patterns %v", a.Plan.Requests[0].FilePatterns)
	}
	if a := query.NewWithout(tok, query.Off{FastPath: true}).Analyze("ClientSession", corpus); a.Plan.Route != query.RouteRules {
		t.Errorf("switched off: route %s", a.Plan.Route)
	}
	a := analyzer().Analyze("which python class does ClientSession in src/app.py:12 extend", corpus)
	if want := []wire.Entity{{Kind: "pascal", Text: "ClientSession"}, {Kind: "path", Text: "src/app.py", Line: 12}}; !slices.Equal(a.Plan.Entities, want) {
		t.Errorf("the plan tells of %+v", a.Plan.Entities)
	}
	if !slices.Equal(a.Plan.Languages, []string{"python"}) || !slices.Equal(a.Plan.ChunkTypes, []string{"class"}) {
		t.Errorf("the plan tells of languages %v and chunk types %v", a.Plan.Languages, a.Plan.ChunkTypes)
	}
}

func TestD6FollowUps(t *testing.T) {
	// A word alone that names nothing here is passed over.
	history := []wire.Turn{{Query: "how does add_url_rule work?", Answer: "It registers."}, {Query: "thanks", Answer: "ok"}}
	for q, want := range map[string]string{
		"where is it called?":             "where is add_url_rule called?",
		"and in the tests?":               "and in the tests add_url_rule",
		"what does ClientSession do":      "what does ClientSession do", // names something itself
		"how does connection reuse work?": "how does connection reuse work?",
	} {
		a := analyzer().FollowUp(q, history, corpus)
		if a.Query != want || a.FollowUp != (q != want) {
			t.Errorf("FollowUp(%q) = %q (%v), want %q", q, a.Query, a.FollowUp, want)
		}
	}
	// Where no question named anything, the answer's first name counts, then
	// the words.
	a := analyzer().FollowUp("where is it called?", []wire.Turn{{Query: "how are routes added", Answer: "By `addRoute` [a.go:1-2]."}}, corpus)
	if !slices.Contains(a.Names, "addRoute") {
		t.Errorf("names %v, want the answer's", a.Names)
	}
	a = analyzer().FollowUp("where is it tested?", []wire.Turn{{Query: "connection pooling", Answer: ""}}, corpus)
	if !strings.Contains(a.Query, "connection pooling") {
		t.Errorf("query %q does not hold the earlier words", a.Query)
	}
	if a := analyzer().FollowUp("where is it called?", nil, corpus); a.FollowUp {
		t.Error("a follow-up without history")
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"where is `run` called?", "File \"a.py\", line 3", "a::b->c.d()", "“x", "'", "./..//:1", "\xff\xfe", "0x", "日本語のキャッシュ"} {
		f.Add(s)
	}
	an := analyzer()
	f.Fuzz(func(t *testing.T, q string) {
		a := an.FollowUp(q, []wire.Turn{{Query: q, Answer: q}}, corpus)
		for _, e := range a.Entities {
			if e.Start < 0 || e.End > len(a.Query) || e.Start > e.End || e.Text == "" {
				t.Fatalf("entity %+v of %q", e, a.Query)
			}
		}
		if len(a.Plan.Requests) == 0 {
			t.Fatal("no request")
		}
		for _, term := range a.Terms {
			if term.Text == "" || term.Weight <= 0 {
				t.Fatalf("term %+v", term)
			}
		}
	})
}
