package chunk_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

func chunkWith(opts chunk.Options, class file.Class, p, content string) (chunk.File, *text.Document) {
	c := chunk.New(opts)
	defer c.Close()
	doc := text.New(content)
	return c.Chunk(context.Background(), chunk.Input{Path: p, Class: class, Text: doc}), doc
}

func lines(c chunk.Chunk) string { return fmt.Sprintf("%d-%d", c.StartLine, c.EndLine) }

// A class that is too large is cut into its head and its methods, a method that
// is too large at its statements; each piece says what it stands in.
func TestLargeClass(t *testing.T) {
	var b strings.Builder
	b.WriteString("import os\n\n\nclass Big(Base):\n    \"\"\"Big does much. And more.\"\"\"\n\n    field = 1\n\n")
	b.WriteString("    def small(self):\n        return os.name + " + strings.Repeat("'x' + ", 60) + "''\n\n")
	b.WriteString("    def large(self, a):\n        \"\"\"Does a lot.\"\"\"\n")
	for i := range 12 {
		fmt.Fprintf(&b, "        # step %d\n        if a > %d:\n            self.%s = %d\n", i, i, strings.Repeat("value_", 20), i)
	}
	f, doc := chunkWith(chunk.Options{}, file.Class{Language: "python", SourceType: file.Code}, "big.py", b.String())
	var got []string
	for _, c := range f.Chunks {
		got = append(got, fmt.Sprintf("%s %s %s.%s %d/%d", lines(c), c.Kind, c.Parent, c.Name, c.Part, c.Parts))
	}
	want := []string{
		"1-1 module . 0/0",
		"4-7 class .Big 0/0",
		"9-10 method Big.small 0/0",
		"12-34 method Big.large 1/2",
		"35-49 method Big.large 2/2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	last := f.Chunks[len(f.Chunks)-1]
	if want := "class Big(Base)\ndef large(self, a)"; last.Header != want {
		t.Errorf("header %q, want %q", last.Header, want)
	}
	if first := strings.TrimSpace(doc.Line(last.StartLine)); !strings.HasPrefix(first, "# step") {
		t.Errorf("the part starts with %q, not with the comment of a statement", first)
	}
	if e := chunk.Embeddable(last, doc); !strings.HasPrefix(e, last.Header+"\n"+doc.Line(last.StartLine)) {
		t.Errorf("embedded text starts with %.80q", e)
	}
	if got := strings.Join(f.Chunks[2].Imports, ","); got != "os" {
		t.Errorf("the method that uses os imports %q", got)
	}
	if f.Chunks[1].Summary != "Big does much." {
		t.Errorf("summary %q", f.Chunks[1].Summary)
	}
}

func TestFallbacks(t *testing.T) {
	src := "package p\n\nfunc One() {\n\tx := 1\n\t_ = x\n}\n\nfunc Two() {\n}\n"
	golang := file.Class{Language: "go", SourceType: file.Code}
	generated := golang
	generated.Generated = true
	for _, test := range []struct {
		name  string
		opts  chunk.Options
		class file.Class
		src   string
		want  string
	}{
		{"tree", chunk.Options{}, golang, src, ""},
		{"generated", chunk.Options{}, generated, src, "generated"},
		{"too large", chunk.Options{MaxParseBytes: 10}, golang, src, "too large"},
		{"no grammar", chunk.Options{}, file.Class{Language: "haskell", SourceType: file.Code}, "one x = x\n", "no grammar"},
		{"unknown language", chunk.Options{}, file.Class{SourceType: file.Code}, "function one() {\n}\n", "no grammar"},
		{"errors", chunk.Options{}, golang, strings.Repeat(") ] ;; 'x @@ func\n", 50) + src, "parse errors"},
		{"deadline", chunk.Options{ParseDeadline: time.Nanosecond}, golang, src + strings.Repeat("var x = 1\n", 20000), "deadline"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _ := chunkWith(test.opts, test.class, "p.x", test.src)
			if f.Fallback != test.want {
				t.Errorf("fallback %q, want %q", f.Fallback, test.want)
			}
			found := false
			for _, s := range f.Symbols {
				found = found || strings.EqualFold(s.Name, "one")
			}
			if !found {
				t.Errorf("One is not among the symbols %+v", f.Symbols)
			}
		})
	}
}

