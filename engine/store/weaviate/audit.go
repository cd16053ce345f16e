package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"sync"

	"coderag-ls/engine/sharedindex"
)

// Postings calls fn with every posting of a repository that any node has that answers. The
// engine lists a tenant's objects in the order of their ids, and with no filter: so it
// takes as long as the tenant is large. A posting that is only where a replica
// lags is told as well.
func (b *Backend) Postings(ctx context.Context, repository string, fn func(path string, ordinal int) error) error {
	what := "listing the postings of " + repository
	if there, err := b.present(ctx, b.postings); err != nil || !there {
		return err
	}
	type posting struct {
		path    string
		ordinal int
	}
	all := map[posting]struct{}{}
	var mu sync.Mutex
	told, failures := b.client.everywhere(ctx, true, func(ctx context.Context, e *endpoint) error {
		return b.scan(ctx, e, func(f sharedindex.Found) {
			if f.Repository == repository {
				mu.Lock()
				all[posting{f.Path, f.Ordinal}] = struct{}{}
				mu.Unlock()
			}
		})
	})
	if ctx.Err() != nil {
		return stopped(what, ctx.Err())
	}
	// A majority has every posting that a quorum acknowledged.
	if told <= len(b.client.endpoints)/2 {
		return fmt.Errorf("%s: %d of %d nodes answered: %w: %w", what, told, len(b.client.endpoints), sharedindex.ErrUnreachable, failures)
	}
	for p := range maps.Keys(all) {
		if err := fn(p.path, p.ordinal); err != nil {
			return err
		}
	}
	return nil
}

// scanPage is how many postings are listed at once.
const scanPage = 2000

// scan lists a tenant's postings as one endpoint's node has them.
func (b *Backend) scan(ctx context.Context, e *endpoint, fn func(sharedindex.Found)) error {
	for after := ""; ; {
		query, err := json.Marshal(map[string]string{"query": fmt.Sprintf("{Get{%s(tenant:%s limit:%d after:%s){%s %s %s _additional{id}}}}",
			b.postings, quote(b.options.Tenant), scanPage, quote(after), propRepository, propPath, propOrdinal)})
		if err != nil {
			return err
		}
		var page []scanned
		r := request{method: http.MethodPost, path: graphQL, body: query, parse: func(_ int, body []byte) error {
			data, err := parseGraphQL(body)
			if err != nil {
				return err
			}
			page, err = parseScan(data, b.postings)
			return err
		}}
		if err := b.client.ask(ctx, e, &r); err != nil {
			return err
		}
		before := after
		for _, p := range page {
			fn(p.Found)
			after = max(after, p.id)
		}
		if len(page) < scanPage {
			return nil
		}
		if after == before {
			return errors.New("the list does not end")
		}
	}
}

type scanned struct {
	sharedindex.Found
	id string
}

// parseScan reads a page of postings.
func parseScan(data json.RawMessage, class string) ([]scanned, error) {
	type row struct {
		Repository string   `json:"repository"`
		Path       string   `json:"path"`
		Ordinal    *float64 `json:"ordinal"`
		Additional struct {
			ID string `json:"id"`
		} `json:"_additional"`
	}
	rows, err := rowsOf[row](data, class)
	if err != nil {
		return nil, err
	}
	out := make([]scanned, len(rows))
	for i, r := range rows {
		path, err := decodePath(r.Path)
		if err != nil || path == "" || r.Additional.ID == "" || !wholeNumber(r.Ordinal) {
			return nil, &answerError{errors.New("a posting has no id, no path or no number")}
		}
		out[i] = scanned{sharedindex.Found{ID: sharedindex.ID{Repository: r.Repository, Path: path}, Ordinal: int(*r.Ordinal)}, r.Additional.ID}
	}
	return out, nil
}

// wholeNumber says whether a number is there that can count chunks.
func wholeNumber(v *float64) bool {
	return v != nil && *v >= 0 && *v <= math.MaxInt32 && *v == math.Trunc(*v)
}
