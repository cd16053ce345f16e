package sharedcluster_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"coderag-ls/internal/sharedcluster"
)

func TestMain(m *testing.M) { os.Exit(sharedcluster.Main(m.Run)) }

// TestCluster holds the harness to what tests of others build on: a node that
// was killed is gone, one that was cut off reaches nobody and is reached by
// nobody, and each node can be asked for what it itself keeps.
func TestCluster(t *testing.T) {
	if err := sharedcluster.Available(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	began := time.Now()
	c, err := sharedcluster.Start(ctx, sharedcluster.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("three nodes were ready after %.1f s", time.Since(began).Seconds())
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.Logs(3000))
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	must(t, c.Nodes[0].Call(ctx, http.MethodPost, "/v1/schema", map[string]any{
		"class": "Thing", "vectorizer": "none",
		"replicationConfig": map[string]any{"factor": 3, "asyncEnabled": true, "deletionStrategy": "TimeBasedResolution"},
		"properties":        []map[string]any{{"name": "text", "dataType": []string{"text"}}},
	}, nil))

	t.Run("keys", func(t *testing.T) {
		n := c.Nodes[1]
		must(t, n.CallAs(ctx, sharedcluster.ReaderKey, http.MethodGet, "/v1/schema", nil, nil))
		for key, write := range map[string]bool{"": false, "wrong": false, sharedcluster.ReaderKey: true} {
			var err error
			if write {
				err = n.CallAs(ctx, key, http.MethodPost, "/v1/objects", thing(0, "no"), nil)
			} else {
				err = n.CallAs(ctx, key, http.MethodGet, "/v1/schema", nil, nil)
			}
			if err == nil {
				t.Errorf("key %q was let in", key)
			}
		}
	})

	t.Run("partition", func(t *testing.T) {
		away, left := followers(t, ctx, c)
		must(t, away.Cut())
		if err := call(ctx, away, http.MethodGet, "/v1/schema", nil); err == nil {
			t.Error("a node that was cut off answers")
		}
		// Nor does it reach others.
		if conn, err := dial(ctx, away, left); err == nil {
			conn.Close()
			t.Error("a node that was cut off reaches another")
		}
		put(t, ctx, left, 1, "while it was away")
		must(t, away.Heal())
		must(t, c.Await(ctx))
		awaitEverywhere(t, ctx, c, 1, "while it was away")
	})

	t.Run("blocked between nodes", func(t *testing.T) {
		away, left := followers(t, ctx, c)
		var others []*sharedcluster.Host
		for _, n := range c.Others(away) {
			others = append(others, n.Host)
		}
		must(t, away.Block(others...))
		put(t, ctx, left, 2, "behind its back")
		// It is asked, but has only what it has; and a listing does not ask others.
		if own, err := away.Objects(ctx, "Thing", ""); err != nil || len(own) != 1 {
			t.Errorf("the node that was cut off from others keeps %d objects: %v", len(own), err)
		}
		if own, err := left.Objects(ctx, "Thing", ""); err != nil || len(own) != 2 {
			t.Errorf("the other keeps %d objects: %v", len(own), err)
		}
		must(t, away.Unblock(others...))
		must(t, c.Await(ctx))
		awaitEverywhere(t, ctx, c, 2, "behind its back")
	})

	t.Run("kill", func(t *testing.T) {
		gone, left := followers(t, ctx, c)
		must(t, gone.Kill())
		if err := call(ctx, gone, http.MethodGet, "/v1/schema", nil); err == nil {
			t.Error("a node that was killed answers")
		}
		put(t, ctx, left, 3, "without it")
		must(t, gone.Restart())
		must(t, c.Await(ctx))
		awaitEverywhere(t, ctx, c, 3, "without it")
	})

	t.Run("leader", func(t *testing.T) {
		leader, err := c.Leader(ctx)
		must(t, err)
		must(t, leader.Cut())
		put(t, ctx, c.Others(leader)[0], 4, "without a leader")
		must(t, leader.Heal())
		must(t, c.Await(ctx))
		awaitEverywhere(t, ctx, c, 4, "without a leader")
	})

	t.Run("pause", func(t *testing.T) {
		slow := c.Nodes[0]
		must(t, slow.Pause())
		if err := call(ctx, slow, http.MethodGet, "/v1/schema", nil); err == nil {
			t.Error("a node that stands still answers")
		}
		must(t, slow.Resume())
		must(t, c.Await(ctx))
	})
}

// followers are a node that does not lead, whose loss is noticed least, and the other one.
func followers(tb testing.TB, ctx context.Context, c *sharedcluster.Cluster) (one, other *sharedcluster.Node) {
	tb.Helper()
	leader, err := c.Leader(ctx)
	must(tb, err)
	left := c.Others(leader)
	return left[0], left[1]
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func id(i int) string { return fmt.Sprintf("10000000-0000-0000-0000-%012d", i) }

func thing(i int, text string) map[string]any {
	return map[string]any{"class": "Thing", "id": id(i), "properties": map[string]any{"text": text}, "vector": []float32{1, float32(i)}}
}

func put(tb testing.TB, ctx context.Context, n *sharedcluster.Node, i int, text string) {
	tb.Helper()
	// A node that has just lost another asks it for a while yet.
	began := time.Now()
	for try := 1; ; try++ {
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := n.Call(short, http.MethodPost, "/v1/objects?consistency_level=QUORUM", thing(i, text), nil)
		cancel()
		if err == nil {
			tb.Logf("written at the %d. try, after %.1f s", try, time.Since(began).Seconds())
			return
		}
		if ctx.Err() != nil {
			tb.Fatal(err)
		}
	}
}

// call asks for a short while.
func call(ctx context.Context, n *sharedcluster.Node, method, path string, body any) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return n.Call(ctx, method, path, body, nil)
}

func dial(ctx context.Context, from, to *sharedcluster.Node) (interface{ Close() error }, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return from.DialContext(ctx, "tcp", to.Address+":8080")
}

func awaitEverywhere(tb testing.TB, ctx context.Context, c *sharedcluster.Cluster, i int, text string) {
	tb.Helper()
	began := time.Now()
	for _, at := range c.Nodes {
		for {
			all, err := at.Objects(ctx, "Thing", "")
			if err == nil && all[id(i)].Properties["text"] == text {
				break
			}
			if ctx.Err() != nil {
				tb.Fatalf("%s has not got %q: %v %v", at.Name, text, all, err)
			}
		}
		o, ok, err := c.Nodes[0].Object(ctx, at, "Thing", "", id(i))
		if err != nil || !ok || o.Properties["text"] != text {
			tb.Errorf("through %s, %s has %+v: %v", c.Nodes[0].Name, at.Name, o, err)
		}
	}
	tb.Logf("every node has it after %.1f s", time.Since(began).Seconds())
}
