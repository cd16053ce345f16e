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
