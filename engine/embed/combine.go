package embed

import (
	"math"

	"coderag-ls/engine/vector"
)

// Quantize returns v as scale * values with values from -127 to 127 (the
// largest magnitude over 127 is the scale), the form in which vectors are
// stored and scanned. A vector of zeros, or one that holds a NaN or an
// infinity, gives scale 0.
func Quantize(v []float32) (scale float32, values []int8) { return vector.Quantize(v) }

// Combine returns normalise(content + weight*path), the vector of a chunk with
// its path's words mixed in, as a new slice of len(content). A nil path, one
// whose length differs or a weight of 0 leaves the content alone. The inputs
// are vectors as the model gives them, not normalised.
func Combine(content, path []float32, weight float32) []float32 {
	out := make([]float32, len(content))
	copy(out, content)
	if weight != 0 && len(path) == len(content) {
		for i, x := range path {
			out[i] += weight * x
		}
	}
	Normalize(out)
	return out
}

// Normalize gives v unit length in place and returns its former length. A zero
// vector stays as it is; one that holds a NaN or an infinity becomes zero, and
// 0 is returned.
func Normalize(v []float32) float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		clear(v)
		return 0
	}
	for i, x := range v {
		v[i] = float32(float64(x) / norm)
	}
	return float32(norm)
}

// Cosine is the cosine of the angle between a and b, from -1 to 1, and 0 where
// either has no direction or their lengths differ.
func Cosine(a, b []float32) float32 {
	if len(a) != len(b) {
		return 0
	}
	var ab, aa, bb float64
	for i, x := range a {
		y := float64(b[i])
		ab += float64(x) * y
		aa += float64(x) * float64(x)
		bb += y * y
	}
	c := ab / math.Sqrt(aa*bb)
	if math.IsNaN(c) {
		return 0
	}
	return float32(max(-1, min(1, c)))
}
