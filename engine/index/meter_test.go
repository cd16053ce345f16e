package index

import (
	"testing"

	"coderag-ls/engine/wire"
)

func TestMeter(t *testing.T) {
	var m meter
	if r := m.ratesAt(1000); r != (wire.Rates{}) {
		t.Errorf("before anything: %+v", r)
	}
	m.addAt(1000, amount{files: 10, chunks: 40})
	if r := m.ratesAt(1000); r.Files != 10 || r.Chunks != 40 {
		t.Errorf("in the first second: %+v", r)
	}
	for s := int64(1001); s <= 1030; s++ {
		m.addAt(s, amount{files: 5, embeds: 2})
	}
	if r := m.ratesAt(1030); r.Files != 5 || r.Chunks != 0 || r.Embeds != 2 {
		t.Errorf("at an even pace: %+v", r)
	}
	if r := m.ratesAt(1034); r.Files != 3 {
		t.Errorf("4 s later: %+v", r)
	}
	if r := m.ratesAt(1100); r != (wire.Rates{}) {
		t.Errorf("long after: %+v", r)
	}
	m.addAt(1100, amount{files: 7})
	if r := m.ratesAt(1101); r.Files != 3.5 {
		t.Errorf("work that begins again: %+v", r)
	}
}

func TestETA(t *testing.T) {
	queues := wire.Queues{Index: 100, Embed: 50}
	rates := wire.Rates{Files: 10, Embeds: 5}
	if s := eta(queues, rates, false, false); s == nil || *s != 20 {
		t.Errorf("%v", s)
	}
	if s := eta(wire.Queues{}, wire.Rates{}, true, true); s == nil || *s != 0 {
		t.Errorf("nothing waits: %v", s)
	}
	for name, s := range map[string]*float64{
		"no rate yet":    eta(queues, wire.Rates{Embeds: 5}, false, false),
		"indexing held":  eta(queues, rates, true, false),
		"embedding held": eta(queues, rates, false, true),
	} {
		if s != nil {
			t.Errorf("%s: %v", name, *s)
		}
	}
}
