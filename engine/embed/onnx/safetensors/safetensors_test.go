package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coderag-ls/engine/embed/onnx/safetensors"
)

// file joins a header and data as the format does.
func file(header string, data []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), data...)
}

func floats(values ...float32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

func open(t *testing.T, content []byte) (*safetensors.File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(path)
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

const two = `{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}   `

func TestReadsTensorsByNameAndShape(t *testing.T) {
	f, err := open(t, file(two, floats(1, -2.5, 3)))
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Float32("a", 2, 1)
	if err != nil || !slices.Equal(a, []float32{1, -2.5}) {
		t.Fatalf("a = %v, %v", a, err)
	}
	b, err := f.Float32("b", 1)
	if err != nil || !slices.Equal(b, []float32{3}) {
		t.Fatalf("b = %v, %v", b, err)
	}
	if got := f.Names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("names %v", got)
	}
}

func TestWrongTensorIsNamed(t *testing.T) {
	half := `{"half":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"one":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`
	f, err := open(t, file(half, make([]byte, 8)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		shape []int
		want  string
	}{
		{"half", []int{2}, `tensor "half" is F16, want F32`},
		{"one", []int{2}, `tensor "one" has shape [1], want [2]`},
		{"none", []int{1}, `tensor "none" is missing`},
	} {
		_, err := f.Float32(c.name, c.shape...)
		if !errors.Is(err, safetensors.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Float32(%q) = %v, want %q", c.name, err, c.want)
		}
	}
}

func TestBrokenFilesAreRefused(t *testing.T) {
	tensor := func(name, dtype, shape, offsets string) string {
		return `{"` + name + `":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}}`
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":               {nil, "too few"},
		"header too big":      {append(binary.LittleEndian.AppendUint64(nil, 1<<40), two...), "larger than"},
		"header cut off":      {file(two, nil)[:40], "truncated"},
		"web page":            {[]byte("<!DOCTYPE html><html></html>"), "is this a safetensors file"},
		"not an object":       {file(`["a"]`, nil), "does not start"},
		"broken json":         {file(`{"a":`, nil), `tensor "a"`},
		"junk after header":   {file(`{} {}`, nil), "after its end"},
		"data cut off":        {file(two, floats(1, 2)), `tensor "b": ends at byte 12 of 8`},
		"offsets reversed":    {file(tensor("w", "F32", "[1]", "[4,0]"), floats(1)), `tensor "w"`},
		"one offset":          {file(tensor("w", "F32", "[1]", "[4]"), floats(1)), `tensor "w"`},
		"negative offset":     {file(tensor("w", "F32", "[1]", "[-4,0]"), floats(1)), `tensor "w"`},
		"shape does not fit":  {file(tensor("w", "F32", "[2]", "[0,4]"), floats(1)), `tensor "w": shape [2] of F32 needs 8 bytes`},
		"shape overflows":     {file(tensor("w", "F32", "[2147483647,2147483647,2147483647]", "[0,4]"), floats(1)), "too large"},
		"negative shape":      {file(tensor("w", "F32", "[-1]", "[0,4]"), floats(1)), `tensor "w"`},
		"unknown dtype":       {file(tensor("w", "F31", "[1]", "[0,4]"), floats(1)), `unknown dtype "F31"`},
		"described twice":     {file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, floats(1)), `"w" is described twice`},
		"overlap":             {file(`{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, floats(1, 2)), `tensor "w" overlaps tensor "v"`},
		"hole":                {file(tensor("w", "F32", "[1]", "[4,8]"), floats(1, 2)), `unused bytes before tensor "w"`},
		"junk after the data": {file(tensor("w", "F32", "[1]", "[0,4]"), floats(1, 2)), "4 bytes after the last tensor"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, c.content)
			if !errors.Is(err, safetensors.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func FuzzNew(f *testing.F) {
	f.Add(file(two, floats(1, 2, 3)))
	f.Add(file(`{"w":{"dtype":"I64","shape":[0,7],"data_offsets":[0,0]}}`, nil))
	f.Add(file(`{}`, nil))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := safetensors.New("fuzz", bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		for _, name := range file.Names() {
			info, _ := file.Info(name)
			values, err := file.Float32(name, info.Shape...)
			if (err == nil) != (info.DType == "F32") {
				t.Fatalf("tensor %q of %s: %v", name, info.DType, err)
			}
			if err == nil && int64(len(values))*4 != info.End-info.Begin {
				t.Fatalf("tensor %q: %d values for %d bytes", name, len(values), info.End-info.Begin)
			}
		}
	})
}
