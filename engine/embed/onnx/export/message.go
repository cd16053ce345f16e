package export

import (
	"encoding/binary"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message under construction: byte slices to be written
// one after the other, so that weights are never copied into a larger buffer.
type message struct {
	parts [][]byte
	size  int
}

func (m *message) add(b []byte) {
	m.parts = append(m.parts, b)
	m.size += len(b)
}

func (m *message) varint(field protowire.Number, v int64) {
	m.add(protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), uint64(v)))
}

func (m *message) float(field protowire.Number, v float32) {
	m.add(protowire.AppendFixed32(protowire.AppendTag(nil, field, protowire.Fixed32Type), math.Float32bits(v)))
}

func (m *message) string(field protowire.Number, s string) {
	m.add(protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), s))
}

// bytes keeps b, which must not change afterwards.
func (m *message) bytes(field protowire.Number, b []byte) {
	m.add(protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.BytesType), uint64(len(b))))
	m.add(b)
}

func (m *message) message(field protowire.Number, child *message) {
	m.add(protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.BytesType), uint64(child.size)))
	m.parts = append(m.parts, child.parts...)
	m.size += child.size
}

func (m *message) writeTo(w io.Writer) error {
	for _, p := range m.parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// Element types of onnx.TensorProto.DataType.
const (
	typeFloat = 1
	typeInt8  = 3
	typeInt32 = 6
	typeInt64 = 7
)

// Versions written into the file: any onnxruntime since 1.13 knows them.
const (
	irVersion        = 8
	opsetONNX        = 17
	opsetMicrosoft   = 1
	domainMicrosoft  = "com.microsoft"
	producer         = "coderag-ls"
	attributeFloat   = 1
	attributeInt     = 2
	inputIDs         = "input_ids"
	inputMask        = "attention_mask"
	outputEmbedding  = "embedding"
	dynamicBatch     = "batch"
	dynamicLength    = "length"
	metadataPrefixed = "coderag."
)

// graph collects an onnx.GraphProto. Field numbers are those of onnx.proto3.
type graph struct {
	nodes, initializers, inputs, outputs []*message
}

// attr is an attribute of a node: an int64 or a float32.
type attr struct {
	name  string
	value any
}

// node appends one operator. An empty input name leaves out an optional input.
func (g *graph) node(domain, op string, inputs, outputs []string, attrs ...attr) {
	n := &message{}
	for _, in := range inputs {
		n.string(1, in)
	}
	for _, out := range outputs {
		n.string(2, out)
	}
	n.string(3, outputs[0])
	n.string(4, op)
	for _, a := range attrs {
		am := &message{}
		am.string(1, a.name)
		switch v := a.value.(type) {
		case int:
			am.varint(3, int64(v))
			am.varint(20, attributeInt)
		case float32:
			am.float(2, v)
			am.varint(20, attributeFloat)
		}
		n.message(5, am)
	}
	if domain != "" {
		n.string(7, domain)
	}
	g.nodes = append(g.nodes, n)
}

// tensor appends a constant and returns its name.
func (g *graph) tensor(name string, dataType int64, raw []byte, dims ...int) string {
	t := &message{}
	for _, d := range dims {
		t.varint(1, int64(d))
	}
	t.varint(2, dataType)
	t.string(8, name)
	t.bytes(9, raw)
	g.initializers = append(g.initializers, t)
	return name
}

func (g *graph) floats(name string, values []float32, dims ...int) string {
	raw := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(v))
	}
	return g.tensor(name, typeFloat, raw, dims...)
}

func (g *graph) int8s(name string, values []int8, dims ...int) string {
	raw := make([]byte, len(values))
	for i, v := range values {
		raw[i] = byte(v)
	}
	return g.tensor(name, typeInt8, raw, dims...)
}

func (g *graph) int64s(name string, values ...int64) string {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return g.tensor(name, typeInt64, raw, len(values))
}

// value describes an input or output; a dimension is an int or a name.
func value(name string, elemType int64, dims ...any) *message {
	shape := &message{}
	for _, d := range dims {
		dim := &message{}
		switch d := d.(type) {
		case int:
			dim.varint(1, int64(d))
		case string:
			dim.string(2, d)
		}
		shape.message(1, dim)
	}
	tensor := &message{}
	tensor.varint(1, elemType)
	tensor.message(2, shape)
	typ := &message{}
	typ.message(1, tensor)
	v := &message{}
	v.string(1, name)
	v.message(2, typ)
	return v
}

// model wraps the graph into an onnx.ModelProto.
func (g *graph) model(name string, metadata [][2]string) *message {
	gm := &message{}
	for _, n := range g.nodes {
		gm.message(1, n)
	}
	gm.string(2, name)
	for _, t := range g.initializers {
		gm.message(5, t)
	}
	for _, v := range g.inputs {
		gm.message(11, v)
	}
	for _, v := range g.outputs {
		gm.message(12, v)
	}
	m := &message{}
	m.varint(1, irVersion)
	m.string(2, producer)
	m.message(7, gm)
	for _, o := range []struct {
		domain  string
		version int64
	}{{"", opsetONNX}, {domainMicrosoft, opsetMicrosoft}} {
		om := &message{}
		om.string(1, o.domain)
		om.varint(2, o.version)
		m.message(8, om)
	}
	for _, kv := range metadata {
		e := &message{}
		e.string(1, metadataPrefixed+kv[0])
		e.string(2, kv[1])
		m.message(14, e)
	}
	return m
}
