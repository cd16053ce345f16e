package shared_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/wire"
	"coderag-ls/internal/sharedcluster"
)

// versions returns a repository's files in two versions, each in a folder: in the second one
// some files are gone, shorter, longer, moved by a line, and some are new.
func versions(t *testing.T, from string) [2]string {
	t.Helper()
	dirs := [2]string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	i := 0
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		write(t, filepath.Join(dirs[0], rel), string(raw))
		second := string(raw)
		lines := strings.SplitAfter(second, "\n")
		switch i++; i % 6 {
		case 0:
			return nil // gone
		case 1:
			second = strings.Join(lines[:len(lines)/2], "")
		case 2:
			second += second
		case 3:
			second = "\n" + second
		case 4:
			write(t, filepath.Join(dirs[1], "copies", rel), second)
		}
		write(t, filepath.Join(dirs[1], rel), second)
		return nil
	})
	must(t, err)
	return dirs
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	must(tb, os.WriteFile(path, []byte(content), 0o644))
}

// TestFaults publishes one version over the other again and again, and something
// breaks in the middle of each publication. Afterwards every node must keep exactly the last version.
func TestFaults(t *testing.T) {
	ctx, c := begin(t, 14*time.Minute)
	const tenant, name = "faults", "example.org/faults"
	dirs := versions(t, corpus(t, "raft"))
	want := [2]indexed{indexOf(t, ctx, dirs[0]), indexOf(t, ctx, dirs[1])}
	u := newUser(t, ctx, c, tenant)
	u.publish(name, "0", dirs[0])
	awaitStored(t, ctx, c, tenant, name, want[0])

	round := 0 // the version that is published: dirs[round%2]
	next := func() (commit, dir string, in indexed) {
		round++
		return fmt.Sprint(round), dirs[round%2], want[round%2]
	}
	// checked looks at what is left when everything is well again.
	checked := func(t *testing.T, commit string, in indexed) {
		t.Helper()
		heal(t, ctx, c)
		awaitStored(t, ctx, c, tenant, name, in)
		all := u.in(t).list()
		if len(all) != 1 || all[0].Commit != commit || all[0].Publishing != "" || all[0].Files != len(in.entries) || all[0].Chunks != in.chunks {
			t.Errorf("listed as %+v, want commit %s with %d files, %d chunks", all, commit, len(in.entries), in.chunks)
		}
	}
	// finished waits for a publication that must have come to its end.
	finished := func(t *testing.T, j *job, in indexed) {
		t.Helper()
		began := time.Now()
		var p wire.Publication
		j.wait().wants(0).decode(&p)
		t.Logf("published %d files (%d put, %d deleted), %.1f s after the fault", p.Files, p.Put, p.Deleted, time.Since(began).Seconds())
		if p.Files != len(in.entries) || p.Chunks != in.chunks {
			t.Errorf("published %d files and %d chunks, the local index has %d and %d", p.Files, p.Chunks, len(in.entries), in.chunks)
		}
	}

	t.Run("a node is killed", func(t *testing.T) {
		u := u.in(t)
		commit, dir, in := next()
		j := u.start(publishArgs(name, commit, dir)...)
		underWay(t, ctx, c, c.Nodes[0], tenant, j)
		must(t, c.Nodes[2].Kill())
		finished(t, j, in)
		checked(t, commit, in)
	})
	t.Run("the leader is killed", func(t *testing.T) {
		u := u.in(t)
		commit, dir, in := next()
		leader, err := c.Leader(ctx)
		must(t, err)
		j := u.start(publishArgs(name, commit, dir)...)
		underWay(t, ctx, c, c.Others(leader)[0], tenant, j)
		must(t, leader.Kill())
		finished(t, j, in)
		checked(t, commit, in)
	})
	t.Run("the leader is cut off", func(t *testing.T) {
		u := u.in(t)
		commit, dir, in := next()
		leader, err := c.Leader(ctx)
		must(t, err)
		j := u.start(publishArgs(name, commit, dir)...)
		underWay(t, ctx, c, c.Others(leader)[0], tenant, j)
		must(t, leader.Cut())
		t.Logf("%s was cut off", leader.Name)
		finished(t, j, in)
		checked(t, commit, in)
	})
	t.Run("a node is cut off from the others", func(t *testing.T) {
		u := u.in(t)
		// The publisher still reaches it.
		commit, dir, in := next()
		away := c.Nodes[1]
		others := []*sharedcluster.Host{c.Nodes[0].Host, c.Nodes[2].Host}
		j := u.start(publishArgs(name, commit, dir)...)
		underWay(t, ctx, c, c.Nodes[0], tenant, j)
		must(t, away.Block(others...))
		o := j.wait()
		must(t, away.Unblock(others...))
		o.wants(0)
		checked(t, commit, in)
	})
	t.Run("the publisher is killed", func(t *testing.T) {
		u := u.in(t)
		commit, dir, in := next()
		j := u.start(publishArgs(name, commit, dir)...)
		underWay(t, ctx, c, c.Nodes[0], tenant, j)
		j.kill()
		all := u.list()
		if len(all) != 1 || all[0].Publishing != commit || all[0].State != wire.SharedPublishing {
			t.Fatalf("a publication that was killed half-way is listed as %+v", all)
		}
		// What is half written is read by files, each whole: the one or the other version.
		began := time.Now()
		finished(t, u.with().start(publishArgs(name, commit, dir)...), in)
		t.Logf("taken over and published in %.1f s", time.Since(began).Seconds())
		checked(t, commit, in)
	})
	t.Run("the publisher is cut off for a while", func(t *testing.T) {
		u := u.in(t)
		commit, dir, in := next()
		away := *u
		host, err := c.Add()
		must(t, err)
		away.host = host
		j := away.start(publishArgs(name, commit, dir)...)
		underWay(t, ctx, c, c.Nodes[0], tenant, j)
		must(t, host.Cut())
		// It waits: nothing is written any more.
		still(t, ctx, c.Nodes[0], tenant)
		must(t, host.Heal())
		finished(t, j, in)
		checked(t, commit, in)
	})
	t.Run("a publisher that was cut off is taken over", func(t *testing.T) {
		u := u.in(t)
		old, oldDir, _ := next()
		commit, dir, in := next()
		away := *u
		host, err := c.Add()
		must(t, err)
		away.host = host
		j := away.start(publishArgs(name, old, oldDir)...)
		underWay(t, ctx, c, c.Nodes[0], tenant, j)
		must(t, host.Cut())
		finished(t, u.with().start(publishArgs(name, commit, dir)...), in)
		must(t, host.Heal())
		o := j.wait()
		if o.code == 0 {
			t.Errorf("a publisher whose repository another one took over says that all is well:\n%s%s", clip(o.stdout), clip(o.stderr))
		}
		t.Logf("the one that was cut off said: %s", clip(o.stderr))
		checked(t, commit, in)
	})
	t.Run("removed", func(t *testing.T) {
		u := u.in(t)
		u.run("publish", "--remove", "--repository", name).wants(0, name)
		if all := u.list(); len(all) != 0 {
			t.Errorf("still listed: %+v", all)
		}
		awaitStored(t, ctx, c, tenant, name, indexed{edition: want[0].edition})
		u.run("publish", "--remove", "--repository", name).wants(1, name)
	})
}

// underWay waits until a publication has begun to change what a node keeps.
func underWay(t *testing.T, ctx context.Context, c *sharedcluster.Cluster, n *sharedcluster.Node, tenant string, j *job) {
	t.Helper()
	before, err := postingsOn(ctx, n, tenant)
	must(t, err)
	for {
		now, err := postingsOn(ctx, n, tenant)
		must(t, err)
		if now != before {
			return
		}
		if j.ended() {
			t.Fatalf("the publication ended before anything could break: %s%s", clip(j.wait().stdout), clip(j.wait().stderr))
		}
	}
}

// still waits until a node's postings do not change for a few looks.
func still(t *testing.T, ctx context.Context, n *sharedcluster.Node, tenant string) {
	t.Helper()
	last, same := -1, 0
	for same < 5 {
		now, err := postingsOn(ctx, n, tenant)
		must(t, err)
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
		select {
		case <-ctx.Done():
			t.Fatal("it never stands still")
		case <-time.After(500 * time.Millisecond):
		}
	}
}
