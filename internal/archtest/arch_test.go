package archtest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// root is the module's directory.
const root = "../.."

// listed is a package as `go list` tells of it.
type listed struct {
	ImportPath                         string
	Standard                           bool
	Imports, TestImports, XTestImports []string
	Module                             *struct{ Path string }
}

// name is the import path without the module's.
func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

func (p listed) ours() bool { return p.Module != nil && p.Module.Path == module }

// list asks the go command for every package of ours and all that they import,
// once for all tests.
var list = sync.OnceValues(func() (map[string]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Standard,Imports,TestImports,XTestImports,Module", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(stderr.String() + err.Error())
	}
	all := map[string]listed{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if !strings.Contains(p.ImportPath, " [") && !strings.HasSuffix(p.ImportPath, ".test") {
			all[p.ImportPath] = p
		}
	}
})

func packagesListed(t *testing.T) map[string]listed {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fits reports whether a package is meant by a name of the rules.
func fits(pkg, pattern string) bool {
	if above, all := strings.CutSuffix(pattern, "/..."); all {
		return pkg == above || strings.HasPrefix(pkg, above+"/")
	}
	return pkg == pattern
}

// TestLayers: imports go one way.
func TestLayers(t *testing.T) {
	for _, p := range packagesListed(t) {
		if !p.ours() {
			continue
		}
		rule := slices.IndexFunc(layers, func(l layer) bool { return fits(p.name(), l.pkg) })
		if rule < 0 {
			t.Errorf("%s has no rule: say in layers what it may import", p.name())
			continue
		}
		for _, path := range p.Imports {
			other, ok := strings.CutPrefix(path, module+"/")
			if ok && !slices.ContainsFunc(layers[rule].may, func(m string) bool { return fits(other, m) }) {
				t.Errorf("%s imports %s; it may import %q (%s)", p.name(), other, layers[rule].may, layers[rule].note)
			}
		}
	}
}

// TestServerAndWatcherAreStrangers: the language server is told of changes and
// never asks who found them. Tests count too.
func TestServerAndWatcherAreStrangers(t *testing.T) {
	for _, p := range packagesListed(t) {
		all := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		switch {
		case fits(p.name(), "lsp/...") && slices.Contains(all, module+"/watcher"):
			t.Errorf("%s imports the watcher", p.name())
		case fits(p.name(), "watcher/...") && slices.ContainsFunc(all, func(i string) bool { return strings.HasPrefix(i, module+"/lsp") }):
			t.Errorf("%s imports the language server", p.name())
		}
	}
}

// TestOneImporter: one package of ours knows each dependency.
func TestOneImporter(t *testing.T) {
	all := packagesListed(t)
	importers := map[string][]string{}
	testers := map[string]bool{}
	moduleOf := func(path string) string {
		p, ok := all[path]
		if !ok || p.Standard || p.Module == nil || p.ours() {
			return ""
		}
		return p.Module.Path
	}
	for _, p := range all {
		if !p.ours() {
			continue
		}
		for _, path := range p.Imports {
			if m := moduleOf(path); m != "" && !slices.Contains(importers[m], p.name()) {
				importers[m] = append(importers[m], p.name())
			}
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			if m := moduleOf(path); m != "" {
				testers[m] = true
			}
		}
	}
	for m, pkgs := range importers {
		if slices.Contains(shared, m) {
			continue
		}
		if slices.Contains(testOnly, m) {
			if slices.ContainsFunc(pkgs, func(p string) bool { return !strings.HasSuffix(p, "test") }) {
				t.Errorf("%s is for tests only, but %s imports it", m, pkgs)
			}
			continue
		}
		for _, p := range pkgs {
			if !slices.Contains(owners[m], p) {
				t.Errorf("%s imports %s, which belongs to %q", p, m, owners[m])
			}
		}
	}
	for m := range testers {
		if len(importers[m]) == 0 && !slices.Contains(testOnly, m) && !slices.Contains(shared, m) {
			t.Errorf("tests import %s, which is in no list", m)
		}
	}
}

// load parses and type-checks our packages, once for all tests.
var load = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, "./...")
})

func packagesLoaded(t *testing.T) []*packages.Package {
	t.Helper()
	pkgs, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, e)
		}
	}
	if len(pkgs) == 0 {
		t.Fatal("no packages")
	}
	return pkgs
}

