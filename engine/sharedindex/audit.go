package sharedindex

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"coderag-ls/engine/text"
)

// audit compares what is stored with what is to be there, id by id: every
// document is read, and every posting counted.
func (p *publication) audit(ctx context.Context) (*changes, error) {
	stored, err := p.manifest(ctx)
	if err != nil {
		return nil, err
	}
	bad := map[string]bool{}
	var whole []ID
	for path, e := range stored {
		if want, ok := p.files[path]; ok && want.Hash == e.Hash && want.Chunks == e.Chunks {
			whole = append(whole, ID{p.Repository, path})
		}
	}
	for ids := range slices.Chunk(whole, readAtOnce) {
		if err := p.auditDocuments(ctx, ids, bad); err != nil {
			return nil, err
		}
	}
	left := map[string][]int{}
	if a, ok := p.b.(Auditor); ok {
		if left, err = p.auditPostings(ctx, a, stored, bad); err != nil {
			return nil, err
		}
		p.out.Verified = true
	}
	c := p.compare(stored, bad)
	if _, ok := p.w.(Sweeper); ok {
		c.sweep = left
	} else if len(left) > 0 {
		return nil, fmt.Errorf("verifying %s: %d files have postings that nothing accounts for, and this shared index cannot remove them", p.Repository, len(left))
	}
	return c, nil
}

// counted reports whether the frequencies that are stored are those of the files.
func (p *publication) counted(ctx context.Context) (bool, error) {
	var df map[string]int
	err := p.try(ctx, "reading how often words occur in "+p.Repository, func() (err error) {
		df, err = p.b.Frequencies(ctx, p.Repository, slices.Collect(maps.Keys(p.Statistics.DF)))
		return err
	})
	return maps.Equal(df, p.Statistics.DF), err
}

// auditDocuments reads documents and notes those that are not what the manifest
// says.
func (p *publication) auditDocuments(ctx context.Context, ids []ID, bad map[string]bool) error {
	var got map[ID]Document
	err := p.try(ctx, "reading what is published of "+p.Repository, func() error {
		var err error
		got, err = p.b.Documents(ctx, ids)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		want := p.files[id.Path]
		d, ok := got[id]
		if !ok || d.Record.Hash != want.Hash || text.Hash(d.Text) != want.Hash || len(d.Record.File.Chunks) != want.Chunks || len(d.Vectors) != want.Chunks {
			bad[id.Path] = true
		}
	}
	return nil
}

// auditPostings counts postings. Documents that lack some are bad; left are those that
// no document accounts for, once the documents are what they are to be.
func (p *publication) auditPostings(ctx context.Context, a Auditor, stored map[string]Entry, bad map[string]bool) (left map[string][]int, err error) {
	var found map[string]map[int]bool
	err = p.try(ctx, "reading the postings of "+p.Repository, func() error {
		found = map[string]map[int]bool{}
		return a.Postings(ctx, p.Repository, func(path string, ordinal int) error {
			if found[path] == nil {
				found[path] = map[int]bool{}
			}
			found[path][ordinal] = true
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	for path, want := range p.files {
		for i := range want.Chunks {
			if !found[path][i] {
				bad[path] = true
				break
			}
		}
	}
	left = map[string][]int{}
	for path, ordinals := range found {
		// Postings up to what the stored document has go with it.
		n := max(p.files[path].Chunks, stored[path].Chunks)
		for i := range ordinals {
			if i >= n {
				left[path] = append(left[path], i)
			}
		}
		slices.Sort(left[path])
	}
	return left, nil
}
