package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"coderag-ls/attach/socket"
	"coderag-ls/engine/file"
)

// CheckSocket tries whether processes could share an index below dir, a folder
// that exists: it makes a socket as an owner does, and removes it.
func CheckSocket(dir string) (err error) {
	probe, err := os.MkdirTemp(dir, ".coderag-socket-")
	if err != nil {
		return fmt.Errorf("making a folder for a socket: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(probe)) }()
	// An index directory's name is that long.
	at := filepath.Join(probe, "0123456789abcdef0123456789abcdef")
	if err := os.Mkdir(at, 0o700); err != nil {
		return fmt.Errorf("making a folder for a socket: %w", err)
	}
	l, address, err := socket.Listen(at)
	if err != nil {
		return err
	}
	err = l.Close()
	socket.Remove(address)
	return err
}

// CheckOwner asks the process that has an index directory's lock whether it
// answers, and in what way it does not.
func CheckOwner(ctx context.Context, dir string, opts Options) error {
	r, ok := Who(dir)
	if !ok {
		return fmt.Errorf("the process that has the index %s does not say who it is", dir)
	}
	var roots []file.Root
	for _, f := range r.Roots {
		roots = append(roots, file.Root{Name: f.Name, Dir: f.Dir})
	}
	l, err := connect(ctx, opts.withDefaults(), r.Address, roots, opts.Settings)
	var mismatch *mismatchError
	switch {
	case errors.As(err, &mismatch):
		return errors.New(mismatch.reason)
	case err != nil:
		return fmt.Errorf("%s does not answer: %w", r, err)
	}
	return l.close()
}
