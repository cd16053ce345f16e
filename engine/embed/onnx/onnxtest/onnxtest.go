// Package onnxtest gives tests a model: a tiny random one, or the real one
// where it has been installed.
package onnxtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/install"
	"coderag-ls/engine/embed/onnx/modeldir"
)

// ModelDirEnv names the environment variable by which `make test` says where
// `make model` has put the model and the library.
const ModelDirEnv = "CODERAG_TEST_MODEL_DIR"

// modelDir is where tests look for what is installed; empty for the user's directory.
func modelDir() string { return os.Getenv(ModelDirEnv) }

// Library returns the path of the onnxruntime library, or skips the test.
func Library(t testing.TB) string {
	t.Helper()
	files, err := modeldir.Locate(modeldir.Options{ModelDir: modelDir()})
	if err != nil {
		t.Skipf("needs the onnxruntime library: %v (or set %s)", err, ModelDirEnv)
	}
	return files.Library
}

// MiniLM returns the directory of the real model with the variant, or skips
// the test.
func MiniLM(t testing.TB, variant export.Variant) string {
	t.Helper()
	files, err := modeldir.Locate(modeldir.Options{ModelDir: modelDir(), Variant: string(variant)})
	if err != nil {
		t.Skipf("needs the installed model: %v (or set %s)", err, ModelDirEnv)
	}
	return files.Dir
}

// Tiny builds a model directory with random weights, without a library: 2
// layers of 16 values, 2 heads, 32 positions and a vocabulary of
// letters, digits, punctuation and a few words.
func Tiny(t testing.TB, variants ...export.Variant) string {
	t.Helper()
	src, dst := t.TempDir(), t.TempDir()
	source := TinySource(t, src)
	if err := install.Build(context.Background(), src, dst, install.Options{Source: &source, Variants: variants}); err != nil {
		t.Fatal(err)
	}
	return dst
}

// TinySource writes the weights and the vocabulary of the tiny model into dir.
func TinySource(t testing.TB, dir string) install.Source {
	t.Helper()
	vocab := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "open", "file", "func", "read", "write", "##er", "##ing"}
	for c := '!'; c <= '~'; c++ {
		if c < 'A' || c > 'Z' {
			vocab = append(vocab, string(c))
		}
		if c >= 'a' && c <= 'z' {
			vocab = append(vocab, "##"+string(c))
		}
	}
	cfg := export.Config{
		Layers: 2, Hidden: 16, Heads: 2, Intermediate: 32, Vocab: len(vocab), MaxPosition: 32, TypeVocab: 2,
		Epsilon: 1e-12,
	}
	write := func(name string, content []byte) modeldir.File {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := modeldir.Describe(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	return install.Source{
		Weights:   write("model.safetensors", Safetensors(t, cfg, TinyWeights())),
		Vocab:     write("vocab.txt", []byte(strings.Join(vocab, "\n")+"\n")),
		Config:    cfg,
		MaxTokens: 24,
		License:   "none",
	}
}

// TinyWeights are the weights that TinySource writes.
func TinyWeights() export.Weights { return export.Random{Seed: 1} }

// recorder notes which tensors the writer asks for.
type recorder struct {
	export.Weights
	names  []string
	shapes map[string][]int
}

func (r *recorder) Float32(name string, shape ...int) ([]float32, error) {
	if _, ok := r.shapes[name]; !ok {
		r.names = append(r.names, name)
		r.shapes[name] = shape
	}
	return r.Weights.Float32(name, shape...)
}

// Safetensors returns a safetensors file with the weights that a model of cfg needs.
func Safetensors(t testing.TB, cfg export.Config, weights export.Weights) []byte {
	t.Helper()
	r := &recorder{Weights: weights, shapes: map[string][]int{}}
	if err := export.Write(&bytes.Buffer{}, cfg, r, export.FP32); err != nil {
		t.Fatal(err)
	}
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, name := range r.names {
		begin := len(data)
		values, err := weights.Float32(name, r.shapes[name]...)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		header[name] = map[string]any{"dtype": "F32", "shape": r.shapes[name], "data_offsets": []int{begin, len(data)}}
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(raw)))
	return append(append(out, raw...), data...)
}

// SharedLibrary compiles C code into a shared library named
// libonnxruntime.so, or skips the test.
func SharedLibrary(t testing.TB, code string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs a C compiler on Linux to make libraries")
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "fake.c"), filepath.Join(dir, "libonnxruntime.so")
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, append([]string{"-shared", "-fPIC", "-o", library, source}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return library
}
