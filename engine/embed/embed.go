// Package embed turns text into vectors behind one small interface. The
// implementations are embed/static (in the binary, always there) and
// embed/onnx (all-MiniLM-L6-v2 through onnxruntime, where it is installed).
package embed

import "context"

// Model identifies what made a vector. Vectors of two models are never
// compared.
type Model struct {
	Name string // "code-256", "all-MiniLM-L6-v2"
	Dim  int
	// Fingerprint changes with everything that changes a vector: weights,
	// tokenizer, pooling, maximal length, quantisation. Hex, 16 digits.
	Fingerprint string
	// MaxTokens is the longest input in the model's own tokens, 0 where there is no limit. Longer
	// text is cut by Embed; the caller splits it into windows if it wants all of it.
	MaxTokens int
	// PathWeight is how much of the path's vector is added to a chunk's:
	// combined = normalise(content + PathWeight * path).
	PathWeight float32
}

// Embedder makes vectors. It is safe for concurrent use.
type Embedder interface {
	Model() Model
	// Embed returns one vector of Model().Dim values for each text, in order.
	// The vectors are not normalised: their length is meaningful in
	// content + PathWeight*path. A text without any known token gives a zero vector.
	// A partial result is never returned: on error (the context's, or the runtime's) the
	// slice is nil.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Close frees what the model holds; Embed fails afterwards.
	Close() error
}