// A cancelled context still gives chunks.
func TestCancelled(t *testing.T) {
	c := chunk.New(chunk.Options{})
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := c.Chunk(ctx, chunk.Input{Path: "a.go", Class: file.Class{Language: "go", SourceType: file.Code}, Text: text.New("package a\n\nfunc F() {}\n")})
	if len(f.Chunks) == 0 || len(f.Symbols) != 1 {
		t.Errorf("got %+v", f)
	}
}

// Nesting as deep as a file can hold neither hangs nor overflows a stack.
func TestDeepNesting(t *testing.T) {
	const depth = 100_000
	for language, src := range map[string]string{
		"go":         "package p\nvar x = " + strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth) + "\nfunc After() {}\n",
		"javascript": "x = " + strings.Repeat("[\n", depth) + strings.Repeat("]\n", depth) + "\nfunction after() {}\n",
		"python":     "x = " + strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth) + "\ndef after(): pass\n",
		"c":          "int x = " + strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth) + ";\nint after(void) { return 0; }\n",
		"java":       strings.Repeat("class A { ", depth/2) + strings.Repeat("}", depth/2),
		"c++":        strings.Repeat("namespace a {\n", depth/4) + "class B { int f() { return 1; } };\n" + strings.Repeat("}\n", depth/4),
		"typescript": strings.Repeat("function f() {\n", depth/4) + strings.Repeat("}\n", depth/4),
		"ruby":       strings.Repeat("module A\n", depth/4) + strings.Repeat("end\n", depth/4),
		"haskell":    strings.Repeat("f x = (\n", depth/4),
		"markdown":   strings.Repeat("> ", depth) + "x\n\n## After\n\ny\n",
		"json":       strings.Repeat("[\n", depth) + strings.Repeat("]\n", depth),
		"yaml":       strings.Repeat("- ", depth) + "x\n",
	} {
		t.Run(language, func(t *testing.T) {
			st := file.Code
			if language == "markdown" {
				st = file.Markdown
			}
			f, _ := chunkWith(chunk.Options{}, file.Class{Language: language, SourceType: st}, "deep", src)
			if len(f.Chunks) == 0 {
				t.Error("no chunks")
			}
		})
	}
}

// Chunk is called by many at once, and Close while some are at work.
func TestConcurrentUse(t *testing.T) {
	c := chunk.New(chunk.Options{})
	sources := map[string]string{
		"a.go": "package a\n\n// F does.\nfunc F() {}\n", "b.py": "def f():\n    pass\n", "c.ts": "export class C { m() {} }\n",
		"d.md": "# T\n\n## S\n\ntext\n", "e.json": "{\n  \"a\": 1\n}\n",
	}
	want := map[string]string{}
	for p, s := range sources {
		f, _ := chunkOf(c, p, s)
		want[p] = describe(f)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				for p, s := range sources {
					if f, _ := chunkOf(c, p, s); describe(f) != want[p] {
						t.Errorf("%s differs", p)
					}
				}
			}
			if i == 3 {
				c.Close()
			}
		})
	}
	wg.Wait()
	c.Close()
}

func TestEmptyAndBlank(t *testing.T) {
	for _, content := range []string{"", "\n", "\n \t\n\r\n\r", "\ufeff"} {
		for _, p := range []string{"a.go", "a.md", "a.txt", "a.yaml", "a.csv", "a.rst", "a.ipynb", "a.vue", "a.hs"} {
			c := chunk.New(chunk.Options{})
			if f, _ := chunkOf(c, p, content); len(f.Chunks) != 0 || len(f.Symbols) != 0 {
				t.Errorf("%s with %q: %+v", p, content, f)
			}
			c.Close()
		}
	}
}

