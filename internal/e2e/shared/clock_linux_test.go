package shared_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coderag-ls/internal/sharedcluster"
)

// TestClocks publishes while clocks disagree: the publishers', then a node's.
func TestClocks(t *testing.T) {
	ctx, c := begin(t, 8*time.Minute)
	const tenant, name = "clocks", "example.org/clocks"
	u := newUser(t, ctx, c, tenant)
	dirs := versions(t, corpus(t, "raft"))
	want := [2]indexed{indexOf(t, ctx, dirs[0]), indexOf(t, ctx, dirs[1])}
	shifted := func(t *testing.T, program string, by time.Duration) string {
		t.Helper()
		to := filepath.Join(t.TempDir(), "program"+by.String())
		if err := sharedcluster.ShiftClock(program, to, by); err != nil {
			t.Skip(err)
		}
		return to
	}
	u.publish(name, "0", dirs[0])
	n := 0
	for _, by := range []time.Duration{36 * time.Hour, -36 * time.Hour, 0} {
		t.Run(fmt.Sprint("the publisher's clock is off by ", by), func(t *testing.T) {
			n++
			off := u.in(t).with()
			off.binary = shifted(t, os.Getenv(programVariable), by)
			off.publish(name, fmt.Sprint(n), dirs[n%2])
			awaitStored(t, ctx, c, tenant, name, want[n%2])
		})
	}
	t.Run("a publisher with another clock dies", func(t *testing.T) {
		// Its lease is over when it is not renewed, whatever its clock says.
		n++
		off := u.in(t).with()
		off.binary = shifted(t, os.Getenv(programVariable), 36*time.Hour)
		j := off.start(publishArgs(name, fmt.Sprint(n), dirs[n%2])...)
		underWay(t, ctx, c, c.Nodes[0], tenant, j)
		j.kill()
		began := time.Now()
		u.in(t).publish(name, fmt.Sprint(n), dirs[n%2])
		t.Logf("taken over and published in %.1f s", time.Since(began).Seconds())
		awaitStored(t, ctx, c, tenant, name, want[n%2])
	})
	t.Run("a publisher with another clock lives", func(t *testing.T) {
		off := u.in(t).with()
		off.binary = shifted(t, os.Getenv(programVariable), -36*time.Hour)
		meet(t, ctx, c, "example.org/larger", off, u.in(t).with())
	})
	engine, err := sharedcluster.Engine()
	must(t, err)
	node := c.Nodes[1]
	for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
		t.Run(fmt.Sprint("a node's clock is off by ", by), func(t *testing.T) {
			if by == 0 {
				node.SetEngine(engine)
			} else {
				node.SetEngine(shifted(t, engine, by))
			}
			must(t, node.Kill())
			heal(t, ctx, c)
			for range 2 {
				n++
				u.in(t).publish(name, fmt.Sprint(n), dirs[n%2])
				awaitStored(t, ctx, c, tenant, name, want[n%2])
			}
		})
	}
	node.SetEngine(engine)
	must(t, node.Kill())
	heal(t, ctx, c)
}
