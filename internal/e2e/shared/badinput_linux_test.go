package shared_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/store/weaviate"
	"coderag-ls/internal/sharedcluster"
)

// TestKeys asks with keys that are wrong, missing, and good for reading only.
func TestKeys(t *testing.T) {
	ctx, c := begin(t, 4*time.Minute)
	const tenant, name = "keys", "example.org/tenacity"
	u := newUser(t, ctx, c, tenant)
	dirs := versions(t, corpus(t, "tenacity"))
	u.publish(name, "1", dirs[0])
	want := indexOf(t, ctx, dirs[0])
	for _, of := range []struct{ name, key string }{{"wrong", "no-such-key"}, {"none", ""}} {
		t.Run(of.name, func(t *testing.T) {
			bad := u.in(t).with("CODERAG_SHARED_API_KEY="+of.key, "CODERAG_SHARED_REPOSITORY="+name)
			bad.run(publishArgs(name, "2", dirs[1])...).wants(6, "denies access", "CODERAG_SHARED_API_KEY")
			bad.run("publish", "--remove", "--repository", name).wants(6, "denies access")
			bad.run("publish", "--list").wants(6, "denies access")
			r := bad.search(dirs[1], "retry with a wait")
			if !strings.Contains(r.Degraded, "denies access") || len(r.Hits) == 0 {
				t.Errorf("found %v, degraded %q", places(r.Hits), r.Degraded)
			}
		})
	}
	t.Run("reader", func(t *testing.T) {
		reader := u.in(t).with("CODERAG_SHARED_API_KEY="+sharedcluster.ReaderKey, "CODERAG_SHARED_REPOSITORY="+name, "CODERAG_SHARED_TIMEOUT=30000")
		reader.run(publishArgs(name, "2", dirs[1])...).wants(6, "denies access")
		reader.run("publish", "--remove", "--repository", name).wants(6, "denies access")
		r := reader.search(dirs[0], "retry with a wait")
		if r.Degraded != "" || len(r.Hits) == 0 {
			t.Errorf("a reader finds %v, degraded %q", places(r.Hits), r.Degraded)
		}
	})
	awaitStored(t, ctx, c, tenant, name, want)
	if all := u.list(); len(all) != 1 || all[0].Commit != "1" || all[0].Publishing != "" {
		t.Errorf("afterwards it is listed as %+v", all)
	}
}

// TestTenants publishes under the same name for two tenants.
func TestTenants(t *testing.T) {
	ctx, c := begin(t, 4*time.Minute)
	const name = "example.org/same"
	a, b := newUser(t, ctx, c, "tenant-a"), newUser(t, ctx, c, "tenant-b")
	dirs := versions(t, corpus(t, "tenacity"))
	secret := "quixotrel"
	write(t, filepath.Join(dirs[0], "secret.py"), "def "+secret+"():\n    \"\"\"Only for tenant A.\"\"\"\n")
	a.publish(name, "of-a", dirs[0])
	empty := t.TempDir()
	sees := func(u *user) (own, found bool) {
		t.Helper()
		r := u.with("CODERAG_SHARED_REPOSITORY=none", "CODERAG_SHARED_REPOSITORIES=**", "CODERAG_SHARED_TIMEOUT=30000").search(empty, secret)
		if r.Degraded != "" {
			t.Errorf("degraded: %s", r.Degraded)
		}
		for _, h := range r.Hits {
			own = own || strings.HasPrefix(h.Path, name)
			found = found || strings.Contains(h.Text, secret)
		}
		return own, found
	}
	if _, found := sees(a); !found {
		t.Error("tenant A does not find its own")
	}
	if own, found := sees(b); own || found {
		t.Error("tenant B sees what is tenant A's")
	}
	if all := b.list(); len(all) != 0 {
		t.Errorf("tenant B lists %+v", all)
	}
	b.run("publish", "--remove", "--repository", name).wants(1, name)
	b.publish(name, "of-b", dirs[1])
	if own, found := sees(b); found {
		t.Errorf("tenant B sees what is tenant A's (%v)", own)
	}
	inA, inB := indexOf(t, ctx, dirs[0]), indexOf(t, ctx, dirs[1])
	awaitStored(t, ctx, c, "tenant-a", name, inA)
	awaitStored(t, ctx, c, "tenant-b", name, inB)
	b.run("publish", "--remove", "--repository", name).wants(0)
	awaitStored(t, ctx, c, "tenant-a", name, inA)
	awaitStored(t, ctx, c, "tenant-b", name, indexed{edition: inB.edition})
	if _, found := sees(a); !found {
		t.Error("tenant A does not find its own after tenant B removed the same name")
	}
}

