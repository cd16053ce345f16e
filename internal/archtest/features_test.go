package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named are the rows that have a test of their own name.
var named = []string{"B7", "B9", "C1", "C2", "C4", "C5", "C6", "C7", "C8", "C9", "C11", "C12", "C13", "C14", "C15", "D6"}

var (
	reRow      = regexp.MustCompile(`(?m)^\| ([A-F]\d+) \| (.+?) \| (.+?) \| (.*)\|$`)
	reTestName = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
)

// TestFeatureTable: each row of docs/features.md has a state, and each test that
// is named there exists.
func TestFeatureTable(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "features.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := strings.ReplaceAll(string(data), "\r\n", "\n")
	tests := testNames(t)
	for _, m := range reTestName.FindAllStringSubmatch(table, -1) {
		if !tests[m[1]] {
			t.Errorf("docs/features.md names the test %s, which does not exist", m[1])
		}
	}
	rows := map[string]bool{}
	for _, m := range reRow.FindAllStringSubmatch(table, -1) {
		id, state, of := m[1], m[3], m[4]
		if rows[id] {
			t.Errorf("row %s is there twice", id)
		}
		rows[id] = true
		if state != "done" && !strings.HasPrefix(state, "partly: ") && !strings.HasPrefix(state, "not yet") {
			t.Errorf("row %s has the state %q: write done, partly: what is missing, or not yet", id, state)
		}
		if state == "done" && !strings.Contains(of, "`Test") {
			t.Errorf("row %s is done and names no test", id)
		}
		if slices.Contains(named, id) && !regexp.MustCompile("`Test"+id+"[A-Z]").MatchString(of) {
			t.Errorf("row %s names no test Test%s...", id, id)
		}
	}
	for group, n := range map[string]int{"A": 7, "B": 16, "C": 15, "D": 7, "E": 4, "F": 1} {
		for i := 1; i <= n; i++ {
			if id := fmt.Sprint(group, i); !rows[id] {
				t.Errorf("row %s is missing", id)
			}
		}
	}
}

// testNames are the names of all tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names[fn.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 100 {
		t.Fatalf("%d tests were found", len(names))
	}
	return names
}
