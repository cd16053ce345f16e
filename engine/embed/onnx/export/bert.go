package export

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Weights gives the tensors of a checkpoint by name. It fails if a tensor is
// missing or has another shape. *safetensors.File is one.
type Weights interface {
	Float32(name string, shape ...int) ([]float32, error)
}

// Variant names a numeric form of the model.
type Variant string

const (
	// FP32 keeps every weight as it is: the reference.
	FP32 Variant = "fp32"
	// Int8 stores every matrix as int8 with a scale per output column and
	// quantises activations as it goes, a scale per text. The first token
	// passes the feed-forward layers apart: in the first four layers one
	// channel of [CLS] is 5 to 10 times larger than everything else, and a
	// scale that has to cover it costs all other tokens two to three bits.
	Int8 Variant = "int8"
)

// Variants lists all forms, the default first.
func Variants() []Variant { return []Variant{Int8, FP32} }

// weightLimit is the largest absolute int8 weight. Processors without VNNI add
// two products of a uint8 and an int8 in 16 bits that saturate; up to 90
// that practically never happens (557 of 2.9e9 pairs; at 127 it ruins the
// vectors, cosine 0.948), and it costs 0.0004 in cosine.
const weightLimit = 90

// tableLimit is the largest absolute int8 value in the word embeddings,
// which are only looked up, never multiplied as integers.
const tableLimit = 127

// Write writes the ONNX file of the checkpoint to w. Errors of the weights
// name the tensor.
func Write(w io.Writer, cfg Config, weights Weights, variant Variant) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if variant != FP32 && variant != Int8 {
		return fmt.Errorf("unknown model variant %q, want one of %v", variant, Variants())
	}
	e := &encoder{Config: cfg, quantised: variant == Int8, weights: weights}
	m, err := e.bert(variant)
	if err != nil {
		return err
	}
	if err := m.writeTo(w); err != nil {
		return fmt.Errorf("writing the ONNX file: %w", err)
	}
	return nil
}

// encoder writes the graph. Errors are collected so that one run names every
// bad tensor.
type encoder struct {
	Config
	quantised bool
	weights   Weights
	g         graph
	errs      []error
}

func (e *encoder) bert(variant Variant) (*message, error) {
	e.g.inputs = []*message{
		value(inputIDs, typeInt32, dynamicBatch, dynamicLength),
		value(inputMask, typeInt32, dynamicBatch, dynamicLength),
	}
	e.g.outputs = []*message{value(outputEmbedding, typeFloat, dynamicBatch, e.Hidden)}
	x := e.embeddings()
	for i := 0; i < e.Layers; i++ {
		x = e.layer(i, x)
	}
	e.pool(x)
	if err := errors.Join(e.errs...); err != nil {
		return nil, err
	}
	return e.g.model("bert", [][2]string{
		{"variant", string(variant)},
		{"dim", strconv.Itoa(e.Hidden)},
		{"vocab", strconv.Itoa(e.Vocab)},
		{"maxPosition", strconv.Itoa(e.MaxPosition)},
	}), nil
}

func (e *encoder) load(name string, shape ...int) []float32 {
	values, err := e.weights.Float32(name, shape...)
	if err == nil && slices.ContainsFunc(values, func(v float32) bool { return v-v != 0 }) {
		err = fmt.Errorf("tensor %q holds NaN or infinite values", name)
	}
	if err != nil {
		e.errs = append(e.errs, err)
		n := 1
		for _, d := range shape {
			n *= d
		}
		return make([]float32, n)
	}
	return values
}

func (e *encoder) vector(name string, size int) string {
	return e.g.floats(name, e.load(name, size), size)
}

func (e *encoder) epsilon() attr { return attr{"epsilon", float32(e.Epsilon)} }

// embeddings sums word, position and token type embeddings and normalises.
// Every token is of type 0, so that row is added to the positions once.
func (e *encoder) embeddings() string {
	word := e.load("embeddings.word_embeddings.weight", e.Vocab, e.Hidden)
	position := e.load("embeddings.position_embeddings.weight", e.MaxPosition, e.Hidden)
	types := e.load("embeddings.token_type_embeddings.weight", e.TypeVocab, e.Hidden)
	for i := range position {
		position[i] += types[i%e.Hidden]
	}
	positions := e.g.floats("position", position, e.MaxPosition, e.Hidden)
	gamma := e.vector("embeddings.LayerNorm.weight", e.Hidden)
	beta := e.vector("embeddings.LayerNorm.bias", e.Hidden)
	const out = "embeddings"
	if !e.quantised {
		e.g.node(domainMicrosoft, "EmbedLayerNormalization",
			[]string{inputIDs, "", e.g.floats("word", word, e.Vocab, e.Hidden), positions, "", gamma, beta},
			[]string{out, "embeddings.mask_index"}, e.epsilon())
		return out
	}
	e.lengths()
	q, scale := rowsInt8(word, e.Vocab, e.Hidden, tableLimit)
	e.g.node("", "Gather", []string{e.g.int8s("word", q, e.Vocab, e.Hidden), inputIDs}, []string{"word.rows"})
	e.g.node("", "Cast", []string{"word.rows"}, []string{"word.float"}, attr{"to", typeFloat})
	e.g.node("", "Gather", []string{e.g.floats("word.scale", scale, e.Vocab, 1), inputIDs}, []string{"word.scales"})
	e.g.node("", "Mul", []string{"word.float", "word.scales"}, []string{"word.values"})
	e.g.node("", "Slice", []string{positions, e.g.int64s("zero", 0), "length", e.g.int64s("axis", 0)}, []string{"position.rows"})
	e.g.node(domainMicrosoft, "SkipLayerNormalization", []string{"word.values", "position.rows", gamma, beta}, []string{out}, e.epsilon())
	return out
}

