package sharedindex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
)

const (
	// WordPostings is how many postings a question asks for by its words. What this, NearPostings and
	// maxDocuments lose against a local index is measured in sharedindextest.
	WordPostings = 300
	// NearPostings is how many it asks for by each of its vectors.
	NearPostings = 150
	// maxDocuments bounds the files that are read for one question.
	maxDocuments = 128
	// fetchAtOnce are the documents of one read; fetchers read at the same time.
	fetchAtOnce = 24
	// maxCounted bounds the repositories in which words are counted for one question.
	maxCounted = 16
	// maxNamed bounds the files that a path in a question stands for.
	maxNamed = 16
	// rrfK is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
	rrfK = 60
)

// Query is what candidates are asked for.
type Query struct {
	// Terms and Vectors (unit length, of the edition's model) are what to search for; either may be
	// empty.
	Terms   []lexical.Term
	Vectors [][]float32
	// Counted are further terms that the ranking weighs, and that need not be searched for.
	Counted []string
	// Paths are file names that the question has; own files that they are the end of are candidates.
	Paths []string
	// Repositories reports whether a repository is searched; nil for all that are read.
	Repositories func(repository string, own bool) bool
	// Languages keep to files in one of them, where there are any.
	Languages []string
}

// Candidates are the files that may answer.
type Candidates struct {
	Files []*Read
	// Background are the statistics of all that was searched, by which the files' words are weighed;
	// nil where nothing was.
	Background *lexical.Background
	// Searched are the repositories that were searched.
	Searched []Head
	// Degraded says what did not take part and why, "" where all did. Partial is set where
	// another time it may.
	Degraded string
	Partial  bool
}

// group is what is searched of one edition.
type group struct {
	edition Edition
	heads   []Head
	b       Backend
	lists   [][]Found
	df      map[string]int
}

func (g *group) names() []string {
	names := make([]string, len(g.heads))
	for i, h := range g.heads {
		names[i] = h.Repository
	}
	return names
}

func (g *group) head(repository string) (Head, bool) {
	i := slices.IndexFunc(g.heads, func(h Head) bool { return h.Repository == repository })
	if i < 0 {
		return Head{}, false
	}
	return g.heads[i], true
}

// Candidates finds files for a question. It never fails and never takes longer than the
// time-out: what did not answer by then is told.
func (r *Reader) Candidates(ctx context.Context, q Query) Candidates {
	if err := r.away(); err != nil {
		return Candidates{Degraded: awayText(err), Partial: true}
	}
	limited, cancel := context.WithTimeoutCause(ctx, r.o.Timeout, fmt.Errorf("%w: it did not answer within %d ms", ErrUnreachable, r.o.Timeout.Milliseconds()))
	defer cancel()
	out, err := r.candidates(limited, q)
	if ctx.Err() != nil {
		return Candidates{} // nobody waits for it
	}
	if err != nil {
		if limited.Err() != nil {
			err = context.Cause(limited)
		}
		r.failed(err)
		return Candidates{Degraded: awayText(err), Partial: true}
	}
	return out
}

// awayText tells that the index does not take part.
func awayText(err error) string {
	for _, known := range []error{ErrUnreachable, ErrDenied, ErrSchema} {
		if errors.Is(err, known) {
			return fmt.Sprintf("the shared index did not take part: %v", err)
		}
	}
	return fmt.Sprintf("the shared index did not take part, it failed: %v", err)
}

