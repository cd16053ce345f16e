package chunk_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"coderag-ls/engine/chunk"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestGolden chunks the files of testdata/*.txtar: each file is followed by one
// of the same name with ".want" that lists its chunks, symbols and imports.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	c := chunk.New(chunk.Options{})
	defer c.Close()
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, f := range a.Files {
				if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
					want[name] = string(f.Data)
				}
			}
			out := &txtar.Archive{Comment: a.Comment}
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, ".want") {
					continue
				}
				content := string(f.Data)
				got := describe(check(t, c, f.Name, content))
				if got != want[f.Name] && !*update {
					t.Errorf("%s: got\n%s\nwant\n%s", f.Name, got, want[f.Name])
				}
				out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
				if !strings.Contains(content, "---") { // front matter and YAML documents count from the first line
					checkShift(t, c, f.Name, content)
				}
				for ending, name := range map[string]string{"\r\n": "CRLF", "\r": "CR"} {
					if got2 := describe(check(t, c, f.Name, strings.ReplaceAll(content, "\n", ending))); got2 != got && !strings.HasSuffix(f.Name, ".ipynb") {
						t.Errorf("%s with %s: got\n%s\nwant\n%s", f.Name, name, got2, got)
					}
				}
			}
			if *update {
				if err := os.WriteFile(archive, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// describe writes a file's chunks, symbols and imports, one per line.
func describe(f chunk.File) string {
	var b strings.Builder
	if f.Fallback != "" {
		fmt.Fprintf(&b, "fallback %s\n", f.Fallback)
	}
	for _, k := range f.Chunks {
		fmt.Fprintf(&b, "chunk %d-%d %s", k.StartLine, k.EndLine, k.Kind)
		opt := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, " %s=%s", name, value)
			}
		}
		opt("name", k.Name)
		opt("parent", k.Parent)
		if k.Parts > 0 {
			opt("part", fmt.Sprintf("%d/%d", k.Part, k.Parts))
		}
		opt("headers", strings.Join(k.HeaderPath, " > "))
		opt("symbols", strings.Join(k.Symbols, ","))
		opt("imports", strings.Join(k.Imports, ","))
		opt("entry", strings.Join(k.EntryPoints, ","))
		opt("language", languageIfOther(k, f))
		if len(k.Truncated) > 0 {
			opt("truncated", fmt.Sprint(k.Truncated))
		}
		if k.Header != "" {
			opt("header", fmt.Sprintf("%q", k.Header))
		}
		if k.Summary != "" {
			opt("summary", fmt.Sprintf("%q", k.Summary))
		}
		b.WriteByte('\n')
	}
	for _, s := range f.Symbols {
		name := s.Name
		if s.Parent != "" {
			name = s.Parent + " " + name
		}
		fmt.Fprintf(&b, "%s %s %d-%d @%d", s.Kind, name, s.StartLine, s.EndLine, s.NameLine)
		if s.Exported {
			b.WriteString(" exported")
		}
		if s.DocStart > 0 {
			fmt.Fprintf(&b, " doc %d-%d %q", s.DocStart, s.DocEnd, s.Summary)
		}
		fmt.Fprintf(&b, " `%s`\n", s.Signature)
	}
	for _, m := range f.Imports {
		fmt.Fprintf(&b, "import %d %s", m.Line, m.Target)
		if len(m.Names) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(m.Names, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// languageIfOther is the chunk's language where the file's chunks differ in it.
func languageIfOther(k chunk.Chunk, f chunk.File) string {
	for _, o := range f.Chunks {
		if o.Language != k.Language {
			return k.Language
		}
	}
	return ""
}
