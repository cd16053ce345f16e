package lexical

import "hash/maphash"

// table interns strings as dense ids in order of first appearance. Open
// addressing, linear probing; the bytes lie one after the other in blob.
type table struct {
	seed   maphash.Seed
	slots  []slot // length is a power of two
	blob   []byte
	starts []uint32 // start of id's bytes; its end is the next one's start
}

// slot is one place of the hash table. id is 1-based, 0 is free.
type slot struct {
	hash uint32
	id   uint32
}

func newTable(size int) *table {
	n := 256
	for n < size*2 {
		n *= 2
	}
	return &table{seed: maphash.MakeSeed(), slots: make([]slot, n), starts: []uint32{0}}
}

func (t *table) len() int { return len(t.starts) - 1 }

// at is the bytes of an id; they stay valid until the next intern.
func (t *table) at(id uint32) []byte { return t.blob[t.starts[id]:t.starts[id+1]] }

// intern returns s's id and whether it is new.
func (t *table) intern(s string) (id uint32, fresh bool) {
	h := uint32(maphash.String(t.seed, s))
	mask := uint32(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		sl := t.slots[i]
		if sl.id == 0 {
			id = uint32(t.len())
			t.blob = append(t.blob, s...)
			t.starts = append(t.starts, uint32(len(t.blob)))
			t.slots[i] = slot{h, id + 1}
			if 2*t.len() > len(t.slots) {
				t.grow()
			}
			return id, true
		}
		if sl.hash == h && string(t.blob[t.starts[sl.id-1]:t.starts[sl.id]]) == s {
			return sl.id - 1, false
		}
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, sl := range old {
		if sl.id == 0 {
			continue
		}
		i := sl.hash & mask
		for t.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = sl
	}
}
