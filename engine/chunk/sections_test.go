package chunk_test

import (
	"fmt"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
)

var markdownClass = file.Class{Language: "markdown", SourceType: file.Markdown}

// words returns n lines of 40 characters.
func filler(n int, word string) string {
	return strings.Repeat(strings.Repeat(word+" ", 40/(len(word)+1)-1)+"\n", n)
}

// names lists the chunks' header paths and parts.
func names(f chunk.File) string {
	var out []string
	for _, c := range f.Chunks {
		s := strings.Join(c.HeaderPath, " > ")
		if c.Parts > 0 {
			s += fmt.Sprintf(" %d/%d", c.Part, c.Parts)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestB7KeepsH3WithItsH2(t *testing.T) {
	src := "# Doc\n\n## One\n\ntext\n\n### Sub\n\nmore\n\n## Two\n\n" + filler(80, "large") + "\n### Three\n\n" + filler(60, "three") + "\n### Four\n\nfour\n"
	f, doc := chunkWith(chunk.Options{}, markdownClass, "docs/x.md", src)
	want := "Doc > One\nDoc > Two\nDoc > Two > Three\nDoc > Two > Four"
	if got := names(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if f.Chunks[0].StartLine != 1 {
		t.Errorf("the title without text stands in no chunk: the first starts on line %d", f.Chunks[0].StartLine)
	}
	for _, c := range f.Chunks {
		if want := "[Document: Doc | Section: " + c.Name + "]"; c.Header != want || !strings.HasPrefix(chunk.Embeddable(c, doc), want+"\n") {
			t.Errorf("header %q, want %q", c.Header, want)
		}
		if c.Kind != chunk.Section || c.SourceType != file.Markdown {
			t.Errorf("kind %q, source type %q", c.Kind, c.SourceType)
		}
	}
}

func TestB7SplitsLargeSections(t *testing.T) {
	src := "## Large\n\n" + filler(250, "large")
	f, doc := chunkWith(chunk.Options{}, markdownClass, "x.md", src)
	if len(f.Chunks) < 4 {
		t.Fatalf("%d chunks", len(f.Chunks))
	}
	for i, c := range f.Chunks {
		if c.Tokens > 500 {
			t.Errorf("part %d has %d tokens", i, c.Tokens)
		}
		if c.Part != i+1 || c.Parts != len(f.Chunks) || c.Name != "Large" {
			t.Errorf("part %d is %d of %d, %q", i, c.Part, c.Parts, c.Name)
		}
		if i == 0 {
			continue
		}
		shared, ok := doc.Lines(c.StartLine, f.Chunks[i-1].EndLine)
		if tokens := len(shared) / 4; !ok || tokens < 80 || tokens > 100 {
			t.Errorf("part %d shares %d tokens with the one before it", i, tokens)
		}
	}
}

func TestB7WithoutHeaders(t *testing.T) {
	f, _ := chunkWith(chunk.Options{}, markdownClass, "a/notes.md", "just text\n\nmore text\n")
	if names(f) != "notes" || f.Chunks[0].Header != "[Document: notes | Section: notes]" || lines(f.Chunks[0]) != "1-3" {
		t.Errorf("got %+v", f.Chunks)
	}
	f, _ = chunkWith(chunk.Options{}, markdownClass, "notes.md", filler(300, "long"))
	if len(f.Chunks) < 5 {
		t.Errorf("%d chunks of a text over the size limit", len(f.Chunks))
	}
}

func TestB7TruncatesCode(t *testing.T) {
	code := filler(120, "code") // 1,200 tokens
	src := "## Code\n\nbefore\n\n```go\n" + code + "```\n\nafter\n"
	f, doc := chunkWith(chunk.Options{}, markdownClass, "x.md", src)
	if len(f.Chunks) != 1 {
		t.Fatalf("%d chunks: the size is that of the truncated text", len(f.Chunks))
	}
	c := f.Chunks[0]
	if lines(c) != "1-128" || len(c.Truncated) != 1 || c.Truncated[0][1] != 125 {
		t.Fatalf("lines %s, truncated %v", lines(c), c.Truncated)
	}
	kept, _ := doc.Lines(6, c.Truncated[0][0]-1)
	if n := len(kept) / 4; n > 500 || n < 480 {
		t.Errorf("%d tokens of the code are kept", n)
	}
	e := chunk.Embeddable(c, doc)
	if !strings.HasSuffix(e, "```\n\nafter") || strings.Count(e, "\n") > 70 {
		t.Errorf("embedded text has %d lines and ends with %.40q", strings.Count(e, "\n"), e[len(e)-40:])
	}
	if got := (len(e) - len(c.Header)) / 4; got < c.Tokens-5 || got > c.Tokens+5 {
		t.Errorf("%d tokens, the embedded text has %d", c.Tokens, got)
	}
}

func TestProse(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "word%d one two three four five six seven eight nine\n", i)
	}
	f, doc := chunkWith(chunk.Options{}, file.Class{Language: "text", SourceType: file.Text}, "x.txt", b.String())
	count := func(c chunk.Chunk) int {
		s, _ := doc.Lines(c.StartLine, c.EndLine)
		return len(strings.Fields(s))
	}
	if len(f.Chunks) != 5 {
		t.Fatalf("%d chunks", len(f.Chunks))
	}
	for i, c := range f.Chunks {
		if n := count(c); n > 512 || i < 4 && n < 500 {
			t.Errorf("chunk %d has %d words", i, n)
		}
		if i > 0 {
			if shared := f.Chunks[i-1].EndLine - c.StartLine + 1; shared != 5 {
				t.Errorf("chunk %d shares %d lines of ten words", i, shared)
			}
		}
	}
}

func TestDataGroupsKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  \"key%d\": {\n    \"inner\": \"%s\"\n  },\n", i, strings.Repeat("x", 60))
	}
	b.WriteString("  \"big\": {\n")
	for i := range 60 {
		fmt.Fprintf(&b, "    \"part%d\": \"%s\",\n", i, strings.Repeat("y", 40))
	}
	b.WriteString("    \"last\": 1\n  }\n}\n")
	c := chunk.New(chunk.Options{})
	defer c.Close()
	f := check(t, c, "x.json", b.String())
	var got []string
	for _, k := range f.Chunks {
		got = append(got, fmt.Sprintf("%s %s %q", k.Kind, k.Name, k.Header))
	}
	want := []string{`block key0 ""`, `block key16 ""`, `block key31 ""`, `block part0 ""`, `block part25 "\"big\": {"`, `block part50 "\"big\": {"`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTable(t *testing.T) {
	src := "id,name\n" + strings.Repeat("1,some name that fills the row\n", 100)
	f, _ := chunkWith(chunk.Options{}, file.Class{Language: "csv", SourceType: file.Text}, "x.csv", src)
	if len(f.Chunks) < 2 || f.Chunks[0].Header != "" || f.Chunks[1].Header != "id,name" {
		t.Errorf("got %+v", f.Chunks)
	}
}

// TestB7EmptySectionsAndSettings: sections without text are left out, and the
// sizes are the options'.
func TestB7EmptySectionsAndSettings(t *testing.T) {
	f, _ := chunkWith(chunk.Options{}, markdownClass, "x.md", "# Doc\n\n## Full\n\ntext\n\n## Empty\n\n## Also empty\n\n## Last\n\nend\n")
	if got := names(f); got != "Doc > Full\nDoc > Last" {
		t.Errorf("got\n%s", got)
	}
	src := "## Large\n\n" + filler(100, "large") + "\n```go\n" + filler(20, "code") + "```\n"
	small, _ := chunkWith(chunk.Options{MarkdownMaxTokens: 400, MarkdownPartTokens: 200, MarkdownOverlap: -1, CodeBlockTokens: 100}, markdownClass, "x.md", src)
	if len(small.Chunks) < 5 {
		t.Errorf("%d chunks", len(small.Chunks))
	}
	truncated := false
	for i, c := range small.Chunks {
		truncated = truncated || len(c.Truncated) > 0
		if c.Tokens > 200 || i > 0 && c.StartLine <= small.Chunks[i-1].EndLine {
			t.Errorf("part %d has %d tokens in lines %s", i, c.Tokens, lines(c))
		}
	}
	if !truncated {
		t.Error("no code block was truncated")
	}
}

// TestB9Metadata: a chunk knows all that is searched, filtered and told by.
func TestB9Metadata(t *testing.T) {
	src := "// Package users serves users.\npackage users\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n\n\t\"example.com/app/store\"\n)\n\n" +
		"// Server answers requests. It is slow.\ntype Server struct{ db store.DB }\n\n" +
		"// Routes registers what is answered. More follows.\nfunc (s *Server) Routes(mux *http.ServeMux) {\n\tmux.HandleFunc(\"GET /users/{id}\", s.get)\n" + strings.Repeat("\ts.db.Touch()\n", 120) + "}\n\n" +
		"func parseUserID(raw string) (int, error) {\n\tvar id int\n\t_, err := fmt.Sscan(raw, &id)\n" + strings.Repeat("\tid = id + 1 - 1\n", 100) + "\treturn id, err\n}\n"
	f, doc := chunkWith(chunk.Options{}, file.Class{Language: "go", SourceType: file.Code}, "internal/api/users.go", src)
	var routes, parse *chunk.Chunk
	ids := map[string]bool{}
	for i := range f.Chunks {
		c := &f.Chunks[i]
		switch {
		case c.Name == "Routes" && c.Part <= 1:
			routes = c
		case c.Name == "parseUserID" && c.Part <= 1:
			parse = c
		}
		text, _ := doc.Lines(c.StartLine, c.EndLine)
		if c.Index != i || c.Path != "internal/api/users.go" || c.SourceType != file.Code || c.Language != "go" || c.Layer != "api" ||
			len(c.ID) != 32 || ids[c.ID] || c.Tokens == 0 || c.Tokens > len(text) || c.Hash == [32]byte{} {
			t.Errorf("chunk %d: %+v", i, c)
		}
		ids[c.ID] = true
	}
	if routes == nil || parse == nil {
		t.Fatalf("the functions are in no chunk of their own:\n%s", describe(f))
	}
	if routes.Kind != chunk.Method || routes.Parent != "Server" || !strings.HasPrefix(routes.Summary, "Routes registers what is answered") || strings.Contains(routes.Summary, "More follows") ||
		strings.Join(routes.EntryPoints, ",") != "GET /users/{id}" || len(routes.Symbols) == 0 || routes.Symbols[0] != "Routes" {
		t.Errorf("%+v", routes)
	}
	if strings.Join(routes.Imports, ",") != "net/http" && strings.Join(routes.Imports, ",") != "net/http,example.com/app/store" {
		t.Errorf("imports that Routes uses: %v", routes.Imports)
	}
	if strings.Join(parse.Imports, ",") != "fmt" || len(parse.EntryPoints) > 0 {
		t.Errorf("%+v", parse)
	}
	// Where there is no comment the words of name and signature stand in.
	for _, word := range []string{"parse", "user", "raw"} {
		if !strings.Contains(strings.ToLower(parse.Summary), word) {
			t.Errorf("the summary %q lacks %q", parse.Summary, word)
		}
	}
}

// TestB9LayerRules: rules of one's own come before the built-in ones; what is no
// rule is named.
func TestB9LayerRules(t *testing.T) {
	rules, err := chunk.ParseLayers([]string{"billing=**/invoices/**", "api = web/*.go"})
	if err != nil {
		t.Fatal(err)
	}
	o := chunk.Options{Layers: append(rules, chunk.DefaultLayers()...)}
	for path, want := range map[string]string{"src/invoices/api/a.go": "billing", "web/a.go": "api", "src/models/a.go": "domain", "src/a.go": ""} {
		f, _ := chunkWith(o, file.Class{Language: "go", SourceType: file.Code}, path, "package a\n\nfunc F() {}\n")
		if f.Chunks[0].Layer != want {
			t.Errorf("%s is of layer %q, want %q", path, f.Chunks[0].Layer, want)
		}
	}
	if o.Digest() == (chunk.Options{}).Digest() {
		t.Error("chunks of other layers are taken for the same")
	}
	for _, bad := range []string{"billing", "=x", "a=", "a=[b"} {
		if _, err := chunk.ParseLayers([]string{bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}
