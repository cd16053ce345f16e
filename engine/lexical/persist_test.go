package lexical_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"coderag-ls/engine/lexical"
)

func smallSegment(t testing.TB) []byte {
	rng := rand.New(rand.NewPCG(8, 8))
	b := lexical.NewBuilder(lexical.NewTokenizer())
	for range 12 {
		b.Add(randomDoc(rng, vocabulary()[:12]))
	}
	return stored(t, b.Build())
}

func TestStoredSegment(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		b := lexical.NewBuilder(lexical.NewTokenizer())
		for range rng.IntN(200) {
			b.Add(randomDoc(rng, vocabulary()))
		}
		s := b.Build()
		data := stored(t, s)
		back, err := lexical.ReadSegment(data)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(stored(t, back), data) {
			t.Fatal("read and written again, it differs")
		}
		q := lexical.Query{Terms: lexical.NewTokenizer().Query(strings.Join(vocabulary()[:5], " "))}
		var se lexical.Searcher
		want, err1 := se.Search(t.Context(), []lexical.Part{{Segment: s}}, q, 30)
		got, err2 := se.Search(t.Context(), []lexical.Part{{Segment: back}}, q, 30)
		if err1 != nil || err2 != nil || len(got.Hits) != len(want.Hits) {
			t.Fatal(err1, err2, len(got.Hits), len(want.Hits))
		}
		for i := range got.Hits {
			if got.Hits[i] != want.Hits[i] {
				t.Fatalf("hit %d: %+v, want %+v", i, got.Hits[i], want.Hits[i])
			}
		}
	}
}

func TestDamagedSegmentIsRefused(t *testing.T) {
	data := smallSegment(t)
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(data)
			bad[i] ^= bit
			if _, err := lexical.ReadSegment(bad); !errors.Is(err, lexical.ErrCorrupt) && !errors.Is(err, lexical.ErrVersion) {
				t.Fatalf("byte %d changed: %v", i, err)
			}
		}
		if _, err := lexical.ReadSegment(data[:i]); !errors.Is(err, lexical.ErrCorrupt) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	old := bytes.Clone(data)
	old[8]++
	if _, err := lexical.ReadSegment(old); !errors.Is(err, lexical.ErrVersion) {
		t.Fatalf("another version: %v", err)
	}
}

// resum puts a sound checksum on a damaged segment.
func resum(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.Checksum(b[:len(b)-4], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// FuzzReadSegment reads anything with a sound checksum: what is accepted can be
// used in every way without a panic.
func FuzzReadSegment(f *testing.F) {
	f.Add(smallSegment(f))
	f.Add(stored(f, lexical.NewBuilder(lexical.NewTokenizer()).Build()))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := lexical.ReadSegment(resum(data))
		if err != nil {
			return
		}
		parts := []lexical.Part{{Segment: s}}
		var q lexical.Query
		for i, term := range lexical.Terms(parts, "", 50) {
			q.Terms = append(q.Terms, lexical.Term{Text: term.Text, Weight: 1, Group: i})
			if len(lexical.LookupTerm(parts, term.Text)) != term.DF {
				t.Fatalf("%q does not occur in %d documents", term.Text, term.DF)
			}
		}
		var se lexical.Searcher
		r, err := se.Search(t.Context(), parts, q, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hits {
			lexical.Explain(parts, q, h)
		}
		lexical.Merge(append(parts, parts...))
	})
}
