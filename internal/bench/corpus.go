package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"coderag-ls/engine/embed/onnx/modeldir"
	"coderag-ls/engine/file"
)

// corpus is Go's standard library as it lies in GOROOT/src, or another folder.
type corpus struct {
	name  string
	root  file.Root
	files []sourceFile
	bytes int64
}

type sourceFile struct {
	path  string
	class file.Class
	text  string
}

// loadCorpus reads the corpus; dir is "" for Go's standard library.
func loadCorpus(ctx context.Context, dir string) (*corpus, error) {
	c := &corpus{name: dir}
	if dir == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("finding GOROOT: %w", err)
		}
		c.name, dir = "Go's standard library sources", filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c.root = file.Root{Name: "go", Dir: abs}
	rules, err := file.NewRules(c.root, file.Options{})
	if err != nil {
		return nil, err
	}
	listing, err := rules.Scan(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range listing.Entries {
		content, err := file.Read(filepath.Join(c.root.Dir, filepath.FromSlash(e.Path)), file.DefaultMaxBytes)
		if err != nil {
			continue
		}
		class, skip, _ := file.Classify(e.Path, content.Text)
		if skip != "" {
			continue
		}
		c.files = append(c.files, sourceFile{e.Path, class, content.Text})
		c.bytes += int64(len(content.Text))
	}
	return c, nil
}

// miniLM returns where the model and its library are installed, or why they
// are not.
func miniLM() (modeldir.Files, error) {
	return modeldir.Locate(modeldir.Options{ModelDir: os.Getenv("CODERAG_MODEL_DIR"), LibraryPath: os.Getenv("CODERAG_LIBRARY_PATH")})
}
