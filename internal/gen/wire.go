package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// source is a parsed file and the comments in it.
type source struct{ *ast.File }

// parse reads the Go files of a folder that are no tests, in order of their names.
func parse(root, dir string) ([]source, error) {
	set := token.NewFileSet()
	pkgs, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return nil, err
	}
	var files []source
	for _, path := range pkgs {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, source{f})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	return files, nil
}

// wirePage is docs/wire.md: the methods of package lsp and the types of package wire.
func wirePage(root string) (string, error) {
	types, err := parse(root, "engine/wire")
	if err != nil {
		return "", err
	}
	server, err := parse(root, "lsp")
	if err != nil {
		return "", err
	}
	names := map[string]bool{}
	eachType(types, func(spec *ast.TypeSpec, _ string) { names[spec.Name.Name] = true })

	var b strings.Builder
	b.WriteString("# The wire\n\n" + generated + "\n")
	for _, f := range types {
		if f.Doc != nil {
			b.WriteString(prose("These are"+strings.TrimPrefix(f.Doc.Text(), "Package wire declares")) + "\n")
		}
	}
	b.WriteString("## Methods\n\n| method | |\n|---|---|\n")
	methods := constants(server, "Method")
	if len(methods) == 0 {
		return "", fmt.Errorf("package lsp declares no methods")
	}
	for _, m := range methods {
		fmt.Fprintf(&b, "| `%s` | %s |\n", m.value, linked(sentence(m.doc, m.name), names))
	}
	b.WriteString("\nThe same are commands of `workspace/executeCommand`, as `coderag.server.ask` and so on; the first argument is the\nmethod's parameters.\n\n## Types\n")
	eachType(types, func(spec *ast.TypeSpec, doc string) {
		fmt.Fprintf(&b, "\n### %s\n\n%s", spec.Name.Name, prose(doc))
		if st, ok := spec.Type.(*ast.StructType); ok {
			b.WriteString("\n| field | type | |\n|---|---|---|\n")
			fields(&b, st, names)
		}
	})
	if values := constants(types, ""); len(values) > 0 {
		b.WriteString("\n## Values\n\n| value | |\n|---|---|\n")
		for _, v := range values {
			fmt.Fprintf(&b, "| `%s` | %s |\n", v.value, cell(v.doc))
		}
	}
	return b.String(), nil
}

func eachType(files []source, do func(spec *ast.TypeSpec, doc string)) {
	for _, f := range files {
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				t := spec.(*ast.TypeSpec)
				doc := t.Doc
				if doc == nil {
					doc = gen.Doc
				}
				if t.Name.IsExported() {
					do(t, doc.Text())
				}
			}
		}
	}
}

// constant is an exported constant whose value is a string.
type constant struct{ name, value, doc string }

func constants(files []source, prefix string) []constant {
	var all []constant
	for _, f := range files {
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				v := spec.(*ast.ValueSpec)
				if len(v.Names) != 1 || len(v.Values) != 1 || !v.Names[0].IsExported() || !strings.HasPrefix(v.Names[0].Name, prefix) {
					continue
				}
				lit, ok := v.Values[0].(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				value, err := strconv.Unquote(lit.Value)
				if err != nil {
					continue // the compiler would not have taken it
				}
				all = append(all, constant{v.Names[0].Name, value, v.Doc.Text() + v.Comment.Text()})
			}
		}
	}
	return all
}

// fields writes the rows of a struct; embedded types are named.
func fields(b *strings.Builder, st *ast.StructType, names map[string]bool) {
	for _, f := range st.Fields.List {
		doc := cell(f.Doc.Text() + f.Comment.Text())
		if len(f.Names) == 0 {
			fmt.Fprintf(b, "| | | all of %s |\n", typeName(f.Type, names))
			continue
		}
		for _, n := range f.Names {
			name, optional := n.Name, false
			if f.Tag != nil {
				tag, err := strconv.Unquote(f.Tag.Value)
				if err != nil {
					continue
				}
				parts := strings.Split(reflect.StructTag(tag).Get("json"), ",")
				if parts[0] == "-" {
					continue
				}
				if parts[0] != "" {
					name = parts[0]
				}
				optional = slices.Contains(parts[1:], "omitempty")
			}
			kind := typeName(f.Type, names)
			if optional {
				kind += ", optional"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, kind, doc)
		}
	}
}

// typeName writes a Go type as the JSON it becomes.
func typeName(e ast.Expr, names map[string]bool) string {
	switch t := e.(type) {
	case *ast.Ident:
		switch t.Name {
		case "int", "int64", "uint64", "int32":
			return "integer"
		case "float64", "float32":
			return "number"
		case "bool":
			return "boolean"
		}
		if names[t.Name] {
			return fmt.Sprintf("[%s](#%s)", t.Name, strings.ToLower(t.Name))
		}
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X, names) + " or null"
	case *ast.ArrayType:
		return typeName(t.Elt, names) + "[]"
	case *ast.MapType:
		return "object of " + typeName(t.Value, names)
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return "any"
}

// prose is a doc comment as paragraphs.
func prose(doc string) string { return strings.TrimSpace(doc) + "\n" }

// cell is a doc comment in one line of a table.
func cell(doc string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(doc), " "), "|", "\\|")
}

// sentence takes the identifier off the front of a doc comment.
func sentence(doc, name string) string { return cell(strings.TrimPrefix(doc, name+" ")) }

// linked makes links of the names of types.
func linked(text string, names map[string]bool) string {
	words := strings.Split(text, " ")
	sorted := slices.Sorted(maps.Keys(names))
	for i, w := range words {
		bare := strings.TrimRight(w, ".,;:")
		if _, ok := slices.BinarySearch(sorted, bare); ok {
			words[i] = fmt.Sprintf("[%s](#%s)%s", bare, strings.ToLower(bare), w[len(bare):])
		}
	}
	return strings.Join(words, " ")
}
