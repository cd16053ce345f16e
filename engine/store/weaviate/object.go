package weaviate

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

const (
	// batchBytes and batchObjects bound a request that writes.
	batchBytes   = 4 << 20
	batchObjects = 256
	// maxObject is the most bytes of an object. The engine takes more, at a cost in
	// memory of a multiple on every replica.
	maxObject = 32 << 20
)

// namespace is that of our ids: every name has the same id for all tenants.
var namespace = [16]byte{0x6b, 0x1d, 0x0f, 0x52, 0x8c, 0x3e, 0x4a, 0x61, 0x9d, 0x27, 0x51, 0xc0, 0xde, 0x2a, 0x90, 0x17}

// id is the version 5 UUID (RFC 9562) of a name of several parts.
func id(parts ...string) string {
	h := sha1.New()
	h.Write(namespace[:])
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	var u [16]byte
	copy(u[:], h.Sum(nil))
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], u[0:4])
	hex.Encode(s[9:13], u[4:6])
	hex.Encode(s[14:18], u[6:8])
	hex.Encode(s[19:23], u[8:10])
	hex.Encode(s[24:36], u[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// object is what is written.
type object struct {
	Class      string         `json:"class"`
	Tenant     string         `json:"tenant"`
	ID         string         `json:"id"`
	Properties map[string]any `json:"properties"`
	Vector     []float32      `json:"vector,omitempty"`
}

// engine is one tenant of a cluster, and what backends and stores have in common.
type engine struct {
	client  *client
	options Options
	known   known
	// The collections' names.
	heads, state string
}

func newEngine(o Options) (*engine, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c, err := newClient(&o)
	if err != nil {
		return nil, err
	}
	return &engine{client: c, options: o, heads: o.Prefix + "Head", state: o.Prefix + "State"}, nil
}

// get reads the properties of an object by id into to, and reports whether it
// is there.
func (b *engine) get(ctx context.Context, what, class, id string, home uint32, to any) (there bool, err error) {
	if there, err := b.present(ctx, class); err != nil || !there {
		return false, err
	}
	defer b.doubt(class, &err)
	err = b.client.do(ctx, request{
		what: what, method: http.MethodGet, path: "/v1/objects/" + class + "/" + id, home: home,
		query:  url.Values{"tenant": {b.options.Tenant}, "consistency_level": {string(b.options.Levels.Read)}},
		accept: []int{http.StatusNotFound},
		parse: func(status int, body []byte) error {
			there = false
			if status == http.StatusNotFound {
				return nil
			}
			var o struct {
				ID         string          `json:"id"`
				Properties json.RawMessage `json:"properties"`
			}
			if err := decode(body, &o); err != nil {
				return err
			}
			if o.ID != id {
				return &answerError{fmt.Errorf("it is about object %.40q", o.ID)}
			}
			if err := decode(o.Properties, to); err != nil {
				return err
			}
			there = true
			return nil
		},
	})
	return there, err
}

// packed is an object of which propData is read.
type packed struct {
	Data string `json:"data"`
}

// several reads what objects hold, so many by one request, those that it does not give, or not as a
// quorum has them, by id. That takes longer and needs the cluster's leader, which
// knows whether the tenant is there. take, which several goroutines call, gets those that are there.
func (b *engine) several(ctx context.Context, what, class string, home uint32, ids []string, atOnce int, take func(id, data string) error) error {
	var mu sync.Mutex
	var left []string
	if b.options.Levels.Read == All {
		left = ids // of a search that is not honoured
	} else {
		groups := slices.Collect(slices.Chunk(ids, atOnce))
		err := each(ctx, parallel, len(groups), func(ctx context.Context, i int) error {
			got, err := b.some(ctx, what, class, groups[i])
			if err != nil && ctx.Err() != nil {
				return err
			}
			for _, id := range groups[i] {
				data, ok := got[id]
				if !ok {
					mu.Lock()
					left = append(left, id)
					mu.Unlock()
				} else if err := take(id, data); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return each(ctx, 2*parallel, len(left), func(ctx context.Context, i int) error {
		var o packed
		there, err := b.get(ctx, what, class, left[i], home, &o)
		if err != nil || !there {
			return err
		}
		return take(left[i], o.Data)
	})
}

// some reads what objects hold by one request, by their ids. Those of which
// another replica has something else are left out.
func (b *engine) some(ctx context.Context, what, class string, ids []string) (data map[string]string, err error) {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = quote(id)
	}
	level, check := "", ""
	if b.known.replicas(class) > 1 && b.options.Levels.Read != One {
		level, check = "consistencyLevel:"+string(b.options.Levels.Read), "isConsistent"
	}
	query := fmt.Sprintf("{Get{%s(tenant:%s %s limit:%d where:{path:[\"id\"] operator:ContainsAny valueText:[%s]}){%s _additional{id %s}}}}",
		class, quote(b.options.Tenant), level, len(ids), strings.Join(quoted, ","), propData, check)
	err = b.ask(ctx, what, query, func(answer json.RawMessage) (err error) {
		data, err = parseObjects(answer, class, check != "")
		return err
	})
	return data, err
}

// parseObjects reads what objects hold, by their ids.
func parseObjects(data json.RawMessage, class string, checked bool) (map[string]string, error) {
	type row struct {
		Data       string `json:"data"`
		Additional struct {
			ID           string `json:"id"`
			IsConsistent bool   `json:"isConsistent"`
		} `json:"_additional"`
	}
	rows, err := rowsOf[row](data, class)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		if r.Additional.IsConsistent || !checked {
			out[r.Additional.ID] = r.Data
		}
	}
	return out, nil
}

// remove deletes objects by id; those that are not there are fine.
func (b *engine) remove(ctx context.Context, what, class string, home uint32, ids []string) error {
	return each(ctx, parallel, len(ids), func(ctx context.Context, i int) error {
		return b.client.do(ctx, request{
			what: what, method: http.MethodDelete, path: "/v1/objects/" + class + "/" + ids[i], home: home,
			query:  url.Values{"tenant": {b.options.Tenant}, "consistency_level": {string(b.options.Levels.Write)}},
			accept: []int{http.StatusNoContent, http.StatusNotFound},
		})
	})
}

// put writes objects, in batches of bounded size, several at once. After an
// error any of them may have been written.
func (b *engine) put(ctx context.Context, what string, home uint32, objects []object) error {
	type batch struct {
		body    []byte
		objects []object
	}
	var batches []batch
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	from := 0
	flush := func(to int) {
		if to > from {
			buf.WriteString("]}")
			batches = append(batches, batch{bytes.Clone(buf.Bytes()), objects[from:to]})
		}
		from = to
		buf.Reset()
		buf.WriteString(`{"objects":[`)
	}
	flush(0)
	for i := range objects {
		if i > from {
			buf.WriteByte(',')
		}
		before := buf.Len()
		if err := enc.Encode(&objects[i]); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if size := buf.Len() - before; size > maxObject {
			return fmt.Errorf("%s: %s is %d bytes, the most is %d", what, describe(&objects[i]), size, maxObject)
		}
		if buf.Len() >= batchBytes || i+1-from >= batchObjects {
			flush(i + 1)
		}
	}
	flush(len(objects))
	return each(ctx, parallel/2, len(batches), func(ctx context.Context, i int) error {
		return b.client.do(ctx, request{
			what: what, method: http.MethodPost, path: "/v1/batch/objects", body: batches[i].body, home: home,
			query: url.Values{"consistency_level": {string(b.options.Levels.Write)}},
			parse: func(_ int, body []byte) error { return parseBatch(body, batches[i].objects) },
		})
	})
}

// describe names an object for people.
func describe(o *object) string {
	name := o.Class + " object " + o.ID
	if p, ok := o.Properties[propPath].(string); ok {
		name = "what is to be stored of " + p
	}
	return name
}

// parseBatch checks that every object was written.
func parseBatch(body []byte, objects []object) error {
	var results []struct {
		ID     string `json:"id"`
		Result struct {
			Status string `json:"status"`
			Errors *struct {
				Error []struct {
					Message string `json:"message"`
				} `json:"error"`
			} `json:"errors"`
		} `json:"result"`
	}
	if err := decode(body, &results); err != nil {
		return err
	}
	if len(results) != len(objects) {
		return &answerError{fmt.Errorf("%d objects were sent and %d answered", len(objects), len(results))}
	}
	for i, r := range results {
		if r.ID != objects[i].ID {
			return &answerError{fmt.Errorf("object %d is %.40q and not %s", i, r.ID, objects[i].ID)}
		}
		if r.Result.Status == "SUCCESS" && r.Result.Errors == nil {
			continue
		}
		said := []string{}
		if r.Result.Errors != nil {
			for _, e := range r.Result.Errors.Error {
				said = append(said, e.Message)
			}
		}
		// As a rule it is for want of replicas, and the next endpoint may do better.
		code := http.StatusInternalServerError
		if all := strings.Join(said, " "); strings.Contains(all, "invalid ") || strings.Contains(all, "vector") && strings.Contains(all, "length") {
			code = http.StatusUnprocessableEntity
		}
		return &statusError{code, fmt.Sprintf("%s was not written (%s): %.300s", describe(&objects[i]), r.Result.Status, strings.Join(said, "; "))}
	}
	return nil
}

// each calls fn with 0..n-1, so many at once, and returns the first error. It
// starts no further ones after an error.
func each(ctx context.Context, atOnce, n int, fn func(ctx context.Context, i int) error) error {
	if n == 1 {
		return fn(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		next int
		bad  error
	)
	for range min(atOnce, n) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := bad != nil
				mu.Unlock()
				if stop || i >= n {
					return
				}
				if err := fn(ctx, i); err != nil {
					mu.Lock()
					if bad == nil {
						bad = err
					}
					mu.Unlock()
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return bad
}

// home is the endpoint that a repository is written through, as request has it.
func home(name string) uint32 {
	h := sha1.Sum([]byte(name))
	return 1 + uint32(h[0])<<16 + uint32(h[1])<<8 + uint32(h[2])
}
