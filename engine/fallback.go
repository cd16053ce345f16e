package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"coderag-ls/engine/store"
	"coderag-ls/engine/store/bunt"
)

// openStore opens the store of an index directory. Where that cannot be
// written to, the index is kept in memory, so that questions are answered all
// the same, and the user is told; the next start tries again. What can be read
// of an index that cannot be written is used.
func (e *Engine) openStore(ctx context.Context, dir string) (store.Store, error) {
	st, err := bunt.Open(ctx, dir, bunt.Options{})
	if err == nil {
		e.space.Drop(dir)
		return st, nil
	}
	if !Unwritable(err) {
		return nil, err
	}
	return e.openInMemory(ctx, dir, err)
}

// openInMemory opens a store in memory for what cannot be kept in dir.
func (e *Engine) openInMemory(ctx context.Context, dir string, why error) (store.Store, error) {
	kept, err := e.space.Open(ctx, dir, fmt.Sprintf(
		"The index cannot be kept: %v. Questions are answered all the same, from an index in memory that is made again at each start. "+
			"To keep it, make the directory writable or set index.cacheDir (--cache-dir) to one that is.", why))
	if err != nil {
		return nil, err
	}
	if kept.Info().Files == 0 {
		if err := bunt.Copy(ctx, dir, kept); err != nil {
			if ctx.Err() != nil {
				return nil, errors.Join(err, kept.Close())
			}
			e.opts.Logger.Info("the index in memory begins empty", "error", err)
		}
	}
	return kept, nil
}

// Unwritable reports whether opening an index failed for where it is to be
// kept, rather than for what it is: somebody else's, or a newer program's. Such
// an index is kept in memory.
func Unwritable(err error) bool {
	for _, cause := range []error{
		fs.ErrPermission, store.ErrFull, syscall.EROFS, syscall.ENOTDIR, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ENAMETOOLONG, syscall.ELOOP,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// noCacheDir stands for the cache directory where the user has none: nothing
// can ever be made below it.
const noCacheDir = os.DevNull
