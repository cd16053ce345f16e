package sharedindex

import (
	"testing"
	"time"

	"coderag-ls/engine/file"
)

// TestF1WhatHolds: what was read of a file holds while its repository has the generation, or its text the
// hash; where no hash is known, for a while after it was read as well.
func TestF1WhatHolds(t *testing.T) {
	have, other := file.Hash{1}, file.Hash{2}
	now := time.Now()
	old := now.Add(-2 * time.Minute)
	for name, c := range map[string]struct {
		generation uint64
		hash       *file.Hash
		when       time.Time
		holds      bool
	}{
		"nothing new":                  {7, nil, old, true},
		"the same text":                {8, &have, old, true},
		"another text":                 {8, &other, old, false},
		"another text, read just now":  {8, &other, now, false},
		"a text unknown":               {8, nil, old, false},
		"a text unknown, just read":    {8, nil, now, true},
		"the generation, another text": {7, &other, old, true}, // what is read again then
	} {
		k := newCache(1<<20, time.Minute)
		at := slot{ID: ID{"r", "a.go"}}
		r := &Read{Prepared: weightless{}}
		r.Record.Hash = have
		k.put(at, 7, r, c.when)
		if got := k.get(at, c.generation, c.hash); (got != nil) != c.holds {
			t.Errorf("%s: holds is %v, want %v", name, got != nil, c.holds)
		}
	}
}

type weightless struct{}

func (weightless) Size() int { return 1 }

// TestF1Bounded: the cache keeps what was used last, and no more bytes than it may.
func TestF1Bounded(t *testing.T) {
	read := &Read{Prepared: weightless{}}
	read.Text = string(make([]byte, 1000))
	k := newCache(5*read.size(), time.Minute)
	at := func(i int) slot { return slot{ID: ID{"r", string(rune('a' + i))}} }
	holds := func(i int) bool { return k.get(at(i), 1, nil) != nil }
	for i := range 8 {
		k.put(at(i), 1, read, time.Now())
		k.put(at(i), 1, read, time.Now()) // read by two at once
		if !holds(0) {
			t.Fatalf("the one used last went for number %d", i)
		}
	}
	for i, want := range []bool{true, false, false, false, true, true, true, true} {
		if holds(i) != want {
			t.Errorf("number %d is kept: %v, want %v", i, holds(i), want)
		}
	}
	big := &Read{Prepared: weightless{}}
	big.Text = string(make([]byte, 3000))
	if k.put(at(9), 1, big, time.Now()); holds(9) || !holds(0) {
		t.Error("a file that would push out most of the others is kept")
	}
	if k.clear(); holds(0) || k.bytes != 0 {
		t.Errorf("%d bytes are left of nothing", k.bytes)
	}
}
