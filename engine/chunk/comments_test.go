package chunk_test

import (
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
)

func TestComments(t *testing.T) {
	for _, test := range []struct{ language, text, want string }{
		{"go", "x := 1 // a\n/* b\nc */ y := \"// no\" + `/* no` // d", "// a|/* b\nc */|// d"},
		{"go", "r := '\"' // a", "// a"},
		{"c", "char c = '\\''; /* a */ char *s = \"\\\"/*\"; // b", "/* a */|// b"},
		{"c++", "int n = 1'000'000; // a", "// a"},
		{"rust", "fn f<'a>(x: &'a str) {} // a\n/* b /* c */ d */ let s = \"//\n//\";", "// a|/* b /* c */ d */"},
		{"python", "def f():\n    \"\"\"Doc # no.\"\"\"\n    x = '# no' # a\n    y = \"\"\"no\"\"\"", "\"\"\"Doc # no.\"\"\"|# a|\"\"\"no\"\"\""},
		{"javascript", "a = /[\"']\\// // b\nc = `// no ${1}`; d = e / f // g", "// b|// g"},
		{"shell", "x=${#a} # b\necho 'it # no' \"# no\"", "# b"},
		{"sql", "SELECT '--no' -- a\n/* b */", "-- a|/* b */"},
		{"lua", "x = 1 -- a\n--[[ b\nc ]] y = '--no'", "-- a|--[[ b\nc ]]"},
		{"haskell", "f x = x -- a\n{- b {- c -} -} g' = 'x'", "-- a|{- b {- c -} -}"},
		{"clojure", "(def x \"; no\") ; a", "; a"},
		{"ocaml", "let x = \"(* no *)\" (* a (* b *) *)", "(* a (* b *) *)"},
		{"html", "<p>x</p><!-- a\nb --><i>", "<!-- a\nb -->"},
		{"ruby", "x = \"a #{b}\" # c\n=begin\nd\n=end\ny", "# c|=begin\nd\n=end"},
		{"yaml", "a: b#no # c\n# d", "# c|# d"},
		{"go", "unclosed /* a", "/* a"},
		{"go", "\"unclosed // no\n// a\r// b", "// a|// b"},
		{"no such", "// a", ""},
		{"json", "{\"a\": \"// b\"}", ""},
	} {
		var got []string
		for _, s := range chunk.Comments(test.language, test.text) {
			got = append(got, test.text[s.Start:s.End])
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s %q: got %q, want %q", test.language, test.text, got, test.want)
		}
	}
}

func BenchmarkComments(b *testing.B) {
	_, texts := goSources(b, "net/http")
	all := strings.Join(texts, "\n")
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		chunk.Comments("go", all)
	}
}
