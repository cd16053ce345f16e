package vectorcache_test

import (
	"testing"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/vectorcache"
)

// BenchmarkVectors reads vectors of the embedded model's length as indexing
// does, ten of a file at a time, out of 100,000.
func BenchmarkVectors(b *testing.B) {
	const total, file, dim = 100_000, 10, 256
	c := vectorcache.Open(vectorcache.Options{Dir: b.TempDir(), MaxBytes: 512 << 20})
	defer c.Close()
	all := keys(0, total)
	vs := map[store.VectorKey]store.Vector{}
	for i, k := range all {
		vs[k] = store.Vector{Scale: 1, Values: make([]int8, dim)}
		if len(vs) == 8192 || i == total-1 {
			c.Put(model, dim, vs)
			clear(vs)
		}
	}
	absent := keys(total, total+file)
	b.Run("found", func(b *testing.B) {
		for i := range b.N {
			at := i * file % total
			if n := len(c.Vectors(model, dim, all[at:at+file])); n != file {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*file), "ns/vector")
	})
	b.Run("absent", func(b *testing.B) {
		for range b.N {
			if n := len(c.Vectors(model, dim, absent)); n != 0 {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*file), "ns/vector")
	})
	b.Run("first look", func(b *testing.B) {
		dir := b.TempDir()
		c := vectorcache.Open(vectorcache.Options{Dir: dir, MaxBytes: 512 << 20})
		for i := 0; i < total; i += 8192 {
			for _, k := range all[i:min(i+8192, total)] {
				vs[k] = store.Vector{Scale: 1, Values: make([]int8, dim)}
			}
			c.Put(model, dim, vs)
			clear(vs)
		}
		c.Close()
		for range b.N {
			c := vectorcache.Open(vectorcache.Options{Dir: dir, MaxBytes: 512 << 20})
			c.Vectors(model, dim, absent)
			c.Close()
		}
	})
}

// BenchmarkPut writes vectors of the embedded model's length, those of a
// sealed part at a time.
func BenchmarkPut(b *testing.B) {
	const part, dim = 8192, 256
	c := vectorcache.Open(vectorcache.Options{Dir: b.TempDir(), MaxBytes: 512 << 20})
	defer c.Close()
	for i := range b.N {
		vs := map[store.VectorKey]store.Vector{}
		for _, k := range keys(i*part, i*part+part) {
			vs[k] = store.Vector{Scale: 1, Values: make([]int8, dim)}
		}
		c.Put(model, dim, vs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*part), "ns/vector")
}
