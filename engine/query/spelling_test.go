package query_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/query"
)

// TestC1Spelling: a name that nothing has is read as the defined one that it is a
// misspelling of; what is known, short, or another name, is left as it is.
func TestC1Spelling(t *testing.T) {
	v := symbols{"ClientSession", "get_user_profile", "parse_v2", "set_item", "get_item", "Router", "minimum_size", "countWombats", "encode", "ConnectionPool", "run"}
	for q, want := range map[string]string{
		"ClientSesion":                         "ClientSession", // a letter less
		"where is CleintSession defined":       "ClientSession", // two swapped
		"how does ConnecttionPol work":         "ConnectionPool",
		"getUserProfile":                       "get_user_profile", // another style
		"who calls api.get_user_profil()":      "get_user_profile",
		"ClientSession":                        "",
		"what does `Routr` do":                 "Router",
		"parse_v1":                             "", // digits tell versions apart
		"ret_item":                             "", // so does the first letter
		"maximum_size":                         "", // made of known words: another name
		"countNumbats":                         "",
		"rum":                                  "", // too short
		"QuantumAnnealer":                      "",
		"known_elsewhere":                      "", // nobody's definition, but used
		"the clientsesion":                     "", // not written as a name
		"the error \"ClientSesion is closed\"": "",
		"ValueError: no such ClientSesion was seen": "ClientSession",
	} {
		a := analyzer().Analyze(q, v)
		got := ""
		for _, r := range a.Repaired {
			got += r.Name
			if !slices.Contains(a.Names, r.Name) || !strings.Contains(a.Query, r.Name) || strings.Contains(a.Query, r.Asked) && !strings.Contains(r.Name, r.Asked) {
				t.Errorf("%q: searched as %q with names %v", q, a.Query, a.Names)
			}
			if len(a.Plan.Repaired) == 0 || a.Plan.Repaired[0].Name != r.Name {
				t.Errorf("%q: the plan does not tell of %+v", q, r)
			}
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", q, got, want)
		}
	}
	off := query.NewWithout(tok, query.Off{Spelling: true})
	if a := off.Analyze("ClientSesion", v); len(a.Repaired) > 0 {
		t.Error("switched off, and yet names are repaired")
	}
}

// TestC1StackTraces: the files and lines of stack traces are found in the forms
// of all languages, and addresses are not taken for codes.
func TestC1StackTraces(t *testing.T) {
	for q, want := range map[string][]string{
		"Traceback (most recent call last):\n  File \"/home/u/p/src/app.py\", line 12, in run\nValueError: bad magic": {"/home/u/p/src/app.py:12"},
		"panic: boom\n\ngoroutine 1 [running]:\nmain.run(0xc000012345)\n\t/home/u/p/cmd/main.go:42 +0x1d":             {"/home/u/p/cmd/main.go:42"},
		"TypeError: x is not a function\n    at foo (/srv/app/lib/x.js:10:5)\n    at lib/y.ts:3:1":                    {"/srv/app/lib/x.js:10", "lib/y.ts:3"},
		"java.lang.IllegalStateException: no\n\tat com.acme.Foo.bar(Foo.java:12)":                                     {"Foo.java:12"},
		"thread 'main' panicked at src/main.rs:4:5:\nboom":                                                            {"src/main.rs:4"},
		"   at Acme.Foo.Bar() in C:\\src\\Foo.cs:line 12":                                                             {"C:/src/Foo.cs:12"},
		"app/models/user.rb:7:in `save'":                                                                              {"app/models/user.rb:7"},
		"#0 /var/www/src/Cart.php(31): Cart->total()":                                                                 {"/var/www/src/Cart.php:31"},
	} {
		a := analyzer().Analyze(q, corpus)
		var got []string
		for _, e := range a.Paths() {
			got = append(got, e.Text+":"+itoa(e.Line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: paths %q, want %q", q, got, want)
		}
		if slices.ContainsFunc(a.Entities, func(e query.Entity) bool { return e.Kind == query.Hex }) {
			t.Errorf("%q: an address is a code: %+v", q, a.Entities)
		}
	}
}

// symbols is a vocabulary of definitions in which "known_elsewhere" is used and
// every whole word of minimum and maximum sizes occurs.
type symbols []string

func (s symbols) Defined(name string) bool { return slices.Contains(s, name) }
func (s symbols) HasFile(string) bool      { return false }
func (s symbols) Names() iter.Seq[string]  { return slices.Values(s) }
func (s symbols) DF(term string) int {
	switch term {
	case "=known_elsewhere", "maximum", "minimum", "maxim", "minim", "size", "get", "user", "profil", "client", "session":
		return 3
	}
	return 0
}
