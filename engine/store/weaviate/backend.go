package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coderag-ls/engine/sharedindex"
)

// Backend is a tenant's and an edition's part of a cluster.
type Backend struct {
	*engine
	edition sharedindex.Edition
	suffix  string // of the edition's collections
	// The edition's collections.
	documents, postings string
	parts               sync.Map // by repository, of how many parts its words' frequencies are

	closing sync.Once
}

var (
	_ sharedindex.Backend = (*Backend)(nil)
	_ sharedindex.Auditor = (*Backend)(nil)
)

// Open connects to a cluster and checks its schema; nothing is made before
// something is published. The error is sharedindex.ErrUnreachable,
// sharedindex.ErrDenied, sharedindex.ErrSchema or one of the options.
func Open(ctx context.Context, o Options) (*Backend, error) {
	e, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	suffix := editionName(o.Edition)
	b := &Backend{
		engine: e, edition: o.Edition, suffix: suffix,
		documents: e.options.Prefix + "Document_" + suffix, postings: e.options.Prefix + "Posting_" + suffix,
	}
	for _, class := range []string{b.heads, b.state, b.documents, b.postings} {
		if _, err := b.present(ctx, class); err != nil {
			e.client.close()
			return nil, err
		}
	}
	return b, nil
}

// Close gives connections up. Writers are to be closed before.
func (b *Backend) Close() error {
	b.closing.Do(b.client.close)
	return nil
}

// headObject is a head as it is stored.
type headObject struct {
	Repository string `json:"repository"`
	Data       string `json:"data"`
}

func (h *headObject) head() (sharedindex.Head, error) {
	var head sharedindex.Head
	if err := json.Unmarshal([]byte(h.Data), &head); err != nil {
		return head, errDamaged
	}
	return head, nil
}

func (b *Backend) headID(repository string) string { return id("head", b.suffix, repository) }

// head reads the head of a repository in this edition.
func (b *Backend) head(ctx context.Context, repository string) (h sharedindex.Head, there bool, err error) {
	what := "reading the head of " + repository
	var o headObject
	if there, err = b.get(ctx, what, b.heads, b.headID(repository), home(repository), &o); err != nil || !there {
		return h, there, err
	}
	if h, err = o.head(); err != nil {
		return h, false, fmt.Errorf("%s: %w", what, err)
	}
	return h, true, nil
}

// putHead writes a head.
func (b *Backend) putHead(ctx context.Context, h sharedindex.Head) error {
	what := "writing the head of " + h.Repository
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return b.put(ctx, what, home(h.Repository), []object{{
		Class: b.heads, Tenant: b.options.Tenant, ID: b.headID(h.Repository),
		Properties: map[string]any{propRepository: h.Repository, propData: string(data)},
	}})
}