func TestIDs(t *testing.T) {
	c := chunk.New(chunk.Options{})
	defer c.Close()
	body := strings.Repeat("\tprintln(\"some text that is long enough\")\n", 10)
	a := "package p\n\nfunc A() {\n" + body + "}\n"
	b := "func B() {\n" + body + "}\n"
	id := func(f chunk.File, name string) string {
		for _, k := range f.Chunks {
			if k.Name == name {
				return k.ID
			}
		}
		t.Fatalf("no chunk %s in %+v", name, f.Chunks)
		return ""
	}
	one, _ := chunkOf(c, "p.go", a+"\n"+b)
	two, _ := chunkOf(c, "p.go", a+"\nvar added = 1\n\n"+b)
	if id(one, "B") != id(two, "B") {
		t.Error("B's ID changes with what stands above it")
	}
	changed, _ := chunkOf(c, "p.go", a+"\n"+strings.Replace(b, "some", "other", 1))
	if id(one, "B") == id(changed, "B") {
		t.Error("B's ID does not change with its text")
	}
	moved, _ := chunkOf(c, "q.go", a+"\n"+b)
	if id(one, "B") == id(moved, "B") {
		t.Error("B's ID does not change with its path")
	}
	if _, err := fmt.Sscanf(id(one, "B"), "%x", new([]byte)); err != nil || len(id(one, "B")) != 32 {
		t.Errorf("ID %q", id(one, "B"))
	}
}

func TestDigest(t *testing.T) {
	base := chunk.Options{}.Digest()
	if (chunk.Options{MaxChars: 1500}).Digest() != base {
		t.Error("a default written out changes the digest")
	}
	for _, o := range []chunk.Options{{MaxChars: 1000}, {TextOverlap: 10}, {ParseDeadline: time.Second}, {Layers: []chunk.LayerRule{{Layer: "x", Globs: []string{"**"}}}}} {
		if o.Digest() == base {
			t.Errorf("%+v has the digest of the defaults", o)
		}
	}
}

func TestLayers(t *testing.T) {
	c := chunk.New(chunk.Options{})
	defer c.Close()
	for p, want := range map[string]string{
		"internal/api/users.go": "api", "src/domain/user.ts": "domain", "pkg/db/migrations/x.go": "infrastructure", "web/components/Button.tsx": "ui",
		"pkg/x/y_test.go": "test", "tests/test_x.py": "test", "config/app.go": "config", "cmd/tool/root.go": "cli", "lib/x.go": "", "Api/Users.go": "api",
	} {
		f, _ := chunkOf(c, p, "x = 1\n")
		if got := f.Chunks[0].Layer; got != want {
			t.Errorf("%s is in layer %q, want %q", p, got, want)
		}
	}
	f, _ := chunkWith(chunk.Options{Layers: []chunk.LayerRule{{Layer: "mine", Globs: []string{"a/*/c/**"}}}}, file.Class{Language: "go"}, "a/b/c/d/e.go", "package e\n")
	if f.Chunks[0].Layer != "mine" {
		t.Errorf("layer %q", f.Chunks[0].Layer)
	}
}

func TestCommentSyntax(t *testing.T) {
	for language, want := range map[string]string{
		"go": "// /* */", "python": "# ", "html": " <!-- -->", "css": " /* */", "sql": "-- /* */", "lua": "-- --[[ ]]", "ocaml": " (* *)", "json": " ",
		"ruby": "# ", "clojure": "; #| |#", "haskell": "-- {- -}", "shell": "# ", "yaml": "# ", "visual basic .net": "' ", "erlang": "% ", "no such": " ",
	} {
		line, block := chunk.CommentSyntax(language)
		if got := line + " " + strings.TrimSpace(block[0]+" "+block[1]); got != want {
			t.Errorf("%s: %q, want %q", language, got, want)
		}
	}
}
