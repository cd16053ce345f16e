package weaviate

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"coderag-ls/engine/file"
	"coderag-ls/engine/lexical"
	"coderag-ls/engine/sharedindex"
)

// state says what is known of a document.
type state byte

const (
	// stored: the document is there with its postings.
	stored state = iota
	// pending: some of the document and of its postings up to chunks may be there.
	pending
	// absent: nothing of it is there. It is not in the manifest.
	absent
)

// entry is a document in a repository's manifest, which is a ledger by path.
type entry struct {
	state  state
	chunks int // postings, or the most that there may be
	// hash and whole are the document's hash and postings; of a pending one those
	// that it had before, zero where it was not there.
	hash  file.Hash
	whole int
	terms [lexical.NumFields]uint64
}

// value encodes an entry: state, hash, chunks, whole, terms.
func (e *entry) value() string {
	b := append([]byte{byte(e.state)}, e.hash[:]...)
	b = binary.AppendUvarint(b, uint64(e.chunks))
	b = binary.AppendUvarint(b, uint64(e.whole))
	for _, n := range e.terms {
		b = binary.AppendUvarint(b, n)
	}
	return string(b)
}

// decodeEntry reads what value wrote.
func decodeEntry(value string) (entry, error) {
	r := reader{b: []byte(value)}
	var e entry
	kind, hash := r.take(1), r.take(uint64(len(e.hash)))
	if r.bad || state(kind[0]) >= absent {
		return entry{}, errDamaged
	}
	e.state = state(kind[0])
	copy(e.hash[:], hash)
	e.chunks, e.whole = int(min(r.uint(), 1<<31-1)), int(min(r.uint(), 1<<31-1))
	for f := range e.terms {
		e.terms[f] = r.uint()
	}
	return e, r.done()
}

// begun is the entry while the document is replaced, or removed, by one of so many
// chunks.
func (e *entry) begun(chunks int) entry {
	next := entry{state: pending, chunks: max(e.chunks, chunks)}
	if e.state == stored {
		next.hash, next.whole = e.hash, e.whole
	}
	return next
}

func (b *Backend) shelf(repository string) shelf {
	return shelf{b.engine, b.suffix, repository, home(repository)}
}

// Manifest calls fn with every document of a repository. One that is being
// replaced is told as it was before. One that a publisher has left half written has no hash, so
// that it is written again or removed, and is held to be there by nobody.
func (b *Backend) Manifest(ctx context.Context, repository string, fn func(sharedindex.Entry) error) error {
	s := b.shelf(repository)
	l, err := s.load(ctx)
	if err != nil || l == nil {
		return err
	}
	left, l, err := s.left(ctx, l)
	if err != nil || l == nil {
		return err
	}
	for path, value := range l.values {
		e, err := decodeEntry(value)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", s.what(), path, err)
		}
		is := sharedindex.Entry{Path: path, Hash: e.hash, Chunks: e.whole}
		from, was := left[path]
		switch {
		case e.state != pending:
		case was && from == l.from[path]:
			is.Hash, is.Chunks = file.Hash{}, e.chunks
		case e.hash == (file.Hash{}):
			continue // it is not there yet
		}
		if err := fn(is); err != nil {
			return err
		}
	}
	return nil
}

// left returns the paths that were pending and whose publisher does not hold the lease, with
// its log. That may have ended meanwhile: what is still pending in the ledger that is
// returned with them, which is read after that, it has left half written.
func (s shelf) left(ctx context.Context, l *ledger) (map[string]string, *ledger, error) {
	var left map[string]string
	var writer *held
	for path, value := range l.values {
		e, err := decodeEntry(value)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", s.what(), path, err)
		}
		if e.state != pending {
			continue
		}
		if left == nil {
			left = map[string]string{}
			if writer, err = s.holder(ctx); err != nil {
				return nil, nil, err
			}
		}
		if writer == nil || !strings.HasPrefix(l.from[path], writer.token) {
			left[path] = l.from[path]
		}
	}
	if len(left) == 0 {
		return nil, l, nil
	}
	l, err := s.load(ctx)
	return left, l, err
}
