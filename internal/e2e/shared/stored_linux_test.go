package shared_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"coderag-ls/engine/embed/static"
	"coderag-ls/engine/index"
	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store/weaviate"
	"coderag-ls/engine/text"
	"coderag-ls/internal/fitindex"
	"coderag-ls/internal/sharedcluster"
)

// indexed is what a local index makes of a folder: what is to be stored.
type indexed struct {
	entries map[string]sharedindex.Entry // by path
	edition sharedindex.Edition
	chunks  int
	df      map[string]int // in how many chunks terms occur
}

func indexOf(t *testing.T, ctx context.Context, dir string) indexed {
	t.Helper()
	model, err := static.New()
	must(t, err)
	ix, err := fitindex.Open(ctx, dir, t.TempDir(), model)
	must(t, err)
	defer func() { must(t, ix.Close()) }()
	all, statistics, err := index.Entries(ix, nil)
	must(t, err)
	in := indexed{entries: map[string]sharedindex.Entry{}, edition: ix.Edition(), df: statistics.DF}
	for _, e := range all {
		in.entries[e.Path] = e
		in.chunks += e.Chunks
	}
	if in.chunks == 0 {
		t.Fatalf("%s has no chunks", dir)
	}
	return in
}

// awaitStored waits until every node keeps exactly what a local index has of
// a repository, id by id, and fails with what differs where that takes too long.
func awaitStored(t *testing.T, ctx context.Context, c *sharedcluster.Cluster, tenant, repository string, want indexed) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	began := time.Now()
	for {
		differs := stored(ctx, c, tenant, repository, want)
		if len(differs) == 0 {
			t.Logf("every node keeps %d files and %d chunks, no more and no less, %.1f s after", len(want.entries), want.chunks, time.Since(began).Seconds())
			return
		}
		select {
		case <-ctx.Done():
			byKind := map[string]int{}
			for _, d := range differs {
				byKind[strings.Join(strings.Fields(d)[:4], " ")]++
			}
			t.Fatalf("after %.0f s the nodes still differ from the local index: %v\n%s", time.Since(began).Seconds(), byKind, clip(strings.Join(differs, "\n")))
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// stored tells how what the nodes keep of a repository differs from what is
// wanted.
func stored(ctx context.Context, c *sharedcluster.Cluster, tenant, repository string, want indexed) (differs []string) {
	say := func(format string, args ...any) { differs = append(differs, fmt.Sprintf(format, args...)) }
	contents := map[string]string{} // of documents' objects, by id, as the first node has them
	for _, n := range c.Nodes {
		classes, err := n.Classes(ctx)
		if err != nil {
			say("%v", err)
			continue
		}
		documents, postings := map[string]int{}, map[string]int{}
		for class, tenants := range classes {
			if strings.HasPrefix(class, "CoderagState") && len(want.entries) == 0 && slices.Contains(tenants, tenant) {
				objects, err := n.Objects(ctx, class, tenant)
				if err != nil {
					say("%v", err)
				}
				for id, o := range objects {
					if o.Properties["repository"] == repository {
						say("%s still has the state %s", n.Name, id)
					}
				}
			}
			isDocument := strings.HasPrefix(class, "CoderagDocument")
			if !isDocument && !strings.HasPrefix(class, "CoderagPosting") || !slices.Contains(tenants, tenant) {
				continue
			}
			objects, err := n.Objects(ctx, class, tenant)
			if err != nil {
				say("%v", err)
				continue
			}
			for id, o := range objects {
				if o.Properties["repository"] != repository {
					continue
				}
				path, _ := o.Properties["path"].(string)
				if !isDocument {
					postings[fmt.Sprint(path, "#", o.Properties["ordinal"])]++
					continue
				}
				documents[path]++
				data, _ := o.Properties["data"].(string)
				if first, ok := contents[id]; !ok {
					contents[id] = data
				} else if first != data {
					say("%s has another document of %s than the node before", n.Name, path)
				}
			}
		}
		wantDocuments, wantPostings := map[string]int{}, map[string]int{}
		for path, e := range want.entries {
			wantDocuments[path] = 1
			for i := range e.Chunks {
				wantPostings[fmt.Sprint(path, "#", i)] = 1
			}
		}
		compare(say, n.Name, "document", documents, wantDocuments)
		compare(say, n.Name, "posting", postings, wantPostings)
		if len(want.entries) > 0 && len(differs) == 0 {
			if err := contentsOf(ctx, n, tenant, repository, want); err != nil {
				say("%s: %v", n.Name, err)
			}
		}
	}
	return differs
}

func compare(say func(string, ...any), node, what string, have, want map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] == 0 {
			say("%s has lost the %s %s", node, what, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		switch {
		case want[name] == 0:
			say("%s has the %s %s, which is to be gone", node, what, name)
		case have[name] > 1:
			say("%s has the %s %s %d times", node, what, name, have[name])
		}
	}
}

// contentsOf reads every document from one node's replica and compares it with
// the local index.
func contentsOf(ctx context.Context, n *sharedcluster.Node, tenant, repository string, want indexed) (err error) {
	b, err := weaviate.Open(ctx, weaviate.Options{
		Endpoints: []string{n.URL()}, APIKey: sharedcluster.AdminKey, Tenant: tenant, Edition: want.edition,
		Levels: weaviate.Levels{Read: weaviate.One},
	})
	if err != nil {
		return err
	}
	defer b.Close()
	var ids []sharedindex.ID
	for path := range want.entries {
		ids = append(ids, sharedindex.ID{Repository: repository, Path: path})
	}
	for some := range slices.Chunk(ids, 32) {
		documents, err := b.Documents(ctx, some)
		if err != nil {
			return err
		}
		for _, id := range some {
			d, there := documents[id]
			e := want.entries[id.Path]
			switch {
			case !there:
				return fmt.Errorf("%s cannot be read", id.Path)
			case d.Record.Hash != e.Hash || text.Hash(d.Text) != e.Hash:
				return fmt.Errorf("%s is stale: hash %x, the local index has %x", id.Path, d.Record.Hash, e.Hash)
			case len(d.Record.File.Chunks) != e.Chunks || len(d.Vectors) != e.Chunks:
				return fmt.Errorf("%s has %d chunks and %d vectors, the local index has %d", id.Path, len(d.Record.File.Chunks), len(d.Vectors), e.Chunks)
			}
		}
	}
	df, err := b.Frequencies(ctx, repository, slices.Collect(maps.Keys(want.df)))
	if err != nil {
		return err
	}
	for term, n := range want.df {
		if df[term] != n {
			return fmt.Errorf("%q is counted %d times, by the local index %d times", term, df[term], n)
		}
	}
	return nil
}

// postingsOn counts the postings of a tenant on a node.
func postingsOn(ctx context.Context, n *sharedcluster.Node, tenant string) (int, error) {
	classes, err := n.Classes(ctx)
	if err != nil {
		return 0, err
	}
	count := 0
	for class, tenants := range classes {
		if !strings.HasPrefix(class, "CoderagPosting") || !slices.Contains(tenants, tenant) {
			continue
		}
		objects, err := n.Objects(ctx, class, tenant)
		if err != nil {
			return 0, err
		}
		count += len(objects)
	}
	return count, nil
}
