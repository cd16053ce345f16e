package lexical_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"coderag-ls/engine/lexical"
)

func TestC5Split(t *testing.T) {
	tok := lexical.NewTokenizer()
	for in, want := range map[string]string{
		"HTTPServer":                  "http server",
		"getUserName":                 "get user name",
		"get_user_by_id":              "get user by id",
		"XMLHttpRequest":              "xml http request",
		"parseURLs":                   "parse urls",
		"userIDs":                     "user ids",
		"__init__":                    "init",
		"MAX_BUFFER_SIZE":             "max buffer size",
		"_":                           "",
		"sha256Sum":                   "sha256 sha 256 sum",
		"SHA256_NI":                   "sha256 sha 256 ni",
		"utf8":                        "utf8 utf",
		"HTTP2Server":                 "http2 http server",
		"runE2ETests":                 "run e2e tests",
		"x509":                        "x509 509",
		"int64ToString":               "int64 int 64 to string",
		"iPhone":                      "i phone",
		"aB":                          "a b",
		"0x1F":                        "0x1f",
		"E1234":                       "e1234 1234",
		"deadBEEF01":                  "deadbeef01",
		"6a09e667":                    "6a09e667",
		"facade":                      "facade",
		"404":                         "404",
		"7":                           "",
		"1234567890123":               "",
		"1_000_000":                   "000 000",
		"64bit":                       "64bit 64 bit",
		"http_server.go":              "http server go",
		"kebab-case-name":             "kebab case name",
		"Größe":                       "größe",
		"übersetzeText":               "übersetze text",
		"überGröße_änderung":          "über größe änderung",
		"Москва":                      "москва",
		"ＦｕｌｌＷｉｄｔｈ":                   "full width",
		"caf\u0065\u0301":             "café",
		"数据库":                         "数据 据库",
		"用":                           "用",
		"获取User列表":                    "获取 user 列表",
		"データベース":                      "デー ータ タベ ベー ース",
		"a\xffbc":                     "a bc",
		"foo\x00bar":                  "foo bar",
		strings.Repeat("aGVsbG8", 40): "",
	} {
		if got := strings.Join(tok.Split(in), " "); got != want {
			t.Errorf("Split(%q) = %q, want %q", in, got, want)
		}
	}
}

// index makes a segment of documents.
func index(docs ...lexical.Doc) []lexical.Part {
	b := lexical.NewBuilder(lexical.NewTokenizer())
	for _, d := range docs {
		b.Add(d)
	}
	return []lexical.Part{{Segment: b.Build()}}
}

func TestDocumentTerms(t *testing.T) {
	const body = "func (s *Server) getUserName(id int) (string, error) { // the id of an user in db, see HTTPServer\n return s.db.find(id, for_each)\n}"
	comment := strings.Index(body, "//")
	parts := index(lexical.Doc{
		Body: body, Comments: []lexical.Span{{Start: comment, End: strings.IndexByte(body, '\n')}},
		Name: "user_store.go", Path: "internal/db", Defs: []string{"Server.getUserName"}, Summary: "Looks users up by their id",
	})
	want := map[string]lexical.Frequencies{
		"=getusername": {lexical.Body: 1, lexical.Defs: 1},
		"get":          {lexical.Body: 1, lexical.Defs: 1},
		"user":         {lexical.Body: 1, lexical.Comment: 1, lexical.Name: 1, lexical.Defs: 1, lexical.Summary: 1},
		"=server":      {lexical.Body: 1, lexical.Defs: 1},
		"server":       {lexical.Body: 1, lexical.Comment: 1, lexical.Defs: 1},
		"=httpserver":  {lexical.Comment: 1},
		"http":         {lexical.Comment: 1},
		"id":           {lexical.Body: 2}, // a prose word of two letters counts in code only
		"=id":          {lexical.Body: 2},
		"db":           {lexical.Body: 1, lexical.Path: 1},
		"=for_each":    {lexical.Body: 1},
		"for":          {lexical.Body: 1}, // a part of an identifier, though a stop word
		"=user_store":  {lexical.Name: 1},
		"return":       {lexical.Body: 1}, // keywords stay
		"the":          {},
		"=the":         {},
		"s":            {},
		"=s":           {},
		"an":           {},
		"look":         {lexical.Summary: 1},
	}
	for term, tf := range want {
		got := lexical.LookupTerm(parts, term)
		if tf == (lexical.Frequencies{}) {
			if len(got) > 0 {
				t.Errorf("%q is indexed: %v", term, got[0].TF)
			}
			continue
		}
		if len(got) != 1 || got[0].TF != tf {
			t.Errorf("%q: got %v, want %v", term, got, tf)
		}
	}
}

