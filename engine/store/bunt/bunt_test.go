package bunt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/buntdb"
	"go.uber.org/goleak"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/store/storetest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(m,
		// buntdb's own loop sees that the database is closed at its next tick, within a second.
		goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

func open(ctx context.Context, dir string) (store.Store, error) {
	return bunt.Open(ctx, dir, bunt.Options{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
}

func mustOpen(t testing.TB, dir string) store.Store {
	t.Helper()
	s, err := open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func paths(t testing.TB, s store.Store) (out []string) {
	t.Helper()
	must(t, s.Files(context.Background(), func(r store.FileRecord) error { out = append(out, r.Path); return nil }))
	return out
}

func TestConformance(t *testing.T) {
	storetest.Run(t, open)
	storetest.RunDurable(t, open)
}

// fill stores n files and n vectors and closes.
func fill(t testing.TB, dir string, n int) {
	t.Helper()
	s := mustOpen(t, dir)
	for i := range n {
		must(t, s.Commit(t.Context(), []store.FileRecord{storetest.Record(fmt.Sprintf("f%03d.go", i), i, 2)}, nil))
		must(t, s.PutVectors(t.Context(), "m", map[store.VectorKey]store.Vector{storetest.Key(i): storetest.Vec(64, i)}))
	}
	must(t, s.Close())
}

func TestLockNamesItsOwner(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	_, err := open(t.Context(), dir)
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("pid %d ", os.Getpid())) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("a second open says %v", err)
	}
	must(t, s.Close())
	if b, err := os.ReadFile(filepath.Join(dir, "LOCK")); err != nil || len(b) > 0 {
		t.Fatalf("after Close, LOCK holds %q, %v", b, err)
	}
	mustOpen(t, dir)
}

func TestOnlyTheOwnerCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	fill(t, dir, 3)
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Chmod(filepath.Join(dir, "index.db"), 0o644))
	s := mustOpen(t, dir)
	check := func() {
		t.Helper()
		fi, err := os.Stat(dir)
		must(t, err)
		if fi.Mode().Perm() != 0o700 {
			t.Errorf("directory is %v", fi.Mode())
		}
		entries, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			fi, err := e.Info()
			must(t, err)
			if fi.Mode().Perm() != 0o600 {
				t.Errorf("%s is %v", e.Name(), fi.Mode())
			}
		}
	}
	check()
	must(t, s.Shrink(t.Context()))
	check()
}

// rewrite sets a key of the log by means of buntdb alone.
func rewrite(t *testing.T, dir, key, value string) {
	t.Helper()
	db, err := buntdb.Open(filepath.Join(dir, "index.db"))
	must(t, err)
	must(t, db.Update(func(tx *buntdb.Tx) error { _, _, err := tx.Set(key, value, nil); return err }))
	must(t, db.Shrink())
	must(t, db.Close())
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 3)
	rewrite(t, dir, "!", bunt.Seal("!", "99"))
	before, err := os.ReadFile(filepath.Join(dir, "index.db"))
	must(t, err)
	_, err = open(t.Context(), dir)
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "99") {
		t.Fatalf("open says %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "index.db"))
	must(t, err)
	if string(before) != string(after) {
		t.Fatal("the newer index was changed")
	}
	_, err = open(t.Context(), dir) // the lock was let go
	if !errors.Is(err, store.ErrNewer) {
		t.Fatalf("open says %v", err)
	}
}

func TestOlderSchemaKeepsVectors(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 3)
	rewrite(t, dir, "!", bunt.Seal("!", "0"))
	s := mustOpen(t, dir)
	info := s.Info()
	if info.Files != 0 || info.Vectors != 3 || !strings.Contains(info.Notice, "older schema") {
		t.Fatalf("after migration: %+v", info)
	}
	got, err := s.Vectors(t.Context(), "m", []store.VectorKey{storetest.Key(1)})
	must(t, err)
	if len(got) != 1 {
		t.Fatal("the vector is gone")
	}
	must(t, s.Close())
	if info := mustOpen(t, dir).Info(); info.Notice != "" || info.Vectors != 3 {
		t.Fatalf("after opening again: %+v", info)
	}
}

