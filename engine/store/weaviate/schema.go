package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

// Schema is the version of what is stored. A collection says in its description
// which one it has.
const Schema = 2

// describes begins every description.
const describes = "coderag-ls shared index, schema "

// The postings' properties.
const (
	propRepository = "repository"
	propPath       = "path"
	propOrdinal    = "ordinal"
	propLanguage   = "language"
	// propData is what objects hold that are read by id.
	propData = "data"
)

// fieldProps are the properties of the words by field, each searched with a weight
// of its own.
var fieldProps = [lexical.NumFields]string{
	lexical.Body: "body", lexical.Comment: "comment", lexical.Name: "name",
	lexical.Path: "folders", lexical.Defs: "defs", lexical.Summary: "summary",
}

// collection is a class as the engine takes it.
type collection struct {
	Class               string         `json:"class"`
	Description         string         `json:"description"`
	Vectorizer          string         `json:"vectorizer"`
	VectorIndexType     string         `json:"vectorIndexType"`
	VectorIndexConfig   map[string]any `json:"vectorIndexConfig"`
	MultiTenancyConfig  map[string]any `json:"multiTenancyConfig"`
	ReplicationConfig   map[string]any `json:"replicationConfig"`
	InvertedIndexConfig map[string]any `json:"invertedIndexConfig"`
	Properties          []property     `json:"properties"`
}

type property struct {
	Name            string   `json:"name"`
	DataType        []string `json:"dataType"`
	Tokenization    string   `json:"tokenization,omitempty"`
	IndexFilterable bool     `json:"indexFilterable"`
	IndexSearchable *bool    `json:"indexSearchable,omitempty"`
}

func text(name, tokenization string, filter, search bool) property {
	return property{name, []string{"text"}, tokenization, filter, &search}
}

// newCollection is a collection without vectors.
func newCollection(name, about string, replicas int, props ...property) collection {
	return collection{
		Class: name, Description: fmt.Sprintf("%s%d: %s", describes, Schema, about),
		Vectorizer: "none", VectorIndexType: "hnsw", VectorIndexConfig: map[string]any{"skip": true},
		MultiTenancyConfig: map[string]any{"enabled": true},
		// Ids are used again: what was removed may be put anew, and is then neither
		// to be deleted again (DeleteOnConflict) nor to be a conflict for ever
		// (NoAutomatedResolution). So the later one of the two holds.
		ReplicationConfig: map[string]any{"factor": replicas, "asyncEnabled": true, "deletionStrategy": "TimeBasedResolution"},
		InvertedIndexConfig: map[string]any{
			// Close to lexical.DefaultParams, as far as one number for all fields goes.
			"bm25":      map[string]any{"k1": 1.2, "b": 0.75},
			"stopwords": map[string]any{"preset": "none"},
		},
		Properties: props,
	}
}

func (b *engine) headCollection(replicas int) collection {
	return newCollection(b.heads, "heads of repositories", replicas,
		text(propRepository, "field", false, false),
		text(propData, "field", false, false))
}

func (b *engine) stateCollection(replicas int) collection {
	return newCollection(b.state, "manifests and leases", replicas,
		text(propRepository, "field", false, false),
		property{Name: propData, DataType: []string{"blob"}})
}

func (b *Backend) documentCollection(replicas int) collection {
	return newCollection(b.documents, "files of "+about(b.edition), replicas,
		text(propRepository, "field", true, false),
		text(propPath, "field", false, false),
		property{Name: propData, DataType: []string{"blob"}})
}

func (b *Backend) postingCollection(replicas int) collection {
	props := []property{
		text(propRepository, "field", true, false),
		text(propPath, "field", false, false),
		{Name: propOrdinal, DataType: []string{"int"}},
		text(propLanguage, "field", true, false),
	}
	for _, name := range fieldProps {
		props = append(props, text(name, "whitespace", false, true))
	}
	c := newCollection(b.postings, "chunks of "+about(b.edition), replicas, props...)
	c.VectorIndexType, c.VectorIndexConfig = b.options.vectors()
	return c
}

// vectors is the vector index and its configuration.
func (o *Options) vectors() (string, map[string]any) {
	quantized := func() map[string]any {
		conf := map[string]any{"distance": "cosine"}
		if o.Quantization != Unquantized {
			conf[o.Quantization] = map[string]any{"enabled": true}
		} else {
			conf["skipDefaultQuantization"] = true
		}
		return conf
	}
	if o.VectorIndex == Dynamic {
		return Dynamic, map[string]any{"distance": "cosine", "hnsw": quantized(), "flat": map[string]any{"distance": "cosine"}}
	}
	return o.VectorIndex, quantized()
}

func about(e sharedindex.Edition) string {
	return fmt.Sprintf("edition chunks %s, tokenizer %d, model %s (%s)", e.ChunkVersion, e.Tokenizer, e.Model.Name, e.Model.Fingerprint)
}

// known remembers which collections are there, with the tenant in them, and on how
// many nodes they keep an object.
type known struct {
	mu   sync.Mutex
	have map[string]int
}

// replicas is 0 where the collection is not known to be there.
func (k *known) replicas(class string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.have[class]
}

func (k *known) set(class string, replicas int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.have == nil {
		k.have = map[string]int{}
	}
	k.have[class] = replicas
}

