package mem_test

import (
	"testing"

	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/mem"
	"coderag-ls/engine/sharedindex/sharedindextest"
)

func open(s *mem.Space) sharedindextest.Opener {
	return func(_ *testing.T, tenant string, e sharedindex.Edition) sharedindex.Backend { return s.Open(tenant, e) }
}

func TestSearch(t *testing.T) { sharedindextest.RunSearch(t, open(new(mem.Space))) }

func TestBackend(t *testing.T) { sharedindextest.Run(t, open(new(mem.Space))) }
