package modeldir_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

func TestDefaultFollowsXDG(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	want := filepath.Join(home, "data", "coderag", "models", "all-MiniLM-L6-v2")
	if got, err := modeldir.Default(); err != nil || got != want {
		t.Errorf("Default() = %q, %v, want %q", got, err, want)
	}
	if runtime.GOOS != "linux" {
		return
	}
	want = filepath.Join(home, ".local", "share", "coderag", "models", "all-MiniLM-L6-v2")
	for _, value := range []string{"", "relative/data"} {
		t.Setenv("XDG_DATA_HOME", value)
		if got, err := modeldir.Default(); err != nil || got != want {
			t.Errorf("XDG_DATA_HOME=%q: Default() = %q, %v, want %q", value, got, err, want)
		}
	}
}

func TestNothingInstalledSaysWhatToRun(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	_, err := modeldir.Locate(modeldir.Options{})
	if !errors.Is(err, modeldir.ErrNotInstalled) || !strings.Contains(err.Error(), "`coderag-ls model fetch` or `make model`") {
		t.Errorf("error %v", err)
	}
}

func TestLocateFindsTheFilesOfAVariant(t *testing.T) {
	library := onnxtest.Library(t)
	dir := onnxtest.Tiny(t, export.FP32, export.Int8)
	for variant, want := range map[string]string{"": "model-fp32.onnx", "fp32": "model-fp32.onnx", "int8": "model-int8.onnx"} {
		f, err := modeldir.Locate(modeldir.Options{ModelDir: dir, LibraryPath: library, Variant: variant})
		if err != nil || f.Model != filepath.Join(dir, want) || f.Vocab != filepath.Join(dir, "vocab.txt") || f.Library != library {
			t.Errorf("variant %q: %+v, %v", variant, f, err)
		}
		if err := f.Manifest.Variants[f.Variant].Verify(context.Background(), f.Model); err != nil {
			t.Error(err)
		}
	}
}

func TestNewestUsableLibraryOfTheModelDirectory(t *testing.T) {
	real, err := os.ReadFile(onnxtest.Library(t))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("library names of Linux")
	}
	dir := onnxtest.Tiny(t)
	for name, content := range map[string][]byte{
		"libonnxruntime.so.1.9.0":    real,
		"libonnxruntime.so.1.31.1":   real,
		"libonnxruntime.so.1.40.0":   []byte("not a library"),
		"libonnxruntime_helper.so.2": real,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := modeldir.Locate(modeldir.Options{ModelDir: dir})
	if want := filepath.Join(dir, "libonnxruntime.so.1.31.1"); err != nil || f.Library != want {
		t.Errorf("library %q, %v, want %q", f.Library, err, want)
	}
}

func TestExplicitLibraryIsNeverReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if err := os.WriteFile(path, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := modeldir.Locate(modeldir.Options{ModelDir: onnxtest.Tiny(t), LibraryPath: path})
	if !errors.Is(err, modeldir.ErrLibrary) || errors.Is(err, modeldir.ErrNotInstalled) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

// TestProgramsOfOtherSystems checks real files of two systems: the Go tool
// makes programs for each.
func TestProgramsOfOtherSystems(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ goos, goarch, as, want string }{
		{"windows", "amd64", "windows/amd64", "not a shared library"},
		{"windows", "amd64", "windows/arm64", "made for machine"},
		{"windows", "amd64", "linux/amd64", "no ELF"},
		{"darwin", "arm64", "darwin/arm64", "not a shared library"},
		{"darwin", "arm64", "darwin/amd64", "made for"},
		{"darwin", "arm64", "windows/amd64", "no Windows library"},
	} {
		program := filepath.Join(dir, c.goos+c.goarch)
		if _, err := os.Stat(program); err != nil {
			build := exec.Command("go", "build", "-o", program, source)
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+c.goos, "GOARCH="+c.goarch)
			if out, err := build.CombinedOutput(); err != nil {
				t.Skipf("cannot build for %s: %v %s", c.goos, err, out)
			}
		}
		goos, goarch, _ := strings.Cut(c.as, "/")
		_, err := modeldir.CheckLibraryFor(program, goos, goarch)
		if !errors.Is(err, modeldir.ErrLibrary) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s/%s program as %s library: %v, want %q", c.goos, c.goarch, c.as, err, c.want)
		}
	}
}

func TestLibraryForAnotherProcessor(t *testing.T) {
	library := onnxtest.SharedLibrary(t, "const void *OrtGetApiBase(void) { return 0; }")
	other := "arm64"
	if runtime.GOARCH == other {
		other = "amd64"
	}
	if _, err := modeldir.CheckLibraryFor(library, "linux", runtime.GOARCH); err != nil {
		t.Error(err)
	}
	for system, want := range map[string]string{"linux": "made for", "darwin": "no Mach-O", "windows": "no Windows library"} {
		if _, err := modeldir.CheckLibraryFor(library, system, other); !errors.Is(err, modeldir.ErrLibrary) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s/%s: %v, want %q", system, other, err, want)
		}
	}
}

func TestManifestThatMakesNoSense(t *testing.T) {
	dir := onnxtest.Tiny(t)
	good, err := os.ReadFile(filepath.Join(dir, modeldir.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modeldir.ParseManifest(good); err != nil {
		t.Fatal(err)
	}
	for old, replacement := range map[string]string{
		`"format": 1`:               `"format": 2`,
		`"dim": 16`:                 `"dim": 0`,
		`"maxTokens": 24`:           `"maxTokens": -1`,
		`"default": "int8"`:         `"default": "int4"`,
		`"name": "model-int8.onnx"`: `"name": "../model-int8.onnx"`,
		`"name": "vocab.txt"`:       `"name": ""`,
		`{`:                         `[`,
	} {
		bad := strings.Replace(string(good), old, replacement, 1)
		if bad == string(good) {
			t.Fatalf("%s is not in the manifest", old)
		}
		if _, err := modeldir.ParseManifest([]byte(bad)); !errors.Is(err, modeldir.ErrManifest) {
			t.Errorf("%s: error %v", replacement, err)
		}
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"format":1,"model":"m","dim":4,"maxTokens":8,"vocab":{"name":"vocab.txt","size":1,"sha256":"` + strings.Repeat("0", 64) + `"},"variants":{"int8":{"name":"a.onnx","size":1,"sha256":"` + strings.Repeat("a", 64) + `"}},"default":"int8"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := modeldir.ParseManifest(raw)
		if err != nil {
			return
		}
		for _, file := range m.Variants {
			if filepath.Base(file.Name) != file.Name {
				t.Fatalf("file %q leaves the directory", file.Name)
			}
		}
	})
}

func FuzzCheckLibrary(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"), "linux")
	f.Add([]byte("MZ\x90\x00"), "windows")
	f.Add([]byte("\xcf\xfa\xed\xfe\x0c\x00\x00\x01"), "darwin")
	f.Fuzz(func(t *testing.T, raw []byte, goos string) {
		path := filepath.Join(t.TempDir(), "library")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := modeldir.CheckLibraryFor(path, goos, "amd64"); err != nil && !errors.Is(err, modeldir.ErrLibrary) {
			t.Fatal(err)
		}
	})
}
