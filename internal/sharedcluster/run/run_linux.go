package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"coderag-ls/internal/sharedcluster"
)

func run(nodes, memory int, dir string, args []string) (code int, err error) {
	if _, err := sharedcluster.Engine(); err != nil {
		return 1, err
	}
	code, inside, err := sharedcluster.Enter()
	if err != nil || !inside {
		return code, err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "coderag-cluster-"); err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return 1, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ready, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	began := time.Now()
	c, err := sharedcluster.Start(ready, sharedcluster.Config{Nodes: nodes, Dir: dir, MemoryLimit: memory})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	fmt.Fprintf(os.Stderr, "run: %d nodes were ready after %.1f s\n", nodes, time.Since(began).Seconds())
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A cluster of the command's own would be in namespaces of its own again.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CODERAG_SHARED_INSIDE=") }),
		"CODERAG_SHARED_ENDPOINTS="+strings.Join(c.Endpoints(), ","),
		"CODERAG_SHARED_API_KEY="+sharedcluster.AdminKey,
		"CODERAG_SHARED_READER_KEY="+sharedcluster.ReaderKey,
		"CODERAG_SHARED_PIDS="+pids(c),
		"CODERAG_SHARED_DIR="+dir,
	)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Run(); err != nil {
		if cmd.ProcessState == nil {
			return 1, err
		}
		return max(1, cmd.ProcessState.ExitCode()), nil
	}
	return 0, nil
}

func pids(c *sharedcluster.Cluster) string {
	var all []string
	for _, n := range c.Nodes {
		all = append(all, fmt.Sprint(n.Pid()))
	}
	return strings.Join(all, ",")
}
