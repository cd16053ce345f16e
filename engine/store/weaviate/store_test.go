package weaviate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/storetest"
	"coderag-ls/engine/store/weaviate"
)

// TestStoreConformance runs the suite of stores. What RunDurable does it does to
// files: it copies, cuts and damages them. Here there are none; that what was
// acknowledged outlives a node is for a cluster to show.
//
// The stores of a tenant share vectors, so each has a tenant.
func TestStoreConformance(t *testing.T) {
	o := cluster(t)
	storetest.Run(t, func(ctx context.Context, dir string) (store.Store, error) {
		of := o
		h := sha256.Sum256([]byte(dir))
		of.Tenant = o.Tenant + "-" + hex.EncodeToString(h[:8])
		s, err := weaviate.OpenStore(ctx, of, dir)
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}

// TestStoresShareVectors: what one store has put another one of the tenant has,
// until the first removes it; another tenant never does.
func TestStoresShareVectors(t *testing.T) {
	o := cluster(t)
	ctx := t.Context()
	openStore := func(o weaviate.Options, name string) *weaviate.Store {
		s, err := weaviate.OpenStore(ctx, o, name)
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	other := o
	other.Tenant += "-other"
	a, b, c := openStore(o, "a"), openStore(o, "b"), openStore(other, "a")
	must(t, a.PutVectors(ctx, "m", map[store.VectorKey]store.Vector{storetest.Key(1): storetest.Vec(4, 1)}))
	must(t, a.Commit(ctx, []store.FileRecord{storetest.Record("x.go", 1, 1)}, nil))
	count := func(s *weaviate.Store) int {
		got, err := s.Vectors(ctx, "m", []store.VectorKey{storetest.Key(1)})
		must(t, err)
		return len(got)
	}
	if count(a) != 1 || count(b) != 1 || count(c) != 0 || b.Info().Files != 0 || c.Info().Files != 0 {
		t.Errorf("%d, %d, %d vectors; %+v, %+v", count(a), count(b), count(c), b.Info(), c.Info())
	}
	drop := func(string, store.VectorKey) bool { return false }
	if n, err := b.KeepVectors(ctx, drop); n != 0 || err != nil {
		t.Errorf("b removed %d: %v", n, err)
	}
	if n, err := a.KeepVectors(ctx, drop); n != 1 || err != nil {
		t.Errorf("a removed %d: %v", n, err)
	}
	if count(b) != 0 {
		t.Error("the vector is there still")
	}
	_, err := weaviate.OpenStore(ctx, o, "a")
	var locked *store.LockedError
	if !errors.As(err, &locked) || locked.Dir != "a" || !strings.Contains(locked.Owner, "pid") {
		t.Errorf("opened twice: %v", err)
	}
}
