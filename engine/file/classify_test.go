package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/file"
)

func TestLanguages(t *testing.T) {
	for _, c := range []struct {
		path, text, language string
		kind                 file.SourceType
	}{
		{"main.go", "package main", "go", file.Code},
		{"a.py", "import os", "python", file.Code},
		{"a.pyi", "x: int", "python", file.Code},
		{"a.js", "let x", "javascript", file.Code},
		{"a.mjs", "let x", "javascript", file.Code},
		{"a.jsx", "let x", "javascript", file.Code},
		{"a.ts", "let x: number", "typescript", file.Code},
		{"a.d.ts", "declare let x", "typescript", file.Code},
		{"a.ts", `<?xml version="1.0"?><!DOCTYPE TS>`, "xml", file.Text},
		{"a.tsx", "let x", "tsx", file.Code},
		{"A.java", "class A {}", "java", file.Code},
		{"a.c", "int x;", "c", file.Code},
		{"a.cc", "int x;", "c++", file.Code},
		{"a.CPP", "int x;", "c++", file.Code},
		{"a.h", "#pragma once\nint f(void);\n", "c", file.Code},
		{"a.h", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void); /* class of things */\n", "c", file.Code},
		{"a.h", "#include <vector>\n", "c++", file.Code},
		{"a.h", "#pragma once\n\nclass Foo : public Bar {\n", "c++", file.Code},
		{"a.h", "\ttemplate <typename T>\nT x();\n", "c++", file.Code},
		{"a.h", "#include \"x.h\"\nnamespace a {\n", "c++", file.Code},
		{"a.h", "#import <Foundation/Foundation.h>\n", "objective-c", file.Code},
		{"vector", "// -*- C++ -*-\n", "c++", file.Code},
		{"a.m", "#import <X.h>\n@implementation X\n", "objective-c", file.Code},
		{"a.m", "% computes\nfunction y = f(x)\n", "matlab", file.Code},
		{"a.mm", "@interface X\n", "objective-c++", file.Code},
		{"a.rs", "fn main() {}", "rust", file.Code},
		{"a.cs", "class A {}", "c#", file.Code},
		{"a.rb", "def x; end", "ruby", file.Code},
		{"a.php", "<?php", "php", file.Code},
		{"a.swift", "let x = 1", "swift", file.Code},
		{"a.kt", "fun x() {}", "kotlin", file.Code},
		{"a.scala", "object A", "scala", file.Code},
		{"a.hs", "main = x", "haskell", file.Code},
		{"a.zig", "const x = 1;", "zig", file.Code},
		{"a.dart", "void main() {}", "dart", file.Code},
		{"a.ex", "defmodule A do", "elixir", file.Code},
		{"a.ml", "let x = 1", "ocaml", file.Code},
		{"a.lua", "local x", "lua", file.Code},
		{"a.sh", "echo", "shell", file.Code},
		{"a.bash", "echo", "shell", file.Code},
		{"a.ps1", "$x", "powershell", file.Code},
		{"a.sql", "select 1;", "sql", file.Code},
		{"a.proto", "message A {}", "protocol buffer", file.Code},
		{"a.graphql", "type A {}", "graphql", file.Code},
		{"a.tf", "resource {}", "hcl", file.Code},
		{"a.vue", "<template>", "vue", file.Code},
		{"a.svelte", "<script>", "svelte", file.Code},
		{"a.html", "<p>", "html", file.Code},
		{"a.css", "a {}", "css", file.Code},
		{"a.scss", "a {}", "scss", file.Code},
		{"a.pl", "use strict;\nmy $x;\n", "perl", file.Code},
		{"a.pl", ":- module(a, []).\n", "prolog", file.Code},
		{"a.v", "module m(input a);\nendmodule\n", "verilog", file.Code},
		{"a.v", "Require Import Arith.\nLemma x : True.\n", "rocq prover", file.Code},
		{"a.fs", "module A\nlet x = 1\n", "f#", file.Code},
		{"a.fs", "#version 330\nvoid main() {}\n", "glsl", file.Code},
		{"a.r", "x <- 1", "r", file.Code},
		{"a.S", ".text", "assembly", file.Code},
		{"Dockerfile", "FROM x", "dockerfile", file.Code},
		{"Dockerfile.prod", "FROM x", "dockerfile", file.Code},
		{"Makefile", "all:", "makefile", file.Code},
		{"CMakeLists.txt", "project(x)", "cmake", file.Code},
		{"Jenkinsfile", "node {}", "groovy", file.Code},
		{"BUILD.bazel", "x()", "starlark", file.Code},
		{"build.gradle", "plugins {}", "gradle", file.Code},
		{"build.gradle.kts", "plugins {}", "kotlin", file.Code},
		{"go.mod", "module x", "go module", file.Text},
		{"script", "#!/usr/bin/env python3\n", "python", file.Code},
		{"script", "#!/usr/bin/python3.11 -u\n", "python", file.Code},
		{"script", "#!/usr/bin/env -S FOO=1 node --flag\n", "javascript", file.Code},
		{"script", "#!/bin/sh\n", "shell", file.Code},
		{"script.cgi", "#!/usr/bin/perl\n", "perl", file.Code},
		{"script", "#!/opt/unheard/of\n", "", file.Text},
		{"README", "hello", "", file.Text},
		{"notes.txt", "hello", "text", file.Text},
		{"a.rst", "hello", "restructuredtext", file.Text},
		{"a.adoc", "hello", "asciidoc", file.Text},
		{"a.tex", "hello", "tex", file.Text},
		{"a.yaml", "a: 1", "yaml", file.Text},
		{"a.yml", "a: 1", "yaml", file.Text},
		{"a.json", "{}", "json", file.Text},
		{"a.toml", "a = 1", "toml", file.Text},
		{"a.ini", "a = 1", "ini", file.Text},
		{"a.csv", "a,b", "csv", file.Text},
		{"a.xml", "<a/>", "xml", file.Text},
		{"a.ipynb", "{}", "jupyter notebook", file.Text},
		{"a.md", "# a", "markdown", file.Markdown},
		{"A.MD", "# a", "markdown", file.Markdown},
		{"a.markdown", "# a", "markdown", file.Markdown},
		{"a.mdx", "# a", "mdx", file.Markdown},
		{"unknown.zzz", "what", "", file.Text},
		{"unknown.zzz", "<?xml version='1.0'?>", "xml", file.Text},
		{".gitignore", "*.o", "ignore list", file.Text},
	} {
		got, reason, detail := file.Classify("dir/"+c.path, c.text)
		if got.Language != c.language || got.SourceType != c.kind || reason != "" {
			t.Errorf("%s (%.30q) is %q, %q, skip %q %s; want %q, %q", c.path, c.text, got.Language, got.SourceType, reason, detail, c.language, c.kind)
		}
	}
}

