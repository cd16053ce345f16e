package bunt_test

import (
	"fmt"
	"runtime"
	"testing"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/storetest"
)

// The size of GOROOT/src.
const (
	benchFiles = 8500
	benchPer   = 8 // chunks a file
)

func benchRecords() []store.FileRecord {
	var put []store.FileRecord
	for i := range benchFiles {
		put = append(put, storetest.Record(fmt.Sprintf("src/internal/package%d/file%d.go", i/20, i), i, benchPer))
	}
	return put
}

func benchVectors(dim int) (map[store.VectorKey]store.Vector, []store.VectorKey) {
	m := map[store.VectorKey]store.Vector{}
	var keys []store.VectorKey
	for i := range benchFiles * benchPer {
		m[storetest.Key(i)] = storetest.Vec(dim, i)
		keys = append(keys, storetest.Key(i))
	}
	return m, keys
}

func BenchmarkCommit(b *testing.B) {
	put := benchRecords()
	for b.Loop() {
		s := mustOpen(b, b.TempDir())
		for i := 0; i < len(put); i += 50 {
			must(b, s.Commit(b.Context(), put[i:min(i+50, len(put))], nil))
		}
		b.ReportMetric(float64(s.Info().Bytes)/float64(benchFiles*benchPer), "B/chunk")
		must(b, s.Close())
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := mustOpen(b, dir)
	must(b, s.Commit(b.Context(), benchRecords(), nil))
	vectors, _ := benchVectors(256)
	must(b, s.PutVectors(b.Context(), "m", vectors))
	vectors = nil
	must(b, s.Close())
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		s := mustOpen(b, dir)
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "heap-MB")
		b.ReportMetric(float64(s.Info().Bytes)/1e6, "disk-MB")
		must(b, s.Close())
		b.StartTimer()
	}
}

func BenchmarkFiles(b *testing.B) {
	s := mustOpen(b, b.TempDir())
	must(b, s.Commit(b.Context(), benchRecords(), nil))
	for b.Loop() {
		n := 0
		must(b, s.Files(b.Context(), func(r store.FileRecord) error { n += len(r.File.Chunks); return nil }))
		if n != benchFiles*benchPer {
			b.Fatal(n)
		}
	}
}

func BenchmarkPutVectors(b *testing.B) {
	vectors, _ := benchVectors(256)
	for b.Loop() {
		s := mustOpen(b, b.TempDir())
		must(b, s.PutVectors(b.Context(), "m", vectors))
		must(b, s.Close())
	}
}

func BenchmarkVectors(b *testing.B) {
	vectors, keys := benchVectors(256)
	s := mustOpen(b, b.TempDir())
	must(b, s.PutVectors(b.Context(), "m", vectors))
	for b.Loop() {
		got, err := s.Vectors(b.Context(), "m", keys)
		must(b, err)
		if len(got) != len(keys) {
			b.Fatal(len(got))
		}
	}
}
