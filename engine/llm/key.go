package llm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// maxKeyFile bounds a key file, in bytes.
const maxKeyFile = 64 << 10

// ReadKeyFile reads a key from a file that nobody but its owner may read: its
// first line that is not empty. The error names the file and never holds what
// is in it.
func ReadKeyFile(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("key file %s does not exist", path)
	case err != nil:
		return "", fmt.Errorf("looking at key file %s: %w", path, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("key file %s is not a regular file", path)
	case info.Size() > maxKeyFile:
		return "", fmt.Errorf("key file %s has %d bytes, which is no key", path, info.Size())
	}
	if err := ownersOnly(path, info); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading key file: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if key := strings.TrimSpace(line); key != "" {
			return key, CheckKey(key)
		}
	}
	return "", fmt.Errorf("key file %s is empty", path)
}

// FindKey returns the key that the environment holds under the variable's name, else the
// one of the key file; "" where neither is. getenv may be nil.
func FindKey(getenv func(string) string, variable, file string) (string, error) {
	if getenv != nil {
		if key := getenv(variable); key != "" {
			return key, nil
		}
	}
	if file == "" {
		return "", nil
	}
	return ReadKeyFile(file)
}

// CheckKey refuses what cannot be sent as a key, without repeating it.
func CheckKey(key string) error {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return errors.New("the key holds a character that no key has (a space, a control or a letter beyond ASCII): copy it again")
		}
	}
	return nil
}