// Heads tells the repositories of every edition, by name. It asks every
// endpoint for its node's list: what a quorum acknowledged is in one at least of
// any two replicas. Where the lists differ, the head is read by id.
func (b *Backend) Heads(ctx context.Context) ([]sharedindex.Head, error) {
	const what = "listing the repositories"
	if there, err := b.present(ctx, b.heads); err != nil || !there {
		return nil, err
	}
	var mu sync.Mutex
	var lists []map[string]headObject
	told, failures := b.client.everywhere(ctx, false, func(ctx context.Context, e *endpoint) error {
		l, err := b.list(ctx, e)
		if err == nil {
			mu.Lock()
			lists = append(lists, l)
			mu.Unlock()
		}
		return err
	})
	if told == 0 {
		if ctx.Err() != nil {
			return nil, stopped(what, ctx.Err())
		}
		if errors.As(failures, new(*statusError)) {
			// The ordinary way tells what it means.
			r, err := b.listRequest(what, "", map[string]headObject{})
			if err == nil {
				err = b.client.do(ctx, r)
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%s: %w: %w", what, sharedindex.ErrUnreachable, failures)
	}
	objects, unsure := map[string]headObject{}, map[string]bool{}
	for i, l := range lists {
		for id, o := range l {
			if is, ok := objects[id]; i > 0 && (!ok || is.Data != o.Data) {
				unsure[id] = true
			}
			objects[id] = o
		}
		for id := range objects {
			if _, ok := l[id]; !ok {
				unsure[id] = true
			}
		}
	}
	// One node alone may lag; of few heads each can be asked for.
	if told == 1 && len(objects) <= 64 {
		for id := range objects {
			unsure[id] = true
		}
	}
	ids := slices.Sorted(maps.Keys(unsure))
	err := each(ctx, parallel, len(ids), func(ctx context.Context, i int) error {
		var o headObject
		there, err := b.get(ctx, what, b.heads, ids[i], 0, &o)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if there {
			objects[ids[i]] = o
		} else {
			delete(objects, ids[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	heads := make([]sharedindex.Head, 0, len(objects))
	for id, o := range objects {
		h, err := o.head()
		if err != nil {
			return nil, fmt.Errorf("%s: head %s of %q: %w", what, id, o.Repository, err)
		}
		heads = append(heads, h)
	}
	slices.SortFunc(heads, func(a, b sharedindex.Head) int {
		if c := strings.Compare(a.Repository, b.Repository); c != 0 {
			return c
		}
		return strings.Compare(editionName(a.Edition), editionName(b.Edition))
	})
	return heads, nil
}

// listPage is how many objects are listed at once.
const listPage = 500

// listRequest lists heads that come after an id; those found are put into to.
func (b *Backend) listRequest(what, after string, to map[string]headObject) (request, error) {
	body, err := json.Marshal(map[string]string{"query": fmt.Sprintf("{Get{%s(tenant:%s limit:%d after:%s){%s %s _additional{id}}}}",
		b.heads, quote(b.options.Tenant), listPage, quote(after), propRepository, propData)})
	return request{
		what: what, method: http.MethodPost, path: graphQL, body: body,
		parse: func(_ int, body []byte) error {
			data, err := parseGraphQL(body)
			if err != nil {
				return err
			}
			return parseHeads(data, b.heads, to)
		},
	}, err
}

func parseHeads(data json.RawMessage, class string, to map[string]headObject) error {
	type row struct {
		headObject
		Additional struct {
			ID string `json:"id"`
		} `json:"_additional"`
	}
	rows, err := rowsOf[row](data, class)
	if err != nil {
		return err
	}
	for _, o := range rows {
		if o.Additional.ID == "" {
			return &answerError{errors.New("a head has no id")}
		}
		to[o.Additional.ID] = o.headObject
	}
	return nil
}

// list lists the heads as one endpoint's node has them.
func (b *Backend) list(ctx context.Context, e *endpoint) (map[string]headObject, error) {
	all := map[string]headObject{}
	for after := ""; ; {
		page := map[string]headObject{}
		r, err := b.listRequest("", after, page)
		if err != nil {
			return nil, err
		}
		if err := b.client.ask(ctx, e, &r); err != nil {
			return nil, err
		}
		for id, o := range page {
			if _, twice := all[id]; twice {
				return nil, errors.New("the list does not end")
			}
			all[id] = o
			after = max(after, id)
		}
		if len(page) < listPage {
			return all, nil
		}
	}
}

func (b *Backend) documentID(d sharedindex.ID) string { return id("document", d.Repository, d.Path) }

func (b *Backend) postingID(d sharedindex.ID, ordinal int) string {
	return id("posting", d.Repository, d.Path, strconv.Itoa(ordinal))
}

// documentsAtOnce is how many documents one request reads.
const documentsAtOnce = 16

// Documents reads documents, several by one request.
func (b *Backend) Documents(ctx context.Context, ids []sharedindex.ID) (map[sharedindex.ID]sharedindex.Document, error) {
	out := make(map[sharedindex.ID]sharedindex.Document, len(ids))
	if there, err := b.present(ctx, b.documents); err != nil || !there || len(ids) == 0 {
		return out, err
	}
	at := make(map[string]sharedindex.ID, len(ids))
	for _, d := range ids {
		at[b.documentID(d)] = d
	}
	var mu sync.Mutex
	take := func(id, data string) error {
		d, err := unpackDocument(data)
		if err == nil && d.Record.Path != at[id].Path {
			err = errDamaged
		}
		if err != nil {
			return fmt.Errorf("reading %s of %s: %w", at[id].Path, at[id].Repository, err)
		}
		mu.Lock()
		defer mu.Unlock()
		out[at[id]] = d
		return nil
	}
	what := fmt.Sprintf("reading %s of %s and %d more files", ids[0].Path, ids[0].Repository, len(ids)-1)
	if err := b.several(ctx, what, b.documents, 0, slices.Collect(maps.Keys(at)), documentsAtOnce, take); err != nil {
		return nil, err
	}
	return out, nil
}
