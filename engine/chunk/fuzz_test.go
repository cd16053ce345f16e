package chunk_test

import (
	"testing"

	"coderag-ls/engine/chunk"
)

// FuzzChunk checks what must hold for any text in any language.
func FuzzChunk(f *testing.F) {
	paths := []string{"a.go", "a.py", "a.js", "a.tsx", "a.java", "a.c", "a.cpp", "a.rs", "a.rb", "a.php", "a.cs", "a.sh", "a.kt", "a.swift", "a.lua", "a.ex", "a.ml", "a.sql", "a.tf",
		"a.md", "a.txt", "a.yaml", "a.toml", "a.json", "a.xml", "a.rst", "a.ipynb", "a.csv", "a.vue", "a.hs", "a.zig", "a.pl", "a.clj", "a.erl", "a.pas", "a.m", "a.s", "Makefile", "Dockerfile", "a.css", "a.html", "a.proto"}
	for i, s := range []string{
		"package p\n\n// F does.\nfunc F() {\n\tx()\n}\n", "class A:\n    \"\"\"Doc.\"\"\"\n    def f(self): pass\n", "# T\n\n## S\n\n```\nx\n```\n",
		"a: 1\nb:\n  - c\n", "{\n \"cells\": [{\"cell_type\": \"code\", \"source\": [\"x\\n\"]}]\n}", "T\n=\n\nS\n-\n\nx\n", "int f(a, b) { return 1; }\r\n/* x */\r", "\ufeff<script>function f() {}</script>",
	} {
		for k := range paths {
			if k%8 == i {
				f.Add(uint8(k), s)
			}
		}
	}
	c := chunk.New(chunk.Options{MaxChars: 200})
	f.Cleanup(c.Close)
	f.Fuzz(func(t *testing.T, which uint8, content string) {
		p := paths[int(which)%len(paths)]
		checkSized(t, c, p, content, 240)
		for _, s := range chunk.Comments("go", content) {
			if s.Start < 0 || s.End <= s.Start || s.End > len(content) {
				t.Errorf("comment %+v of %d bytes", s, len(content))
			}
		}
	})
}
