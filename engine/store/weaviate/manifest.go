package weaviate

import (
	"context"
	"encoding/binary"
	"fmt"

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
	hash   file.Hash
	chunks int // postings, or the most that there may be
	terms  [lexical.NumFields]uint64
}

// value encodes an entry: state, hash, chunks, terms.
func (e *entry) value() string {
	b := append([]byte{byte(e.state)}, e.hash[:]...)
	b = binary.AppendUvarint(b, uint64(e.chunks))
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
	e.chunks = int(min(r.uint(), 1<<31-1))
	for f := range e.terms {
		e.terms[f] = r.uint()
	}
	return e, r.done()
}

func (b *Backend) shelf(repository string) shelf {
	return shelf{b.engine, b.suffix, repository, home(repository)}
}

// Manifest calls fn with every document of a repository. One that is being
// written, or was when a publisher died, has no hash.
func (b *Backend) Manifest(ctx context.Context, repository string, fn func(sharedindex.Entry) error) error {
	s := b.shelf(repository)
	l, err := s.load(ctx)
	if err != nil || l == nil {
		return err
	}
	for path, value := range l.values {
		e, err := decodeEntry(value)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", s.what(), path, err)
		}
		if err := fn(sharedindex.Entry{Path: path, Hash: e.hash, Chunks: e.chunks}); err != nil {
			return err
		}
	}
	return nil
}
