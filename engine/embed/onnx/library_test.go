package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

// A process can load one onnxruntime only, and a bad one might end it, so the
// tests below run this test program again with these variables.
const (
	loadEnv  = "CODERAG_TEST_LOAD" // libraries to try one after the other, as a path list
	modelEnv = "CODERAG_TEST_LOAD_MODEL"
)

// loadAndReport opens the model with each library in turn.
func loadAndReport(paths string) {
	for _, path := range filepath.SplitList(paths) {
		e, err := onnx.Open(context.Background(), onnx.Options{ModelDir: os.Getenv(modelEnv), LibraryPath: path})
		switch {
		case err == nil:
			v, err := e.Embed(context.Background(), []string{"open"})
			fmt.Println("opened", len(v), err, e.Close())
		case errors.Is(err, onnx.ErrLibrary):
			fmt.Println("refused", strings.ReplaceAll(err.Error(), "\n", " "))
		default:
			fmt.Println("error", err)
		}
	}
}

// open runs loadAndReport in another process and returns its lines.
func open(t *testing.T, libraries ...string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(),
		loadEnv+"="+strings.Join(libraries, string(filepath.ListSeparator)),
		modelEnv+"="+onnxtest.Tiny(t, export.Int8))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the process ended with %v and wrote %s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

const oldRuntime = `
static const void *get_api(unsigned version) { return 0; }
static const char *get_version(void) { return "1.17.0"; }
static const struct { const void *(*a)(unsigned); const char *(*b)(void); } base = { get_api, get_version };
const void *OrtGetApiBase(void) { return &base; }
`

func TestBadLibrariesAreRefusedWithoutACrash(t *testing.T) {
	real := onnxtest.Library(t)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"missing":         {filepath.Join(dir, "none.so"), "no such file"},
		"folder":          {dir, "no regular file"},
		"text":            {write("text.so", []byte("#!/bin/sh\nexit 1\n")), "no ELF shared library"},
		"empty":           {write("empty.so", nil), "no ELF shared library"},
		"truncated":       {write("half.so", whole[:len(whole)/2]), "not a usable onnxruntime library"},
		"truncated late":  {write("late.so", whole[:len(whole)-len(whole)/50]), "not a usable onnxruntime library"},
		"other library":   {onnxtest.SharedLibrary(t, "int answer(void) { return 42; }"), "does not export OrtGetApiBase"},
		"only uses it":    {onnxtest.SharedLibrary(t, "void *OrtGetApiBase(void); void *f(void) { return OrtGetApiBase(); }"), "does not export OrtGetApiBase"},
		"old by its name": {versioned(t, "1.19.2"), "version 1.19.2 is too old"},
		"old by asking":   {onnxtest.SharedLibrary(t, oldRuntime), "1.24 or later is needed"},
		"no interface":    {onnxtest.SharedLibrary(t, "const void *OrtGetApiBase(void) { return 0; }"), "loading it"},
		"needs another":   {needsMissing(t), "loading it"},
	} {
		t.Run(name, func(t *testing.T) {
			// The right library must still work after the bad one.
			lines := open(t, c.path, real)
			if len(lines) != 2 || !strings.HasPrefix(lines[0], "refused") || !strings.Contains(lines[0], c.want) || !strings.Contains(lines[0], c.path) {
				t.Errorf("got %q, want a refusal with %q and the path", lines[0], c.want)
			}
			if last := lines[len(lines)-1]; last != "opened 1 <nil> <nil>" {
				t.Errorf("afterwards the right library gives %q", last)
			}
		})
	}
	t.Run("a second one", func(t *testing.T) {
		other := write("copy.so", whole)
		lines := open(t, real, other, real)
		if len(lines) != 3 || lines[0] != lines[2] || !strings.Contains(lines[1], "already loaded") {
			t.Errorf("got %q", lines)
		}
	})
}

// versioned makes a library that carries a version as onnxruntime does.
func versioned(t *testing.T, version string) string {
	script := filepath.Join(t.TempDir(), "version.map")
	if err := os.WriteFile(script, []byte("VERS_"+version+" { global: OrtGetApiBase; local: *; };"), 0o600); err != nil {
		t.Fatal(err)
	}
	return onnxtest.SharedLibrary(t, oldRuntime, "-Wl,--version-script="+script)
}

// needsMissing makes a library that needs another one which is not there.
func needsMissing(t *testing.T) string {
	needed := onnxtest.SharedLibrary(t, "int answer(void) { return 42; }", "-Wl,-soname,libgone.so")
	return onnxtest.SharedLibrary(t, "int answer(void); const void *OrtGetApiBase(void) { answer(); return 0; }", needed)
}
