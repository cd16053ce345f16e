package bunt_test

import (
	"context"
	"testing"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
	"coderag-ls/engine/store/storetest"
)

func open(ctx context.Context, dir string) (store.Store, error) {
	return bunt.Open(ctx, dir, bunt.Options{})
}

func TestConformance(t *testing.T) { storetest.Run(t, open) }
