package weaviate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// In how many chunks the terms of a repository occur is counted by whoever publishes it: the
// engine would read every object that holds a term to count them. The counts lie in parts by the
// terms' hash, so that a question reads few of them, in the state collection.
//
// The first part is written first and deleted last, and the number of parts never
// gets less: so parts are only where the first one says that they may be.
const (
	// partTerms is about how many terms a part has.
	partTerms = 1024
	// maxParts bounds the parts of a repository.
	maxParts = 4096
	// partsAtOnce is how many parts one request reads.
	partsAtOnce = 16
)

// partOf is which of so many parts a key is in.
func partOf(key string, parts int) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int(h.Sum32() % uint32(parts))
}

func (s shelf) partID(part int) string { return id("terms", s.scope, s.name, strconv.Itoa(part)) }

// part is a part of so many.
type part struct {
	of int
	df map[string]int
}

// content encodes a part: of, the number of terms, and by term, in order, what it has in common
// with the one before, its rest, and its count.
func (p *part) content() ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(p.of))
	b = binary.AppendUvarint(b, uint64(len(p.df)))
	last := ""
	for _, t := range slices.Sorted(maps.Keys(p.df)) {
		b = appendShared(b, last, t)
		b = binary.AppendUvarint(b, uint64(p.df[t]))
		last = t
	}
	return appendBlock(nil, b)
}

// decodePart reads what content wrote.
func decodePart(content []byte) (part, error) {
	packed := reader{b: content}
	r := reader{b: packed.block()}
	if packed.done() != nil {
		return part{}, errDamaged
	}
	of := r.uint()
	n := r.count(3)
	if r.bad || of < 1 || of > maxParts {
		return part{}, errDamaged
	}
	p := part{of: int(of), df: make(map[string]int, min(n, 1<<16))}
	last := ""
	for range n {
		last = r.shared(last)
		p.df[last] = int(min(r.uint(), 1<<31-1))
		if r.bad {
			return part{}, errDamaged
		}
	}
	return p, r.done()
}

// Frequencies returns in how many chunks terms occur, as the publisher counted them.
func (b *Backend) Frequencies(ctx context.Context, repository string, terms []string) (map[string]int, error) {
	df := map[string]int{}
	if there, err := b.present(ctx, b.state); err != nil || !there || len(terms) == 0 {
		return df, err
	}
	s := b.shelf(repository)
	of := 1 // what the first part says is not known yet
	if known, ok := b.parts.Load(repository); ok {
		of = known.(int)
	}
	for attempt := 0; ; attempt++ {
		var wanted []int
		for _, t := range terms {
			wanted = append(wanted, partOf(t, of))
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		got, err := s.readParts(ctx, wanted)
		if err != nil {
			return nil, err
		}
		now := 0
		for _, p := range got {
			now = max(now, p.of)
		}
		if len(got) < len(wanted) { // removed, or being written
			first, err := s.readParts(ctx, []int{0})
			if err != nil {
				return nil, err
			}
			if len(first) == 0 {
				b.parts.Delete(repository)
				return df, nil
			}
			now = first[0].of
		}
		// Others may be being written: those that are there are good enough after a while.
		if now == of || attempt == 3 {
			for _, t := range terms {
				if n := got[partOf(t, of)].df[t]; n > 0 {
					df[t] = n
				}
			}
			return df, nil
		}
		of = now
		b.parts.Store(repository, of)
	}
}

// readParts reads parts; those that are not there, or damaged, are absent.
func (s shelf) readParts(ctx context.Context, numbers []int) (map[int]part, error) {
	what := "reading how often words occur in " + s.name
	ids := make(map[string]int, len(numbers))
	for _, n := range numbers {
		ids[s.partID(n)] = n
	}
	var mu sync.Mutex
	parts := map[int]part{}
	take := func(id, data string) error {
		var p part
		content, err := unseal(data)
		if err == nil {
			p, err = decodePart(content)
		}
		if errors.Is(err, errDamaged) {
			return nil // counts are no reason to fail, and the next publication writes them again
		}
		if err != nil {
			return fmt.Errorf("%s: object %s: %w", what, id, err)
		}
		mu.Lock()
		defer mu.Unlock()
		parts[ids[id]] = p
		return nil
	}
	err := s.several(ctx, what, s.state, s.home, slices.Collect(maps.Keys(ids)), partsAtOnce, take)
	return parts, err
}

// count is how many parts there may be, 0 where there are none. Where the first is damaged, another tells: there
// are a power of two.
func (s shelf) count(ctx context.Context) (int, error) {
	first, err := s.readParts(ctx, []int{0})
	if err != nil || first[0].of > 0 {
		return first[0].of, err
	}
	var numbers []int
	for n := 1; n < maxParts; n *= 2 {
		numbers = append(numbers, n)
	}
	others, err := s.readParts(ctx, numbers)
	of := 0
	for _, p := range others {
		of = max(of, p.of)
	}
	return of, err
}

// Count writes how often terms occur.
func (w *writer) Count(ctx context.Context, df map[string]int) error {
	s := w.shelf
	what := "writing how often words occur in " + s.name
	of, err := s.count(ctx)
	if err != nil {
		return err
	}
	of = max(1, of)
	for of < maxParts && of*partTerms < len(df) {
		of *= 2
	}
	parts := make([]part, of)
	for i := range parts {
		parts[i] = part{of: of, df: map[string]int{}}
	}
	for t, n := range df {
		if n > 0 {
			parts[partOf(t, of)].df[t] = n
		}
	}
	objects := make([]object, of)
	for i := range parts {
		content, err := parts[i].content()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		objects[i] = s.object(s.partID(i), content)
	}
	return w.steps(
		func() error { return w.b.put(ctx, what, s.home, objects[:1]) },
		func() error { return w.b.put(ctx, what, s.home, objects[1:]) },
	)
}

// dropParts removes what Count wrote.
func (s shelf) dropParts(ctx context.Context) error {
	of, err := s.count(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for i := 1; i < of; i++ {
		ids = append(ids, s.partID(i))
	}
	what := "removing how often words occur in " + s.name
	if err := s.remove(ctx, what, s.state, s.home, ids); err != nil {
		return err
	}
	return s.remove(ctx, what, s.state, s.home, []string{s.partID(0)})
}
