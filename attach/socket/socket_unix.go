//go:build !windows

package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// maxPath is the longest path of a socket, in bytes: sun_path holds 104 on
// macOS and the BSDs, 108 on Linux, with a zero at the end.
const maxPath = 103

// Names of what is made. The prefix tells directories of ours among others'.
const (
	name      = "socket"
	dirPrefix = "coderag-"
)

// Listen listens in dir, a directory of the caller's own. Where its path is too
// long for a socket, or the file system takes none, a new directory that only
// the user may enter is made: in $XDG_RUNTIME_DIR, else where temporary files
// go. The address is for Dial and Remove. The caller holds a lock on dir: a
// socket that is there already is a dead process's and is replaced.
func Listen(dir string) (l net.Listener, address string, err error) {
	var errs []error
	if l, address, err = listenIn(dir); err == nil {
		return l, address, nil
	}
	errs = append(errs, err)
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if base == "" {
			continue
		}
		private, err := os.MkdirTemp(base, dirPrefix) // 0700
		if err == nil {
			if l, address, err = listenIn(private); err == nil {
				return l, address, nil
			}
			_ = os.Remove(private) // it is empty
		}
		errs = append(errs, err)
	}
	return nil, "", fmt.Errorf("no socket can be made: %w", errors.Join(errs...))
}

func listenIn(dir string) (net.Listener, string, error) {
	path := filepath.Join(dir, name)
	if len(path) > maxPath {
		return nil, "", fmt.Errorf("%s has %d bytes, a socket's path at most %d", path, len(path), maxPath)
	}
	_ = os.Remove(path) // where it cannot be removed, listening says so
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, "", errors.Join(err, l.Close())
	}
	return l, path, nil
}

// Remove removes what a listener left: one that was killed, or the directory
// that Listen made for it. An address that is not one of Listen's is let be.
func Remove(address string) {
	dir := filepath.Dir(address)
	if filepath.Base(address) != name || !filepath.IsAbs(address) {
		return
	}
	if info, err := os.Lstat(address); err == nil && info.Mode().Type() == os.ModeSocket {
		_ = os.Remove(address)
	}
	if strings.HasPrefix(filepath.Base(dir), dirPrefix) {
		_ = os.Remove(dir) // fails where it holds anything else
	}
}

// Dial connects to a listener.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", address)
}