func (r *Reader) candidates(ctx context.Context, q Query) (Candidates, error) {
	r.fresh(ctx)
	if err := r.away(); err != nil {
		return Candidates{}, err
	}
	r.mu.Lock()
	heads, known := r.heads, r.known
	r.mu.Unlock()
	if !known {
		return Candidates{}, cmp.Or(ctx.Err(), ErrUnreachable)
	}
	groups, out := r.groups(heads, q)
	if len(groups) == 0 {
		return out, nil
	}
	terms := make([]string, len(q.Terms), len(q.Terms)+len(q.Counted))
	for i, t := range q.Terms {
		terms[i] = t.Text
	}
	terms = append(terms, q.Counted...)
	errs := make([]error, len(groups))
	var wg sync.WaitGroup
	for i, g := range groups {
		wg.Go(func() { errs[i] = r.search(ctx, g, &q, terms) })
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return Candidates{}, err
	}
	out.Background = &lexical.Background{DF: map[string]int{}}
	late := 0
	for _, g := range groups {
		for _, h := range g.heads {
			out.Background.Docs += h.Chunks
			for f, n := range h.Terms {
				out.Background.Terms[f] += n
			}
		}
		for t, n := range g.df {
			out.Background.DF[t] += n
		}
		out.Searched = append(out.Searched, g.heads...)
		files, newer, err := r.read(ctx, g, r.wanted(g, &q))
		if err != nil {
			return Candidates{}, err
		}
		out.Files, late = append(out.Files, files...), late+newer
	}
	if late > 0 {
		if out.Partial = true; out.Degraded != "" {
			out.Degraded += "; "
		}
		out.Degraded += fmt.Sprintf("files of this workspace that were published with another text just now were not searched (%d that may answer): they are being indexed here", late)
	}
	slices.SortFunc(out.Files, func(a, b *Read) int {
		return cmp.Or(strings.Compare(a.Repository, b.Repository), strings.Compare(a.Path, b.Path))
	})
	return out, nil
}

// groups are the editions to search, the program's own first.
func (r *Reader) groups(heads []Head, q Query) ([]*group, Candidates) {
	var groups []*group
	var wordsOnly []string
	for _, h := range heads {
		own := slices.Contains(r.o.Own, h.Repository)
		if q.Repositories != nil && !q.Repositories(h.Repository, own) {
			continue
		}
		if h.Edition != r.o.Edition {
			if own {
				continue // nothing is covered by it: its files are indexed here
			}
			wordsOnly = append(wordsOnly, h.Repository)
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.edition == h.Edition })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{edition: h.Edition})
		}
		groups[i].heads = append(groups[i].heads, h)
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		own := func(g *group) int {
			if g.edition == r.o.Edition {
				return 0
			}
			return 1
		}
		return cmp.Compare(own(a), own(b))
	})
	var out Candidates
	if len(wordsOnly) > 0 {
		out.Degraded = fmt.Sprintf("%s in the shared index was published with another model than this program's: its words only were searched", strings.Join(wordsOnly, ", "))
	}
	return groups, out
}

// search asks for the lists of one edition, and how frequent the terms are. Of several errors the
// first is told: they have one cause, mostly.
func (r *Reader) search(ctx context.Context, g *group, q *Query, terms []string) error {
	var err error
	if g.b, err = r.backend(ctx, g.edition); err != nil {
		return err
	}
	in := Scope{Repositories: g.names(), Languages: q.Languages}
	ours := g.edition == r.o.Edition
	vectors := q.Vectors
	if !ours {
		vectors = nil
	}
	// What was found may be as old as what is known of the repositories: within a generation documents
	// come and go while it is published, and replicas lag.
	asked := r.question(g, in, q.Terms, vectors)
	errs := make([]error, 2+len(vectors))
	var wg sync.WaitGroup
	if len(q.Terms) > 0 {
		wg.Go(func() { g.df, errs[1] = r.frequencies(ctx, g, terms) })
	}
	if found, ok := r.asked.Get(asked); ok && time.Since(found.when) <= r.o.Fresh {
		g.lists = found.lists
		wg.Wait()
		return told(errs)
	}
	when := time.Now()
	g.lists = make([][]Found, 1+len(vectors))
	if len(q.Terms) > 0 {
		wg.Go(func() { g.lists[0], errs[0] = g.b.Words(ctx, in, q.Terms, WordPostings) })
	}
	for i, v := range vectors {
		wg.Go(func() { g.lists[1+i], errs[2+i] = g.b.Nearest(ctx, in, v, NearPostings) })
	}
	wg.Wait()
	if err := told(errs); err != nil {
		return err
	}
	r.asked.Add(asked, listed{g.lists, when})
	return nil
}