func TestGenerated(t *testing.T) {
	licence := strings.Repeat("// All rights reserved, see the file LICENSE.\n", 20)
	for _, c := range []struct {
		path, text string
		want       bool
	}{
		{"a.go", "// Code generated by stringer; DO NOT EDIT.\n\npackage a\n", true},
		{"a.go", licence + "\n// Code generated by stringer; DO NOT EDIT.\n\npackage a\n", true},
		{"a.go", "package a\n\n// Code generated by x; DO NOT EDIT.\n", false},
		{"a.go", "// Package a writes files that say \"Code generated\".\npackage a\n", false},
		{"gen.go", "package main\n\nconst header = `// Code generated by gen. DO NOT EDIT.\n`\n", false},
		{"a.ts", "/**\n * @generated SignedSource<<abc>>\n */\n", true},
		{"a.ts", "/* eslint-disable */\n// This file was automatically generated by x. Do not modify.\n", true},
		{"A.java", "package a;\n\n@Generated(\"by x\")\nclass A {}\n", true},
		{"a.py", "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n", true},
		{"a.py", "\"\"\"Helpers for generated files.\"\"\"\n", false},
		{"a.py", "# Do not edit the order of these.\nX = 1\n", false},
		{"a.cs", "//------\n// <auto-generated>\n", true},
		{"a.java", "/* The following code was generated by JFlex */\n// DO NOT EDIT\n", true},
		{"a.sql", "-- AUTO-GENERATED FILE\n", true},
		{"a.yaml", "# This file is auto-generated by x\n", true},
		{"a.html", "<!-- Generated by Doxygen 1.9 -->\n", true},
		{"a.rb", "x = 1\ny = 2\nz = 3\na = 1\nb = 2\nc = 3\nd = 4\n# DO NOT EDIT\n", false},
		{"package-lock.json", "{}", true},
		{"go.sum", "x", true},
		{"Cargo.lock", "x", true},
		{"api.pb.go", "package a", true},
		{"api_pb2.py", "x", true},
		{"zz_generated.deepcopy.go", "package a", true},
		{"a.g.dart", "x", true},
		{"main.go", "package main\n", false},
		{"README.md", "# Generated\n\nHow code is generated.\n", false},
	} {
		if got, _, _ := file.Classify(c.path, c.text); got.Generated != c.want {
			t.Errorf("%s %.60q: generated = %v", c.path, c.text, got.Generated)
		}
	}
}