// TestDamageIsPutAside damages one record in the middle: the others are saved,
// the damaged file is kept and the user is told.
func TestDamageIsPutAside(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 20)
	path := filepath.Join(dir, "index.db")
	b, err := os.ReadFile(path)
	must(t, err)
	at := strings.Index(string(b), "\r\nff007.go\r\n$") + len("\r\nff007.go\r\n$")
	b[at] = '9' // the length of its value
	must(t, os.WriteFile(path, b, 0o600))
	must(t, os.WriteFile(path+".damaged-20200101T000000.000Z", []byte("older"), 0o600))

	s := mustOpen(t, dir)
	info := s.Info()
	aside := path + ".damaged-20231114T221320.000Z"
	if info.Files != 19 || info.Vectors != 20 || !strings.Contains(info.Notice, "damaged") || !strings.Contains(info.Notice, aside) {
		t.Fatalf("after damage: %+v", info)
	}
	if kept, err := os.ReadFile(aside); err != nil || string(kept) != string(b) {
		t.Fatalf("the damaged file was not kept: %v", err)
	}
	if slices.Contains(paths(t, s), "f007.go") {
		t.Fatal("a damaged record is served")
	}
	if left, _ := filepath.Glob(path + ".damaged-*"); len(left) != 1 {
		t.Fatalf("files put aside: %v", left)
	}
	must(t, s.Close())
	if info := mustOpen(t, dir).Info(); info.Notice != "" || info.Files != 19 {
		t.Fatalf("after opening again: %+v", info)
	}
}

func TestDamagedValueIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	path := filepath.Join(dir, "index.db")
	b, err := os.ReadFile(path)
	must(t, err)
	at := strings.Index(string(b), "func (s *Server) Handle0")
	b[at] = 'F'
	must(t, os.WriteFile(path, b, 0o600))
	s := mustOpen(t, dir)
	if info := s.Info(); info.Damaged != 1 || info.Notice != "" {
		t.Fatalf("%+v", info)
	}
	if got := paths(t, s); len(got) != 4 {
		t.Fatalf("files served: %v", got)
	}
	must(t, s.Commit(t.Context(), []store.FileRecord{storetest.Record("f000.go", 0, 2)}, nil))
	if info := s.Info(); info.Damaged != 0 || len(paths(t, s)) != 5 {
		t.Fatalf("after storing it again: %+v", info)
	}
}

// TestInterruptedReplacement stops between putting the damaged log aside and the new one in place.
func TestInterruptedReplacement(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	path := filepath.Join(dir, "index.db")
	must(t, os.Rename(path, path+".new"))
	if got := paths(t, mustOpen(t, dir)); len(got) != 5 {
		t.Fatalf("files served: %v", got)
	}
}

// TestInterruptedShrink leaves a half-written new log beside the old one.
func TestInterruptedShrink(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	path := filepath.Join(dir, "index.db")
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path+".new", b[:len(b)/2], 0o600))
	if got := paths(t, mustOpen(t, dir)); len(got) != 5 {
		t.Fatalf("files served: %v", got)
	}
	if _, err := os.Stat(path + ".new"); !os.IsNotExist(err) {
		t.Fatalf("the new log is still there: %v", err)
	}
}

func TestForeignFileIsPutAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.db")
	must(t, os.WriteFile(path, []byte("my diary\n"), 0o600))
	s := mustOpen(t, dir)
	if info := s.Info(); !strings.Contains(info.Notice, "damaged") {
		t.Fatalf("%+v", info)
	}
	if b, err := os.ReadFile(path + ".damaged-20231114T221320.000Z"); err != nil || string(b) != "my diary\n" {
		t.Fatalf("%q %v", b, err)
	}
}

func TestDirectoryIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o600))
	if _, err := open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("open says %v", err)
	}
}