func told(errs []error) error {
	if err := cmp.Or(errs...); err != nil {
		return fmt.Errorf("searching the shared index: %w", err)
	}
	return nil
}

// question is what the lists of a group depend on. What is published of an own repository is not indexed
// here any more, so that it is to be found at once.
func (r *Reader) question(g *group, in Scope, terms []lexical.Term, vectors [][]float32) (q question) {
	h := sha256.New()
	fmt.Fprintf(h, "%+v %q\n", g.edition, in.Languages)
	for _, head := range g.heads {
		fmt.Fprintf(h, "%q\n", head.Repository)
		if slices.Contains(r.o.Own, head.Repository) {
			fmt.Fprintf(h, "%d\n", head.Generation)
		}
	}
	for _, t := range terms {
		fmt.Fprintf(h, "%+v\n", t)
	}
	for _, v := range vectors {
		fmt.Fprintf(h, "%x\n", v)
	}
	h.Sum(q[:0])
	return q
}

// frequencies are those of terms in all repositories of a group. They are counted in the own ones and in the
// largest of the others; the rest is held to have words as often as these.
func (r *Reader) frequencies(ctx context.Context, g *group, terms []string) (map[string]int, error) {
	heads := slices.Clone(g.heads)
	slices.SortStableFunc(heads, func(a, b Head) int {
		mine, theirs := slices.Contains(r.o.Own, a.Repository), slices.Contains(r.o.Own, b.Repository)
		switch {
		case mine != theirs && mine:
			return -1
		case mine != theirs:
			return 1
		}
		return cmp.Compare(b.Chunks, a.Chunks)
	})
	all, counted := 0, 0
	for i, h := range heads {
		if all += h.Chunks; i < maxCounted {
			counted += h.Chunks
		}
	}
	heads = heads[:min(len(heads), maxCounted)]
	parts, errs := make([]map[string]int, len(heads)), make([]error, len(heads))
	var wg sync.WaitGroup
	for i, h := range heads {
		wg.Go(func() { parts[i], errs[i] = r.counted(ctx, g.b, h, terms) })
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	df := map[string]int{}
	for _, part := range parts {
		for t, n := range part {
			df[t] += n
		}
	}
	if counted > 0 && counted < all {
		for t, n := range df {
			df[t] = int(math.Round(float64(n) * float64(all) / float64(counted)))
		}
	}
	return df, nil
}

// counted are the frequencies of terms in one repository.
func (r *Reader) counted(ctx context.Context, b Backend, h Head, terms []string) (map[string]int, error) {
	known, unknown := r.terms.get(h, terms)
	if len(unknown) == 0 {
		return known, nil
	}
	df, err := b.Frequencies(ctx, h.Repository, unknown)
	if err != nil {
		return nil, err
	}
	r.terms.put(h, unknown, df)
	maps.Copy(known, df)
	return known, nil
}

// wanted are the documents that the lists name, best first by reciprocal rank fusion
// of their best postings, after those that the question names.
func (r *Reader) wanted(g *group, q *Query) []ID {
	score := map[ID]float64{}
	for _, list := range g.lists {
		seen := map[ID]bool{}
		for rank, f := range list {
			if !seen[f.ID] {
				seen[f.ID] = true
				score[f.ID] += 1 / float64(rrfK+rank+1)
			}
		}
	}
	ids := make([]ID, 0, len(score))
	for id := range score {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b ID) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), strings.Compare(a.Repository, b.Repository), strings.Compare(a.Path, b.Path))
	})
	named := r.named(g, q.Paths)
	ids = slices.DeleteFunc(ids, func(id ID) bool { return slices.Contains(named, id) })
	ids = append(named, ids...)
	return ids[:min(len(ids), maxDocuments)]
}

