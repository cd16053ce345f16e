package file

import "strings"

// resolve tells apart the languages that share an extension, by their most
// telling lines or else by which of them people use: "" leaves it to the
// interpreter line and the table's order. Linguist's own regular expressions
// and its classifier do it for more languages, at a hundred times the cost.
func resolve(ext, head string) string {
	switch ext {
	case ".h":
		return headerLanguage(head)
	case ".m":
		switch {
		case anyLine(head, "#import", "@interface", "@implementation", "@end", "@import", "#include", "@class", "@protocol"):
			return "objective-c"
		case anyLine(head, ":- module", ":- interface"):
			return "mercury"
		case anyLine(head, "(*", "BeginPackage["):
			return "wolfram language"
		case anyLine(head, "%", "function ", "classdef ", "end"):
			return "matlab"
		}
		return "objective-c"
	case ".mm", ".ts", ".tsx", ".rs", ".mod", ".res", ".typ", ".sw", ".mojo", ".pluginspec", ".csl":
		if isXML(head) {
			return "xml"
		}
		switch ext {
		case ".mm":
			return "objective-c++"
		case ".ts":
			return "typescript"
		case ".tsx":
			return "tsx"
		case ".rs":
			return "rust"
		case ".mod":
			return "modula-2"
		case ".res":
			return "rescript"
		case ".typ":
			return "typst"
		case ".sw":
			return "sway"
		case ".mojo":
			return "mojo"
		case ".pluginspec":
			return "ruby"
		}
		return "kusto"
	case ".php", ".hh":
		if strings.HasPrefix(head, "<?hh") {
			return "hack"
		}
		if ext == ".hh" {
			return "c++"
		}
		return "php"
	case ".pl", ".plt":
		switch {
		case anyLine(head, "use v6", "unit "):
			return "raku"
		case anyLine(head, ":-") || anyLineHas(head, " :- ", ":-\n") && !anyLine(head, "use ", "my ", "sub "):
			return "prolog"
		case ext == ".plt":
			return "gnuplot"
		}
		return "perl"
	case ".pm", ".t":
		if anyLine(head, "use v6", "unit ") {
			return "raku"
		}
		return "perl"
	case ".fs":
		switch {
		case anyLine(head, "#version", "precision ", "uniform ", "varying ", "void main("):
			return "glsl"
		case anyLine(head, ": ", `\ `) && !anyLine(head, "let ", "module ", "namespace ", "open "):
			return "forth"
		}
		return "f#"
	case ".v":
		switch {
		case anyLine(head, "Require ", "From ", "Lemma ", "Theorem ", "Definition ", "Inductive ", "Proof.", "Section "):
			return "rocq prover"
		case anyLine(head, "fn ", "pub fn ", "import ", "module main", "struct ", "pub struct "):
			return "v"
		}
		return "verilog"
	case ".cls":
		switch {
		case anyLine(head, `\`, "%"):
			return "tex"
		case anyLine(head, "VERSION 1.", "Attribute VB_"):
			return "visual basic 6.0"
		}
		return "apex"
	case ".cl":
		if anyLine(head, "__kernel", "kernel ", "#pragma OPENCL", "#include", "//", "/*") {
			return "opencl"
		}
		return "common lisp"
	case ".d":
		if line, _, _ := strings.Cut(head, "\n"); strings.Contains(line, ".o:") || strings.Contains(line, ".o :") {
			return "makefile"
		}
		return "d"
	case ".inc":
		switch {
		case strings.HasPrefix(head, "<?"):
			return "php"
		case anyLine(head, "#include", "#define", "#if", "//", "/*"):
			return "c++"
		case anyLine(head, "SUMMARY", "DEPENDS", "SRC_URI", "PACKAGE"):
			return "bitbake"
		}
		return "assembly"
	case ".l":
		if anyLine(head, "(", ";") {
			return "common lisp"
		}
		return "lex"
	case ".pp":
		if anyLine(head, "unit ", "program ", "uses ", "begin", "interface", "{$") {
			return "pascal"
		}
		return "puppet"
	case ".pro":
		switch {
		case anyLine(head, ":-") || anyLineHas(head, " :- "):
			return "prolog"
		case anyLine(head, "-keep", "-dont", "-assume"):
			return "proguard"
		case anyLine(head, "TARGET", "SOURCES", "HEADERS", "TEMPLATE", "QT "):
			return "qmake"
		}
		return "idl"
	case ".r":
		if anyLine(head, "REBOL", "Rebol") {
			return "rebol"
		}
		return "r"
	case ".asc":
		if anyLine(head, "-----BEGIN") {
			return "public key"
		}
		return "asciidoc"
	}
	return preferred(ext)
}

// preferred are the usual languages of extensions that others hardly use.
func preferred(ext string) string {
	switch ext {
	case ".as":
		return "actionscript"
	case ".asm", ".s", ".i", ".nas":
		return "assembly"
	case ".bas", ".bi":
		return "basic"
	case ".bb":
		return "bitbake"
	case ".cake", ".cs":
		return "c#"
	case ".cfg":
		return "ini"
	case ".cp":
		return "c++"
	case ".cue":
		return "cue"
	case ".e":
		return "eiffel"
	case ".es", ".gs":
		return "javascript"
	case ".ex":
		return "elixir"
	case ".f", ".for":
		return "fortran"
	case ".frag", ".shader":
		return "glsl"
	case ".fx":
		return "hlsl"
	case ".gd":
		return "gdscript"
	case ".gts":
		return "glimmer ts"
	case ".html":
		return "html"
	case ".jq":
		return "jq"
	case ".json":
		return "json"
	case ".lean":
		return "lean 4"
	case ".lisp", ".lsp":
		return "common lisp"
	case ".ls":
		return "livescript"
	case ".m4":
		return "m4"
	case ".md":
		return "markdown"
	case ".ml":
		return "ocaml"
	case ".moo":
		return "mercury"
	case ".nr":
		return "noir"
	case ".nu":
		return "nushell"
	case ".odin":
		return "odin"
	case ".pkl":
		return "pkl"
	case ".plist":
		return "xml property list"
	case ".properties":
		return "java properties"
	case ".re":
		return "reason"
	case ".rpy":
		return "ren'py"
	case ".sc":
		return "scala"
	case ".sch", ".scm":
		return "scheme"
	case ".scd":
		return "supercollider"
	case ".sls":
		return "saltstack"
	case ".sol":
		return "solidity"
	case ".sql", ".ddl", ".prc":
		return "sql"
	case ".st":
		return "smalltalk"
	case ".star":
		return "starlark"
	case ".tl":
		return "teal"
	case ".tsp":
		return "typespec"
	case ".tst":
		return "gap"
	case ".txt":
		return "text"
	case ".yaml", ".yml":
		return "yaml"
	case ".yy":
		return "yacc"
	}
	return ""
}

// headerLanguage tells C, C++ and Objective-C headers apart.
func headerLanguage(head string) string {
	cpp := false
	for line := range strings.Lines(head) {
		line = strings.TrimLeft(line, " \t")
		switch {
		case startsWith(line, "@interface", "@protocol", "@class", "@property", "@import", "#import", "@end"):
			return "objective-c"
		case cpp:
		case startsWith(line, "namespace ", "template <", "template<", "public:", "private:", "protected:", "virtual ",
			"using namespace ", "constexpr ", "inline constexpr", "friend ", "explicit ", "static constexpr"):
			cpp = true
		case startsWith(line, "class ", "enum class "):
			cpp = strings.ContainsAny(line, "{;:") || !strings.Contains(strings.TrimSpace(line[6:]), " ")
		case startsWith(line, "#include <"):
			name, _, _ := strings.Cut(line[len("#include <"):], ">")
			cpp = !strings.ContainsAny(name, "./")
		case strings.Contains(line, "std::"), strings.Contains(line, "-*- C++ -*-"):
			cpp = true
		}
	}
	if cpp {
		return "c++"
	}
	return "c"
}

func isXML(head string) bool {
	return startsWith(strings.TrimLeft(head, " \t\r\n"), "<?xml", "<!DOCTYPE", "<TS")
}

// anyLine reports whether a line starts, after white space, with one of the
// prefixes.
func anyLine(head string, prefixes ...string) bool {
	for line := range strings.Lines(head) {
		if startsWith(strings.TrimLeft(line, " \t"), prefixes...) {
			return true
		}
	}
	return false
}

func anyLineHas(head string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(head, p) {
			return true
		}
	}
	return false
}

func startsWith(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
