package vector_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"coderag-ls/engine/vector"
)

// BenchmarkScan takes the best 50 of 10,000 and 100,000 rows with every
// kernel, with two workers, with a filter that one row in ten passes, and with a
// float32 loop in Go for comparison.
func BenchmarkScan(b *testing.B) {
	for _, dim := range []int{256, 384} {
		for _, n := range []int{10_000, 100_000} {
			rnd := rand.New(rand.NewPCG(1, 2))
			builder, err := vector.NewBuilder(dim, n)
			if err != nil {
				b.Fatal(err)
			}
			floats := make([]float32, 0, n*dim)
			for range n {
				v := random(rnd, dim)
				floats = append(floats, v...)
				if err := builder.AppendFloat32(v); err != nil {
					b.Fatal(err)
				}
			}
			m, v := builder.Matrix(), random(rnd, dim)
			run := func(name string, q *vector.Query, s vector.Searcher, live vector.Bitmap) {
				b.Run(fmt.Sprintf("%s/dim=%d/n=%d", name, dim, n), func(b *testing.B) {
					if live == nil {
						b.SetBytes(int64(n * dim))
					}
					for b.Loop() {
						s.Search([]vector.Part{{Matrix: m, Live: live}}, q, 50)
					}
				})
			}
			for _, kernel := range vector.Kernels() {
				q, err := kernel.NewQuery(v)
				if err != nil {
					b.Fatal(err)
				}
				run(kernel.String(), q, vector.Searcher{}, nil)
			}
			q, _ := vector.NewQuery(v)
			run("best-2-workers", q, vector.Searcher{Workers: 2}, nil)
			live := vector.NewBitmap(n)
			for i := range n {
				if rnd.IntN(10) == 0 {
					live.Set(i)
				}
			}
			run("best-tenth-live", q, vector.Searcher{}, live)
			b.Run(fmt.Sprintf("float32/dim=%d/n=%d", dim, n), func(b *testing.B) {
				b.SetBytes(int64(n * dim * 4))
				for b.Loop() {
					scan32(floats, v, 50)
				}
			})
		}
	}
}

// scan32 is the float32 loop that int8 is compared with.
func scan32(rows, q []float32, k int) []vector.Hit {
	var best []vector.Hit
	dim := len(q)
	for i := 0; i*dim < len(rows); i++ {
		r := rows[i*dim : (i+1)*dim]
		var s0, s1, s2, s3 float32
		for j := 0; j+4 <= len(r) && j+4 <= len(q); j += 4 {
			s0 += r[j] * q[j]
			s1 += r[j+1] * q[j+1]
			s2 += r[j+2] * q[j+2]
			s3 += r[j+3] * q[j+3]
		}
		h := vector.Hit{Row: i, Score: s0 + s1 + s2 + s3}
		if len(best) == k && h.Score <= best[k-1].Score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, h, func(a, b vector.Hit) int {
			if a.Score >= b.Score {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, h)
		best = best[:min(k, len(best))]
	}
	return best
}