func TestC5ProseLeavesShortWordsOut(t *testing.T) {
	parts := index(lexical.Doc{Prose: true, Body: "Go to my db or DB, call io_uring via foo."})
	for term, want := range map[string]int{"db": 1, "io": 1, "foo": 1, "go": 0, "to": 0, "my": 0, "=foo": 0, "=io_uring": 1} {
		n := 0
		for _, o := range lexical.LookupTerm(parts, term) {
			n = int(o.TF[lexical.Body])
		}
		if n != want {
			t.Errorf("%q: %d times, want %d", term, n, want)
		}
	}
}

func terms(ts []lexical.Term) string {
	var out []string
	for _, t := range ts {
		out = append(out, t.Text)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestQuery(t *testing.T) {
	tok := lexical.NewTokenizer()
	for in, want := range map[string]string{
		"Where does the client follow redirects?": "client follow redirect",
		"getUserName":            "=getusername get name user",
		"error 0x884":            "0x884 error",
		"send_static_file()":     "=send_static_file file send static",
		"how is the Router used": "=router router use",
		"redirect redirects":     "redirect",
		"db connection":          "connect db",
		"what is this":           "",
		"find something":         "find someth",
		"":                       "",
		"用户名":                    "户名 用户",
		"sha256":                 "256 =sha256 sha sha256",
	} {
		if got := terms(tok.Query(in)); got != want {
			t.Errorf("Query(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQueryWeightsAndGroups(t *testing.T) {
	tok := lexical.NewTokenizer()
	byText := func(q string) map[string]lexical.Term {
		m := map[string]lexical.Term{}
		for _, term := range tok.Query(q) {
			m[term.Text] = term
		}
		return m
	}
	m := byText("which function handles timeouts")
	if m["timeout"].Weight != 1 || m["function"].Weight >= 1 {
		t.Errorf("keywords should weigh less: %v", m)
	}
	m = byText("static class")
	if m["static"].Weight != 1 || m["class"].Weight != 1 {
		t.Errorf("keywords alone should weigh: %v", m)
	}
	m = byText("checksum sha256")
	if m["sha"].Group != m["sha256"].Group || m["checksum"].Group == m["sha256"].Group || m["sha"].Weight >= m["sha256"].Weight {
		t.Errorf("pieces belong to their word: %v", m)
	}
	if many := tok.Query("alpha bravo charlie delta echo foxtrot golf hotel " +
		"india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu one two three four five six seven eight"); many[len(many)-1].Group != lexical.MaxGroups-1 {
		t.Errorf("last group is %d", many[len(many)-1].Group)
	}
}

func TestTokens(t *testing.T) {
	tok := lexical.NewTokenizer()
	const text = "The HTTPServer größer 数据库"
	var got []string
	for _, tk := range tok.Tokens(text) {
		got = append(got, text[tk.Start:tk.End]+":"+strings.Join(tk.Stems, "+")+":"+tk.Exact)
	}
	want := []string{"The::=the", "HTTPServer:http+server:=httpserver", "größer:größer:=größer", "数据:数据:", "据库:据库:"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTokenizerIsShared is for the race detector.
func TestTokenizerIsShared(t *testing.T) {
	tok := lexical.NewTokenizer()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, w := range []string{"connections", "connected", "running", "walks"} {
				tok.Stems(w + "A " + w)
			}
		})
	}
	wg.Wait()
	if got := tok.Stem("connections"); got != "connect" {
		t.Errorf("stem is %q", got)
	}
}

// FuzzTokens checks that any text gives tokens within it, in order, that the
// document and the query agree on.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"HTTPServer get_user 0x1F", "数据库x数据", "__init__ a\xffb", "ÜberGröße ſ ǅ K", "ก็ไทย e\u0301_\u0301", "ﬁ_ﬃ 1e9 ½"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tok := lexical.NewTokenizer()
		last := 0
		for _, tk := range tok.Tokens(s) {
			if tk.Start < last || tk.End <= tk.Start || tk.End > len(s) {
				t.Fatalf("token %+v after %d in %q", tk, last, s)
			}
			last = tk.Start
			for _, stem := range tk.Stems {
				if stem == "" || strings.HasPrefix(stem, "=") || !utf8.ValidString(stem) {
					t.Fatalf("stem %q of %q", stem, s)
				}
			}
		}
		parts := index(lexical.Doc{Body: s, Defs: []string{s}})
		for _, term := range tok.Query(s) {
			if strings.HasPrefix(term.Text, "=") {
				continue // those of single words are for code only
			}
			if lexical.DF(parts, term.Text) == 0 && !lexical.StopWord(term.Text) {
				t.Fatalf("the query has %q, the document has not: %q", term.Text, s)
			}
		}
	})
}
