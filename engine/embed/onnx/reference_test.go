package onnx_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"coderag-ls/engine/embed/onnx"
	"coderag-ls/engine/embed/onnx/bert"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/install"
	"coderag-ls/engine/embed/onnx/onnxtest"
)

// reference is a plain BERT encoder in float64, one token after the other,
// written from the paper (Devlin et al. 2018) to check the fused graph.
type reference struct {
	export.Config
	weights export.Weights
}

func (r reference) load(name string, shape ...int) []float64 {
	values, err := r.weights.Float32(name, shape...)
	if err != nil {
		panic(err)
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// linear applies the named layer to each row of x.
func (r reference) linear(name string, x [][]float64, in, out int) [][]float64 {
	w, b := r.load(name+".weight", out, in), r.load(name+".bias", out)
	y := make([][]float64, len(x))
	for t := range x {
		y[t] = make([]float64, out)
		for o := range out {
			y[t][o] = b[o]
			for i := range in {
				y[t][o] += w[o*in+i] * x[t][i]
			}
		}
	}
	return y
}

// norm adds a and b and normalises each row.
func (r reference) norm(name string, a, b [][]float64) [][]float64 {
	g, c := r.load(name+".weight", r.Hidden), r.load(name+".bias", r.Hidden)
	y := make([][]float64, len(a))
	for t := range a {
		y[t] = make([]float64, r.Hidden)
		var mean, variance float64
		for i := range y[t] {
			y[t][i] = a[t][i] + b[t][i]
			mean += y[t][i] / float64(r.Hidden)
		}
		for _, v := range y[t] {
			variance += (v - mean) * (v - mean) / float64(r.Hidden)
		}
		for i := range y[t] {
			y[t][i] = (y[t][i]-mean)/math.Sqrt(variance+r.Epsilon)*g[i] + c[i]
		}
	}
	return y
}

func (r reference) attention(p string, x [][]float64) [][]float64 {
	q := r.linear(p+"query", x, r.Hidden, r.Hidden)
	k := r.linear(p+"key", x, r.Hidden, r.Hidden)
	v := r.linear(p+"value", x, r.Hidden, r.Hidden)
	size := r.Hidden / r.Heads
	out := make([][]float64, len(x))
	for t := range x {
		out[t] = make([]float64, r.Hidden)
		for h := 0; h < r.Hidden; h += size {
			weights, sum := make([]float64, len(x)), 0.0
			for s := range x {
				dot := 0.0
				for i := h; i < h+size; i++ {
					dot += q[t][i] * k[s][i]
				}
				weights[s] = math.Exp(dot / math.Sqrt(float64(size)))
				sum += weights[s]
			}
			for s := range x {
				for i := h; i < h+size; i++ {
					out[t][i] += weights[s] / sum * v[s][i]
				}
			}
		}
	}
	return out
}

func (r reference) embed(ids []int32) []float64 {
	word := r.load("embeddings.word_embeddings.weight", r.Vocab, r.Hidden)
	position := r.load("embeddings.position_embeddings.weight", r.MaxPosition, r.Hidden)
	types := r.load("embeddings.token_type_embeddings.weight", r.TypeVocab, r.Hidden)
	a, b := make([][]float64, len(ids)), make([][]float64, len(ids))
	for t, id := range ids {
		a[t] = word[int(id)*r.Hidden : (int(id)+1)*r.Hidden]
		b[t] = make([]float64, r.Hidden)
		for i := range b[t] {
			b[t][i] = position[t*r.Hidden+i] + types[i]
		}
	}
	x := r.norm("embeddings.LayerNorm", a, b)
	for l := range r.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", l)
		x = r.norm(p+"attention.output.LayerNorm", r.linear(p+"attention.output.dense", r.attention(p+"attention.self.", x), r.Hidden, r.Hidden), x)
		up := r.linear(p+"intermediate.dense", x, r.Hidden, r.Intermediate)
		for t := range up {
			for i, v := range up[t] {
				up[t][i] = 0.5 * v * (1 + math.Erf(v/math.Sqrt2))
			}
		}
		x = r.norm(p+"output.LayerNorm", r.linear(p+"output.dense", up, r.Intermediate, r.Hidden), x)
	}
	sum, length := make([]float64, r.Hidden), 0.0
	for i := range sum {
		for t := range x {
			sum[i] += x[t][i]
		}
		length += sum[i] * sum[i]
	}
	for i := range sum {
		sum[i] /= math.Sqrt(length)
	}
	return sum
}

func TestGraphComputesBERT(t *testing.T) {
	folder, dir := t.TempDir(), t.TempDir()
	source := onnxtest.TinySource(t, folder)
	if err := install.Build(context.Background(), folder, dir, install.Options{Source: &source, Variants: export.Variants()}); err != nil {
		t.Fatal(err)
	}
	vocab, err := bert.OpenVocab(filepath.Join(dir, "vocab.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r := reference{source.Config, onnxtest.TinyWeights()}
	texts := []string{"a", "open", "open the file, read(it); write it back", "func f() { func g() }"}
	for variant, tolerance := range map[string]float64{"fp32": 1e-6, "int8": 0.03} {
		e := tiny(t, onnx.Options{ModelDir: dir, Variant: variant})
		vectors, err := e.Embed(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			ids, _ := bert.New(vocab).Encode(text, source.MaxTokens)
			for j, want := range r.embed(ids) {
				if got := float64(vectors[i][j]); math.Abs(got-want) > tolerance {
					t.Errorf("%s: %q at %d: %v, want %v", variant, text, j, got, want)
				}
			}
		}
	}
}