func TestMinified(t *testing.T) {
	bundle := strings.Repeat("function a(b){return b+1};var c=a(2);", 3000)
	program := strings.Repeat("func f() {\n\treturn\n}\n", 500)
	for _, c := range []struct {
		path, text string
		want       file.SkipReason
	}{
		{"app.js", bundle, file.SkipMinified},
		{"app.js", "/*! licence\n * of the bundle\n */\n" + bundle + "\n//# sourceMappingURL=app.js.map\n", file.SkipMinified},
		{"app.css", strings.Repeat("a{b:c}", 5000), file.SkipMinified},
		{"data.json", `{"a":[` + strings.Repeat("1,", 20000) + "1]}", file.SkipMinified},
		{"one-line.txt", strings.Repeat("word ", 1<<20), file.SkipMinified},
		{"a.go", program, ""},
		{"a_test.go", program + "var golden = \"" + strings.Repeat("x", 20000) + "\"\n", ""},
		{"small.json", `{"a":[` + strings.Repeat("1,", 500) + "1]}", ""},
		{"prose.md", strings.Repeat(strings.Repeat("A paragraph on one line. ", 100)+"\n\n", 20), ""},
		{"a.ipynb", `{"cells": [` + strings.Repeat("x", 50000) + "]}", ""},
		{"blank.go", " \n\t\r\n", file.SkipEmpty},
		{"logo.svg", "<svg/>", file.SkipUnsupported},
	} {
		if _, reason, detail := file.Classify(c.path, c.text); reason != c.want {
			t.Errorf("%s %.40q: %q %s, want %q", c.path, c.text, reason, detail, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	const test, vendored, example, docs = 1, 2, 4, 8
	for path, want := range map[string]int{
		"a/b.go": 0, "testing/testing.go": 0, "go/doc/reader.go": 0, "latest/a.go": 0, "contest.py": 0, "attest.go": 0, "src/spec/parser.go": 0, "Latest.java": 0,
		"a_test.go": test, "test_a.py": test, "a_test.py": test, "conftest.py": test, "a.test.ts": test, "a.spec.tsx": test, "__tests__/a.js": test,
		"src/test/java/A.java": test, "ATest.java": test, "ATests.cs": test, "a_spec.rb": test, "spec/models/a.rb": test, "a_test.cc": test, "foo_unittest.cc": test,
		"tests/common.rs": test, "src/tests.rs": test, "ASpec.scala": test, "AppTests.swift": test, "t/basic.t": test, "test/a_test.exs": test, "lib/a_test.dart": test,
		"testdata/x.json": test, "e2e/login.ts": test, "cypress/a.js": test, "ASpec.hs": test, "TestRunner.java": test, "Testament.java": 0, "a.bats": test,
		"vendor/x/a.go": vendored, "third_party/a.c": vendored, "src/_vendor/a.py": vendored, "vendors.go": 0,
		"examples/a.go": example, "example/main.py": example, "demo/a.js": example, "_examples/x/main.go": example, "example.go": 0,
		"docs/a.md": docs, "doc/a.rst": docs, "docs/conf.py": docs, "README.md": docs, "a/README.zh-CN.md": docs, "CHANGELOG": docs, "LICENSE": docs, "documentation/x.adoc": docs,
		"sub/doc/a.md": docs, "readme.go": 0, "CODE_OF_CONDUCT.md": docs, "code.md": 0,
		"docs/examples/a.py": docs | example, "vendor/x/a_test.go": vendored | test,
	} {
		c, _, _ := file.Classify(path, "text")
		got := 0
		for i, set := range []bool{c.Test, c.Vendored, c.Example, c.Docs} {
			if set {
				got |= 1 << i
			}
		}
		if got != want {
			t.Errorf("%s: %04b, want %04b (docs, example, vendored, test)", path, got, want)
		}
	}
}

// BenchmarkClassify goes over the engine's own sources.
func BenchmarkClassify(b *testing.B) {
	type source struct{ path, text string }
	var sources []source
	size := 0
	root, err := filepath.Abs("..")
	must(b, err)
	l := scan(b, root, file.Options{})
	for _, e := range l.Entries {
		data, err := os.ReadFile(filepath.Join(root, e.Path))
		must(b, err)
		sources = append(sources, source{e.Path, string(data)})
		size += len(data)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, s := range sources {
			file.Classify(s.path, s.text)
		}
	}
}