// own lists the parsed files that stand in the repository, without those that
// cgo makes.
func own(p *packages.Package) []*ast.File {
	var files []*ast.File
	for _, f := range p.Syntax {
		// cgo's copies of our files name the originals in line directives.
		if name := p.Fset.Position(f.Name.Pos()).Filename; slices.Contains(p.GoFiles, name) {
			files = append(files, f)
		}
	}
	return files
}

// TestNoInit: nothing happens because a package is imported.
func TestNoInit(t *testing.T) {
	for _, p := range packagesLoaded(t) {
		for _, f := range own(p) {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s has an init function", p.Fset.Position(fn.Pos()))
				}
			}
		}
	}
}

// TestNoGlobals: package-level variables are never written to, nor handed out
// by address, nor of a type that is there to change.
func TestNoGlobals(t *testing.T) {
	for _, p := range packagesLoaded(t) {
		global := func(e ast.Expr) *types.Var {
			for {
				switch x := e.(type) {
				case *ast.ParenExpr:
					e = x.X
				case *ast.SelectorExpr:
					if v, ok := p.TypesInfo.Uses[x.Sel].(*types.Var); ok && v.Parent() == v.Pkg().Scope() {
						return v // another package's
					}
					e = x.X
				case *ast.IndexExpr:
					e = x.X
				case *ast.StarExpr:
					e = x.X
				case *ast.SliceExpr:
					e = x.X
				case *ast.Ident:
					v, ok := p.TypesInfo.Uses[x].(*types.Var)
					if ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() && strings.HasPrefix(v.Pkg().Path(), module) {
						return v
					}
					return nil
				default:
					return nil
				}
			}
		}
		report := func(at token.Pos, v *types.Var, what string) {
			name := strings.TrimPrefix(v.Pkg().Path(), module+"/") + "." + v.Name()
			if mutable[name] == "" && !strings.HasPrefix(v.Name(), "_cgo") {
				t.Errorf("%s: package-level variable %s is %s", p.Fset.Position(at), name, what)
			}
		}
		for _, name := range p.Types.Scope().Names() {
			v, ok := p.Types.Scope().Lookup(name).(*types.Var)
			if !ok {
				continue
			}
			if named, ok := v.Type().(*types.Named); ok && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), "sync") {
				report(v.Pos(), v, "of the type "+named.String()+", which is there to change")
			}
		}
		for _, f := range own(p) {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok == token.DEFINE {
						return true
					}
					for _, left := range n.Lhs {
						if v := global(left); v != nil {
							report(n.Pos(), v, "assigned to")
						}
					}
				case *ast.IncDecStmt:
					if v := global(n.X); v != nil {
						report(n.Pos(), v, "assigned to")
					}
				case *ast.UnaryExpr:
					if v := global(n.X); v != nil && n.Op == token.AND {
						report(n.Pos(), v, "handed out by address")
					}
				case *ast.CallExpr:
					if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
						if v := global(n.Args[0]); v != nil {
							report(n.Pos(), v, "emptied")
						}
					}
				}
				return true
			})
		}
	}
}

// TestDocumented: every exported name says what it is, and so does every package.
func TestDocumented(t *testing.T) {
	for _, p := range packagesLoaded(t) {
		described := false
		if strings.HasSuffix(p.PkgPath, "test") {
			continue // helpers of tests: their methods are those of the interfaces they stand in for
		}
		for _, f := range own(p) {
			described = described || f.Doc != nil
			for _, d := range f.Decls {
				for _, name := range undocumented(d) {
					t.Errorf("%s: %s has no documentation", p.Fset.Position(d.Pos()), name)
				}
			}
		}
		if !described {
			t.Errorf("package %s has no documentation", p.PkgPath)
		}
	}
}

// undocumented returns the exported names that a declaration leaves without a
// comment. One comment on a group of constants or variables serves all of it.
func undocumented(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "Is", "String"}, d.Name.Name) {
			return nil // they are what they are everywhere
		}
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var names []string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						names = append(names, n.Name)
					}
				}
			}
		}
		return names
	}
	return nil
}

func exportedReceiver(list *ast.FieldList) bool {
	e := list.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
