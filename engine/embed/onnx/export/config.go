// Package export turns a BERT sentence encoder's weights into an ONNX file
// made of onnxruntime's fused operators. The graph takes the int32 inputs
// "input_ids" and "attention_mask", both [batch, length], and gives "embedding",
// float32 [batch, hidden]: the mean of the last layer's vectors over the mask,
// scaled to length 1.
package export

import (
	"errors"
	"fmt"
)

// Config is what shapes the graph: a BERT encoder with absolute positions and
// the exact GELU. The fields are those of a checkpoint's config.json.
type Config struct {
	Layers       int     // num_hidden_layers
	Hidden       int     // hidden_size
	Heads        int     // num_attention_heads
	Intermediate int     // intermediate_size
	Vocab        int     // vocab_size
	MaxPosition  int     // max_position_embeddings
	TypeVocab    int     // type_vocab_size
	Epsilon      float64 // layer_norm_eps
}

// MiniLM is the configuration of all-MiniLM-L6-v2.
func MiniLM() Config {
	return Config{Layers: 6, Hidden: 384, Heads: 12, Intermediate: 1536, Vocab: 30522, MaxPosition: 512, TypeVocab: 2, Epsilon: 1e-12}
}

// Validate reports whether the graph can be written for c.
func (c Config) Validate() error {
	for _, f := range []struct {
		name       string
		value, max int
	}{
		{"layers", c.Layers, 96},
		{"hidden size", c.Hidden, 1 << 14},
		{"heads", c.Heads, 1 << 10},
		{"intermediate size", c.Intermediate, 1 << 16},
		{"vocabulary size", c.Vocab, 1 << 20},
		{"positions", c.MaxPosition, 1 << 16},
		{"token types", c.TypeVocab, 1 << 8},
	} {
		if f.value < 1 || f.value > f.max {
			return fmt.Errorf("model configuration: %s is %d, want 1 to %d", f.name, f.value, f.max)
		}
	}
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("model configuration: hidden size %d is no multiple of %d heads", c.Hidden, c.Heads)
	}
	if !(c.Epsilon > 0 && c.Epsilon < 1) {
		return errors.New("model configuration: epsilon is not between 0 and 1")
	}
	return nil
}
