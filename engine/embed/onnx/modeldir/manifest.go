package modeldir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ManifestName is the file that lists what a model directory holds. It is written last,
// so a directory with a manifest is complete.
const ManifestName = "model.json"

// Format is the version of the manifest that this program writes and reads.
const Format = 1

// ErrManifest is wrapped by every error about the content of a model
// directory: a manifest that makes no sense, a file that does not match it.
var ErrManifest = errors.New("damaged model directory: run `coderag-ls model fetch` or `make model` again")

// File is one file of a model directory.
type File struct {
	Name   string `json:"name"` // base name
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Manifest describes a model directory.
type Manifest struct {
	Format    int             `json:"format"`
	Model     string          `json:"model"`
	Dim       int             `json:"dim"`       // values per vector
	MaxTokens int             `json:"maxTokens"` // longest input the model was made for, [CLS] and [SEP] included
	License   string          `json:"license"`
	Source    string          `json:"source"` // SHA-256 of the weights that the variants were made of
	Vocab     File            `json:"vocab"`
	Variants  map[string]File `json:"variants"`
	Default   string          `json:"default"` // a key of Variants
}

// ReadManifest reads and checks dir's manifest. The error wraps os.ErrNotExist
// where there is none.
func ReadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	raw, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the model's manifest: %w", err)
	}
	m, err := ParseManifest(raw)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// ParseManifest decodes and checks a manifest.
func ParseManifest(raw []byte) (Manifest, error) {
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if m.Format != Format {
		return Manifest{}, fmt.Errorf("%w: format %d, this program reads %d", ErrManifest, m.Format, Format)
	}
	if m.Dim < 1 || m.Dim > 1<<14 || m.MaxTokens < 3 || m.MaxTokens > 1<<16 {
		return Manifest{}, fmt.Errorf("%w: dim %d, maxTokens %d", ErrManifest, m.Dim, m.MaxTokens)
	}
	if _, ok := m.Variants[m.Default]; !ok {
		return Manifest{}, fmt.Errorf("%w: default variant %q is not listed", ErrManifest, m.Default)
	}
	files := []File{m.Vocab}
	for _, f := range m.Variants {
		files = append(files, f)
	}
	for _, f := range files {
		if f.Name == "" || f.Name == "." || f.Name == ".." || strings.ContainsAny(f.Name, `/\:`) || f.Size < 1 || len(f.SHA256) != 64 {
			return Manifest{}, fmt.Errorf("%w: file %q", ErrManifest, f.Name)
		}
	}
	return m, nil
}

// Write writes m into dir, replacing the old manifest at once.
func (m Manifest) Write(dir string) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the model's manifest: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ManifestName+".*")
	if err != nil {
		return fmt.Errorf("writing the model's manifest: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(raw, '\n'))
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, ManifestName))
	}
	if err != nil {
		return fmt.Errorf("writing the model's manifest: %w", err)
	}
	return nil
}

// Verify checks that the file at path is what f says. The error wraps
// ErrManifest where it is not.
func (f File) Verify(ctx context.Context, path string) error {
	got, err := Describe(ctx, path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if err != nil {
		return err
	}
	if got.Size != f.Size {
		return fmt.Errorf("%w: %s has %d bytes instead of %d", ErrManifest, path, got.Size, f.Size)
	}
	if got.SHA256 != f.SHA256 {
		return fmt.Errorf("%w: %s has SHA-256 %s instead of %s", ErrManifest, path, got.SHA256, f.SHA256)
	}
	return nil
}

// Describe measures the file at path.
func Describe(ctx context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return f.Read(p)
	}))
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return File{Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
