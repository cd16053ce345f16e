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
	all, err := b.listed(ctx, "listing the postings of "+repository, b.postings, repository)
	if err != nil {
		return err
	}
	for p := range maps.Keys(all) {
		if err := fn(p.path, p.ordinal); err != nil {
			return err
		}
	}
	return nil
}

// stored lists what there is of a repository, whatever its manifest says: by path the most postings that
// the document may have.
func (b *Backend) stored(ctx context.Context, repository string) (map[string]int, error) {
	chunks := map[string]int{}
	for _, class := range []string{b.documents, b.postings} {
		all, err := b.listed(ctx, "listing what is stored of "+repository, class, repository)
		if err != nil {
			return nil, err
		}
		for p := range all {
			chunks[p.path] = max(chunks[p.path], p.ordinal+1)
		}
	}
	return chunks, nil
}

// numbered is a posting, or, with the number -1, a document.
type numbered struct {
	path    string
	ordinal int
}

// listed lists what any node that answers has of a repository in a collection of documents or postings.
func (b *Backend) listed(ctx context.Context, what, class, repository string) (map[numbered]struct{}, error) {
	all := map[numbered]struct{}{}
	if there, err := b.present(ctx, class); err != nil || !there {
		return all, err
	}
	var mu sync.Mutex
	told, failures := b.client.everywhere(ctx, true, func(ctx context.Context, e *endpoint) error {
		return b.scan(ctx, e, class, func(f sharedindex.Found) {
			if f.Repository == repository {
				mu.Lock()
				all[numbered{f.Path, f.Ordinal}] = struct{}{}
				mu.Unlock()
			}
		})
	})
	if ctx.Err() != nil {
		return nil, stopped(what, ctx.Err())
	}
	// A majority has everything that a quorum acknowledged.
	if told <= len(b.client.endpoints)/2 {
		return nil, fmt.Errorf("%s: %d of %d nodes answered: %w: %w", what, told, len(b.client.endpoints), sharedindex.ErrUnreachable, failures)
	}
	return all, nil
}

// scanPage is how many objects are listed at once.
const scanPage = 2000

// scan lists a tenant's documents or postings as one endpoint's node has them.
func (b *Backend) scan(ctx context.Context, e *endpoint, class string, fn func(sharedindex.Found)) error {
	ordinal := ""
	if class == b.postings {
		ordinal = propOrdinal
	}
	for after := ""; ; {
		query, err := json.Marshal(map[string]string{"query": fmt.Sprintf("{Get{%s(tenant:%s limit:%d after:%s){%s %s %s _additional{id}}}}",
			class, quote(b.options.Tenant), scanPage, quote(after), propRepository, propPath, ordinal)})
		if err != nil {
			return err
		}
		var page []scanned
		r := request{method: http.MethodPost, path: graphQL, body: query, parse: func(_ int, body []byte) error {
			data, err := parseGraphQL(body)
			if err != nil {
				return err
			}
			page, err = parseScan(data, class, ordinal != "")
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

// parseScan reads a page of postings, or of documents, which have no number.
func parseScan(data json.RawMessage, class string, numbered bool) ([]scanned, error) {
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
		if err != nil || path == "" || r.Additional.ID == "" || numbered && !wholeNumber(r.Ordinal) {
			return nil, &answerError{errors.New("an object has no id, no path or no number")}
		}
		ordinal := -1
		if numbered {
			ordinal = int(*r.Ordinal)
		}
		out[i] = scanned{sharedindex.Found{ID: sharedindex.ID{Repository: r.Repository, Path: path}, Ordinal: ordinal}, r.Additional.ID}
	}
	return out, nil
}

// wholeNumber says whether a number is there that can count chunks.
func wholeNumber(v *float64) bool {
	return v != nil && *v >= 0 && *v <= math.MaxInt32 && *v == math.Trunc(*v)
}