// lengths computes "length", the number of tokens of a row, and "apart", the
// lengths [1, length-1] by which layer splits a row.
func (e *encoder) lengths() {
	e.g.node("", "Shape", []string{inputIDs}, []string{"length"}, attr{"start", 1}, attr{"end", 2})
	one := e.g.int64s("one", 1)
	e.g.node("", "Sub", []string{"length", one}, []string{"rest"})
	e.g.node("", "Concat", []string{one, "rest"}, []string{"apart"}, attr{"axis", 0})
}

func (e *encoder) layer(i int, x string) string {
	p := fmt.Sprintf("encoder.layer.%d.", i)
	a := p + "attention.output."
	project := e.dense(a+"dense", e.Hidden, e.Hidden)
	x = e.addNorm(a, project(a+"product", e.attention(p, x)), x)

	up := e.dense(p+"intermediate.dense", e.Hidden, e.Intermediate)
	bias := e.vector(p+"intermediate.dense.bias", e.Intermediate)
	down := e.dense(p+"output.dense", e.Intermediate, e.Hidden)
	feedForward := func(name, x string) string {
		e.g.node(domainMicrosoft, "BiasGelu", []string{up(name+".up", x), bias}, []string{name + ".gelu"})
		return down(name+".down", name+".gelu")
	}
	if !e.quantised {
		return e.addNorm(p+"output.", feedForward(p+"forward", x), x)
	}
	first, rest, both := p+"first", p+"rest", p+"forward"
	e.g.node("", "Split", []string{x, "apart"}, []string{first, rest}, attr{"axis", 1})
	e.g.node("", "Concat", []string{feedForward(first, first), feedForward(rest, rest)}, []string{both}, attr{"axis", 1})
	return e.addNorm(p+"output.", both, x)
}

// addNorm adds the bias of a projection and the residual, then normalises.
func (e *encoder) addNorm(prefix, projected, residual string) string {
	out := prefix + "norm"
	e.g.node(domainMicrosoft, "SkipLayerNormalization", []string{
		projected, residual,
		e.vector(prefix+"LayerNorm.weight", e.Hidden), e.vector(prefix+"LayerNorm.bias", e.Hidden),
		e.vector(prefix+"dense.bias", e.Hidden),
	}, []string{out}, e.epsilon())
	return out
}

// attention computes queries, keys and values in one product whose columns
// are [query | key | value].
func (e *encoder) attention(p, x string) string {
	h := e.Hidden
	var rows, bias []float32
	for _, part := range []string{"query", "key", "value"} {
		rows = append(rows, e.load(p+"attention.self."+part+".weight", h, h)...)
		bias = append(bias, e.load(p+"attention.self."+part+".bias", h)...)
	}
	name, out := p+"attention.qkv", p+"attention"
	biases := e.g.floats(name+".bias", bias, 3*h)
	heads := attr{"num_heads", e.Heads}
	if !e.quantised {
		weight := e.g.floats(name+".weight", transpose(rows, 3*h, h), h, 3*h)
		e.g.node(domainMicrosoft, "Attention", []string{x, weight, biases, inputMask}, []string{out}, heads)
		return out
	}
	q, scale := rowsInt8(rows, 3*h, h, weightLimit)
	weight := e.g.int8s(name+".weight", transpose(q, 3*h, h), h, 3*h)
	scales := e.g.floats(name+".scale", scale, 3*h)
	e.g.node("", "DynamicQuantizeLinear", []string{x}, []string{name + ".x", name + ".x.scale", name + ".x.zero"})
	e.g.node(domainMicrosoft, "QAttention",
		[]string{name + ".x", weight, biases, name + ".x.scale", scales, inputMask, name + ".x.zero"}, []string{out}, heads)
	return out
}

// dense stores the named layer, [out, in] in the checkpoint, and returns a
// function that appends the product of x and it, without its bias, as y.
func (e *encoder) dense(name string, in, out int) func(y, x string) string {
	rows := e.load(name+".weight", out, in)
	weight := name + ".weight"
	if !e.quantised {
		e.g.floats(weight, transpose(rows, out, in), in, out)
		return func(y, x string) string {
			e.g.node("", "MatMul", []string{x, weight}, []string{y})
			return y
		}
	}
	q, scale := rowsInt8(rows, out, in, weightLimit)
	e.g.int8s(weight, transpose(q, out, in), in, out)
	scales := e.g.floats(name+".scale", scale, out)
	return func(y, x string) string {
		e.g.node(domainMicrosoft, "DynamicQuantizeMatMul", []string{x, weight, scales}, []string{y})
		return y
	}
}

// pool sums the vectors under the mask and scales the sum to length 1; the
// division by the number of tokens cancels out.
func (e *encoder) pool(x string) {
	e.g.node("", "Cast", []string{inputMask}, []string{"pool.mask"}, attr{"to", typeFloat})
	e.g.node("", "Unsqueeze", []string{"pool.mask", e.g.int64s("pool.axis", 1)}, []string{"pool.row"})
	e.g.node("", "MatMul", []string{"pool.row", x}, []string{"pool.sum"})
	e.g.node("", "Squeeze", []string{"pool.sum", "pool.axis"}, []string{"pool.vector"})
	e.g.node("", "LpNormalization", []string{"pool.vector"}, []string{outputEmbedding}, attr{"axis", -1}, attr{"p", 2})
}