// doubt has a collection looked for anew where something went wrong: it may have been
// removed.
func (b *engine) doubt(class string, err *error) {
	if *err != nil && !errors.Is(*err, sharedindex.ErrUnreachable) && !errors.Is(*err, context.Canceled) {
		b.known.set(class, 0)
	}
}

// present reports whether a collection and the tenant in it are there. The
// error is sharedindex.ErrSchema where it was made by another version.
func (b *engine) present(ctx context.Context, class string) (bool, error) {
	if b.known.replicas(class) > 0 {
		return true, nil
	}
	// What a node knows holds also while the cluster has no leader; what it does not know
	// it may not know yet.
	for _, local := range []bool{true, false} {
		replicas, err := b.checkSchema(ctx, class, local)
		if err != nil {
			return false, err
		}
		if replicas == 0 {
			continue
		}
		there := false
		err = b.client.do(ctx, request{
			what: "looking for tenant " + b.options.Tenant, method: http.MethodGet, local: local,
			path: "/v1/schema/" + class + "/tenants/" + b.options.Tenant, accept: []int{http.StatusNotFound},
			parse: func(status int, _ []byte) error { there = status == http.StatusOK; return nil },
		})
		if err != nil {
			return false, err
		}
		if there {
			b.known.set(class, replicas)
			return true, nil
		}
	}
	return false, nil
}

// checkSchema checks that a collection, if it is there, was made by this version, by
// what the node that is asked knows, or by the leader. It returns on how many nodes the
// collection keeps an object, 0 where it is not there.
func (b *engine) checkSchema(ctx context.Context, class string, local bool) (replicas int, err error) {
	there := false
	var is struct {
		Description       string `json:"description"`
		ReplicationConfig struct {
			Factor int `json:"factor"`
		} `json:"replicationConfig"`
	}
	err = b.client.do(ctx, request{
		what: "reading the schema of " + class, method: http.MethodGet, path: "/v1/schema/" + class, local: local, accept: []int{http.StatusNotFound},
		parse: func(status int, body []byte) error {
			if there = status == http.StatusOK; !there {
				return nil
			}
			return decode(body, &is)
		},
	})
	if err != nil || !there {
		return 0, err
	}
	version, ours := strings.CutPrefix(is.Description, describes)
	version, _, _ = strings.Cut(version, ":")
	n, err := strconv.Atoi(version)
	if !ours || err != nil {
		return 0, fmt.Errorf("collection %s at %s: %w: it is described as %.100q, this program writes schema %d", class, b.options.Endpoints[0], sharedindex.ErrSchema, is.Description, Schema)
	}
	if n != Schema {
		advice := "use a newer program"
		if n < Schema {
			advice = "remove the collection and publish anew"
		}
		return 0, fmt.Errorf("collection %s at %s: %w: it has schema %d, this program writes schema %d: %s", class, b.options.Endpoints[0], sharedindex.ErrSchema, n, Schema, advice)
	}
	return max(1, is.ReplicationConfig.Factor), nil
}

// make makes collections and the tenant in them, unless they are there. Others may
// do the same at the same time.
func (b *engine) make(ctx context.Context, collections ...func(replicas int) collection) error {
	replicas := 0
	for _, of := range collections {
		class := of(1).Class
		if there, err := b.present(ctx, class); err != nil {
			return err
		} else if there {
			continue
		}
		if replicas == 0 {
			var err error
			if replicas, err = b.replicas(ctx); err != nil {
				return err
			}
		}
		if err := b.makeOne(ctx, of(replicas)); err != nil {
			return err
		}
	}
	return nil
}

func (b *engine) makeOne(ctx context.Context, c collection) error {
	there, err := b.checkSchema(ctx, c.Class, false)
	if err != nil {
		return err
	}
	if there == 0 {
		body, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("making collection %s: %w", c.Class, err)
		}
		err = b.client.do(ctx, request{
			what: "making collection " + c.Class, method: http.MethodPost, path: "/v1/schema", body: body, home: 1,
		})
		if err != nil {
			// Somebody else may have made it just now.
			if again, also := b.checkSchema(ctx, c.Class, false); also != nil || again == 0 {
				return err
			}
		}
	}
	tenant, err := json.Marshal([]map[string]string{{"name": b.options.Tenant}})
	if err != nil {
		return err
	}
	return b.client.do(ctx, request{
		what: "making tenant " + b.options.Tenant + " of " + c.Class, method: http.MethodPost,
		path: "/v1/schema/" + c.Class + "/tenants", body: tenant, home: 1,
	})
}

// replicas is on how many nodes a new collection keeps each object.
func (b *engine) replicas(ctx context.Context) (int, error) {
	if b.options.Replication > 0 {
		return b.options.Replication, nil
	}
	nodes := len(b.options.Endpoints)
	err := b.client.do(ctx, request{
		what: "counting the nodes", method: http.MethodGet, path: "/v1/nodes", query: map[string][]string{"output": {"minimal"}},
		accept: []int{http.StatusForbidden, http.StatusNotFound},
		parse: func(status int, body []byte) error {
			if status != http.StatusOK {
				return nil // not told: the endpoints are what is known
			}
			var of struct {
				Nodes []struct{} `json:"nodes"`
			}
			if err := decode(body, &of); err != nil {
				return err
			}
			nodes = len(of.Nodes)
			return nil
		},
	})
	if err != nil {
		return 0, err
	}
	return slices.Max([]int{1, slices.Min([]int{3, nodes})}), nil
}