// named are the own files that end with one of the paths.
func (r *Reader) named(g *group, paths []string) []ID {
	if len(paths) == 0 {
		return nil
	}
	var ids []ID
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range g.heads {
		m := r.manifests[h.Repository]
		if m == nil {
			continue
		}
		for path := range m.files {
			if slices.ContainsFunc(paths, func(asked string) bool { return endsWith(path, asked) }) {
				ids = append(ids, ID{h.Repository, path})
			}
		}
	}
	slices.SortFunc(ids, func(a, b ID) int { return strings.Compare(a.Path, b.Path) })
	return ids[:min(len(ids), maxNamed)]
}

// endsWith reports whether whole segments at a path's end are those of another, whatever the case.
func endsWith(path, end string) bool {
	end = strings.Trim(end, "/")
	at := len(path) - len(end)
	return end != "" && at >= 0 && strings.EqualFold(path[at:], end) && (at == 0 || path[at-1] == '/')
}

// read reads documents, those that were read before from memory. late counts own ones that have
// another text than what was known of them: the manifest is read again then.
func (r *Reader) read(ctx context.Context, g *group, ids []ID) (out []*Read, late int, err error) {
	var missing []ID
	hashes := map[ID]*file.Hash{}
	r.mu.Lock()
	for _, id := range ids {
		if m := r.manifests[id.Repository]; m != nil {
			if h, ok := m.files[id.Path]; ok {
				hashes[id] = &h
			}
		}
	}
	r.mu.Unlock()
	for _, id := range ids {
		h, known := g.head(id.Repository)
		if !known {
			continue
		}
		if read := r.cache.get(slot{id, g.edition}, h.Generation, hashes[id]); read != nil {
			out = append(out, read)
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return out, 0, nil
	}
	when := time.Now()
	got, err := r.fetch(ctx, g, missing)
	if err != nil {
		return nil, 0, err
	}
	files := make([]File, 0, len(got))
	for _, id := range missing {
		d, ok := got[id]
		if !ok {
			continue // it went between the list and now
		}
		h, _ := g.head(id.Repository)
		f := File{ID: id, Document: d, Commit: h.Commit, Own: slices.Contains(r.o.Own, id.Repository), WordsOnly: g.edition != r.o.Edition}
		if h.Publishing != "" && d.Commit != "" {
			f.Commit = d.Commit // of two commits that are there now, the one that it is of
		}
		if f.Own && (hashes[id] == nil || *hashes[id] != d.Record.Hash) {
			if hashes[id] != nil { // else it is new there
				late++
			}
			continue
		}
		files = append(files, f)
	}
	if late > 0 {
		r.refresh()
	}
	prepared, err := r.o.Prepare(ctx, files)
	if err != nil {
		return nil, 0, err
	}
	for i := range files {
		if prepared[i] == nil {
			continue
		}
		f := files[i]
		f.Vectors, f.Rows, f.Words = nil, nil, nil // Prepared has what of them counts
		read := &Read{File: f, Prepared: prepared[i]}
		h, _ := g.head(f.Repository)
		r.cache.put(slot{f.ID, g.edition}, h.Generation, read, when)
		out = append(out, read)
	}
	return out, late, nil
}

// fetch reads documents from the index, several batches at a time.
func (r *Reader) fetch(ctx context.Context, g *group, ids []ID) (map[ID]Document, error) {
	batches := slices.Collect(slices.Chunk(ids, fetchAtOnce))
	parts, errs := make([]map[ID]Document, len(batches)), make([]error, len(batches))
	var wg sync.WaitGroup
	for i, batch := range batches {
		wg.Go(func() { parts[i], errs[i] = g.b.Documents(ctx, batch) })
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, fmt.Errorf("reading files of the shared index: %w", err)
	}
	all := parts[0]
	for _, part := range parts[1:] {
		for id, d := range part {
			all[id] = d
		}
	}
	return all, nil
}
