package export_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/embed/onnx/export"
)

// Whether the graph computes what it should is tested in package onnx, which
// runs it.

func small() export.Config {
	c := export.MiniLM()
	c.Layers, c.Hidden, c.Heads, c.Intermediate, c.Vocab, c.MaxPosition = 2, 8, 2, 16, 20, 12
	return c
}

func TestSameWeightsGiveTheSameFile(t *testing.T) {
	for _, v := range export.Variants() {
		var a, b, other bytes.Buffer
		for seed, w := range map[uint64][]*bytes.Buffer{1: {&a, &b}, 2: {&other}} {
			for _, out := range w {
				if err := export.Write(out, small(), export.Random{Seed: seed}, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) || bytes.Equal(a.Bytes(), other.Bytes()) {
			t.Errorf("%s: the file does not follow the weights", v)
		}
	}
}

func TestInt8IsAQuarterOfTheSize(t *testing.T) {
	cfg := small()
	cfg.Hidden, cfg.Intermediate, cfg.Vocab = 64, 256, 2000
	size := map[export.Variant]int{}
	for _, v := range export.Variants() {
		var out bytes.Buffer
		if err := export.Write(&out, cfg, export.Random{Seed: 1}, v); err != nil {
			t.Fatal(err)
		}
		size[v] = out.Len()
	}
	if ratio := float64(size[export.Int8]) / float64(size[export.FP32]); ratio > 0.32 {
		t.Errorf("int8 is %.2f of fp32", ratio)
	}
}

// broken returns an error or a NaN for some tensors.
type broken struct {
	export.Random
	missing []string
	nan     string
}

func (b broken) Float32(name string, shape ...int) ([]float32, error) {
	if slices.Contains(b.missing, name) {
		return nil, errors.New("tensor " + name + " is missing")
	}
	values, err := b.Random.Float32(name, shape...)
	if name == b.nan {
		values[len(values)-1] = float32(math.NaN())
	}
	return values, err
}

func TestBadTensorsAreAllNamed(t *testing.T) {
	w := broken{
		missing: []string{"embeddings.LayerNorm.bias", "encoder.layer.1.output.dense.weight"},
		nan:     "encoder.layer.0.attention.self.key.weight",
	}
	for _, v := range export.Variants() {
		var out bytes.Buffer
		err := export.Write(&out, small(), w, v)
		if err == nil || out.Len() > 0 {
			t.Fatalf("%s: wrote %d bytes, error %v", v, out.Len(), err)
		}
		for _, name := range append(w.missing, w.nan) {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %q is not named in %v", v, name, err)
			}
		}
	}
}

func TestUnknownVariantIsRefused(t *testing.T) {
	err := export.Write(&bytes.Buffer{}, small(), export.Random{}, "int3")
	if err == nil || !strings.Contains(err.Error(), `"int3"`) {
		t.Errorf("error %v", err)
	}
}

func TestImpossibleConfigurationIsRefused(t *testing.T) {
	for want, change := range map[string]func(*export.Config){
		"layers is -1":       func(c *export.Config) { c.Layers = -1 },
		"no multiple":        func(c *export.Config) { c.Hidden++ },
		"vocabulary size is": func(c *export.Config) { c.Vocab = 1 << 40 },
		"epsilon":            func(c *export.Config) { c.Epsilon = math.NaN() },
	} {
		cfg := small()
		change(&cfg)
		if err := export.Write(&bytes.Buffer{}, cfg, export.Random{}, export.FP32); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
