package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// minToken is the least length of a token, in bytes: less can be guessed.
const minToken = 16

// maxToken bounds the size of a token's file, in bytes.
const maxToken = 4096

// Token reads the token that a file holds; one that does not exist is made with
// a new token. A file that others may read or write is refused, and so is a
// token that is short or no single word.
func Token(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("making the token file %s: %w", path, err)
	}
	return readToken(path) // of several processes, one has made it
}

// makeToken makes a token file, whole or not at all; it is fs.ErrExist where
// there is one.
func makeToken(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".token-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // under this name nobody needs it
	_, err = io.WriteString(f, rand.Text()+"\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path) // a rename would replace another's
}

// CheckTokenFile tells what is wrong with a token's file, without making it.
func CheckTokenFile(path string) error {
	_, err := readToken(path)
	return err
}

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	defer f.Close() // it was read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the token: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("the token file %s is no regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("the token file %s can be used by others (mode %04o): chmod 600 it, and change the token", path, info.Mode().Perm())
	case info.Size() > maxToken:
		return "", fmt.Errorf("the token file %s has %d bytes, which is no token", path, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", fmt.Errorf("reading the token file %s: %w", path, err)
	}
	token := strings.TrimSpace(string(data))
	if err := CheckToken(token); err != nil {
		return "", fmt.Errorf("the token file %s: %w", path, err)
	}
	return token, nil
}

// CheckToken tells what is wrong with a token.
func CheckToken(token string) error {
	switch {
	case len(token) < minToken:
		return fmt.Errorf("a token has at least %d characters", minToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("a token is one word of ASCII characters")
	}
	return nil
}
