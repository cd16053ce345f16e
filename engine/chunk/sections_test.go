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

func TestMarkdownKeepsH3WithItsH2(t *testing.T) {
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

func TestMarkdownSplitsLargeSections(t *testing.T) {
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

func TestMarkdownWithoutHeaders(t *testing.T) {
	f, _ := chunkWith(chunk.Options{}, markdownClass, "a/notes.md", "just text\n\nmore text\n")
	if names(f) != "notes" || f.Chunks[0].Header != "[Document: notes | Section: notes]" || lines(f.Chunks[0]) != "1-3" {
		t.Errorf("got %+v", f.Chunks)
	}
	f, _ = chunkWith(chunk.Options{}, markdownClass, "notes.md", filler(300, "long"))
	if len(f.Chunks) < 5 {
		t.Errorf("%d chunks of a text over the size limit", len(f.Chunks))
	}
}

func TestMarkdownTruncatesCode(t *testing.T) {
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
