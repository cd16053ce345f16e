package mem

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

// posting is a chunk as it is searched for.
type posting struct {
	terms   map[string]*[lexical.NumFields]int // how often, by field
	lengths [lexical.NumFields]int             // exact terms count, too
	row     []float32
}

func newDocument(d sharedindex.Document) *document {
	made := &document{Document: d, postings: make([]posting, len(d.Record.File.Chunks))}
	for i := range made.postings {
		p := &made.postings[i]
		p.terms = map[string]*[lexical.NumFields]int{}
		if i < len(d.Rows) {
			p.row = d.Rows[i]
		}
		if i >= len(d.Words) {
			continue
		}
		for f, list := range d.Words[i] {
			p.lengths[f] = len(list)
			for _, t := range list {
				tf := p.terms[t]
				if tf == nil {
					tf = new([lexical.NumFields]int)
					p.terms[t] = tf
				}
				tf[f]++
			}
		}
	}
	return made
}

// each calls fn with every posting in scope.
func (b *Backend) each(ctx context.Context, in sharedindex.Scope, fn func(id sharedindex.ID, ordinal int, p *posting)) error {
	for _, name := range in.Repositories {
		for path, d := range b.documents(name) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(in.Languages) > 0 && !slices.Contains(in.Languages, d.Record.Class.Language) {
				continue
			}
			for i := range d.postings {
				fn(sharedindex.ID{Repository: name, Path: path}, i, &d.postings[i])
			}
		}
	}
	return nil
}

const (
	// k1 and fieldB are the customary ones, which distributed engines have.
	k1, fieldB = 1.2, 0.75
)

// boosts are the fields' weights: such that one occurrence in a field counts
// against one in the body as it does in the ranking's BM25F.
func boosts() (out [lexical.NumFields]float64) {
	p := lexical.DefaultParams()
	body := p.Weights[lexical.Body]
	for f, w := range p.Weights {
		out[f] = w / (w + p.K1) / (body / (body + p.K1))
	}
	return out
}

// Words implements sharedindex.Backend as the engines do that there are: each field
// is scored by itself with BM25, the fields' scores are added up.
func (b *Backend) Words(ctx context.Context, in sharedindex.Scope, terms []lexical.Term, k int) ([]sharedindex.Found, error) {
	if err := b.begin(ctx, "Words"); err != nil {
		return nil, err
	}
	type one struct {
		id      sharedindex.ID
		ordinal int
		p       *posting
	}
	var all []one
	var sums [lexical.NumFields]float64
	df := make([][lexical.NumFields]float64, len(terms))
	err := b.each(ctx, in, func(id sharedindex.ID, ordinal int, p *posting) {
		for f, n := range p.lengths {
			sums[f] += float64(n)
		}
		matches := false
		for i, t := range terms {
			if tf := p.terms[t.Text]; tf != nil {
				matches = true
				for f, n := range tf {
					if n > 0 {
						df[i][f]++
					}
				}
			}
		}
		if matches {
			all = append(all, one{id, ordinal, p})
		} else {
			all = append(all, one{})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("searching words: %w", err)
	}
	n := float64(len(all))
	weights := boosts()
	var found []sharedindex.Found
	for _, o := range all {
		if o.p == nil {
			continue
		}
		score := 0.0
		for i, t := range terms {
			tf := o.p.terms[t.Text]
			if tf == nil {
				continue
			}
			for f, count := range tf {
				if count > 0 {
					idf := math.Log1p((n - df[i][f] + 0.5) / (df[i][f] + 0.5))
					x := float64(count)
					score += t.Weight * weights[f] * idf * x * (k1 + 1) / (x + k1*(1-fieldB+fieldB*float64(o.p.lengths[f])*n/sums[f]))
				}
			}
		}
		found = append(found, sharedindex.Found{ID: o.id, Ordinal: o.ordinal, Score: score})
	}
	return top(found, k), nil
}

// Nearest implements sharedindex.Backend.
func (b *Backend) Nearest(ctx context.Context, in sharedindex.Scope, query []float32, k int) ([]sharedindex.Found, error) {
	if err := b.begin(ctx, "Nearest"); err != nil {
		return nil, err
	}
	var found []sharedindex.Found
	err := b.each(ctx, in, func(id sharedindex.ID, ordinal int, p *posting) {
		if len(p.row) != len(query) {
			return
		}
		var dot float64
		for i, x := range p.row {
			dot += float64(x) * float64(query[i])
		}
		found = append(found, sharedindex.Found{ID: id, Ordinal: ordinal, Score: dot})
	})
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	return top(found, k), nil
}

// top returns the k best.
func top(found []sharedindex.Found, k int) []sharedindex.Found {
	slices.SortFunc(found, func(a, b sharedindex.Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Repository, b.Repository), strings.Compare(a.Path, b.Path), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	return found[:max(0, min(k, len(found)))]
}

// Frequencies implements sharedindex.Backend.
func (b *Backend) Frequencies(ctx context.Context, name string, terms []string) (map[string]int, error) {
	if err := b.begin(ctx, "Frequencies"); err != nil {
		return nil, err
	}
	b.space.mu.RLock()
	defer b.space.mu.RUnlock()
	df := map[string]int{}
	if r := b.space.repositories[b.key(name)]; r != nil {
		for _, t := range terms {
			if n := r.df[t]; n > 0 {
				df[t] = n
			}
		}
	}
	return df, nil
}
