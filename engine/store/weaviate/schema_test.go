package weaviate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/store/weaviate"
)

// raw asks the engine's REST interface for what no program of ours does.
func raw(t *testing.T, o weaviate.Options, method, path string, body, answer any) {
	t.Helper()
	b, err := json.Marshal(body)
	must(t, err)
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, o.Endpoints[0]+path, bytes.NewReader(b))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	if o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+o.APIKey)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if answer != nil {
		must(t, json.NewDecoder(resp.Body).Decode(answer))
	}
}

// ownPrefix gives the test collections of its own, which are removed with it.
func ownPrefix(t *testing.T, o weaviate.Options) weaviate.Options {
	t.Helper()
	o.Prefix = fmt.Sprintf("Coderagtest%x", rand.Uint32())
	t.Cleanup(func() {
		for _, class := range collections(t, o) {
			raw(t, o, http.MethodDelete, "/v1/schema/"+class.Class, nil, nil)
		}
	})
	return o
}

type class struct {
	Class             string `json:"class"`
	ReplicationConfig struct {
		Factor           int    `json:"factor"`
		AsyncEnabled     bool   `json:"asyncEnabled"`
		DeletionStrategy string `json:"deletionStrategy"`
	} `json:"replicationConfig"`
	MultiTenancyConfig struct {
		Enabled bool `json:"enabled"`
	} `json:"multiTenancyConfig"`
	VectorIndexType string `json:"vectorIndexType"`
}

func collections(t *testing.T, o weaviate.Options) (of []class) {
	t.Helper()
	var schema struct {
		Classes []class `json:"classes"`
	}
	raw(t, o, http.MethodGet, "/v1/schema", nil, &schema)
	for _, c := range schema.Classes {
		if strings.HasPrefix(c.Class, o.Prefix) {
			of = append(of, c)
		}
	}
	return of
}

// TestCollections: several publishers make the collections at once, replicated and
// for several tenants, with each of the vector indexes.
func TestCollections(t *testing.T) {
	o := cluster(t)
	var nodes struct {
		Nodes []struct{} `json:"nodes"`
	}
	raw(t, o, http.MethodGet, "/v1/nodes", nil, &nodes)
	for _, index := range []struct{ vectors, quantized string }{
		{weaviate.HNSW, weaviate.Rotational}, {weaviate.HNSW, weaviate.Scalar}, {weaviate.HNSW, weaviate.Binary}, {weaviate.HNSW, weaviate.Unquantized},
		{weaviate.Flat, weaviate.Unquantized}, {weaviate.Flat, weaviate.Binary},
	} {
		t.Run(index.vectors+" "+index.quantized, func(t *testing.T) {
			of := ownPrefix(t, o)
			of.VectorIndex, of.Quantization = index.vectors, index.quantized
			var wg sync.WaitGroup
			for i := range 3 {
				b := open(t, of)
				wg.Go(func() {
					name := fmt.Sprintf("example.org/r%d", i)
					one := document("one.go", i, 2)
					w, err := b.Write(t.Context(), name)
					if err != nil {
						t.Error(err)
						return
					}
					err = errors.Join(w.Put(t.Context(), []sharedindex.Document{one}), w.Finish(t.Context(), sharedindex.Head{Commit: "c"}), w.Close())
					found, also := b.Nearest(t.Context(), scope(name), one.Rows[1], 1)
					if err != nil || also != nil || len(found) != 1 || found[0].Ordinal != 1 {
						t.Errorf("%v, %v: found %+v", err, also, found)
					}
				})
			}
			wg.Wait()
			made := collections(t, of)
			if len(made) != 4 {
				t.Errorf("collections %+v", made)
			}
			for _, c := range made {
				if r := c.ReplicationConfig; !c.MultiTenancyConfig.Enabled || !r.AsyncEnabled || r.Factor != min(3, len(nodes.Nodes)) || r.DeletionStrategy != "TimeBasedResolution" {
					t.Errorf("%+v", c)
				}
				if strings.Contains(c.Class, "Posting") && c.VectorIndexType != index.vectors {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// TestCollectionsRemoved: what was removed from under a reader reads as what never was.
func TestCollectionsRemoved(t *testing.T) {
	o := ownPrefix(t, cluster(t))
	const name = "example.org/gone"
	b := open(t, o)
	one := document("one.go", 1, 2, "word")
	publish(t, b, name, "c", one)
	for _, c := range collections(t, o) {
		raw(t, o, http.MethodDelete, "/v1/schema/"+c.Class, nil, nil)
	}
	// The nodes hear of it one after the other, and the first answer may be an error: nobody told us.
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		found, err := b.Nearest(t.Context(), scope(name), one.Rows[0], 1)
		if err == nil && len(found) == 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("found %v, %v", found, err)
		}
	}
	if got, err := b.Documents(t.Context(), []sharedindex.ID{{Repository: name, Path: "one.go"}}); err != nil || len(got) != 0 {
		t.Errorf("read %v, %v", got, err)
	}
}

// TestSchema: what another version made is neither read nor written.
func TestSchema(t *testing.T) {
	o := ownPrefix(t, cluster(t))
	class := o.Prefix + "Head"
	for description, says := range map[string][]string{
		"coderag-ls shared index, schema 99: heads": {"schema 99", fmt.Sprintf("schema %d", weaviate.Schema), "newer program", class},
		"coderag-ls shared index, schema 0: heads":  {"schema 0", fmt.Sprintf("schema %d", weaviate.Schema), "publish anew", class},
		"my own things": {"my own things", fmt.Sprintf("schema %d", weaviate.Schema), class},
	} {
		raw(t, o, http.MethodPost, "/v1/schema", map[string]any{"class": class, "description": description, "multiTenancyConfig": map[string]any{"enabled": true}}, nil)
		_, err := weaviate.Open(t.Context(), o)
		if !errors.Is(err, sharedindex.ErrSchema) {
			t.Errorf("%s: %v", description, err)
		}
		for _, s := range says {
			if err == nil || !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v does not say %q", description, err, s)
			}
		}
		raw(t, o, http.MethodDelete, "/v1/schema/"+class, nil, nil)
	}
}
