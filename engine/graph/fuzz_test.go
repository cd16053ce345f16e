package graph_test

import (
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/graph"
)

// FuzzBuildFiles: whatever a build file or an import says, there is a graph, and
// no edge leads out of the workspace.
func FuzzBuildFiles(f *testing.F) {
	f.Add("go.mod", "module m\nreplace x => ../../..\n", "x/y", "")
	f.Add("go.work", "go 1.22\nuse ./a\nreplace m => ./..\n", "m", "")
	f.Add("tsconfig.json", `{"extends":"./tsconfig.json","compilerOptions":{"baseUrl":"..","paths":{"*":["../*"],"@/*":[]},}} // x`, "@/a", "b")
	f.Add("package.json", `{"name":"p","exports":{".":{"import":["./*"]},"./*/x*":"*"},"imports":{"#a":null}}`, "p/a", "")
	f.Add("composer.json", `{"autoload":{"psr-4":{"":"","A\\":["../"]}}}`, `A\B`, "C")
	f.Add("Cargo.toml", "[package]\nname='a-b'\n[lib]\npath='../../x.rs'\n[dependencies]\nq={package=1}\n", "super::super::x", "y::*")
	f.Add("Package.swift", `.target(name: "A", path: "../.."), .target(name:`, "A", "")
	f.Add("a/b.kt", "package \n", "..a", "")
	f.Fuzz(func(t *testing.T, name, content, target, imported string) {
		texts := map[string]string{"a/" + "x": content}
		files := []graph.File{{Path: "a/x"}}
		for p, lang := range map[string]string{"a/b.go": "go", "a/b.py": "python", "a/b.ts": "typescript", "a/b.php": "php", "a/b.rs": "rust", "a/b.swift": "swift", "a/B.java": "java", "a/c.kt": "kotlin",
			"a/b.rb": "ruby", "a/b.c": "c", "a/b.sh": "shell", "a/b.md": "markdown", "a/b.zig": "zig", "a/b.lua": "lua", "a/b.cs": "c#", "a/b.ex": "elixir", "a/b.dart": "dart", "a/b.scss": "scss", "a/b.hs": "haskell"} {
			texts[p] = content
			files = append(files, graph.File{Path: p, Language: lang, Imports: []chunk.Import{{Target: target, Line: 1}, {Target: target, Names: []string{imported, target}, Line: 2}},
				Symbols: []chunk.Symbol{{Name: imported, Kind: chunk.Module, Signature: content, StartLine: 1, EndLine: 1, NameLine: 1}, {Name: target, Kind: chunk.Class, Signature: content, StartLine: 1, EndLine: 3, NameLine: 1}}})
		}
		known := map[string]bool{}
		var kept []graph.File
		files = append(files, graph.File{Path: name})
		texts[name] = content
		for _, f := range files {
			if !known[f.Path] && f.Path != "" {
				known[f.Path] = true
				kept = append(kept, f)
			}
		}
		sortFiles(kept)
		g := graph.New(kept, func(p string) (string, bool) { s, ok := texts[p]; return s, ok })
		src := &lookup{kept, texts}
		for _, f := range kept {
			for _, e := range g.Edges(f.Path) {
				if !known[e.To] && e.To[len(e.To)-1] != '/' {
					t.Errorf("%v leads to no file", e)
				}
			}
			g.Around(t.Context(), src, []graph.Place{{Path: f.Path, StartLine: 1, EndLine: 3}})
		}
	})
}