// TestSchema meets collections that another version of the program made.
func TestSchema(t *testing.T) {
	ctx, c := begin(t, 4*time.Minute)
	const tenant, name = "schema", "example.org/tenacity"
	u := newUser(t, ctx, c, tenant)
	dirs := versions(t, corpus(t, "tenacity"))
	u.publish(name, "1", dirs[0])
	want := indexOf(t, ctx, dirs[0])
	awaitStored(t, ctx, c, tenant, name, want)
	classes, err := c.Nodes[0].Classes(ctx)
	must(t, err)
	changed, current := map[string]map[string]any{}, fmt.Sprintf("schema %d", weaviate.Schema)
	for class := range classes {
		var schema map[string]any
		must(t, c.Nodes[0].Call(ctx, "GET", "/v1/schema/"+class, nil, &schema))
		was, _ := schema["description"].(string)
		if !strings.Contains(was, current) {
			t.Fatalf("%s is described as %q", class, was)
		}
		schema["description"] = strings.Replace(was, current, "schema 99", 1)
		must(t, c.Nodes[0].Call(ctx, "PUT", "/v1/schema/"+class, schema, nil))
		schema["description"] = was
		changed[class] = schema
	}
	restore := func() {
		for class, schema := range changed {
			// The test's context is over when what is registered is cleaned up.
			must(t, c.Nodes[0].Call(context.WithoutCancel(ctx), "PUT", "/v1/schema/"+class, schema, nil))
		}
	}
	t.Cleanup(restore)
	reader := u.with("CODERAG_SHARED_REPOSITORY="+name, "CODERAG_SHARED_TIMEOUT=30000")
	reader.run(publishArgs(name, "2", dirs[1])...).wants(7, "another schema", "99")
	reader.run("publish", "--remove", "--repository", name).wants(7, "another schema")
	r := reader.search(dirs[0], "retry with a wait")
	if !strings.Contains(r.Degraded, "schema") || len(r.Hits) == 0 {
		t.Errorf("found %v, degraded %q", places(r.Hits), r.Degraded)
	}
	restore()
	awaitStored(t, ctx, c, tenant, name, want)
	u.publish(name, "2", dirs[1])
	awaitStored(t, ctx, c, tenant, name, indexOf(t, ctx, dirs[1]))
}

// TestTwoPublishers has two publish one repository at once.
func TestTwoPublishers(t *testing.T) {
	ctx, c := begin(t, 4*time.Minute)
	u := newUser(t, ctx, c, "two")
	commit := meet(t, ctx, c, "example.org/two", u, u.with())
	if all := u.list(); len(all) != 1 || all[0].Commit != commit || all[0].Publishing != "" {
		t.Errorf("listed as %+v", all)
	}
}

// meet has two users publish one repository at once: the one that comes later is refused, and
// changes nothing. It returns the commit that was published.
func meet(t *testing.T, ctx context.Context, c *sharedcluster.Cluster, name string, u, other *user) string {
	t.Helper()
	dirs := versions(t, corpus(t, "fastify")) // takes some seconds to publish
	u.publish(name, "0", dirs[0])
	for i, dir := range dirs {
		other.run(publishArgs(name, fmt.Sprint(i), dir, "--dry-run")...).wants(0) // so that it has nothing to index afterwards
	}
	for attempt := 1; ; attempt++ {
		commit := fmt.Sprint(attempt)
		j := u.start(publishArgs(name, commit, dirs[1])...)
		underWay(t, ctx, c, c.Nodes[0], u.tenant, j)
		o := other.run(publishArgs(name, "late", dirs[0])...)
		late := o.code == 0 && j.ended() // the first one was through before the other one came: that says nothing
		j.wait().wants(0)
		if late && attempt < 8 {
			continue
		}
		o.wants(4, "being published by another process")
		awaitStored(t, ctx, c, u.tenant, name, indexOf(t, ctx, dirs[1]))
		return commit
	}
}

// TestTLS speaks to the nodes through a proxy with a certificate.
func TestTLS(t *testing.T) {
	ctx, c := begin(t, 4*time.Minute)
	const tenant, name = "tls", "example.org/tenacity"
	var endpoints []string
	ca := filepath.Join(t.TempDir(), "ca.pem")
	for _, n := range c.Nodes {
		to, err := url.Parse(n.URL())
		must(t, err)
		s := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to))
		defer s.Close()
		endpoints = append(endpoints, s.URL)
		must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644))
	}
	u := newUser(t, ctx, c, tenant).with("CODERAG_SHARED_ENDPOINTS=" + strings.Join(endpoints, ","))
	dir := corpus(t, "tenacity")
	// A certificate that nobody vouches for is not spoken to: the key would go there.
	u.with().run(publishArgs(name, "1", dir, "--patience", "1s")...).wants(5, "certificate")
	u = u.with("CODERAG_SHARED_CA_FILE="+ca, "CODERAG_SHARED_REPOSITORY="+name, "CODERAG_SHARED_TIMEOUT=30000")
	u.publish(name, "1", dir)
	awaitStored(t, ctx, c, tenant, name, indexOf(t, ctx, dir))
	if r := u.search(dir, "wait exponentially with jitter"); r.Degraded != "" || len(r.Hits) == 0 {
		t.Errorf("found %v, degraded %q", places(r.Hits), r.Degraded)
	}
}
