// Package mem keeps a shared index in the memory of one process: for tests, and
// to try what a shared index does without one.
package mem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"coderag-ls/engine/sharedindex"
)

// Space is what stands for the distributed engine: all tenants and editions. The
// zero value is empty. Its methods are safe for concurrent use.
type Space struct {
	mu           sync.RWMutex
	repositories map[key]*repository
	removed      map[key]uint64 // the last generation of repositories that were removed
	trouble      func(ctx context.Context, operation string) error
}

// key names a repository of one tenant and edition.
type key struct {
	tenant, name string
	edition      sharedindex.Edition
}

// repository is what was published under a name.
type repository struct {
	there     bool             // something was published, be it in part
	head      sharedindex.Head // without a commit while it was never published wholly
	documents map[string]*document
	df        map[string]int // in how many chunks terms occur
	writer    *Writer        // that holds the lease
}

// document is a document with its postings. It is immutable.
type document struct {
	sharedindex.Document
	postings []posting
}

// Open returns the part of the space that is one tenant's and one edition's.
func (s *Space) Open(tenant string, e sharedindex.Edition) *Backend {
	return &Backend{space: s, tenant: tenant, edition: e}
}

// Trouble has fn called before each operation on the space, named as the method
// that was called ("Words"); what it returns is what the operation fails with.
// It may wait, as long as the context lasts. nil ends the trouble.
func (s *Space) Trouble(fn func(ctx context.Context, operation string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = fn
}

// Backend implements sharedindex.Backend. What is published is kept in the space, and
// not changed by closing it. Documents that are handed over are kept as
// they are: nobody may change them afterwards.
type Backend struct {
	space   *Space
	tenant  string
	edition sharedindex.Edition

	mu     sync.Mutex
	closed bool
}

var (
	_ sharedindex.Backend = (*Backend)(nil)
	_ sharedindex.Auditor = (*Backend)(nil)
	_ sharedindex.Writer  = (*Writer)(nil)
)

var errClosed = errors.New("the connection to the shared index was closed")

// begin is what every operation begins with.
func (b *Backend) begin(ctx context.Context, operation string) error {
	b.mu.Lock()
	closed := b.closed
	b.mu.Unlock()
	if closed {
		return fmt.Errorf("%s: %w", operation, errClosed)
	}
	b.space.mu.RLock()
	trouble := b.space.trouble
	b.space.mu.RUnlock()
	if trouble != nil {
		if err := trouble(ctx, operation); err != nil {
			return fmt.Errorf("%s: %w", operation, err)
		}
	}
	return ctx.Err()
}

func (b *Backend) key(name string) key { return key{b.tenant, name, b.edition} }

// Heads implements sharedindex.Backend.
func (b *Backend) Heads(ctx context.Context) ([]sharedindex.Head, error) {
	if err := b.begin(ctx, "Heads"); err != nil {
		return nil, err
	}
	b.space.mu.RLock()
	defer b.space.mu.RUnlock()
	var heads []sharedindex.Head
	for k, r := range b.space.repositories {
		if k.tenant == b.tenant && r.there {
			heads = append(heads, r.head)
		}
	}
	slices.SortFunc(heads, func(x, y sharedindex.Head) int {
		if c := strings.Compare(x.Repository, y.Repository); c != 0 {
			return c
		}
		return strings.Compare(fmt.Sprint(x.Edition), fmt.Sprint(y.Edition))
	})
	return heads, nil
}

// Manifest implements sharedindex.Backend.
func (b *Backend) Manifest(ctx context.Context, name string, fn func(sharedindex.Entry) error) error {
	if err := b.begin(ctx, "Manifest"); err != nil {
		return err
	}
	for path, d := range b.documents(name) {
		if err := fn(sharedindex.Entry{Path: path, Hash: d.Record.Hash, Chunks: len(d.Record.File.Chunks)}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Postings implements sharedindex.Auditor.
func (b *Backend) Postings(ctx context.Context, name string, fn func(path string, ordinal int) error) error {
	if err := b.begin(ctx, "Postings"); err != nil {
		return err
	}
	for path, d := range b.documents(name) {
		for i := range d.postings {
			if err := fn(path, i); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// documents returns a copy of what a repository holds.
func (b *Backend) documents(name string) map[string]*document {
	b.space.mu.RLock()
	defer b.space.mu.RUnlock()
	all := map[string]*document{}
	if r := b.space.repositories[b.key(name)]; r != nil {
		for path, d := range r.documents {
			all[path] = d
		}
	}
	return all
}

// Documents implements sharedindex.Backend.
func (b *Backend) Documents(ctx context.Context, ids []sharedindex.ID) (map[sharedindex.ID]sharedindex.Document, error) {
	if err := b.begin(ctx, "Documents"); err != nil {
		return nil, err
	}
	b.space.mu.RLock()
	defer b.space.mu.RUnlock()
	found := make(map[sharedindex.ID]sharedindex.Document, len(ids))
	for _, id := range ids {
		if r := b.space.repositories[b.key(id.Repository)]; r != nil {
			if d := r.documents[id.Path]; d != nil {
				one := d.Document
				one.Rows, one.Words = nil, nil
				found[id] = one
			}
		}
	}
	return found, nil
}

// Remove implements sharedindex.Backend.
func (b *Backend) Remove(ctx context.Context, name string) error {
	if err := b.begin(ctx, "Remove"); err != nil {
		return err
	}
	b.space.mu.Lock()
	defer b.space.mu.Unlock()
	r := b.space.repositories[b.key(name)]
	switch {
	case r == nil || !r.there && r.writer == nil:
		return fmt.Errorf("removing %s: %w", name, sharedindex.ErrNoRepository)
	case r.writer != nil:
		return fmt.Errorf("removing %s: %w", name, sharedindex.ErrPublishing)
	}
	delete(b.space.repositories, b.key(name))
	if b.space.removed == nil {
		b.space.removed = map[key]uint64{}
	}
	b.space.removed[b.key(name)] = r.head.Generation
	return nil
}

// Close implements sharedindex.Backend.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}
