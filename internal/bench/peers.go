package main

import (
	"bytes"
	"context"
	_ "embed" // the Python program
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A peer that is not to be had is a note in the report, never a failure.

// peerTimeout bounds what a peer may take.
const peerTimeout = 4 * time.Minute

// ripgrep searches the corpus for any word of each question.
func ripgrep(e *env) (latency, string) {
	program, err := findRipgrep(e)
	if err != nil {
		return latency{}, fmt.Sprintf("ripgrep is not run: %v.", err)
	}
	ctx, cancel := context.WithTimeout(e.ctx, peerTimeout)
	defer cancel()
	var times []time.Duration
	for _, q := range questions() {
		args := []string{"--ignore-case", "--fixed-strings", "--line-number", "--no-messages", "--max-columns=200"}
		for _, w := range strings.FieldsFunc(q, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' }) {
			if len(w) > 3 || len(q) <= 3 {
				args = append(args, "-e", w)
			}
		}
		cmd := exec.CommandContext(ctx, program, append(args, e.corpus.root.Dir)...)
		began := time.Now()
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = nil // nothing found
		}
		if err != nil {
			return latency{}, fmt.Sprintf("ripgrep did not run: %v.", err)
		}
		times = append(times, time.Since(began))
	}
	var l latency
	l.P50, l.P95 = percentiles(times)
	version, _ := exec.CommandContext(ctx, program, "--version").Output()
	name, _, _ := strings.Cut(string(version), "\n")
	return l, "ripgrep is " + name + "."
}

// findRipgrep looks on the PATH and then in Debian's packages.
func findRipgrep(e *env) (string, error) {
	if path, err := exec.LookPath("rg"); err == nil {
		return path, nil
	}
	dir := filepath.Join(e.dir, "ripgrep")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(e.ctx, time.Minute)
	defer cancel()
	get := exec.CommandContext(ctx, "apt-get", "download", "ripgrep")
	get.Dir = dir
	if err := get.Run(); err != nil {
		return "", errors.New("it is neither installed nor in the system's packages")
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(packages) == 0 {
		return "", errors.New("its package did not arrive")
	}
	if err := exec.CommandContext(ctx, "dpkg", "-x", packages[0], dir).Run(); err != nil {
		return "", fmt.Errorf("unpacking it: %w", err)
	}
	return filepath.Join(dir, "usr", "bin", "rg"), nil
}

//go:embed onnx_peer.py
var onnxPeer string

// rawSession measures onnxruntime by its own Python binding on ready token ids: texts per
// second of CPU time. The interpreter is $CODERAG_BENCH_PYTHON or python3.
func rawSession(e *env, model string, ids [][]int32, seconds float64) (float64, error) {
	python := os.Getenv("CODERAG_BENCH_PYTHON")
	if python == "" {
		python = "python3"
	}
	in, err := json.Marshal(map[string]any{"model": model, "ids": ids, "seconds": seconds})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(e.ctx, peerTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", onnxPeer)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s with onnxruntime and numpy (pip install onnxruntime; set CODERAG_BENCH_PYTHON): %w", python, err)
	}
	var rate float64
	if err := json.Unmarshal(out, &rate); err != nil {
		return 0, fmt.Errorf("reading what %s printed: %w", python, err)
	}
	return rate, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
