// Package export turns a BERT sentence encoder's weights into an ONNX file
// made of onnxruntime's fused operators. The graph takes the int32 inputs
// "input_ids" and "attention_mask", both [batch, length], and gives "embedding",
// float32 [batch, hidden]: the mean of the last layer's vectors over the mask,
// scaled to length 1.
package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Config is what shapes the graph, in the names of a checkpoint's config.json.
type Config struct {
	Layers       int     `json:"num_hidden_layers"`
	Hidden       int     `json:"hidden_size"`
	Heads        int     `json:"num_attention_heads"`
	Intermediate int     `json:"intermediate_size"`
	Vocab        int     `json:"vocab_size"`
	MaxPosition  int     `json:"max_position_embeddings"`
	TypeVocab    int     `json:"type_vocab_size"`
	Epsilon      float64 `json:"layer_norm_eps"`

	Architecture string `json:"model_type"`
	Activation   string `json:"hidden_act"`
	Position     string `json:"position_embedding_type"`
}

// MiniLM is the configuration of all-MiniLM-L6-v2.
func MiniLM() Config {
	return Config{
		Layers: 6, Hidden: 384, Heads: 12, Intermediate: 1536, Vocab: 30522, MaxPosition: 512, TypeVocab: 2,
		Epsilon: 1e-12, Architecture: "bert", Activation: "gelu", Position: "absolute",
	}
}

// ReadConfig reads and checks a config.json.
func ReadConfig(path string) (Config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("reading the model's configuration: %w", err)
	}
	var c Config
	if err := json.Unmarshal(raw, &c); err != nil {
		return Config{}, fmt.Errorf("reading the model's configuration %s: %w", path, err)
	}
	if err := c.Validate(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Validate reports whether the graph can be written for c.
func (c Config) Validate() error {
	if c.Architecture != "bert" {
		return fmt.Errorf("model type %q is not supported, only \"bert\" is", c.Architecture)
	}
	if c.Activation != "gelu" {
		return fmt.Errorf("activation %q is not supported, only \"gelu\" is", c.Activation)
	}
	if c.Position != "" && c.Position != "absolute" {
		return fmt.Errorf("position embedding %q is not supported, only \"absolute\" is", c.Position)
	}
	for _, f := range []struct {
		name       string
		value, max int
	}{
		{"num_hidden_layers", c.Layers, 96},
		{"hidden_size", c.Hidden, 1 << 14},
		{"num_attention_heads", c.Heads, 1 << 10},
		{"intermediate_size", c.Intermediate, 1 << 16},
		{"vocab_size", c.Vocab, 1 << 20},
		{"max_position_embeddings", c.MaxPosition, 1 << 16},
		{"type_vocab_size", c.TypeVocab, 1 << 8},
	} {
		if f.value < 1 || f.value > f.max {
			return fmt.Errorf("%s is %d, want 1 to %d", f.name, f.value, f.max)
		}
	}
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("hidden_size %d is no multiple of num_attention_heads %d", c.Hidden, c.Heads)
	}
	if !(c.Epsilon > 0 && c.Epsilon < 1) {
		return errors.New("layer_norm_eps is not between 0 and 1")
	}
	return nil
}
