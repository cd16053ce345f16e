// Package modeldir knows where all-MiniLM-L6-v2 and the onnxruntime library
// are installed and what a model directory holds. It loads nothing.
package modeldir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Name is the model's name and the name of its directory.
const Name = "all-MiniLM-L6-v2"

// ErrNotInstalled is wrapped by Locate's error when the model or the library
// is not there.
var ErrNotInstalled = errors.New("not installed: run `coderag-ls model fetch` or `make model`")

// Options say where to look.
type Options struct {
	// ModelDir is the model directory; empty for Default.
	ModelDir string
	// LibraryPath is the onnxruntime library; empty to search the model
	// directory, the program's own directory and the system's.
	LibraryPath string
	// Variant is the form of the model; empty for the manifest's default.
	Variant string
}

// Files is what an embedder needs.
type Files struct {
	Dir      string
	Manifest Manifest
	Variant  string
	Model    string // path of the ONNX file
	Vocab    string // path of vocab.txt
	Library  string // path of the onnxruntime library, as CheckLibrary accepts it
}

// Default is the user's model directory: $XDG_DATA_HOME/coderag/models/<Name>
// (~/.local/share where unset), on macOS ~/Library/Application Support/..., on
// Windows %LocalAppData%\....
func Default() (string, error) {
	base := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) { // the XDG specification: ignore relative paths
		base = ""
	}
	if base == "" && runtime.GOOS == "windows" {
		base = os.Getenv("LocalAppData")
	}
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the user's data directory (set embed.modelDir instead): %w", err)
		}
		switch runtime.GOOS {
		case "darwin", "ios":
			base = filepath.Join(home, "Library", "Application Support")
		case "windows":
			base = filepath.Join(home, "AppData", "Local")
		default:
			base = filepath.Join(home, ".local", "share")
		}
	}
	return filepath.Join(base, "coderag", "models", Name), nil
}

// Locate finds the files of an installed model. The error wraps
// ErrNotInstalled where the model or the library is missing, ErrManifest
// where the directory is damaged, and ErrLibrary where an explicit library
// cannot be used.
func Locate(opts Options) (Files, error) {
	dir := opts.ModelDir
	if dir == "" {
		var err error
		if dir, err = Default(); err != nil {
			return Files{}, err
		}
	}
	manifest, err := ReadManifest(dir)
	if errors.Is(err, os.ErrNotExist) {
		return Files{}, fmt.Errorf("model %s in %s: %w", Name, dir, ErrNotInstalled)
	}
	if err != nil {
		return Files{}, err
	}
	f := Files{Dir: dir, Manifest: manifest, Variant: opts.Variant, Vocab: filepath.Join(dir, manifest.Vocab.Name)}
	if f.Variant == "" {
		f.Variant = manifest.Default
	}
	file, ok := manifest.Variants[f.Variant]
	if !ok {
		return Files{}, fmt.Errorf("model variant %q in %s: %w", f.Variant, dir, ErrNotInstalled)
	}
	f.Model = filepath.Join(dir, file.Name)
	f.Library, err = locateLibrary(opts.LibraryPath, dir)
	return f, err
}

// locateLibrary returns the first usable library.
func locateLibrary(explicit, modelDir string) (string, error) {
	if explicit != "" {
		path, err := filepath.Abs(explicit)
		if err != nil {
			return "", fmt.Errorf("finding the onnxruntime library %s: %w", explicit, err)
		}
		if _, err := CheckLibrary(path); err != nil {
			return "", err
		}
		return path, nil
	}
	var unusable error
	for _, pattern := range libraryPatterns(modelDir) {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			continue // a directory name with pattern characters
		}
		slices.SortFunc(matches, newestFirst)
		for _, path := range matches {
			if _, err := CheckLibrary(path); err == nil {
				return path, nil
			} else if unusable == nil {
				unusable = err
			}
		}
	}
	if unusable != nil {
		return "", fmt.Errorf("onnxruntime library: %w (found, but: %w)", ErrNotInstalled, unusable)
	}
	return "", fmt.Errorf("onnxruntime library: %w", ErrNotInstalled)
}

// libraryPatterns are the glob patterns of places to look, best first. Windows' own
// onnxruntime.dll in the system directory is left alone: it is too old.
func libraryPatterns(modelDir string) []string {
	names := []string{"libonnxruntime.so*"}
	switch runtime.GOOS {
	case "darwin", "ios":
		names = []string{"libonnxruntime*.dylib"}
	case "windows":
		names = []string{"onnxruntime.dll"}
	}
	dirs := []string{modelDir}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		bin := filepath.Dir(exe)
		dirs = append(dirs, bin, filepath.Join(bin, "lib"), filepath.Join(filepath.Dir(bin), "lib"))
	}
	if runtime.GOOS != "windows" {
		dirs = append(dirs, "/usr/local/lib", "/opt/homebrew/lib", "/usr/lib64", "/usr/lib", "/usr/lib/*-linux-gnu")
		// What `pip install onnxruntime` leaves behind.
		packages := []string{"/usr/local/lib", "/usr/lib"}
		if home, err := os.UserHomeDir(); err == nil {
			packages = append([]string{filepath.Join(home, ".local", "lib")}, packages...)
		}
		for _, p := range packages {
			dirs = append(dirs, filepath.Join(p, "python3*", "*-packages", "onnxruntime", "capi"))
		}
	}
	var patterns []string
	for _, d := range dirs {
		for _, n := range names {
			patterns = append(patterns, filepath.Join(d, n))
		}
	}
	return patterns
}

// newestFirst orders paths by the numbers in their base names, descending.
func newestFirst(a, b string) int {
	if c := slices.Compare(numbers(filepath.Base(b)), numbers(filepath.Base(a))); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func numbers(s string) []int {
	var out []int
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(part); err == nil {
			out = append(out, n)
		}
	}
	return out
}
