package openai

import (
	"context"
	"errors"
	"math"

	api "github.com/sashabaranov/go-openai"

	"coderag-ls/engine/llm"
)

// Embeddings returns a vector for each text, in order, all of the same length,
// which is dim where that is not 0: a server that cannot cut its vectors refuses
// it, or is told from one that can by their length. Nothing is retried. An error
// is an *llm.Error, or ctx's.
func (c *Client) Embeddings(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	resp, err := c.api.CreateEmbeddings(ctx, api.EmbeddingRequestStrings{Input: texts, Model: api.EmbeddingModel(c.opts.Model), Dimensions: dim})
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err != nil {
		return nil, c.explain(err)
	}
	if len(resp.Data) != len(texts) {
		return nil, llm.Errorf(llm.BadReply, "it made %d vectors of %d texts", len(resp.Data), len(texts))
	}
	out := make([][]float32, len(texts))
	for _, d := range resp.Data {
		switch {
		case d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil:
			return nil, llm.Errorf(llm.BadReply, "it did not say which vector is which text's")
		case len(d.Embedding) == 0:
			return nil, llm.Errorf(llm.BadReply, "it made a vector without values: is %s.model a model for embeddings?", c.opts.Group)
		}
		for _, v := range d.Embedding {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, llm.Errorf(llm.BadReply, "it made a vector whose values are no numbers")
			}
		}
		out[d.Index] = d.Embedding
	}
	want := len(out[0])
	if dim > 0 {
		want = dim
	}
	for _, v := range out {
		if len(v) != want {
			return nil, llm.Errorf(llm.BadReply, "it made a vector of %d values, want %d", len(v), want)
		}
	}
	return out, nil
}
