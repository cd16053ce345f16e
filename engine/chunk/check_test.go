package chunk_test

import (
	"context"
	"path"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

// languageOf names the language of the test files by their extension.
func languageOf(p string) (language string, st file.SourceType) {
	languages := map[string]string{
		".go": "go", ".py": "python", ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".ts": "typescript", ".tsx": "tsx",
		".java": "java", ".c": "c", ".h": "c", ".cpp": "c++", ".cc": "c++", ".hpp": "c++", ".rs": "rust", ".rb": "ruby", ".php": "php",
		".cs": "c#", ".sh": "shell", ".kt": "kotlin", ".scala": "scala", ".swift": "swift", ".lua": "lua", ".ex": "elixir", ".ml": "ocaml",
		".sql": "sql", ".tf": "hcl", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".html": "html", ".css": "css", ".svelte": "svelte",
		".proto": "protocol buffer", ".groovy": "groovy", ".elm": "elm", ".cue": "cue", ".hs": "haskell", ".zig": "zig", ".dart": "dart",
		".pl": "perl", ".r": "r", ".jl": "julia", ".clj": "clojure", ".erl": "erlang", ".fs": "f#", ".nim": "nim", ".f90": "fortran",
		".pas": "pascal", ".vb": "visual basic .net", ".m": "objective-c", ".s": "assembly", ".mk": "makefile", ".cmake": "cmake",
		".json": "json", ".ini": "ini", ".xml": "xml", ".rst": "restructuredtext", ".ipynb": "jupyter notebook", ".csv": "csv",
		".md": "markdown", ".txt": "text", ".vue": "vue", ".scss": "scss", ".ps1": "powershell", ".vim": "vim script", ".graphql": "graphql",
	}
	ext := path.Ext(p)
	language = languages[ext]
	switch {
	case path.Base(p) == "Dockerfile":
		language = "dockerfile"
	case path.Base(p) == "Makefile":
		language = "makefile"
	}
	switch ext {
	case ".md":
		return language, file.Markdown
	case ".txt", ".yaml", ".yml", ".toml", ".json", ".ini", ".xml", ".rst", ".csv":
		return language, file.Text
	}
	return language, file.Code
}

func chunkOf(c *chunk.Chunker, p, content string) (chunk.File, *text.Document) {
	language, st := languageOf(p)
	doc := text.New(content)
	return c.Chunk(context.Background(), chunk.Input{Path: p, Class: file.Class{Language: language, SourceType: st}, Text: doc}), doc
}

// sectioned reports whether a file's empty sections, or a notebook's outputs, are in no chunk.
func sectioned(p string) bool {
	return path.Ext(p) == ".md" || path.Ext(p) == ".rst" || path.Ext(p) == ".ipynb"
}

// check tests what holds for the chunks of every file.
func check(tb testing.TB, c *chunk.Chunker, p, content string) chunk.File {
	tb.Helper()
	return checkSized(tb, c, p, content, 1700)
}

// checkSized is check with the most characters that a chunk of code may have.
func checkSized(tb testing.TB, c *chunk.Chunker, p, content string, maxChars int) chunk.File {
	tb.Helper()
	f, doc := chunkOf(c, p, content)
	covered, ids := 0, map[string]bool{}
	for i, k := range f.Chunks {
		where := func() string { return p + ": " + k.ID }
		if k.StartLine < 1 || k.EndLine < k.StartLine || k.EndLine > doc.LineCount() {
			tb.Fatalf("%s: chunk %d has lines %d-%d of %d", where(), i, k.StartLine, k.EndLine, doc.LineCount())
		}
		overlaps := k.Kind == chunk.Lines || k.Kind == chunk.Section
		if k.StartLine <= covered && !overlaps {
			tb.Errorf("%s: lines %d-%d overlap what ends at %d", where(), k.StartLine, k.EndLine, covered)
		}
		if i > 0 && (k.StartLine < f.Chunks[i-1].StartLine || k.EndLine < f.Chunks[i-1].EndLine) {
			tb.Errorf("%s: chunk %d is out of order", where(), i)
		}
		for n := covered + 1; n < k.StartLine; n++ {
			if strings.Trim(doc.Line(n), " \t\f\v\ufeff\u00a0\u3000\u2028\u2029") != "" && !sectioned(p) {
				tb.Errorf("%s:%d is in no chunk: %q", p, n, doc.Line(n))
			}
		}
		covered = max(covered, k.EndLine)
		lines, _ := doc.Lines(k.StartLine, k.EndLine)
		if k.Hash != text.Hash(lines) {
			tb.Errorf("%s: hash is not that of lines %d-%d", where(), k.StartLine, k.EndLine)
		}
		if ids[k.ID] || len(k.ID) != 32 {
			tb.Errorf("%s: ID is not unique", where())
		}
		ids[k.ID] = true
		if k.Index != i || k.Path != p {
			tb.Errorf("%s: index %d, path %q", where(), k.Index, k.Path)
		}
		if k.Part > k.Parts {
			tb.Errorf("%s: part %d of %d", where(), k.Part, k.Parts)
		}
		if n := len([]rune(lines)); n > maxChars && k.EndLine > k.StartLine && k.SourceType == file.Code {
			tb.Errorf("%s:%d-%d has %d characters", p, k.StartLine, k.EndLine, n)
		}
		for _, t := range k.Truncated {
			if t[0] < k.StartLine || t[1] > k.EndLine || t[1] < t[0] {
				tb.Errorf("%s: truncated lines %v outside of %d-%d", where(), t, k.StartLine, k.EndLine)
			}
		}
		if !strings.HasPrefix(chunk.Embeddable(k, doc), k.Header) {
			tb.Errorf("%s: embedded text lacks the header", where())
		}
		if k.EmbedHash != text.Hash(chunk.Tight(chunk.Embeddable(k, doc))) {
			tb.Errorf("%s: hash is not that of the embedded text", where())
		}
	}
	for n := covered + 1; n <= doc.LineCount(); n++ {
		if strings.Trim(doc.Line(n), " \t\f\v\ufeff\u00a0\u3000\u2028\u2029") != "" {
			if !sectioned(p) {
				tb.Errorf("%s:%d is in no chunk: %q", p, n, doc.Line(n))
			}
		}
	}
	for _, s := range f.Symbols {
		if s.Name == "" || s.StartLine < 1 || s.NameLine < s.StartLine || s.EndLine < s.NameLine || s.EndLine > doc.LineCount() {
			tb.Errorf("%s: symbol %+v", p, s)
		}
		if s.DocStart > 0 && (s.DocEnd < s.DocStart || s.DocStart < s.StartLine || s.DocEnd > s.EndLine) {
			tb.Errorf("%s: documentation of %+v", p, s)
		}
		if strings.ContainsAny(s.Signature, "\r\n") {
			tb.Errorf("%s: signature of %+v", p, s)
		}
	}
	return f
}

// checkShift tests that blank lines above change no ID.
func checkShift(tb testing.TB, c *chunk.Chunker, p, content string) {
	tb.Helper()
	before, _ := chunkOf(c, p, content)
	after, _ := chunkOf(c, p, "\n\n\n"+content)
	if len(before.Chunks) != len(after.Chunks) {
		tb.Errorf("%s: blank lines above make %d chunks of %d", p, len(after.Chunks), len(before.Chunks))
		return
	}
	for i, k := range before.Chunks {
		if a := after.Chunks[i]; a.ID != k.ID || a.StartLine != k.StartLine+3 || a.EndLine != k.EndLine+3 {
			tb.Errorf("%s:%d-%d is %d-%d after three blank lines were put above", p, k.StartLine, k.EndLine, a.StartLine, a.EndLine)
		}
	}
}
