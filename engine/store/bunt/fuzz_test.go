package bunt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/store/storetest"
)

// usable opens whatever lies in dir and checks that it can be read, written to and opened again.
func usable(t *testing.T, dir string) {
	t.Helper()
	s := mustOpen(t, dir)
	var put []store.FileRecord
	must(t, s.Files(t.Context(), func(r store.FileRecord) error { put = append(put, r); return nil }))
	_, err := s.Vectors(t.Context(), "m", []store.VectorKey{storetest.Key(1)})
	must(t, err)
	must(t, s.Commit(t.Context(), append(put, storetest.Record("new", 1, 2)), nil))
	must(t, s.Close())
	s = mustOpen(t, dir)
	again := map[string]store.FileRecord{}
	must(t, s.Files(t.Context(), func(r store.FileRecord) error { again[r.Path] = r; return nil }))
	for _, r := range put {
		if r.Path != "new" && !reflect.DeepEqual(again[r.Path], r) {
			t.Fatalf("read %+v, wrote it, read %+v", r, again[r.Path])
		}
	}
	if !reflect.DeepEqual(again["new"], storetest.Record("new", 1, 2)) {
		t.Fatal("what was written is not read")
	}
	must(t, s.Close())
}

// FuzzLog opens any file as the log.
func FuzzLog(f *testing.F) {
	dir := f.TempDir()
	fill(f, dir, 2)
	log, err := os.ReadFile(filepath.Join(dir, "index.db"))
	must(f, err)
	f.Add(log)
	f.Add(log[:len(log)-5])
	f.Add([]byte("*3\r\n$3\r\nset\r\n$1\r\n!\r\n$99999999999\r\n"))
	f.Add([]byte("*2\r\n$3\r\ndel\r\n$0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "index.db"), log, 0o600))
		usable(t, dir)
	})
}

// FuzzRecord reads any payload, with a sound checksum, as a file's record.
func FuzzRecord(f *testing.F) {
	dir := f.TempDir()
	s := mustOpen(f, dir)
	must(f, s.Commit(f.Context(), []store.FileRecord{storetest.Record("p", 1, 2)}, nil))
	must(f, s.Close())
	f.Add([]byte(bunt.Payload(f, dir, "fp")))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, payload []byte) {
		dir := t.TempDir()
		log := ""
		for _, kv := range [][2]string{{"!", bunt.Seal("!", fmt.Sprint(bunt.Schema))}, {"fp", bunt.Seal("fp", string(payload))}} {
			log += fmt.Sprintf("*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(kv[0]), kv[0], len(kv[1]), kv[1])
		}
		must(t, os.WriteFile(filepath.Join(dir, "index.db"), []byte(log), 0o600))
		usable(t, dir)
	})
}
