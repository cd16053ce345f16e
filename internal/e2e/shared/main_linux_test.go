package shared_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"coderag-ls/internal/sharedcluster"
)

// programVariable names the program under test; it is built where it is not set.
const programVariable = "CODERAG_TEST_PROGRAM"

// world is what all tests of a run have in common.
type world struct {
	dir     string
	cluster *sharedcluster.Cluster
}

// start starts the cluster when the first test needs it.
type starter struct {
	once sync.Once
	w    *world
	err  error
}

var running starter

func TestMain(m *testing.M) {
	os.Exit(sharedcluster.Main(func() int {
		code := m.Run()
		if running.w == nil {
			return code
		}
		if code != 0 {
			fmt.Fprintln(os.Stderr, running.w.cluster.Logs(1500))
		}
		if err := errors.Join(running.w.cluster.Close(), os.RemoveAll(running.w.dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}))
}

// begin returns the cluster with all its nodes in good health, and a context for the test.
func begin(t *testing.T, limit time.Duration) (context.Context, *sharedcluster.Cluster) {
	t.Helper()
	if err := sharedcluster.Available(); err != nil {
		t.Skip(err)
	}
	running.once.Do(func() { running.w, running.err = start() })
	if running.err != nil {
		t.Fatal(running.err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	c := running.w.cluster
	heal(t, ctx, c)
	return ctx, c
}

// heal undoes whatever was done to nodes.
func heal(t testing.TB, ctx context.Context, c *sharedcluster.Cluster) {
	t.Helper()
	for _, n := range c.Nodes {
		must(t, n.Heal())
		if !n.Running() {
			must(t, n.Restart())
		}
		must(t, n.Resume())
	}
	soon, cancel := context.WithTimeout(ctx, rejoin)
	err := c.Await(soon)
	cancel()
	if err == nil {
		return
	}
	// Nodes that were cut off from each other for longer than their gossip remembers do not
	// look for each other again: whoever runs them starts the lonely one anew.
	members := func(n *sharedcluster.Node) int {
		var all struct{ Nodes []struct{} }
		must(t, n.Call(ctx, "GET", "/v1/nodes?output=minimal", nil, &all))
		return len(all.Nodes)
	}
	lonely := slices.MinFunc(c.Nodes, func(a, b *sharedcluster.Node) int { return cmp.Compare(members(a), members(b)) })
	t.Logf("%s does not find the others by itself (%v): it is started anew", lonely.Name, err)
	must(t, lonely.Kill())
	must(t, lonely.Restart())
	must(t, c.Await(ctx))
}

// rejoin is how long nodes have to find each other again.
const rejoin = 45 * time.Second

func start() (*world, error) {
	dir, err := os.MkdirTemp("", "coderag-shared-")
	if err != nil {
		return nil, err
	}
	if os.Getenv(programVariable) == "" {
		path := filepath.Join(dir, "coderag-ls")
		if out, err := exec.Command("go", "build", "-o", path, "coderag-ls/cmd/coderag-ls").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building: %w\n%s", err, out)
		}
		if err := os.Setenv(programVariable, path); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c, err := sharedcluster.Start(ctx, sharedcluster.Config{Dir: filepath.Join(dir, "cluster")})
	return &world{dir, c}, err
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
