package chunk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
	"coderag-ls/engine/file"
	"coderag-ls/engine/text"
)

// TestImportForms: what is imported is told without the words around it.
func TestImportForms(t *testing.T) {
	c := chunk.New(chunk.Options{})
	defer c.Close()
	for language, forms := range map[string][][2]string{
		"swift": {{"@testable import Acme", "Acme"}, {"import struct Acme.Store", "Acme.Store"}, {"@_exported import Base", "Base"}, {"public import Core", "Core"}, {"import Plain", "Plain"}},
		"php":   {{"use function Acme\\run;", "Acme\\run"}, {"use const Acme\\MAX as M;", "Acme\\MAX"}, {"use Acme\\Store;", "Acme\\Store"}},
		"ruby":  {{"autoload :Store, \"acme/store\"", "acme/store"}, {"require 'acme'", "acme"}, {"require_relative '../acme'", "../acme"}},
	} {
		var src strings.Builder
		if language == "php" {
			src.WriteString("<?php\n")
		}
		var want, got []string
		for _, f := range forms {
			src.WriteString(f[0] + "\n")
			want = append(want, f[1])
		}
		made := c.Chunk(t.Context(), chunk.Input{Path: "a", Class: file.Class{Language: language, SourceType: file.Code}, Text: text.New(src.String())})
		for _, m := range made.Imports {
			got = append(got, m.Target)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: imports %q, want %q", language, got, want)
		}
	}
}

// TestGoReceivers: a method belongs to its receiver's type however that is
// written.
func TestGoReceivers(t *testing.T) {
	c := chunk.New(chunk.Options{})
	defer c.Close()
	src := "package a\n"
	receivers := []string{"t T", "t *T", "T", "*T", "t T[K]", "t *T[K]", "t (*T)"}
	for i, r := range receivers {
		src += fmt.Sprintf("\nfunc (%s) M%d() {}\n", r, i)
	}
	made := c.Chunk(t.Context(), chunk.Input{Path: "a.go", Class: file.Class{Language: "go", SourceType: file.Code}, Text: text.New(src)})
	if len(made.Symbols) != len(receivers) {
		t.Fatalf("%d symbols", len(made.Symbols))
	}
	for i, s := range made.Symbols {
		if s.Parent != "T" || s.Kind != chunk.Method {
			t.Errorf("(%s): %s of %q", receivers[i], s.Kind, s.Parent)
		}
	}
}
