package file

import (
	"path"
	"strings"
)

// place marks what a file's place and name say of its role, by the conventions
// of many languages.
func place(c *Class, p, base string) {
	dirs := strings.Split(p, "/")
	dirs = dirs[:len(dirs)-1]
	code := c.SourceType == Code
	for i, d := range dirs {
		switch strings.ToLower(d) {
		case "test", "tests", "__tests__", "__test__", "__mocks__", "__snapshots__", "__fixtures__", "testdata", "test_data", "test-data", "testfixtures",
			"fixtures", "unittest", "unittests", "unit_tests", "e2e", "integration_test", "integration_tests", "integration-tests",
			"androidtest", "testfixture", "test-fixtures", "testsuite", "cypress", "jvmtest", "commontest":
			c.Test = true
		case "spec", "specs":
			// Ruby's and JavaScript's tests; elsewhere a specification.
			c.Test = c.Test || code && ruby(c.Language)
		case "vendor", "_vendor", "vendored", "third_party", "third-party", "thirdparty", "3rdparty", "3rd_party",
			"externals", "godeps", "node_modules", "bower_components", "subprojects":
			c.Vendored = true
		case "example", "examples", "_examples", "_example", "samples", "demo", "demos", "tutorial", "tutorials", "cookbook", "quickstart", "quickstarts", "playground":
			c.Example = true
		case "docs", "documentation", "javadoc", "groovydoc", "wiki", "man":
			c.Docs = true
		case "doc":
			// A package that is about documentation is code.
			c.Docs = c.Docs || !code || i == 0
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	c.Test = c.Test || code && testName(base, stem, c.Language)
	c.Docs = c.Docs || !code && docsName(stem, base)
}

func ruby(language string) bool {
	switch language {
	case "ruby", "javascript", "typescript", "tsx", "crystal", "coffeescript", "php", "lua":
		return true
	}
	return false
}

// testName reports whether a source file's name is that of a test.
func testName(base, stem, language string) bool {
	lower := strings.ToLower(stem)
	if strings.HasSuffix(lower, "_test") || strings.HasSuffix(lower, "_tests") || strings.HasSuffix(lower, "_unittest") ||
		strings.HasSuffix(lower, ".test") || strings.HasSuffix(lower, ".tests") || strings.HasSuffix(lower, "-test") || strings.HasSuffix(lower, ".e2e") {
		return true
	}
	switch language {
	case "python", "c", "c++", "cython", "php", "ruby", "lua", "julia", "shell", "r", "nim", "javascript", "typescript", "fortran", "ocaml", "zig":
		if strings.HasPrefix(lower, "test_") || strings.HasPrefix(lower, "test-") || lower == "tests" || lower == "conftest" {
			return true
		}
	case "rust":
		return lower == "tests" || lower == "test"
	case "java", "kotlin", "scala", "groovy", "c#", "f#", "visual basic .net", "swift", "objective-c", "dart":
		return strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "TestCase") ||
			strings.HasSuffix(stem, "Spec") || strings.HasSuffix(stem, "Specs") ||
			language == "java" && (strings.HasSuffix(stem, "IT") || len(stem) > 4 && strings.HasPrefix(stem, "Test") && upper(stem[4])) ||
			language == "scala" && strings.HasSuffix(stem, "Suite")
	case "haskell", "purescript", "elm":
		return strings.HasSuffix(stem, "Spec") || strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests")
	}
	switch language {
	case "ruby", "javascript", "typescript", "tsx", "crystal", "lua", "coffeescript", "elixir", "clojure":
		if strings.HasSuffix(lower, "_spec") || strings.HasSuffix(lower, ".spec") || strings.HasSuffix(lower, "-spec") {
			return true
		}
	case "php":
		return strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "TestCase") || strings.HasSuffix(stem, "Cest")
	case "c", "c++":
		return strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests")
	case "perl", "raku":
		return strings.HasSuffix(base, ".t")
	}
	return strings.HasSuffix(base, ".bats")
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }

// docsName reports whether a text's name is that of a document about the
// project.
func docsName(stem, base string) bool {
	name := strings.ToUpper(stem)
	if i := strings.IndexAny(name, ".-_"); i > 0 {
		name = name[:i]
	}
	switch name {
	case "README", "CHANGELOG", "CHANGES", "HISTORY", "NEWS", "CONTRIBUTING", "CONTRIBUTORS", "AUTHORS", "MAINTAINERS",
		"LICENSE", "LICENCE", "COPYING", "NOTICE", "INSTALL", "SECURITY", "CODE", "GOVERNANCE", "ROADMAP", "UPGRADING", "FAQ", "CITATION":
		return name != "CODE" || strings.HasPrefix(strings.ToUpper(base), "CODE_OF_CONDUCT")
	}
	return false
}
