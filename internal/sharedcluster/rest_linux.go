package sharedcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// StatusError is an answer of a node that is not what was hoped for.
type StatusError struct {
	// Code is HTTP's.
	Code int
	// Body is what the node said.
	Body string
}

// Error implements error.
func (e *StatusError) Error() string { return fmt.Sprintf("HTTP status %d: %s", e.Code, e.Body) }

// Call asks the node's REST API with [AdminKey]. body and result are JSON; nil
// stands for none. Errors of the node are a [*StatusError].
func (n *Node) Call(ctx context.Context, method, path string, body, result any) error {
	return n.CallAs(ctx, AdminKey, method, path, body, result)
}

// CallAs is Call with a key of one's own; "" sends none.
func (n *Node) CallAs(ctx context.Context, key, method, path string, body, result any) error {
	var send io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		send = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, n.URL()+path, send)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	// A connection of its own: one that was kept may be to a node that was
	// killed since.
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s of %s: %w", method, path, n.Name, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s %s of %s: %w", method, path, n.Name, err)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s of %s: %w", method, path, n.Name, &StatusError{resp.StatusCode, string(raw)})
	}
	if result == nil || len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("%s %s of %s: %w", method, path, n.Name, err)
	}
	return nil
}

// Object is what a node keeps under an id.
type Object struct {
	Class      string         `json:"class"`
	ID         string         `json:"id"`
	Tenant     string         `json:"tenant,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
	Vector     []float32      `json:"vector,omitempty"`
	Updated    int64          `json:"lastUpdateTimeUnix,omitempty"`
}

// Classes are the names of the engine's collections, with the names of their tenants
// (none where a collection has no tenants).
func (n *Node) Classes(ctx context.Context) (map[string][]string, error) {
	var schema struct {
		Classes []struct {
			Class              string
			MultiTenancyConfig struct{ Enabled bool }
		}
	}
	if err := n.Call(ctx, http.MethodGet, "/v1/schema", nil, &schema); err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, c := range schema.Classes {
		all[c.Class] = nil
		if !c.MultiTenancyConfig.Enabled {
			continue
		}
		var tenants []struct{ Name string }
		if err := n.Call(ctx, http.MethodGet, "/v1/schema/"+c.Class+"/tenants", nil, &tenants); err != nil {
			return nil, err
		}
		for _, t := range tenants {
			all[c.Class] = append(all[c.Class], t.Name)
		}
	}
	return all, nil
}

// Objects reads every object of a collection that this node itself keeps, by
// id: a listing asks the node's own replica, where it has one. tenant is ""
// for collections without tenants.
func (n *Node) Objects(ctx context.Context, class, tenant string) (map[string]Object, error) {
	all, after := map[string]Object{}, ""
	for {
		const limit = 500
		q := url.Values{"class": {class}, "limit": {strconv.Itoa(limit)}}
		if after != "" {
			q.Set("after", after)
		} else {
			// Only a cursor reads by id; this one stands before the first.
			q.Set("after", "00000000-0000-0000-0000-000000000000")
		}
		if tenant != "" {
			q.Set("tenant", tenant)
		}
		var page struct{ Objects []Object }
		if err := n.Call(ctx, http.MethodGet, "/v1/objects?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, o := range page.Objects {
			all[o.ID], after = o, o.ID
		}
		if len(page.Objects) < limit {
			return all, nil
		}
	}
}

// Object reads one object from the replica of a node (at), asked through n. It
// returns false where that has none.
func (n *Node) Object(ctx context.Context, at *Node, class, tenant, id string) (Object, bool, error) {
	q := url.Values{"node_name": {at.Name}, "include": {"vector"}}
	if tenant != "" {
		q.Set("tenant", tenant)
	}
	var o Object
	err := n.Call(ctx, http.MethodGet, "/v1/objects/"+class+"/"+id+"?"+q.Encode(), nil, &o)
	var status *StatusError
	if errors.As(err, &status) && status.Code == http.StatusNotFound {
		return o, false, nil
	}
	return o, err == nil, err
}
