package chunk

import "strings"

// syntax is what the fast lexer knows of a language: how comments and strings
// are written.
type syntax struct {
	line   []string    // what starts a comment up to the end of the line
	block  [][2]string // what encloses a comment
	quotes string      // quotes of strings that end on their line, with backslash escapes
	raw    string      // quotes of strings that may span lines
	triple bool        // """ and ''' (or """) enclose strings that may span lines
	docs   bool        // strings in triple quotes count as comments
	char   bool        // ' may be a lifetime, a generic or part of a number: a character only where it closes soon
	nested bool        // block comments nest
	regex  bool        // a slash may start a regular expression
	word   bool        // the line comment must stand at the start of a word (shell's #)
}

// syntaxes returns how each language writes comments and strings.
func syntaxes() map[string]*syntax {
	c := &syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}
	cpp := &syntax{line: c.line, block: c.block, quotes: `"`, char: true}
	js := &syntax{line: c.line, block: c.block, quotes: `"'`, raw: "`", regex: true}
	golang := &syntax{line: c.line, block: c.block, quotes: `"'`, raw: "`"}
	rust := &syntax{line: c.line, block: c.block, raw: `"`, char: true, nested: true}
	jvm := &syntax{line: c.line, block: c.block, quotes: `"`, char: true, triple: true}
	jvmNested := &syntax{line: c.line, block: c.block, quotes: `"`, char: true, triple: true, nested: true}
	python := &syntax{line: []string{"#"}, quotes: `"'`, triple: true, docs: true}
	hash := &syntax{line: []string{"#"}, quotes: `"'`}
	ruby := &syntax{line: []string{"#"}, block: [][2]string{{"\n=begin", "\n=end"}}, raw: `"'`, word: true}
	shell := &syntax{line: []string{"#"}, raw: `"'`, word: true}
	php := &syntax{line: []string{"//", "#"}, block: c.block, raw: `"'`}
	sql := &syntax{line: []string{"--"}, block: c.block, raw: `"'`}
	lua := &syntax{line: []string{"--"}, block: [][2]string{{"--[[", "]]"}}, quotes: `"'`}
	haskell := &syntax{line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, quotes: `"`, char: true, nested: true}
	lisp := &syntax{line: []string{";"}, block: [][2]string{{"#|", "|#"}}, raw: `"`, nested: true}
	ml := &syntax{block: [][2]string{{"(*", "*)"}}, raw: `"`, char: true, nested: true}
	fsharp := &syntax{line: []string{"//"}, block: [][2]string{{"(*", "*)"}}, raw: `"`, char: true, nested: true, triple: true}
	markup := &syntax{block: [][2]string{{"<!--", "-->"}}}
	percent := &syntax{line: []string{"%"}, quotes: `"`}
	basic := &syntax{line: []string{"'"}, quotes: `"`}
	pascal := &syntax{line: []string{"//"}, block: [][2]string{{"{", "}"}, {"(*", "*)"}}, quotes: `'`}
	css := &syntax{block: c.block, quotes: `"'`}
	scss := &syntax{line: []string{"//"}, block: c.block, quotes: `"'`}
	hcl := &syntax{line: []string{"#", "//"}, block: c.block, quotes: `"`}
	elixir := &syntax{line: []string{"#"}, raw: `"`, triple: true, docs: true}
	julia := &syntax{line: []string{"#"}, block: [][2]string{{"#=", "=#"}}, raw: `"`, triple: true, docs: true, char: true, nested: true}
	ini := &syntax{line: []string{";", "#"}, word: true}
	nix := &syntax{line: []string{"#"}, block: c.block, raw: `"`}
	powershell := &syntax{line: []string{"#"}, block: [][2]string{{"<#", "#>"}}, raw: `"'`}
	asm := &syntax{line: []string{"//", ";", "#"}, block: c.block, quotes: `"`, word: true}
	return map[string]*syntax{
		"go": golang, "python": python, "starlark": python, "cython": python, "javascript": js, "jsx": js, "typescript": js, "tsx": js,
		"java": jvm, "kotlin": jvmNested, "scala": jvmNested, "groovy": &syntax{line: c.line, block: c.block, quotes: `"'`, triple: true}, "gradle": jvm,
		"c": cpp, "c++": cpp, "objective-c": cpp, "objective-c++": cpp, "cuda": cpp, "c#": cpp, "d": cpp,
		"rust": rust, "swift": jvmNested, "dart": &syntax{line: c.line, block: c.block, quotes: `"'`, triple: true}, "zig": &syntax{line: c.line, quotes: `"`, char: true},
		"ruby": ruby, "crystal": ruby, "shell": shell, "bash": shell, "fish": shell, "zsh": shell, "php": php, "hack": php,
		"sql": sql, "plpgsql": sql, "plsql": sql, "tsql": sql, "lua": lua, "luau": lua, "ada": &syntax{line: []string{"--"}, quotes: `"`}, "vhdl": &syntax{line: []string{"--"}, quotes: `"`},
		"haskell": haskell, "elm": haskell, "purescript": haskell, "idris": haskell, "agda": haskell,
		"clojure": lisp, "common lisp": lisp, "emacs lisp": lisp, "scheme": lisp, "racket": lisp, "lisp": lisp, "fennel": lisp,
		"ocaml": ml, "reason": cpp, "standard ml": ml, "f#": fsharp, "coq": ml, "pascal": pascal, "delphi": pascal,
		"html": markup, "xml": markup, "svg": markup, "markdown": markup, "vue": markup, "svelte": markup, "xslt": markup,
		"erlang": percent, "tex": percent, "latex": percent, "prolog": percent, "matlab": percent, "postscript": percent,
		"visual basic .net": basic, "vba": basic, "vbscript": basic, "css": css, "scss": scss, "sass": scss, "less": scss, "stylus": scss,
		"hcl": hcl, "terraform": hcl, "protocol buffer": c, "thrift": c, "cue": scss, "graphql": hash, "solidity": c, "glsl": c, "hlsl": c, "wgsl": c, "verilog": cpp, "systemverilog": cpp, "json with comments": c, "json5": c, "jsonnet": c, "jsonc": c, "vala": cpp, "haxe": c, "actionscript": c, "arduino": cpp, "v": c, "odin": c, "move": c, "apex": c, "qml": js, "gleam": c,
		"elixir": elixir, "julia": julia, "perl": ruby, "raku": hash, "r": hash, "nim": &syntax{line: []string{"#"}, block: [][2]string{{"#[", "]#"}}, quotes: `"`, triple: true, nested: true}, "tcl": hash, "awk": hash, "gdscript": python, "coffeescript": hash,
		"yaml": &syntax{line: []string{"#"}, quotes: `"'`, word: true}, "toml": &syntax{line: []string{"#"}, quotes: `"'`, triple: true}, "dockerfile": &syntax{line: []string{"#"}, word: true}, "makefile": &syntax{line: []string{"#"}, word: true}, "cmake": &syntax{line: []string{"#"}, block: [][2]string{{"#[[", "]]"}}, raw: `"`}, "just": hash, "meson": hash, "bazel": python, "gitignore": hash, "ignore list": hash,
		"ini": ini, "properties": ini, "java properties": ini, "editorconfig": ini, "git config": ini, "nix": nix, "powershell": powershell, "batchfile": &syntax{line: []string{"::", "rem ", "REM "}, word: true},
		"assembly": asm, "unix assembly": asm, "gas": asm, "go assembly": c, "fortran": &syntax{line: []string{"!"}, quotes: `"'`}, "fortran free form": &syntax{line: []string{"!"}, quotes: `"'`}, "cobol": &syntax{line: []string{"*>"}, quotes: `"'`}, "vim script": &syntax{line: []string{`"`}, word: true}, "viml": &syntax{line: []string{`"`}, word: true}, "restructuredtext": {line: []string{".. "}, word: true},
	}
}

// CommentSyntax returns how the language writes a comment: what starts one up
// to the end of the line, or "", and what encloses one, or two empty strings.
// Both are empty where comments are unknown to the language (JSON).
func CommentSyntax(language string) (line string, block [2]string) {
	switch language = strings.ToLower(language); language {
	case "visual basic .net", "vba", "vbscript":
		return "'", block
	case "batchfile":
		return "REM", block
	case "assembly", "unix assembly", "gas":
		return "#", [2]string{"/*", "*/"}
	case "restructuredtext":
		return "..", block
	case "ruby", "perl", "crystal":
		return "#", block
	}
	s := syntaxes()[language]
	if s == nil {
		return "", block
	}
	if len(s.line) > 0 {
		line = s.line[0]
	}
	if len(s.block) > 0 {
		block = s.block[0]
	}
	return line, block
}
