package export

import (
	"hash/fnv"
	"math/rand/v2"
)

// Random gives weights that depend on seed and the tensor's name only, for
// models that exercise the code and mean nothing. Norms start at scale 1, biases near 0.
type Random struct{ Seed uint64 }

// Float32 implements Weights.
func (r Random) Float32(name string, shape ...int) ([]float32, error) {
	h := fnv.New64a()
	h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(r.Seed, h.Sum64()))
	n := 1
	for _, d := range shape {
		n *= d
	}
	out := make([]float32, n)
	centre := float32(0)
	if len(shape) == 1 && len(name) > 7 && name[len(name)-7:] == ".weight" {
		centre = 1
	}
	for i := range out {
		out[i] = centre + 0.1*float32(rng.NormFloat64())
	}
	return out, nil
}
