package mem_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/mem"
	"coderag-ls/engine/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	var space mem.Space
	storetest.Run(t, func(ctx context.Context, dir string) (store.Store, error) {
		s, err := space.Open(ctx, dir, "")
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}

// Nothing is ever looked for or made where the directory would be.
func TestNothingIsWritten(t *testing.T) {
	var space mem.Space
	dir := t.TempDir()
	s, err := space.Open(t.Context(), dir+"/not/there", "kept in memory")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), []store.FileRecord{storetest.Record("a", 1, 1)}, nil); err != nil {
		t.Fatal(err)
	}
	info := s.Info()
	if !info.Memory || info.Notice != "kept in memory" || info.Bytes != 0 || info.Files != 1 {
		t.Errorf("info %+v", info)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	space.Drop(dir + "/not/there")
	s, err = space.Open(t.Context(), dir+"/not/there", "")
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Info().Files; n != 0 {
		t.Errorf("%d files after they were dropped", n)
	}
}
