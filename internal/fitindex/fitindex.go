// Package fitindex indexes folders for the commands that fit the ranking's
// weights.
package fitindex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/file"
	"coderag-ls/engine/index"
	"coderag-ls/engine/store"
	"coderag-ls/engine/store/mem"
)

// Open indexes dir with the model in the binary, as the program would, with the
// store in memory and what else an index writes in cache. Its error names dir.
func Open(ctx context.Context, dir, cache string, model *static.Model) (*index.Index, error) {
	ix, err := index.Open(ctx, index.Options{
		Roots: []file.Root{{Name: filepath.Base(dir), Dir: dir}}, Inline: model, PathWeight: -1, CacheDir: cache,
		OpenStore: func(ctx context.Context, dir string) (store.Store, error) { return new(mem.Space).Open(ctx, dir, "") },
	})
	if err != nil {
		return nil, fmt.Errorf("indexing %s: %w", dir, err)
	}
	if err := ix.Sync(ctx, false, false); err != nil {
		return nil, errors.Join(fmt.Errorf("indexing %s: %w", dir, err), ix.Close())
	}
	return ix, nil
}
